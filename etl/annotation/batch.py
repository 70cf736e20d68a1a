"""What the annotation page asks: a batch of HITs, each item with what is shown and the questions asked of it.

The page knows nothing of a paper: labels for the crowd, an audit, or another human evaluation are batches.
"""

from collections.abc import Iterable
from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

FORMAT: Final = "edos-lakehouse batch 1"


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Choice(Part):
    """One option: what is stored, and what is shown."""

    value: str = Field(min_length=1, max_length=100)
    text: str = Field(min_length=1, max_length=300)


class Question(Part):
    """One question, asked of every item of a batch.

    Attributes:
        id: names it in the answers.
        kind: ``choice`` one of the options; ``several`` some of them; ``scale`` one of ordered options, such as
            0 to 3; ``pick`` one of many, from a list that opens; ``compare`` a win, a loss or a tie between what two
            panels show; ``reveal`` a button that uncovers the item's ``hidden`` part and tells that it was used;
            ``text`` free words.
        prompt: what is asked.
        options: for ``choice`` and ``several`` the item's own when empty.
        other: for ``choice``: further options behind one called Other.
        none: for ``several``: the option that excludes all others.
        required: whether the next item waits for an answer.
        from_tutorial: show the tutorial's examples of the offered options.
        most: for ``several`` the most that may be chosen, for ``text`` the most characters.
        section: a heading over this and the following questions, until another begins.
        note: what the question means, with examples, below the prompt.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    kind: Literal["choice", "several", "scale", "pick", "compare", "reveal", "text"]
    prompt: str = Field(min_length=1, max_length=1000)
    options: tuple[Choice, ...] = ()
    other: tuple[Choice, ...] = ()
    none: str | None = None
    required: bool = True
    from_tutorial: bool = False
    most: int | None = Field(None, ge=1)
    section: str | None = Field(None, max_length=100)
    note: str | None = Field(None, max_length=2000)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.kind in ("scale", "pick", "compare") and len(self.options) < 2:
            raise ValueError(f"question {self.id} of kind {self.kind} needs options of its own")
        if self.kind in ("reveal", "text") and self.options:
            raise ValueError(f"question {self.id} of kind {self.kind} has no options")
        if self.none is not None and self.none not in {option.value for option in self.options}:
            raise ValueError(f"question {self.id}: {self.none!r} is not among its options")
        return self


class Line(Part):
    text: str = Field(max_length=5000)
    who: str | None = Field(None, max_length=100)


class Panel(Part):
    """Lines that are shown together; two panels stand side by side. ``ask_last`` marks the last as asked about."""

    lines: tuple[Line, ...]
    title: str | None = None
    ask_last: bool = False


class Item(Part):
    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    panels: tuple[Panel, ...] = Field(min_length=1, max_length=3)
    options: tuple[Choice, ...] = ()
    hidden: str | None = Field(None, description="shown when a question of kind reveal asks for it")


class Hit(Part):
    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    items: tuple[Item, ...] = Field(min_length=1)


class Lesson(Part):
    """An entry of the tutorial: an option, what it means, an example."""

    value: str
    name: str
    about: str
    example: str


class Batch(Part):
    """All that one page holds. Right answers have no place in it: whoever answers could read them."""

    format: Literal["edos-lakehouse batch 1"] = FORMAT
    batch_id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    title: str
    unit: str = Field("Dialog", description="what the page calls an item")
    introduction: tuple[str, ...]
    questions: tuple[Question, ...] = Field(min_length=1)
    tutorial: tuple[Lesson, ...] = ()
    post_to: str | None = Field(None, pattern=r"^https?://[^\s'\";<>]+$")
    hits: tuple[Hit, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        _once("question", (question.id for question in self.questions))
        _once("HIT", (hit.id for hit in self.hits))
        for hit in self.hits:
            _once(f"item of HIT {hit.id}", (item.id for item in hit.items))
        return self


def _once(what: str, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise ValueError(f"{what} {one} is there twice")
        seen.add(one)
