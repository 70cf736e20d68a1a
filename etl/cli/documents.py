"""Write the reference under ``docs/`` and its picture of the pipeline from the declarations.

    python -m etl.cli.documents [--check]

writes the files that differ from the declarations of stages, tables, views and settings; with ``--check`` nothing is
written and the exit status is 1 where a file is out of date.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from conf.taxonomy import load_taxonomy
from etl.analysis.views import all_views
from etl.cli.pipeline_picture import THEMES, pipeline_svg
from etl.cli.reference import DATA_SETS, settings_page, stages_page, tables_page, views_page
from etl.tables.view_columns import columns_of_views, identity_of
from jobs import all_stages

ROOT = Path(__file__).resolve().parents[2]


def generated() -> dict[str, str]:
    """Return the text of each generated file by its path in the repository."""
    stages = all_stages()
    columns = _columns()
    pictures = {f"docs/pipeline-{theme}.svg": pipeline_svg(stages, DATA_SETS, theme) for theme in THEMES}
    return {
        "docs/stages.md": stages_page(stages),
        "docs/tables.md": tables_page(),
        "docs/views.md": views_page(columns),
        "etl/tables/view_columns.json": _stored(columns),
        "docs/settings.md": settings_page(),
        **pictures,
    }


def _columns() -> dict[str, list[str]]:
    """Return the names of each view's columns, from DuckDB; as they were written last where it is not installed."""
    if not _duckdb_is_there():
        known = columns_of_views()
        return {name: known.get(name, []) for name in all_views(load_taxonomy("edos"))}
    from etl.analysis.without_spark import view_columns

    return view_columns(load_taxonomy("edos"))


def _stored(columns: Mapping[str, Sequence[str]]) -> str:
    """Return the file of the views' columns: each with the identity of the query that they are of."""
    if not _duckdb_is_there():
        return (ROOT / "etl/tables/view_columns.json").read_text("utf-8")
    views = all_views(load_taxonomy("edos"))
    rows = {
        name: {"query": identity_of(sql), "columns": list(columns[name])} for name, (_, sql) in sorted(views.items())
    }
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    return f"{{\n{lines}\n}}\n"


def _duckdb_is_there() -> bool:
    return all(map(find_spec, ("duckdb", "sqlglot")))


def outdated(root: Path = ROOT) -> list[str]:
    """Return the paths of the files that differ from the declarations."""
    return list(_stale(root))


def _stale(root: Path) -> dict[str, str]:
    def is_written(path: str, text: str) -> bool:
        return (root / path).is_file() and (root / path).read_text("utf-8") == text

    return {path: text for path, text in generated().items() if not is_written(path, text)}


def write(root: Path = ROOT) -> list[str]:
    """Write the files that are out of date; return their paths."""
    stale = _stale(root)
    for path, text in stale.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return list(stale)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m etl.cli.documents", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file is out of date")
    if parser.parse_args(arguments).check:
        stale = outdated()
        if stale:
            print(f"out of date: {', '.join(stale)}: run python -m etl.cli.documents", file=sys.stderr)
        return int(bool(stale))
    written = write()
    print(f"written: {', '.join(written)}" if written else "all files are up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
