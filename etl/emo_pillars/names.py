"""Short names in answers, such as those of topics (Emo Pillars H)."""

from etl.emo_pillars.answers import problem_of, words_of
from etl.emo_pillars.quotes import unquoted


def bare_name(text: str) -> str:
    """Return a name without quotation marks around it and a full stop behind it."""
    return unquoted(text.strip().rstrip(".")).rstrip(".").strip()


def problem_of_name(text: str, template: str, most: int) -> str | None:
    """Return why a text is no name of at most ``most`` words; None if it is one."""
    return problem_of(text, template) or ("too_long" if len(words_of(text)) > most else None)
