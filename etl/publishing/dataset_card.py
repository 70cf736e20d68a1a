"""The dataset card of an export: ``README.md`` with front matter for dataset loaders."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

import yaml

from conf import resources
from etl.common.splits import SPLITS
from etl.publishing import croissant
from etl.publishing.croissant import ENDINGS, Datasheet, Fields
from etl.publishing.pages import shown

LICENCE_NAME = "licences-of-the-sources"
"""What ``other`` is called on the hub: the card's section on the licence has the licence of each source."""
DIALOGUES = "dialogues"
"""Configuration of an export for loaders: a row is a dialogue."""
_TYPES = {
    croissant.TEXT: "string",
    croissant.INTEGER: "int32",
    croissant.FLOAT: "float32",
    croissant.BOOLEAN: "bool",
}


@dataclass(frozen=True)
class Features:
    """The types of an export's columns, as the hub's loaders read them.

    Attributes:
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
    """The facts about an export that its card and its Croissant file state.

    Attributes:
        method: edos, emo_pillars or augesc.
        formats: parquet, jsonl; loaders read the first one by default, the others must be named.
        licence: SPDX identifier, or ``other``.
        sheet: answers to a datasheet's questions; None for a copy whose text is there.
        not_cited: keys of entries of the method's citation that do not concern this set.
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
    not_cited: Sequence[str] = ()

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
            citation=citation(self.name, self.method, self.not_cited),
            published=published,
        )


def citation(name: str, method: str, without: Sequence[str] = ()) -> str:
    """Return what to cite, as BibTeX: the method, the sources, and this set.

    Args:
        method: edos, emo_pillars or augesc.
        without: keys of entries that are left out.
    """
    text = Template(resources.text(f"publishing/{method}_citation.txt")).substitute(name=name)
    entries = re.split(r"\n(?=@)", text.strip())
    return "\n".join(one for one in entries if one.partition("{")[2].partition(",")[0] not in without)


def measured_limits() -> list[str]:
    """Return what was measured of borders and labels on films, each in one paragraph."""
    return [" ".join(text.split()) for text in yaml.safe_load(resources.text("publishing/limits.yaml"))]


def size_category(rows: int) -> str:
    """Return the Hugging Face hub's category for a number of rows."""
    lower = ""
    for limit, text in ((1_000, "1K"), (10_000, "10K"), (100_000, "100K"), (1_000_000, "1M"), (10_000_000, "10M")):
        if rows < limit:
            return f"{lower}n<{text}"
        lower = f"{text}<"
    return "n>10M"


def example_row(row: str | None, column: str) -> str:
    """Return a row of an export as a part of its card; "" for an export without rows.

    Args:
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


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    return f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n{table_rows(rows)}"


def table_rows(rows: Any) -> str:
    """Return rows of values as rows of a Markdown table."""
    return "\n".join("| " + " | ".join(cell(shown(value)) for value in row) + " |" for row in rows)


def cell(text: str) -> str:
    """Escape a text for a cell of a Markdown table."""
    plain = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")
    return plain.replace("<", "&lt;") if "`" not in plain else plain
