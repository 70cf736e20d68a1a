"""The page ``docs/benchmarks.md``, made from the results that are kept as JSON."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks.harness import Result

HEAD = """# Benchmarks

Made by `make bench` from `tests/benchmarks/results.json`; do not edit by hand. `make bench ONLY=reading,embeddings`
measures these parts again and replaces only their sections. Each figure is the median of alternating rounds (ours, the
peer, ours, the peer, ...) on the same data. A ratio above 1 means that ours is faster. Speeds depend on the machine, so
compare ratios rather than seconds.

`OPENBLAS_CORETYPE` and `OPENBLAS_L2_SIZE` are removed from the environment first: if a machine's image sets them, numpy
may choose slower kernels than the processor has.
"""
TABLE = "| work | ours | peer | peer's figure | ratio | aim | reached | before |\n|---|---|---|---|---|---|---|---|"


def merged(kept: Mapping[str, Any], new: Mapping[str, Any], order: list[str]) -> dict[str, Any]:
    """Put new results in the place of those of the same names, all in the given order."""
    both = {**kept, **new}
    return {name: both[name] for name in [*order, *sorted(set(both) - set(order))] if name in both}


def write_page(target: Path, store: Path, new: Mapping[str, Any], order: list[str]) -> None:
    """Merge results into those that are stored, and write the page."""
    kept = json.loads(store.read_text(encoding="utf-8")) if store.is_file() else {}
    results = merged(kept, new, order)
    store.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    target.write_text(page(results), encoding="utf-8")


def page(results: Mapping[str, Any]) -> str:
    """The whole page in Markdown."""
    return "\n".join([HEAD, *(section(Result.from_json(saved)) for saved in results.values())])


def section(result: Result) -> str:
    """One benchmark's part of the page."""
    lines = [f"## {result.title}", "", result.measured, "", f"Data: {result.data}", "", TABLE]
    for row in result.rows:
        reached = {True: "yes", False: "**no**", None: ""}[row.reached]
        cells = (row.work, row.ours, row.peer, row.theirs, row.shown, row.aim, reached, row.before)
        lines.append("| " + " | ".join(cells) + " |")
    if any(row.reached is False for row in result.rows):
        lines += ["", f"Why an aim was missed: {result.cause or 'not looked into yet.'}"]
    return "\n".join([*lines, "", _machine(result), ""])


def _machine(result: Result) -> str:
    found = result.machine
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    instructions = ", ".join(found["instructions"]) or "no vector instructions known"
    return (
        f"`{result.command}`, {result.date}. {found['cpu']}, {found['cores']} cores, {instructions}, "
        f"{found['memory_gib']} GiB of memory. Python {found['python']}, {versions}."
    )
