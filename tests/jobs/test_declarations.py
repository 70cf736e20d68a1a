"""The stages as declared: a table of contents that holds together."""

import re
import runpy
from pathlib import Path

import pytest

from conf.section import Counts
from conf.settings import load_settings
from etl import DATA_SETS
from etl.pipeline.planner import feeds, in_order
from etl.pipeline.stage_run import StageRun
from etl.pipeline.stages import REGISTRY, setting
from etl.pipeline.stages import stage as stage_of
from etl.pipeline.tables import TABLES, Table
from jobs import all_stages

JOBS = Path(__file__).resolve().parents[2] / "jobs"


def test_chapters_are_in_the_order_of_the_data() -> None:
    names = [stage.name for stage in all_stages()]
    for path in JOBS.glob("*/*.py"):
        declared = [name for name in re.findall(r"^def (\w+)\(", path.read_text(), re.MULTILINE) if name in names]
        for place, name in enumerate(declared):
            for later in declared[place + 1 :]:
                assert not feeds(REGISTRY[later], REGISTRY[name]), (later, name)


def test_every_table_is_made_by_one_stage() -> None:
    made = [stage.writes.name for stage in all_stages() if isinstance(stage.writes, Table)]
    assert len(made) == len(set(made))
    own = {name for name in TABLES if not name.startswith("ops.") and name != "subtitles.quarantine"}
    own -= {name for name, table in TABLES.items() if table.by_command}
    assert own == set(made)


def test_stages_come_after_what_they_read() -> None:
    stages = all_stages()
    for place, stage in enumerate(stages):
        for later in stages[place + 1 :]:
            assert not feeds(later, stage), (later.name, stage.name)


def test_declared_settings_exist() -> None:
    settings = load_settings("local")
    for stage in all_stages():
        for key in stage.keys(*Counts):
            setting(settings, key)


def test_a_chapter_loaded_by_another_path_registers_once(tmp_path: Path) -> None:
    before = dict(REGISTRY)
    chapter = JOBS / "subtitles" / "turns.py"
    copy = tmp_path / "packed.zip" / "jobs" / "subtitles" / "turns.py"
    copy.parent.mkdir(parents=True)
    copy.write_text(chapter.read_text())
    for path, name in ((chapter, "__main__"), (copy, "not_main")):
        runpy.run_path(str(path), run_name=name)
    assert before == REGISTRY


def test_one_name_for_two_stages_is_refused() -> None:
    def train_turn_segmenter(run: StageRun) -> None:
        """Do something else."""

    with pytest.raises(ValueError, match=r"declared in jobs\.subtitles\.turns and again in tests\."):
        stage_of(writes=None)(train_turn_segmenter)


def test_the_order_does_not_depend_on_the_order_of_declarations() -> None:
    stages = all_stages()
    assert in_order(reversed(stages), DATA_SETS) == stages
