"""The fixed texts that are said in place of a model's, with the help that there is in a country (AugESC, ethics)."""

import csv

from conf.resources import text as resource
from conf.safety_settings import ANY_COUNTRY, HOTLINES
from conf.wordlists import cased_words


def chat_notice(country: str | None = None) -> str:
    """Return the notice at the start of a chat: a machine, under supervision, no help in an emergency."""
    return _filled("chat_notice", country)


def danger_answer(country: str | None = None) -> str:
    """Return the answer to a line that mentions danger, with the help that there is in a country."""
    return _filled("danger_answer", country)


def state_answer(country: str | None = None) -> str:
    """Return the answer to every line after one that mentioned danger."""
    return _filled("danger_state", country)


def withheld_reply(country: str | None = None) -> str:
    """Return what is said in place of a model's line that mentions danger or could do harm."""
    return _filled("withheld_reply", country)


def _filled(name: str, country: str | None) -> str:
    """Return the text ``conf/safety/<name>.txt`` with a country's numbers."""
    rows = {row["country"]: row for row in csv.DictReader(resource(HOTLINES).splitlines())}
    numbers = rows[country or ANY_COUNTRY]
    lines = "\n".join(cased_words(f"safety/{name}"))
    return lines.format(emergency=numbers["emergency"], people=numbers["people"])
