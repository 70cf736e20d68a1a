"""The dataset card of an export: ``README.md`` with front matter for dataset loaders."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

import yaml

from conf import resources
from conf.edos_settings import PublishingSettings
from etl.analysis import croissant
from etl.analysis.croissant import ENDINGS, Datasheet, Fields
from etl.analysis.findings import Findings
from etl.analysis.licences import Source
from etl.analysis.pages import percent, shown

SPLITS = ("train", "validation", "test")
LICENCE_NAME = "licences-of-the-sources"
"""What ``other`` is called on the hub: the card's section on the licence has the licence of each source."""
_DETAILS = (
    ", `label_accepted` (whether the confidence reaches the threshold of its label), `start_ms` and `end_ms`, "
    "`certainty` (probability that it is one speaker's, and whole), `border` (what decided that it opens: start of "
    "the film, silence, mark, carried from another upload, model, or the rule in its place), `border_certainty`, and "
    "`speaker` (name of the label that it opens with)"
)
ORIGINS = {
    "crowd": "by crowd workers",
    "similar": "with the label of a similar crowd-labelled dialogue",
    "self": "self-labelled by an earlier classifier",
    "similar_self": "with the label of a similar self-labelled dialogue",
}
"""Where the labels of training turns come from, in the order of EDOS 3.3."""
DIALOGUES = "dialogues"
"""Configuration of an export for loaders: a row is a dialogue."""
_TYPES = {
    croissant.TEXT: "string",
    croissant.INTEGER: "int32",
    croissant.FLOAT: "float32",
    croissant.BOOLEAN: "bool",
}
INCLUDED = (
    ("dialogue_id", "`<subtitle file>-<its first sentence>`"),
    ("movie_id", "the film's IMDb number"),
    ("language, year, genres", "of the film; null where they are not known"),
    ("certainty", "probability that all borders of the dialogue are right"),
    ("turns", f"list of `text`, `label`, `confidence` (0 to 1, 4 decimals){_DETAILS}"),
)
REFERRED = (
    *INCLUDED[:2],
    ("release, language, subtitle_id", "the subtitle file in OPUS's OpenSubtitles"),
    ("source_path", "the path that it was read from"),
    *INCLUDED[2:4],
    (
        "turns",
        "list of `sentence_first` and `sentence_last` (numbers of the file's sentences, from 0, both inclusive), "
        "`text_check` (first 12 digits of the text's sha256), `label`, `confidence`" + _DETAILS,
    ),
)


@dataclass(frozen=True)
class Features:
    """The types of an export's columns, as the hub's loaders read them.

    Attributes:
        fields: columns of a row.
        labels: names of the classes of ``classes``, in the order of their ids; () leaves labels texts.
        name: of the configuration that loaders read by default.
        classes: columns and fields whose values are the labels.
        number: type of numbers with a fraction.
    """

    fields: Fields
    labels: Sequence[str] = ()
    name: str = DIALOGUES
    classes: Sequence[str] = ("label",)
    number: str = "float32"

    def of(self, fields: Fields) -> list[dict[str, Any]]:
        """Return the features of columns, or of the fields of a list."""
        return [{"name": name, **self._feature(name, kind)} for name, kind in fields.items()]

    def _feature(self, name: str, kind: Any) -> dict[str, Any]:
        if isinstance(kind, Mapping):
            return {"list": self.of(kind)}
        if isinstance(kind, list):
            return {"list": _TYPES[kind[0]]}
        if name in self.classes and self.labels:
            return {"dtype": {"class_label": {"names": {str(n): label for n, label in enumerate(self.labels)}}}}
        return {"dtype": self.number if kind == croissant.FLOAT else _TYPES[kind]}


@dataclass(frozen=True)
class About:
    """What the card and the Croissant file of an export say of it.

    Attributes:
        name: of the data set.
        method: edos, emo_pillars or augesc.
        rows: number of rows by split.
        formats: parquet, jsonl; loaders read the first one by default, the others must be named.
        languages: language codes.
        licence: SPDX identifier, or ``other``.
        features: types of the columns.
        sheet: answers to a datasheet's questions; None for a copy whose text is there.
        tags: for search.
    """

    name: str
    method: str
    rows: Mapping[str, int]
    formats: Sequence[str]
    languages: Sequence[str]
    licence: str
    features: Features
    sheet: Datasheet | None = None
    tags: Sequence[str] = ("emotion", "empathy", "dialogue", "subtitles")

    @property
    def datasheet(self) -> str:
        """The questions of the datasheet with their answers."""
        return self.sheet.as_markdown() if self.sheet else ""

    def card(self, text: str) -> str:
        """Return a card: YAML with licence, size, files by split and the types of their columns, and the text."""
        kind = self.formats[0]
        paths = {split: f"{kind}/{split}-*.{ENDINGS[kind]}" for split in SPLITS if split in self.rows}
        files = [{"split": split, "path": path} for split, path in paths.items()]
        unknown = {"license_name": LICENCE_NAME, "license_link": "#licence"} if self.licence == "other" else {}
        content: dict[str, Any] = {
            "pretty_name": self.name,
            "language": list(self.languages),
            "license": self.licence.lower(),
            **unknown,
            "task_categories": ["text-classification", "text-generation"],
            "tags": list(self.tags),
            "size_categories": [size_category(sum(self.rows.values()))],
            "configs": [{"config_name": self.features.name, "default": True, "data_files": files}],
            "dataset_info": [{"config_name": self.features.name, "features": self.features.of(self.features.fields)}],
        }
        return f"---\n{yaml.safe_dump(content, sort_keys=False, allow_unicode=True)}---\n\n{text}"

    def croissant(self, published: str = "") -> str:
        """Return the Croissant file: the card's facts for programs.

        Args:
            published: the day of publication, as YYYY-MM-DD; "" if it is not known.
        """
        assert self.sheet is not None
        return croissant.croissant(
            self.name,
            self.sheet,
            self.features.fields,
            licence=self.licence,
            languages=self.languages,
            formats=self.formats,
            citation=citation(self.name, self.method),
            published=published,
        )


def label_names(card_text: str) -> list[str]:
    """Return the class names in a card's front matter, in the order of their ids; [] where it has none."""
    try:
        head = _head(card_text)
        (turns,) = [one["list"] for one in head["dataset_info"][0]["features"] if one["name"] == "turns"]
        (label,) = [one for one in turns if one["name"] == "label"]
        return [str(name) for name in label["dtype"]["class_label"]["names"].values()]
    except (yaml.YAMLError, LookupError, TypeError, ValueError, AttributeError):
        return []


def set_name(card_text: str) -> str:
    """Return the name of the data set in a card's front matter; ``edos`` where it has none."""
    try:
        found = _head(card_text)["pretty_name"]
    except (yaml.YAMLError, LookupError, TypeError):
        found = None
    return found if isinstance(found, str) and found.strip() else "edos"


def _head(card_text: str) -> Any:
    return yaml.safe_load(card_text.split("---\n")[1])


def citation(name: str, method: str = "edos") -> str:
    """Return what to cite, as BibTeX: the method, the sources, and this set.

    Args:
        name: of the set.
        method: edos, emo_pillars or augesc.
    """
    return Template(resources.text(f"publishing/{method}_citation.txt")).substitute(name=name).strip()


def card(
    findings: Findings,
    publishing: PublishingSettings,
    *,
    rows: Mapping[str, int],
    languages: Sequence[str],
    sources: Sequence[Source] = (),
    example: str | None = None,
) -> str:
    """Return the card as Markdown.

    Args:
        findings: views of EDOS and facts of the run.
        publishing: settings of the export; loaders read the first of its formats by default.
        rows: number of dialogues by split.
        languages: language codes.
        sources: parts of the export with their licences.
        example: a row as JSON.
    """
    name = publishing.name
    about = about_edos(findings, publishing, rows, languages)
    references = publishing.text == "references"
    formats = publishing.formats
    template = Template(resources.text("publishing/card.md"))
    text = template.substitute(
        name=_cell(name),
        dialogues=shown(sum(rows.values())),
        films=shown(findings.films),
        turns=shown(findings.turns),
        taxonomy=findings.taxonomy.in_words(),
        text_note=_TEXT_NOTE[references],
        columns=_table(("column", "holds"), REFERRED if references else INCLUDED),
        splits=table_rows((split, rows[split]) for split in SPLITS if split in rows),
        lines=_LINES if "jsonl" in formats[1:] else "",
        restoring=_RESTORING if references else "",
        example=example_row(example, "turns"),
        citation=citation(name),
        labels=table_rows(
            (row["label"], row["kind"], row["turns"], percent(row["share"]), percent(row["paper_share"]))
            for row in findings.rows("edos_label_distribution")
        ),
        trust=_trust(findings),
        confidence=table_rows(
            (f"{row['from_confidence']:.1f} to {row['to_confidence']:.1f}", row["turns"], percent(row["share"]))
            for row in findings.rows("edos_confidence")
        ),
        silence=f"{findings.silence_seconds:g}",
        made=table_rows(findings.made_with.items()),
        sharing=_SHARING[references],
        sources=table_rows((one.source, one.part, one.licence, one.commercial) for one in sources),
        datasheet=about.datasheet,
    )
    return about.card(text)


def about_edos(
    findings: Findings, publishing: PublishingSettings, rows: Mapping[str, int], languages: Sequence[str]
) -> About:
    """Return what is said of an export of EDOS; the arguments are those of :func:`card`."""
    references = publishing.text == "references"
    facts = {
        "dialogues": shown(sum(rows.values())),
        "films": shown(findings.films),
        "turns": shown(findings.turns),
        "taxonomy": findings.taxonomy.in_words(),
        "silence": f"{findings.silence_seconds:g}",
        "languages": ", ".join(languages),
        "sharing": _SHARING[references],
        "trained_on": _trained_on(findings),
        "quality": _trust(findings),
    }
    features = Features(croissant.EDOS_REFERENCES if references else croissant.EDOS, findings.taxonomy.names)
    sheet = Datasheet("edos", facts)
    return About(publishing.name, "edos", rows, publishing.formats, languages, publishing.licence, features, sheet)


def restored_card(before: str, rows: Mapping[str, int], formats: Sequence[str], languages: Sequence[str]) -> str:
    """Return the card of an export with restored texts, from the card of the export with references.

    The set keeps its name. Its licence is ``other``, because nobody here can license the texts of films.

    Args:
        before: that card.
        rows: number of dialogues by split.
        formats: parquet, jsonl.
        languages: language codes.
    """
    body = before.split("\n---\n", 1)[-1].strip()
    features = Features(croissant.EDOS, label_names(before))
    about = About(set_name(before), "edos", rows, formats, languages, "other", features)
    return about.card(f"> The texts of this copy were restored. The rest describes the copy without.\n\n{body}\n")


def restored_croissant(before: str, formats: Sequence[str]) -> str | None:
    """Return the Croissant file of an export with restored texts, from that of the export with references.

    Returns:
        None if there is no such file.
    """
    try:
        content = json.loads(before.replace(_SHARING[True], _SHARING[False]))
    except ValueError:
        return None
    return croissant.with_files(content, croissant.EDOS, formats) if isinstance(content, dict) else None


def size_category(rows: int) -> str:
    """Return the Hugging Face hub's category for a number of rows."""
    lower = ""
    for limit, text in ((1_000, "1K"), (10_000, "10K"), (100_000, "100K"), (1_000_000, "1M"), (10_000_000, "10M")):
        if rows < limit:
            return f"{lower}n<{text}"
        lower = f"{text}<"
    return "n>10M"


_TEXT_NOTE = {
    False: "The texts of the films are in this copy.",
    True: "The texts of the films are not in this copy: each turn refers to the sentences of a subtitle file in OPUS.",
}
_SHARING = {
    False: "This copy holds the texts; an export with `publishing.text=references` does not.",
    True: "This copy holds labels and references only.",
}
_LINES = """
The same rows as JSON Lines: `load_dataset("json", data_files={"train": "path/to/this/folder/jsonl/train-*"})`.
"""
_RESTORING = """
## Restoring the texts

Download the same OPUS release of OpenSubtitles in XML, for instance `en.zip`; it need not be unpacked. Read it with
edos-lakehouse, then restore the texts:

```console
python -m jobs run --to ingest_subtitles --set lakehouse.root=mine 'subtitles.sources=[en.zip]'
python -m jobs restore-text --set lakehouse.root=mine publishing.references=path/to/this/folder
```

A dialogue is restored if all its turns have the labelled text, by `text_check`. The others are counted.

"""


def example_row(row: str | None, column: str) -> str:
    """Return a row of an export as a part of its card; "" for an export without rows.

    Args:
        row: as JSON.
        column: its list, of which the first two entries are shown.
    """
    try:
        content = json.loads(row or "")
        entries = content[column]
        content[column] = entries[:2]
    except (ValueError, LookupError, TypeError):
        return ""
    text = json.dumps(content, indent=1, ensure_ascii=False)
    rest = "" if len(entries) <= 2 else f" (two of the {len(entries)} entries of `{column}`)"
    return f"\nA row{rest}; loaders give classes as numbers, whose names are in `features`:\n\n```json\n{text}\n```\n"


def _trust(findings: Findings) -> str:
    known = findings.classifier
    unsure = findings.unsure_share
    measured = (
        f"On held-out turns labelled by people, the classifier's accuracy is "
        f"{100 * known.get('accuracy', 0):.2f} and its macro-F1 {100 * known['macro_f1']:.2f} of 100 "
        "(the paper's classifier: 65.00 and 63.86 on a fifth of its crowd labels)."
        if "macro_f1" in known
        else "The classifier's metrics on held-out turns are not available."
    )
    if unsure is not None:
        measured += f" {percent(unsure)} of the turns have a confidence under 0.5."
    if findings.accepted is None:
        return measured
    share, right = findings.accepted
    return (
        f"{measured} `label_accepted` marks the labels whose confidence reaches a threshold of their own: "
        f"{percent(share)} of the crowd's test turns, of which {percent(right)} are right."
    )


def _trained_on(findings: Findings) -> str:
    """Say which labels of the classifier's training turns are a machine's (EDOS 3.3)."""
    turns = {row["origin"]: int(row["train"] or 0) for row in findings.rows("edos_origins")}
    by_people = turns.get("crowd", 0)
    all_turns = sum(turns.get(origin, 0) for origin in ORIGINS)
    if not all_turns:
        return "The numbers of turns that people and machines labelled for its training are not available."
    machine = ", ".join(f"{shown(turns.get(origin, 0))} {how}" for origin, how in ORIGINS.items() if origin != "crowd")
    return (
        f"It was trained on {shown(by_people)} turns labelled by crowd workers and {shown(all_turns - by_people)} "
        f"({percent((all_turns - by_people) / all_turns)}) labelled by a machine: {machine}."
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    return f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n{table_rows(rows)}"


def table_rows(rows: Any) -> str:
    """Return rows of values as rows of a Markdown table."""
    return "\n".join("| " + " | ".join(_cell(shown(value)) for value in row) + " |" for row in rows)


def _cell(text: str) -> str:
    """Escape a text for a cell of a Markdown table."""
    plain = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")
    return plain.replace("<", "&lt;") if "`" not in plain else plain
