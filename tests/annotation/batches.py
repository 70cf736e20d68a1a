"""Small batches to build pages from."""

from typing import Any

from etl.annotation.batch import Batch, Choice, Hit, Item, Line, Panel, Question


def task(hit: str, position: int, **more: Any) -> dict[str, Any]:
    """A row of ``edos.annotation_tasks``."""
    return {
        "hit_id": hit,
        "position": position,
        "item_id": f"i{hit}{position}",
        "dialogue_id": f"77-{position}",
        "turn": 1,
        "turns": ["Where were you ?", f"I 'm so sorry , number {position} ."],
        "options": ["guilty", "sad", "ashamed"],
        "quiz_label": None,
        "label": "guilty",
        "confidence": 0.93,
        "band": "0.9",
    } | more


def many_kinds(post_to: str | None = None) -> Batch:
    """A batch that asks every kind of question of two items."""
    levels = tuple(Choice(value=str(n), text=f"{n} of 3") for n in range(4))
    questions = (
        Question(id="context", kind="reveal", prompt="I consulted the context"),
        Question(
            id="fits",
            kind="several",
            prompt="Which of these fit?",
            none="none",
            most=2,
            options=tuple(Choice(value=value, text=value) for value in ("joy", "fear", "anger", "none")),
        ),
        Question(
            id="fluency",
            kind="scale",
            prompt="How fluent is it?",
            options=levels,
            section="The whole",
            note="0 is broken,\n3 is as people speak.",
        ),
        Question(
            id="better",
            kind="compare",
            prompt="Which comforts more?",
            options=tuple(Choice(value=value, text=value) for value in ("left", "right", "tie")),
        ),
        Question(
            id="mood",
            kind="pick",
            prompt="Which mood?",
            required=False,
            options=tuple(Choice(value=value, text=value.upper()) for value in ("calm", "upset")),
        ),
        Question(id="notes", kind="text", prompt="Notes", required=False, most=80),
    )
    panels = tuple(
        Panel(title=title, lines=(Line(who="A", text=f"{title} says hello"),)) for title in ("Left", "Right")
    )
    items = tuple(Item(id=f"i{n}", panels=panels, hidden=f"The story of {n}") for n in (1, 2))
    return Batch(
        batch_id="b1",
        title="Compare",
        unit="Pair",
        introduction=("Compare two.",),
        questions=questions,
        post_to=post_to,
        hits=(Hit(id="h1", items=items),),
    )
