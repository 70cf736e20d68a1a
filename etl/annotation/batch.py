"""The model of a batch for the annotation page: HITs with items, and the questions about each item.

Batches are independent of the papers. They serve crowd labelling and other human evaluations.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

FORMAT: Final = "edos-lakehouse batch 1"


class PageModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Choice(PageModel):
    """An option: the stored value and the shown text."""

    value: str = Field(min_length=1, max_length=100)
    text: str = Field(min_length=1, max_length=300)


class Question(PageModel):
    """A question about every item of a batch.

    Attributes:
        id: name of the question in the answers.
        kind: ``choice``: one of the options; ``several``: some of them; ``scale``: one of ordered options, such as
            0 to 3; ``pick``: one option of a drop-down list; ``compare``: a win, a loss or a tie between two panels;
            ``reveal``: a button that shows the item's ``hidden`` part and records its use; ``text``: free text.
        options: for ``choice`` and ``several``, the item's options are used if empty.
        other: for ``choice``: further options under an option Other.
        own_words: for ``choice``: whether Other also takes free text, which is kept as given.
        none: for ``several``: the option that excludes all others.
        required: whether an answer is required before the next item.
        from_tutorial: whether to show the tutorial's examples of the offered options.
        most: greatest number of options for ``several``, and of characters for ``text``.
        section: heading of this and the following questions.
        note: explanation below the prompt, with examples.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    kind: Literal["choice", "several", "scale", "pick", "compare", "reveal", "text"]
    prompt: str = Field(min_length=1, max_length=1000)
    options: tuple[Choice, ...] = ()
    other: tuple[Choice, ...] = ()
    own_words: bool = False
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


class Line(PageModel):
    text: str = Field(max_length=5000)
    who: str | None = Field(None, max_length=100)


class Panel(PageModel):
    """Lines that are shown together. Two panels are shown side by side. ``ask_last`` highlights the last line."""

    lines: tuple[Line, ...]
    title: str | None = None
    ask_last: bool = False


class Item(PageModel):
    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    panels: tuple[Panel, ...] = Field(min_length=1, max_length=3)
    options: tuple[Choice, ...] = ()
    hidden: str | None = Field(None, description="shown when a question of kind reveal asks for it")


class Hit(PageModel):
    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    items: tuple[Item, ...] = Field(min_length=1)


class Lesson(PageModel):
    """An entry of the tutorial: an option, what it means, an example."""

    value: str
    name: str
    about: str
    example: str


class Batch(PageModel):
    """The content of one page. It must not contain right answers, which workers could read."""

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
        _check_unique("question", (question.id for question in self.questions))
        _check_unique("HIT", (hit.id for hit in self.hits))
        for hit in self.hits:
            _check_unique(f"item of HIT {hit.id}", (item.id for item in hit.items))
        return self


def _check_unique(kind: str, ids: Iterable[str]) -> None:
    for one, number in Counter(ids).items():
        if number > 1:
            raise ValueError(f"{kind} {one} appears twice")


def choice(label: str) -> Choice:
    """Return a label as an option: stored as in the taxonomy, shown with a capital."""
    return Choice(value=label, text=label.capitalize())
