"""The dataset card and the Croissant fields of EDOS's export."""

import json
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

import yaml

from conf import resources
from etl.common.splits import SPLITS, Split, split_faults
from etl.edos.findings import EdosFindings
from etl.edos.origins import Origins
from etl.edos.settings import PublishingSettings
from etl.publishing import croissant
from etl.publishing.croissant import BOOLEAN, FLOAT, INTEGER, TEXT, Datasheet, Fields
from etl.publishing.dataset_card import (
    About,
    Features,
    cell,
    citation,
    example_row,
    measured_limits,
    table,
    table_rows,
)
from etl.publishing.licences import LicensedPart
from etl.publishing.pages import percent, shown

METHOD = "edos"
NO_FILMS: Mapping[str, int] = {}
_FILM_FIELDS: Fields = {"year": INTEGER, "genres": [TEXT], "certainty": FLOAT}
_TURN_FIELDS: Fields = {
    "label": TEXT,
    "confidence": FLOAT,
    "label_accepted": BOOLEAN,
    "start_ms": INTEGER,
    "end_ms": INTEGER,
    "certainty": FLOAT,
    "border": TEXT,
    "border_certainty": FLOAT,
    "speaker": TEXT,
}
EDOS: Fields = {
    "dialogue_id": TEXT,
    "movie_id": TEXT,
    "language": TEXT,
    **_FILM_FIELDS,
    "turns": {"text": TEXT, **_TURN_FIELDS},
}
EDOS_REFERENCES: Fields = {
    "dialogue_id": TEXT,
    "movie_id": TEXT,
    "release": TEXT,
    "language": TEXT,
    "subtitle_id": TEXT,
    "source_path": TEXT,
    **_FILM_FIELDS,
    "turns": {"sentence_first": INTEGER, "sentence_last": INTEGER, "text_check": TEXT, **_TURN_FIELDS},
}

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
INCLUDED = (
    ("dialogue_id", "`<subtitle file>-<its first sentence>`"),
    ("movie_id", "$film"),
    ("language, year, genres", "of the film; null where they are not known"),
    ("certainty", "probability that all borders of the dialogue are right"),
    ("turns", f"list of `text`, `label`, `confidence` (0 to 1, 4 decimals){_DETAILS}"),
)
REFERRED = (
    *INCLUDED[:2],
    ("release, language, subtitle_id", "$upload"),
    ("source_path", "the path that it was read from"),
    *INCLUDED[2:4],
    (
        "turns",
        "list of `sentence_first` and `sentence_last` (numbers of the file's sentences, from 0, both inclusive), "
        "`text_check` (first 12 digits of the text's sha256), `label`, `confidence`" + _DETAILS,
    ),
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


def card(
    findings: EdosFindings,
    publishing: PublishingSettings,
    *,
    rows: Mapping[str, int],
    languages: Sequence[str],
    films: Mapping[str, int] = NO_FILMS,
    sources: Sequence[LicensedPart] = (),
    example: str | None = None,
) -> str:
    """Return the card as Markdown.

    Args:
        findings: views of EDOS and facts of the run.
        publishing: settings of the export; loaders read the first of its formats by default.
        films: number of films by split; {}: unknown.
        sources: parts of the export with their licences.
    """
    name = publishing.name
    origins = findings.origins
    splits = {split: Split(rows.get(split, 0), films[split]) for split in films}
    about = about_edos(findings, publishing, rows, languages)
    references = publishing.text == "references"
    formats = publishing.formats
    template = Template(resources.text("publishing/card.md"))
    text = template.substitute(
        name=cell(name),
        dialogues=shown(sum(rows.values())),
        films=shown(findings.films),
        turns=shown(findings.turns),
        taxonomy=findings.taxonomy.in_words(),
        preset=findings.promise,
        choice=findings.choice,
        text_note=_TEXT_NOTE[references],
        columns=_columns(REFERRED if references else INCLUDED, origins),
        splits=table_rows((split, rows.get(split, 0), films.get(split)) for split in SPLITS),
        faults="".join(f" Here {fault}." for fault in split_faults(splits) if films),
        measured="\n".join(f"- {limit}" for limit in measured_limits()),
        lines=_LINES if "jsonl" in formats[1:] else "",
        restoring=_RESTORING if references else "",
        example=example_row(example, "turns"),
        citation=citation(name, METHOD, origins.not_cited),
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
        rights=origins.rights,
        sharing=_SHARING[references],
        sources=table_rows((one.source, one.part, one.licence, one.commercial) for one in sources),
        datasheet=about.datasheet,
    )
    return about.card(text)


def about_edos(
    findings: EdosFindings, publishing: PublishingSettings, rows: Mapping[str, int], languages: Sequence[str]
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
        "source": findings.origins.source,
        "raw": findings.origins.raw,
        "sharing": _SHARING[references],
        "preset": findings.promise,
        "choice": findings.choice,
        "trained_on": _trained_on(findings),
        "quality": _trust(findings),
    }
    features = Features(EDOS_REFERENCES if references else EDOS, findings.taxonomy.names)
    sheet = Datasheet(METHOD, facts)
    return About(
        publishing.name,
        METHOD,
        rows,
        publishing.formats,
        languages,
        publishing.licence,
        features,
        sheet,
        not_cited=findings.origins.not_cited,
    )


def _columns(rows: Sequence[tuple[str, str]], origins: Origins) -> str:
    told = {"film": origins.film, "upload": origins.upload}
    return table(("column", "holds"), [(name, Template(holds).substitute(told)) for name, holds in rows])


def restored_card(before: str, rows: Mapping[str, int], formats: Sequence[str], languages: Sequence[str]) -> str:
    """Return the card of an export with restored texts, from the card of the export with references.

    The set keeps its name. Its licence is ``other``, because nobody here can license the texts of films.

    Args:
        before: that card.
        formats: parquet, jsonl.
    """
    body = before.split("\n---\n", 1)[-1].strip()
    features = Features(EDOS, label_names(before))
    about = About(set_name(before), METHOD, rows, formats, languages, "other", features)
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
    return croissant.with_files(content, EDOS, formats) if isinstance(content, dict) else None


_TEXT_NOTE = {
    False: "The texts of the films are in this copy.",
    True: "The texts of the films are not in this copy: each turn refers to the sentences of a subtitle file.",
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


def _trust(findings: EdosFindings) -> str:
    known = findings.classifier
    unsure = findings.unsure_share
    size = f" It was trained from {findings.size}." if findings.size else ""
    measured = (
        f"On held-out turns labelled by people, the classifier's accuracy is "
        f"{100 * known.get('accuracy', 0):.2f} and its macro-F1 {100 * known['macro_f1']:.2f} of 100 "
        "(the paper's, on another fifth and from BERT-base with RoBERTa's weights: 65.00 and 63.86)." + size
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


def _trained_on(findings: EdosFindings) -> str:
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
