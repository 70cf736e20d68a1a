"""The Croissant 1.1 description of an export, with the fields for responsible AI, and the answers of its datasheet."""

import json
from collections.abc import Iterator, Mapping, Sequence
from string import Template
from typing import Any

import yaml

from conf import resources

CONFORMS_TO = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
TEXT = "sc:Text"
INTEGER = "sc:Integer"
BOOLEAN = "sc:Boolean"
FLOAT = "sc:Float"
ENDINGS = {"parquet": "parquet", "jsonl": "jsonl.gz"}
MEDIA = {"parquet": "application/x-parquet", "jsonl": "application/jsonlines"}

Fields = Mapping[str, Any]
"""Type by column, the row's id first; a list of values is a list of their type, one of structs a mapping itself."""


class Datasheet:
    """The texts of ``conf/publishing/<name>.yaml`` with the facts of an export filled in.

    Attributes:
        rai: fields for responsible AI.
    """

    def __init__(self, name: str, facts: Mapping[str, str]) -> None:
        content = yaml.safe_load(resources.text(f"publishing/{name}.yaml"))
        self.questions = [
            (filled(one["question"], facts), filled(one["answer"], facts)) for one in content["datasheet"]
        ]
        self.rai = {
            key: [filled(text, facts) for text in value] if isinstance(value, list) else filled(value, facts)
            for key, value in content["rai"].items()
        }

    def as_markdown(self) -> str:
        """Return the questions with their answers."""
        return "\n\n".join(f"**{question}**\n{answer}" for question, answer in self.questions)


def filled(text: str, facts: Mapping[str, str]) -> str:
    """Return a text with its $names filled in, in one line."""
    return " ".join(Template(text).substitute(facts).split())


def croissant(
    name: str,
    sheet: Datasheet,
    fields: Fields,
    *,
    licence: str,
    languages: Sequence[str],
    formats: Sequence[str],
    citation: str,
    published: str = "",
) -> str:
    """Return the description as JSON-LD; its record set reads the Parquet files beside it.

    Args:
        sheet: its second answer is the description; texts of the fields for responsible AI.
        licence: SPDX identifier, or ``other``.
        formats: parquet, jsonl.
        citation: BibTeX, or a text.
        published: the day of publication, as YYYY-MM-DD; "" if it is not known.
    """
    content: dict[str, Any] = {
        "@context": json.loads(resources.text("publishing/croissant_context.json")),
        "@type": "sc:Dataset",
        "name": name,
        "description": sheet.questions[1][1],
        "conformsTo": list(CONFORMS_TO),
        "license": licence_url(licence),
        "inLanguage": list(languages),
        "citeAs": citation,
        **({"datePublished": published} if published else {}),
        "version": "1.0.0",
        "isLiveDataset": False,
        **{f"rai:{key}": value for key, value in sheet.rai.items()},
    }
    return with_files(content, fields, formats)


def with_files(content: Mapping[str, Any], fields: Fields, formats: Sequence[str]) -> str:
    """Return a description as text, with the files and record set of an export of these columns."""
    distribution = [
        {
            "@type": "cr:FileSet",
            "@id": kind,
            "name": kind,
            "encodingFormat": MEDIA[kind],
            "includes": f"{kind}/*.{ENDINGS[kind]}",
        }
        for kind in formats
    ]
    record_set = {
        "@type": "cr:RecordSet",
        "@id": "rows",
        "name": "rows",
        "key": {"@id": f"rows/{next(iter(fields))}"},
        "field": [_split(), *_fields("rows", fields)],
    }
    others = {name: value for name, value in content.items() if name not in ("distribution", "recordSet")}
    files = {"distribution": distribution} | ({"recordSet": [record_set]} if "parquet" in formats else {})
    return json.dumps(others | files, indent=1, ensure_ascii=False) + "\n"


def licence_url(licence: str) -> str:
    """Return the page of an SPDX licence, or a text for ``other``."""
    known = f"https://spdx.org/licenses/{licence.upper()}.html"
    return "other: see README.md, Licence" if licence == "other" else known


def _split() -> dict[str, Any]:
    """Return the field of a row's split: the beginning of its file's name."""
    return {
        "@type": "cr:Field",
        "@id": "rows/split",
        "name": "split",
        "dataType": TEXT,
        "source": {
            "fileSet": {"@id": "parquet"},
            "extract": {"fileProperty": "filename"},
            "transform": {"regex": "^(train|validation|test)-.*$"},
        },
    }


def _fields(parent: str, fields: Fields, column: str | None = None) -> Iterator[dict[str, Any]]:
    for name, kind in fields.items():
        field: dict[str, Any] = {"@type": "cr:Field", "@id": f"{parent}/{name}", "name": name}
        if isinstance(kind, Mapping):
            # A list: 1.1 says so with isArray, readers of 1.0 with repeated.
            field |= {"isArray": True, "arrayShape": "-1", "repeated": True}
            field["subField"] = list(_fields(field["@id"], kind, name))
        else:
            source: dict[str, Any] = {"fileSet": {"@id": "parquet"}, "extract": {"column": column or name}}
            if column:
                source["transform"] = {"jsonPath": name}
            if isinstance(kind, list):
                field |= {"isArray": True, "arrayShape": "-1", "repeated": True}
            field |= {"dataType": kind[0] if isinstance(kind, list) else kind, "source": source}
        yield field
