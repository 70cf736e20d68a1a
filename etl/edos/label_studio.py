"""A batch as tasks of Label Studio, whose answers ``udfs.answer_files`` reads."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from conf.taxonomy import Taxonomy
from etl.annotation.hits import hits_of
from etl.common.spelling import detokenised_text
from etl.edos.labelling import LABEL, PROMPT
from udfs.answer_files import OTHER


def label_studio_files(tasks: Sequence[Mapping[str, Any]], batch_id: str, taxonomy: Taxonomy) -> dict[str, str]:
    """Return the tasks and the labelling interface by file name; right answers are in neither.

    Args:
        tasks: rows of ``edos.annotation_tasks``.
        taxonomy: ``edos.taxonomy``.
    """
    return {
        "label_studio.json": json.dumps(label_studio_tasks(tasks, batch_id), ensure_ascii=False, indent=1) + "\n",
        "label_studio.xml": label_studio_config(taxonomy),
    }


def label_studio_tasks(tasks: Sequence[Mapping[str, Any]], batch_id: str) -> list[dict[str, Any]]:
    """Return one task per item; the labels offered are those of the item, and Other."""
    found = []
    for hit_id, items in hits_of(tasks):
        for task in items:
            lines = [
                {"author": str(place), "text": detokenised_text(text)} for place, text in enumerate(task["turns"], 1)
            ]
            options = [{"value": label} for label in (*task["options"], OTHER)]
            ids = {"batch_id": batch_id, "hit_id": hit_id, "item_id": task["item_id"]}
            found.append({"data": {**ids, "dialogue": lines, "options": options}})
    return found


def label_studio_config(taxonomy: Taxonomy) -> str:
    """Return the labelling interface: the dialogue, the offered labels, and under Other all labels and a text field."""
    view = ElementTree.Element("View")
    ElementTree.SubElement(
        view, "Paragraphs", name="dialogue", value="$dialogue", layout="dialogue", nameKey="author", textKey="text"
    )
    ElementTree.SubElement(view, "Header", value=PROMPT)
    ElementTree.SubElement(
        view, "Choices", name=LABEL, toName="dialogue", value="$options", choice="single-radio", required="true"
    )
    below_other = {"visibleWhen": "choice-selected", "whenTagName": LABEL, "whenChoiceValue": OTHER}
    radio = {"name": "other", "toName": "dialogue", "choice": "single-radio"}
    other = ElementTree.SubElement(view, "Choices", radio | below_other)
    for name in taxonomy.names:
        ElementTree.SubElement(other, "Choice", value=name)
    own = {"name": "own", "toName": "dialogue", "placeholder": "or your own word", "maxSubmissions": "1"}
    ElementTree.SubElement(view, "TextArea", own | below_other)
    ElementTree.indent(view)
    return ElementTree.tostring(view, "unicode") + "\n"
