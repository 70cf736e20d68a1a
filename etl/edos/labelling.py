"""Make the page's batch for EDOS's labelling task: choose the last statement's label (EDOS 3.2, Figure 4)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from conf.errors import InputError
from conf.taxonomy import Taxonomy
from etl.annotation.batch import Batch, Hit, Item, Lesson, Line, Panel, Question, choice
from etl.annotation.hits import batch_id_of, hits_of
from etl.common.spelling import detokenised_text

CROWD = "crowd"
"""The purpose of EDOS's own batches, in folders and keys."""
LABEL = "label"
PROMPT = "Select the correct label for the above statement, taking into account the context of the whole dialog."
INTRODUCTION = (
    "You will read short dialogs, most of them from films. Say of the last statement, in bold, which emotion or "
    "which intent it shows. Three labels are offered. If none of them fits, choose Other and pick one from the list, "
    "or write your own word.",
    "Go by the whole dialog and your own feeling for the language; there is no need to think long. Some of the "
    "statements are tests. What you have done is saved after each step.",
)


def labelling_batch(tasks: Sequence[Mapping[str, Any]], taxonomy: Taxonomy, post_to: str | None = None) -> Batch:
    """Return the page's batch. It does not contain quiz labels, models' labels or dialogue ids.

    Args:
        tasks: rows of ``edos.annotation_tasks``.

    Raises:
        InputError: the URL is invalid.
    """
    if post_to is not None and not re.match(r"^https?://[^\s'\";<>]+$", post_to):
        raise InputError(f"edos.annotation.post_to: {post_to!r} is not an http or https address")
    question = Question(
        id=LABEL,
        kind="choice",
        prompt=PROMPT,
        other=tuple(map(choice, taxonomy.names)),
        own_words=True,
        from_tutorial=True,
    )
    lessons = tuple(
        Lesson(value=one.label, name=one.label.capitalize(), about=one.about, example=one.example)
        for one in taxonomy.labels
    )
    return Batch(
        batch_id=batch_id_of(tasks),
        title="Annotate dialog emotions",
        introduction=INTRODUCTION,
        questions=(question,),
        tutorial=lessons,
        post_to=post_to,
        hits=tuple(Hit(id=name, items=tuple(map(_item, rows))) for name, rows in hits_of(tasks)),
    )


def _item(task: Mapping[str, Any]) -> Item:
    lines = tuple(Line(text=detokenised_text(turn)) for turn in task["turns"])
    return Item(
        id=task["item_id"], panels=(Panel(lines=lines, ask_last=True),), options=tuple(map(choice, task["options"]))
    )
