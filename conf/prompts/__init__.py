"""Prompts, read from the text files beside this module: ``{name}`` is a slot that a rule fills."""

import re
from functools import cache
from importlib.resources import files

SLOT = re.compile(r"\{(\w+)\}")


@cache
def prompt(name: str) -> str:
    """The template ``conf/prompts/<name>.txt``, without the file's last line end."""
    return files("conf").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")


def slots(template: str) -> set[str]:
    """The names of a template's slots."""
    return set(SLOT.findall(template))
