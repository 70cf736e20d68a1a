"""The stages as declared: a table of contents that holds together."""

import importlib
import runpy
from pathlib import Path

from conf.settings import load_settings
from etl.lakehouse.pipeline import all_stages, feeds
from etl.lakehouse.stage import REGISTRY, setting
from etl.lakehouse.tables import TABLES, Table

JOBS = Path(__file__).resolve().parents[2] / "jobs"


def test_every_job_file_declares_the_stage_of_its_name() -> None:
    files = {path.stem for path in JOBS.glob("*/*.py") if path.stem != "__init__"}
    assert files == {stage.name for stage in all_stages()}


def test_job_files_are_short() -> None:
    for path in JOBS.glob("*/*.py"):
        assert len(path.read_text().splitlines()) <= 60, path


def test_every_table_is_made_by_one_stage() -> None:
    made = [stage.writes.name for stage in all_stages() if isinstance(stage.writes, Table)]
    assert len(made) == len(set(made))
    own = {name for name in TABLES if not name.startswith("ops.") and name != "subtitles.quarantine"}
    assert own == set(made)


def test_stages_come_after_what_they_read() -> None:
    stages = all_stages()
    for place, stage in enumerate(stages):
        for later in stages[place + 1 :]:
            assert not feeds(later, stage), (later.name, stage.name)


def test_declared_settings_exist() -> None:
    settings = load_settings("local")
    for stage in all_stages():
        for key in (*stage.settings, *stage.inputs):
            setting(settings, key)


def test_a_job_imported_as_main_registers_once(monkeypatch) -> None:
    before = dict(REGISTRY)
    importlib.import_module("jobs.subtitles.choose_uploads")
    runpy.run_path(str(JOBS / "subtitles" / "choose_uploads.py"), run_name="not_main")
    assert set(REGISTRY) == set(before) | {"choose_uploads"}
