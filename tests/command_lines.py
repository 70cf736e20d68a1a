"""Command lines as the program reads them."""

from collections.abc import Sequence
from typing import Any

import click

from etl.cli.commands import program, spread


def parsed(arguments: Sequence[str]) -> dict[str, Any]:
    """The options of a command line, by the name of the argument that gets them."""
    name, *own = spread(arguments)
    command = program.get_command(click.Context(program), name)
    assert command is not None
    return command.make_context(name, own).params


def shown(*words: str) -> str:
    """What ``--help`` shows."""
    context = click.Context(program, info_name="edos-lakehouse")
    command = program.get_command(context, words[0]) if words else program
    assert command is not None
    return command.get_help(
        click.Context(command, parent=context if words else None, info_name=words[0] if words else None)
    )
