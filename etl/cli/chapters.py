"""The chapters of the pipeline, one module under ``jobs/`` each, and their picture in Mermaid."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass

from etl.pipeline.planner import feeds
from etl.pipeline.stages import Stage


@dataclass(frozen=True)
class Chapter:
    """One module under ``jobs/``."""

    module: str
    stages: tuple[Stage, ...]

    @property
    def group(self) -> str:
        return self.stages[0].group

    @property
    def name(self) -> str:
        return self.module.rpartition(".")[2]

    @property
    def about(self) -> str:
        """The first line of the module's docstring."""
        return (importlib.import_module(self.module).__doc__ or "").strip().partition("\n")[0]


def chapters(stages: Sequence[Stage]) -> list[Chapter]:
    """Return the chapters of stages, in the order of their first stages."""
    own: dict[str, list[Stage]] = {}
    for stage in stages:
        own.setdefault(stage.module, []).append(stage)
    return [Chapter(module, tuple(members)) for module, members in own.items()]


def arrows(members: Sequence[Chapter]) -> list[tuple[str, str]]:
    """Return (from, to) by name of chapters that read each other's tables, without what follows from two others."""
    direct = {
        (first.name, second.name)
        for first in members
        for second in members
        if first is not second and any(feeds(one, other) for one in first.stages for other in second.stages)
    }
    further = set(direct)
    for _ in members:
        further |= {(first, last) for first, middle in further for also, last in direct if middle == also}
    return sorted(
        (first, last)
        for first, last in direct
        if not any((first, between) in further and (between, last) in further for _, between in direct)
    )


def picture(members: Sequence[Chapter]) -> str:
    """Return a Mermaid block: a box for each chapter, dashed where its stages run only when they are named."""
    lines = ["```mermaid", "flowchart LR"]
    lines += [f"  {chapter.name}[{chapter.name.replace('_', ' ').capitalize()}]" for chapter in members]
    lines += [f"  {first} --> {last}" for first, last in arrows(members)]
    manual = [chapter.name for chapter in members if all(stage.manual for stage in chapter.stages)]
    lines += [f"  style {name} stroke-dasharray: 5 4" for name in manual]
    return "\n".join([*lines, "```"])
