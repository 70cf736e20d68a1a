"""Prompts, read from the text files beside this module: ``{name}`` is a slot that a rule fills."""

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from conf.errors import InputError
from conf.resources import stored, text

SLOT = re.compile(r"\{(\w+)\}")
TEMPLATE = ".txt"
LEFT_OUT = frozenset({"start"})
"""Slots that a user's prompt may do without."""
MOST_CHARACTERS = 100_000


def prompt(name: str) -> str:
    """Return the template ``conf/prompts/<name>.txt``, without the file's last line end."""
    return text(f"prompts/{name}{TEMPLATE}").rstrip("\n")


def slots(template: str) -> set[str]:
    """Return the names of a template's slots."""
    return set(SLOT.findall(template))


def templates_of(folder: str) -> list[str]:
    """Return the steps that have a template in a folder under ``conf/prompts``, sorted; see ``step_of``."""
    known = {file.name for file in files(__package__).joinpath(folder).iterdir() if file.name.endswith(TEMPLATE)}
    return sorted({step_of(name, known) for name in known})


def replaced_prompts(folder: str, ours: str) -> dict[str, dict[str, str]]:
    """Read a user's prompts, each of which replaces ours of the same name.

    Args:
        folder: of the user's files; other files than templates are ignored.
        ours: our folder under ``conf/prompts``.

    Returns:
        By step, the contents by file name. A step's files begin with its name: ``utterances_shared.txt``.

    Raises:
        InputError: the folder or a file cannot be read, no file has a name of ours, or slots are missing or unknown.
    """
    known = {file.name for file in files(__package__).joinpath(ours).iterdir()}
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"{folder} is not a folder: copy conf/prompts/{ours} and change it")
    found = {file.name: file for file in sorted(place.iterdir()) if file.suffix == TEMPLATE}
    if not found:
        raise InputError(f"{folder} has no prompt: name its files as {', '.join(sorted(known))}")
    if strange := sorted(found.keys() - known):
        raise InputError(f"{folder} has {', '.join(strange)}: none of {', '.join(sorted(known))}")
    read = {name: _content(file) for name, file in found.items()}
    if faults := [*_faults(read, ours)]:
        raise InputError("; ".join(faults))
    steps: dict[str, dict[str, str]] = {}
    for name, content in read.items():
        steps.setdefault(step_of(name, known), {})[name] = content
    return steps


def replaced_instruction(path: str) -> str:
    """Read a user's text that stands in place of one of ours without slots.

    Raises:
        InputError: the file cannot be read or is empty, or it has slots, which nothing would fill.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{path} is not a file: copy conf/prompts/augesc.txt and change it")
    content = _content(file)
    if strange := sorted(slots(content)):
        raise InputError(f"{path} has {_in_braces(strange)}, which nothing fills in: write it without braces")
    return content


def step_of(name: str, known: set[str]) -> str:
    """Return the step of a file: its name without the ending, and without the form of a second template."""
    stem = name.rpartition(".")[0]
    plain = stem.rpartition("_")[0]
    return plain if f"{plain}{TEMPLATE}" in known else stem


def _content(file: Path) -> str:
    try:
        content = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read as UTF-8 ({type(error).__name__})") from None
    if not content.strip():
        raise InputError(f"{file} is empty: delete it to use ours")
    if len(content) > MOST_CHARACTERS:
        raise InputError(f"{file} has more than {MOST_CHARACTERS:,} characters")
    return content.rstrip("\n")


def _faults(read: Mapping[str, str], ours: str) -> Iterator[str]:
    """Yield what is wrong with the slots of each template."""
    for name, content in read.items():
        needed = slots(stored(f"prompts/{ours}/{name}"))
        if missing := sorted(needed - slots(content) - LEFT_OUT):
            yield f"{name} lacks {_in_braces(missing)}"
        if unknown := sorted(slots(content) - needed):
            yield f"{name} has {_in_braces(unknown)}, which nothing fills: it may have {_in_braces(sorted(needed))}"


def _in_braces(names: list[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)
