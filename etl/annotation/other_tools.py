"""A batch as tasks of other annotation tools: Label Studio and Potato. ``udfs.answer_files`` reads their answers."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import yaml

from conf.taxonomy import Taxonomy
from etl.annotation.labelling import LABEL, PROMPT, hits_of
from etl.common.spelling import detokenised_text
from udfs.answer_files import OTHER

LABEL_STUDIO = ("label_studio.json", "label_studio.xml")
POTATO = ("potato.jsonl", "potato.yaml")


def tool_files(tasks: Sequence[Mapping[str, Any]], batch_id: str, taxonomy: Taxonomy) -> dict[str, str]:
    """Return the tasks and the configuration of each tool by file name; right answers are in none of them.

    Args:
        tasks: rows of ``edos.annotation_tasks`` or ``edos.audit_tasks``.
        batch_id: of the batch.
        taxonomy: ``edos.taxonomy``.
    """
    contents = (
        json.dumps(label_studio_tasks(tasks, batch_id), ensure_ascii=False, indent=1) + "\n",
        label_studio_config(taxonomy),
        "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in potato_items(tasks)),
        potato_config(batch_id, taxonomy),
    )
    return dict(zip((*LABEL_STUDIO, *POTATO), contents, strict=True))


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
    other = ElementTree.SubElement(
        view,
        "Choices",
        name="other",
        toName="dialogue",
        choice="single-radio",
        visibleWhen="choice-selected",
        whenTagName=LABEL,
        whenChoiceValue=OTHER,
    )
    for name in taxonomy.names:
        ElementTree.SubElement(other, "Choice", value=name)
    ElementTree.SubElement(
        view,
        "TextArea",
        name="own",
        toName="dialogue",
        placeholder="or your own word",
        maxSubmissions="1",
        visibleWhen="choice-selected",
        whenTagName=LABEL,
        whenChoiceValue=OTHER,
    )
    ElementTree.indent(view)
    return ElementTree.tostring(view, "unicode") + "\n"


def potato_items(tasks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one item per line; Potato offers all labels, because its labels are the same for all items."""
    return [
        {"id": f"{hit_id}/{task['item_id']}", "text": [detokenised_text(text) for text in task["turns"]]}
        for hit_id, items in hits_of(tasks)
        for task in items
    ]


def potato_config(batch_id: str, taxonomy: Taxonomy) -> str:
    """Return the configuration with which ``potato start`` shows the items of ``potato.jsonl`` beside it."""
    content = {
        "annotation_task_name": batch_id,
        "task_dir": ".",
        "output_annotation_dir": "annotation_output",
        "output_annotation_format": "jsonl",
        "data_files": [POTATO[0]],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "list_as_text": {"text_list_prefix_type": "number"},
        "user_config": {"allow_all_users": True, "users": []},
        "annotation_schemes": [
            {
                "annotation_type": "radio",
                "name": LABEL,
                "description": PROMPT,
                "labels": list(taxonomy.names),
                "label_requirement": {"required": True},
            }
        ],
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
