"""Write the reference pages of ``docs/`` from the declarations: stages, tables, views and settings."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from conf.section import Counts
from conf.settings import PROFILES, Settings, load_settings
from conf.taxonomy import load_taxonomy
from etl.cli.chapters import chapters, picture
from etl.cli.presets import preset_rows, smaller_rows
from etl.cli.setting_texts import leaves, shown
from etl.edos.presets import PROMISES
from etl.pipeline.stages import Model, Stage, setting
from etl.pipeline.tables import TABLES
from etl.publishing.views import all_views

DATA_SETS = {
    "subtitles": "Subtitles into dialogues",
    "edos": "EDOS",
    "replies": "Response generators",
    "emo_pillars": "Emo Pillars",
    "augesc": "AugESC",
}
"""Titles by folder under ``jobs/``, by schema, and by the beginning of a view's name; others come last."""
_OTHERS = "Runs, dropped rows, answers of language models"
T = TypeVar("T")
_NOTE = "<!-- Written by `python -m etl.cli.documents` from the declarations: change those, not this page. -->"


def stages_page(stages: Sequence[Stage]) -> str:
    """Return the page of all stages: a table for each chapter, with inputs, output and description."""
    parts = [
        "# Stages",
        _NOTE,
        "Stages in the order in which they run, by data set and by chapter (one module under `jobs/`). `python -m jobs "
        "STAGE --help` shows the settings that a stage depends on. Stages marked *named* run only when you name them, "
        "or when a stage that you name needs them; `python -m jobs run` runs the others. In pictures an arrow leads "
        "from a chapter to one that reads its tables; chapters whose stages are all *named* have a dashed border.",
    ]
    every = chapters(stages)
    for group, title in DATA_SETS.items():
        members = [chapter for chapter in every if chapter.group == group]
        parts += [f"## {title}", picture(members)]
        for chapter in members:
            path = f"{chapter.module.replace('.', '/')}.py"
            rows = [
                (f"`{stage.name}`", _reads(stage), _writes(stage), stage.title, "named" if stage.manual else "run")
                for stage in chapter.stages
            ]
            parts += [f"### [{path}](../{path})", chapter.about, _markdown(_STAGE_HEAD, rows)]
    return _page(parts)


_STAGE_HEAD = ("stage", "reads", "writes", "what it does", "runs")


def tables_page() -> str:
    """Return the page of all tables: what a row is, its key, and every column with type and comment."""
    parts = [
        "# Tables",
        _NOTE,
        "Every table is a Delta table. Without a catalog, `edos.dialogues` is the folder "
        "`<lakehouse.root>/edos/dialogues`. The key of a table is unique; its columns are in bold.",
    ]
    for title, own in _by_data_set(TABLES.values(), lambda table: table.name.split(".")[0]):
        index = [(f"[`{table.name}`](#{table.name.replace('.', '')})", table.comment) for table in own]
        parts += [f"## {title}", _markdown(("table", "one row"), index)]
        for table in own:
            rows = [
                (f"**{name}**" if name in table.key else name, f"`{kind}`", comment)
                for name, kind, comment in table.described
            ]
            parts += [f"### {table.name}", table.comment, _markdown(("column", "type", "meaning"), rows)]
    return _page(parts)


def views_page() -> str:
    """Return the page of all views: name, comment and columns."""
    parts = [
        "# Views",
        _NOTE,
        "Views are there by name in `make sql` and `python -m jobs sql`, in Spark and in DuckDB, with the same rows; "
        "`DESCRIBE EXTENDED` in Spark and `duckdb_columns()` in DuckDB have these comments too. Their queries are "
        "`etl/*/views/<view>.sql`. A view over tables that were not made yet is left out; `ops.dropped` and "
        "`subtitles.quarantine` are empty until something is dropped. Turns and sentences count from 0. Views named "
        "`..._paper_...` hold a paper's printed "
        "table. Views that compare with a paper have its numbers in columns named `paper_...`.",
    ]
    views = all_views(load_taxonomy("edos"))
    for title, own in _by_data_set(sorted(views), _data_set):
        index = [(f"[`{name}`](#{name.replace('.', '')})", views[name].comment) for name in own]
        parts += [f"## {title}", _markdown(("view", "shows"), index)]
        for name in own:
            columns = _markdown(("column", "meaning"), views[name].columns.items())
            parts += [f"### {name}", views[name].comment, columns]
    return _page(parts)


def _data_set(view: str) -> str:
    """Return the data set of a view, which begins its name."""
    own = view.removeprefix("analysis.").replace("reply_", "replies_")
    return next((group for group in DATA_SETS if own.startswith((f"{group}_", f"{group}."))), "")


def settings_page() -> str:
    """Return the page of all settings: key, default, values of the profiles, meaning."""
    parts = [
        "# Settings",
        _NOTE,
        "Settings are laid over each other: the defaults below, the profile (`--profile`), each `--config FILE`, each "
        "`--set section.key=value`. An unknown key or a bad value stops the command with its name. *ours* marks a "
        "choice that the paper leaves open; `EDOS 3.1` and the like name the section that a value comes from.",
    ]
    profiles = {name: load_settings(name) for name in PROFILES}
    for section in Settings.model_fields:
        rows = [_setting_row(key, field, value, profiles) for key, field, value in leaves(Settings(), section)]
        parts += [f"## {section}", _markdown(_SETTING_HEAD, rows)]
    return _page(parts)


def presets_page() -> str:
    """Return the page of the presets of EDOS: their settings side by side, and what the profile ``local`` changes."""
    promises = [(f"`{name}`", f"{promise[0].upper()}{promise[1:]}.") for name, promise in PROMISES.items()]
    return _page(
        [
            "# Presets",
            _NOTE,
            "`edos.preset` names one of three sets of settings; reports, cards and summaries say which one they are "
            "of. A preset is laid over the profile, `--config FILE` and `--set` over the preset. What the choices "
            "mean: [EDOS](edos.md#named-sets-and-the-choice). Where they leave the paper: [deviations](deviations.md).",
            _markdown(("preset", "promise"), promises),
            "## Settings side by side",
            "All settings that a preset sets; the [others](settings.md) are the same in the three. Where the profile "
            "`local` has another value in a preset, it stands beside. `trusted` also learns from the transcripts of "
            "`subtitles.turn_examples` and the comments of `emo_pillars.goemotions` (`edos.emotion_transcripts`), "
            "unless other files are named.",
            _markdown(("setting", *(f"`{name}`" for name in PROMISES), "meaning"), preset_rows()),
            "## What the profile local makes smaller",
            "The papers' numbers are the defaults, which the profiles `emr` and `databricks` keep. `local` is for a "
            "machine without a graphics card; a run says in its log what it uses of this. Rates, warm-ups and "
            "poolings belong to the smaller encoder. Where a preset sets one of these settings, its value is above.",
            _markdown(("section", "papers", "local"), smaller_rows()),
        ]
    )


_SETTING_HEAD = ("setting", "default", "meaning")


def _setting_row(key: str, meaning: str, value: Any, profiles: dict[str, Settings]) -> tuple[str, str, str]:
    others: dict[str, list[str]] = {}
    for profile, settings in profiles.items():
        own = setting(settings, key)
        if own != value:
            others.setdefault(shown(own), []).append(profile)
    by_profile = [f"{', '.join(names)}: `{own}`" for own, names in others.items()]
    return f"`{key}`", "; ".join([f"`{shown(value)}`", *by_profile]), meaning


def _reads(stage: Stage) -> str:
    tables = [f"`{table.name}`" for table in stage.reads]
    outside = [f"files of `{key}`" for key in stage.keys(Counts.FILES)] or (
        ["the sources"] if stage.fingerprint else []
    )
    return ", ".join([*tables, *outside, *(f"model {model.name}" for model in stage.models)])


def _writes(stage: Stage) -> str:
    if stage.writes is None:
        return stage.shows
    return f"model {stage.writes.name}" if isinstance(stage.writes, Model) else f"`{stage.writes.name}`"


def _by_data_set(items: Iterable[T], group_of: Callable[[T], str]) -> list[tuple[str, list[T]]]:
    """Return the items under the titles of their data sets, in the order of the data sets."""
    by_group: dict[str, list[T]] = {group: [] for group in [*DATA_SETS, ""]}
    for item in items:
        group = group_of(item)
        by_group[group if group in DATA_SETS else ""].append(item)
    return [(DATA_SETS.get(group, _OTHERS), own) for group, own in by_group.items() if own]


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    """Return a cell's text with bars escaped, and outside of backticks the signs that begin an HTML tag."""
    spans = text.replace("|", "\\|").split("`")
    return "`".join(span if place % 2 else span.replace("<", "&lt;") for place, span in enumerate(spans))


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"
