"""Prompts, read from the text files beside this module: ``{name}`` is a slot that a rule fills."""

import re

from conf.resources import text

SLOT = re.compile(r"\{(\w+)\}")


def prompt(name: str) -> str:
    """The template ``conf/prompts/<name>.txt``, without the file's last line end."""
    return text(f"prompts/{name}.txt").rstrip("\n")


def grammar(name: str) -> str:
    """The grammar ``conf/prompts/<name>.gbnf``; its ``{name}`` are slots, other braces are repetitions."""
    return text(f"prompts/{name}.gbnf")


def slots(template: str) -> set[str]:
    """The names of a template's slots."""
    return set(SLOT.findall(template))
