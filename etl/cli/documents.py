"""Generate the README's tables and ``databricks.yml`` from the declarations of stages, tables and views.

    python -m etl.cli.documents [--check]

rewrites the README's parts between ``<!-- name -->`` and ``<!-- /name -->`` and the whole of ``databricks.yml``;
with ``--check`` nothing is written and the exit status is 1 where one of them is out of date.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from conf.errors import InputError
from conf.taxonomy import load_taxonomy
from etl.analysis.views import all_views
from etl.cli.bundle import databricks_yaml
from etl.pipeline.stages import Model, Stage
from etl.tables import TABLES
from jobs import all_stages

ROOT = Path(__file__).resolve().parents[2]


GROUPS = {
    "subtitles": "Subtitles into dialogues",
    "edos": "EDOS",
    "replies": "Response generators",
    "emo_pillars": "Emo Pillars",
    "augesc": "AugESC",
}
"""Folders under ``jobs/``, schemas, and beginnings of views' names; what is in none of them comes last."""
_OTHERS = "Runs, what was left out, answers of language models"
_FOLD = "<details{opened}><summary>{title} ({number})</summary>\n\n{table}\n\n</details>"


def stage_table(stages: Iterable[Stage]) -> str:
    """Return Markdown tables of the stages, one per data set: stage, inputs, output, description."""
    return _folded(
        ("stage", "reads", "writes", "in words"),
        ((stage.group, (_link(stage), _reads(stage), _writes(stage), stage.title)) for stage in stages),
    )


def table_table() -> str:
    """Return Markdown tables of the registry's tables, one per data set: name, meaning of a row, key."""
    return _folded(
        ("table", "one row", "key"),
        (
            (table.name.split(".")[0], (f"`{table.name}`", table.comment, ", ".join(table.key)))
            for table in TABLES.values()
        ),
    )


def view_table() -> str:
    """Return Markdown tables of the views, one per data set: name and comment."""
    return _folded(
        ("view", "shows"),
        ((_data_set(name), (f"`{name}`", comment)) for name, (comment, _) in all_views(load_taxonomy("edos")).items()),
    )


def _data_set(view: str) -> str:
    """Return the data set of a view, which begins its name."""
    own = view.removeprefix("analysis.").replace("reply_", "replies_")
    return next((group for group in GROUPS if own.startswith(f"{group}_")), "")


def refreshed(text: str, stages: Sequence[Stage]) -> str:
    """Return the README's text with its generated parts refreshed.

    Raises:
        InputError: a pair of markers is not there.
    """
    for name, part in (("stages", stage_table(stages)), ("tables", table_table()), ("views", view_table())):
        start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        before, opened, rest = text.partition(start)
        _, closed, after = rest.partition(end)
        if not opened or not closed:
            raise InputError(f"README has no part between {start} and {end}: put the two lines where it belongs")
        text = f"{before}{start}\n{part}\n{end}{after}"
    return text


def refresh(readme: Path) -> bool:
    """Write the README's generated parts; return whether anything changed."""
    return _write(readme, refreshed(readme.read_text("utf-8"), all_stages()))


def outdated(root: Path = ROOT) -> list[str]:
    """Return the names of the files that differ from the declarations."""
    stages = all_stages()
    readme, bundle = root / "README.md", root / "databricks.yml"
    text = readme.read_text("utf-8")
    found = [] if refreshed(text, stages) == text else [readme.name]
    known = bundle.is_file() and bundle.read_text("utf-8") == databricks_yaml(stages)
    return found if known else [*found, bundle.name]


def main(arguments: Sequence[str] | None = None) -> int:
    """Rewrite or check; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m etl.cli.documents", description=_first_line(__doc__ or ""))
    parser.add_argument("--check", action="store_true", help="write nothing; fail where something is out of date")
    if parser.parse_args(arguments).check:
        stale = outdated()
        if stale:
            print(f"out of date: {', '.join(stale)}: run python -m etl.cli.documents", file=sys.stderr)
        return int(bool(stale))
    changed = {
        "README.md": refresh(ROOT / "README.md"),
        "databricks.yml": _write(ROOT / "databricks.yml", databricks_yaml(all_stages())),
    }
    for name, new in changed.items():
        print(f"{name}: {'written' if new else 'up to date'}")
    return 0


def _link(stage: Stage) -> str:
    return f"[{stage.name}]({stage.module.replace('.', '/')}.py)"


def _reads(stage: Stage) -> str:
    tables = [f"`{table.name}`" for table in stage.reads]
    outside = [f"files of `{key}`" for key in stage.inputs] or (["the sources"] if stage.fingerprint else [])
    return ", ".join([*tables, *outside, *(f"model {model.name}" for model in stage.models)])


def _writes(stage: Stage) -> str:
    if stage.writes is None:
        return stage.shows
    return f"model {stage.writes.name}" if isinstance(stage.writes, Model) else f"`{stage.writes.name}`"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0].strip()


def _folded(head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return a table for each group, collapsed except for the first two."""
    by_group: dict[str, list[Sequence[str]]] = {group: [] for group in [*GROUPS, ""]}
    for group, row in rows:
        by_group[group if group in GROUPS else ""].append(row)
    return "\n".join(
        _FOLD.format(
            opened=" open" if group in list(GROUPS)[:2] else "",
            title=GROUPS.get(group, _OTHERS), number=len(own), table=_markdown(head, own),
        )
        for group, own in by_group.items()
        if own
    )  # fmt: skip


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _write(path: Path, text: str) -> bool:
    if path.is_file() and path.read_text("utf-8") == text:
        return False
    path.write_text(text, "utf-8")
    return True


if __name__ == "__main__":
    sys.exit(main())
