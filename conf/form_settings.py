"""Settings of a questionnaire: where it is written, and which answers count."""

from pydantic import Field

from conf.section import Part, fixed, outside


class FormPosting(Part):
    """The location of a questionnaire's files."""

    folder: str | None = Field(None, description="of the exported files; null: annotation/ beside the tables")
    post_to: str | None = Field(None, description="URL that the page sends answers to; null: it offers a download")


class FormAnswers(Part):
    """The rules by which answers to a questionnaire are counted."""

    batches: tuple[str, ...] = outside((), description="key files of the batches sent out, or folders of them")
    answers: tuple[str, ...] = outside((), description="the page's answer files (.json, .jsonl, .csv), or folders")
    known_raters: tuple[str, ...] = Field((), description="workers whose answers count; empty: all")
    keep_half_done: bool = Field(False, description="also count answers of unfinished tasks")


class FormSettings(FormAnswers, FormPosting):
    """A questionnaire on the annotation page: its location and the rules for its answers."""

    seed: int = fixed(13, description="of what is drawn, and of its order")
