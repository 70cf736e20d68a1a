"""Fill the slots of a prompt's template, with texts from outside made safe."""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from conf.prompts import SLOT
from etl.llm.requests import TEMPLATE_MARK


def filled(template: str, slots: Mapping[str, Column]) -> Column:
    """Fill a template's slots. Braces in a slot's text are not interpreted.

    Raises:
        KeyError: a slot of the template is missing.
    """
    pieces = SLOT.split(template)  # text, slot, text, slot, ..., text
    return F.concat(*(F.lit(piece) if place % 2 == 0 else slots[piece] for place, piece in enumerate(pieces)))


def as_data(text: Column) -> Column:
    """Return a text that is safe in a prompt (ours), with the marks of chat templates and our line of equal signs
    broken up."""
    text = F.regexp_replace(text, TEMPLATE_MARK, "$1 ")
    return F.regexp_replace(text, "={5,}", "====")
