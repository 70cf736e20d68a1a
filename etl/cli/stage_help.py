"""A stage as a command, whose help shows what it reads, writes and depends on."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from conf.section import Counts
from conf.settings import Settings
from etl.cli.setting_texts import leaves, shown
from etl.pipeline.stages import Model, Stage

MOST_SETTINGS = 12
"""Settings of one section that help lists; of larger ones it names the section."""


class StageCommand(click.Command):
    """The command that runs a stage."""

    def __init__(self, stage: Stage, callback: Callable[..., Any], options: Sequence[click.Parameter]) -> None:
        super().__init__(stage.name, callback=callback, params=list(options), help=stage.about)
        self.stage = stage

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write inputs, models, output, and settings with their defaults."""
        for title, names in facts(self.stage).items():
            with formatter.section(title):
                formatter.write_dl([(name, about) for name, about in names])


def facts(stage: Stage) -> dict[str, list[tuple[str, str]]]:
    """Return (name, what it is) of what a stage reads, uses, writes and depends on, by title."""
    outside = [f"the files of {key}" for key in stage.keys(Counts.FILES)]
    if stage.fingerprint and not outside:
        outside = ["the sources"]
    written = stage.writes
    made = f"models.{written.name}" if isinstance(written, Model) else getattr(written, "name", stage.shows)
    found = {
        "Reads": [*((table.name, "") for table in stage.reads), *((one, "") for one in outside)],
        "Uses": [(f"models.{model.name}", "") for model in stage.models],
        "Writes": [(made, "")],
        "Settings (default)": list(_settings(stage)),
    }
    return {title: names for title, names in found.items() if names}


def _settings(stage: Stage) -> Iterator[tuple[str, str]]:
    for key in [*stage.keys(Counts.VALUE, Counts.FILES), *([stage.enabled_if] if stage.enabled_if else [])]:
        own = list(leaves(Settings(), key))
        if len(own) > MOST_SETTINGS:
            yield f"{key}.*", f"{len(own)} settings (docs/settings.md)"
            continue
        for name, about, value in own:
            yield f"{name} ({shown(value)})", about
