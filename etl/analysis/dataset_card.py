"""The dataset card of an export: ``README.md`` with front matter for dataset loaders."""

import json
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

import yaml

from conf import resources
from conf.edos_settings import PublishingSettings
from conf.subtitle_settings import SubtitleSettings
from etl.analysis import croissant
from etl.analysis.croissant import ENDINGS, Datasheet
from etl.analysis.findings import Findings
from etl.analysis.licences import Source
from etl.analysis.pages import percent, shown

SPLITS = ("train", "validation", "test")
CITATION = (
    "Welivita, Xie and Pu: A Large-Scale Dataset for Empathetic Response Generation (EMNLP 2021), whose method this is"
)
_DETAILS = (
    ", `start_ms` and `end_ms`, `certainty` (probability that it is one speaker's, and whole), `border` (what decided "
    "that it opens: start of the film, silence, mark, carried from another upload, model), `border_certainty`, and "
    "`speaker` (name of the label that it opens with)"
)
ORIGINS = {
    "crowd": "by crowd workers",
    "similar": "with the label of a similar crowd-labelled dialogue",
    "self": "self-labelled by an earlier classifier",
    "similar_self": "with the label of a similar self-labelled dialogue",
}
"""Where the labels of training turns come from, in the order of EDOS 3.3."""
INCLUDED = (
    ("dialogue_id", "`<subtitle file>-<its first sentence>`"),
    ("movie_id", "the film's IMDb number"),
    ("language, title, year, genres", "of the film; null where they are not known"),
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


def card(
    findings: Findings,
    publishing: PublishingSettings,
    *,
    rows: Mapping[str, int],
    languages: Sequence[str],
    sources: Sequence[Source] = (),
) -> str:
    """Return the card as Markdown.

    Args:
        findings: views of EDOS and facts of the run.
        publishing: settings of the export; loaders read the first of its formats by default.
        rows: number of dialogues by split.
        languages: language codes.
        sources: parts of the export with their licences.
    """
    name = publishing.name
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
        splits=_rows((split, rows[split]) for split in SPLITS if split in rows),
        lines=_LINES if "jsonl" in formats[1:] else "",
        restoring=_RESTORING if references else "",
        labels=_rows(
            (row["label"], row["kind"], row["turns"], percent(row["share"]), percent(row["paper_share"]))
            for row in findings.rows("edos_label_distribution")
        ),
        trust=_trust(findings),
        audit=_audit(findings),
        confidence=_rows(
            (f"{row['from_confidence']:.1f} to {row['to_confidence']:.1f}", row["turns"], percent(row["share"]))
            for row in findings.rows("edos_confidence")
        ),
        silence=f"{findings.silence_seconds:g}",
        made=_rows(findings.made_with.items()),
        sharing=_SHARING[references],
        sources=_rows((one.source, one.part, one.licence, one.commercial) for one in sources),
        datasheet=datasheet(findings, publishing, rows, languages).as_markdown(),
    )
    head = front_matter(rows, formats, languages, name, licence=publishing.licence)
    return f"---\n{head}---\n\n{text}"


def unfinished_card(
    publishing: PublishingSettings,
    rows: Mapping[str, int],
    subtitles: SubtitleSettings,
    sources: Sequence[Source],
    labels: str,
) -> str:
    """Return the card of dialogues that no emotion classifier has labelled.

    Args:
        publishing, subtitles: settings of the export.
        rows: number of dialogues by split.
        sources: parts of the export with their licences.
        labels: ``weak`` or ``none``.
    """
    references = publishing.text == "references"
    head = front_matter(rows, publishing.formats, subtitles.languages, publishing.name, licence=publishing.licence)
    cleaning = subtitles.cleaning
    certain = "all turns" if cleaning.min_certainty is None else f"turns right with {cleaning.min_certainty:g}"
    parts = (
        f"# {_cell(publishing.name)}: clean dialogues",
        _UNFINISHED[labels] + f" {shown(sum(rows.values()))} dialogues. {_TEXT_NOTE[references]}",
        f"Cleaned by the preset `{cleaning.preset}`, {certain}; `settings.yaml` has all settings that were set.",
        _table(("column", "holds"), REFERRED if references else INCLUDED),
        _table(("split", "dialogues"), [(split, rows[split]) for split in SPLITS if split in rows]),
        _table(
            ("source", "part", "licence", "commercial use"),
            [(one.source, one.part, one.licence, one.commercial) for one in sources],
        ),
    )
    return f"---\n{head}---\n\n" + "\n\n".join(parts) + "\n"


_UNFINISHED = {
    "weak": "The labels are those of a weak labeler of single sentences (EDOS 3.1), no final ones.",
    "none": "The turns have no labels.",
}


def described(
    findings: Findings, publishing: PublishingSettings, rows: Mapping[str, int], languages: Sequence[str]
) -> str:
    """Return the Croissant file of an export: the card's facts for programs."""
    sheet = datasheet(findings, publishing, rows, languages)
    fields = croissant.EDOS_REFERENCES if publishing.text == "references" else croissant.EDOS
    return croissant.croissant(
        publishing.name,
        sheet.questions[1][1],
        sheet,
        fields,
        licence=publishing.licence,
        languages=languages,
        formats=publishing.formats,
        citation=CITATION,
    )


def datasheet(
    findings: Findings, publishing: PublishingSettings, rows: Mapping[str, int], languages: Sequence[str]
) -> Datasheet:
    """Return the answers to a datasheet's questions, for the card and the Croissant file."""
    facts = {
        "dialogues": shown(sum(rows.values())),
        "films": shown(findings.films),
        "turns": shown(findings.turns),
        "taxonomy": findings.taxonomy.in_words(),
        "silence": f"{findings.silence_seconds:g}",
        "languages": ", ".join(languages),
        "sharing": _SHARING[publishing.text == "references"],
        "trained_on": _trained_on(findings),
        "quality": _trust(findings),
        "audit": _audit(findings).partition("\n")[0],
    }
    return Datasheet("edos", facts)


def front_matter(
    rows: Mapping[str, int],
    formats: Sequence[str],
    languages: Sequence[str],
    name: str,
    *,
    licence: str = "other",
    tags: Sequence[str] = ("emotion", "empathy", "dialogue", "subtitles"),
) -> str:
    """Return the card's YAML: licence, size, and the first format's files by split.

    A loader reads one format of a folder by default. The others must be named.
    """
    kind = formats[0]
    files_of = [{"split": split, "path": f"{kind}/{split}-*.{ENDINGS[kind]}"} for split in SPLITS if split in rows]
    content: dict[str, Any] = {
        "pretty_name": name,
        "language": list(languages),
        "license": licence,
        "task_categories": ["text-classification", "text-generation"],
        "tags": list(tags),
        "size_categories": [size_category(sum(rows.values()))],
        "configs": [{"config_name": "default", "data_files": files_of}],
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def restored_card(before: str, rows: Mapping[str, int], formats: Sequence[str], languages: Sequence[str]) -> str:
    """Return the card of an export with restored texts, from the card of the export with references."""
    body = before.split("\n---\n", 1)[-1].strip()
    head = front_matter(rows, formats, languages, "edos")
    return f"---\n{head}---\n\n> The texts of this copy were restored. The rest describes the copy without.\n\n{body}\n"


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
    return measured + ("" if unsure is None else f" {percent(unsure)} of the turns have a confidence under 0.5.")


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


def _audit(findings: Findings) -> str:
    rows = [row for row in findings.rows("edos_audit") if row.get("grouped_by") != "class and band"]
    if not rows:
        return "No sample of the finished labels has been checked by people yet."
    names = [name for name in rows[0] if name not in ("place", "batch_id")]
    table = _table([name.replace("_", " ") for name in names], [[row[name] for name in names] for row in rows])
    return f"A sample of finished turns, checked by people:\n\n{table}"


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    return f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n{_rows(rows)}"


def _rows(rows: Any) -> str:
    return "\n".join("| " + " | ".join(_cell(shown(value)) for value in row) + " |" for row in rows)


def _cell(text: str) -> str:
    """Escape a text for a cell of a Markdown table."""
    plain = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")
    return plain.replace("<", "&lt;") if "`" not in plain else plain
