"""The generated files follow from the declarations of stages, tables, views and settings."""

from pathlib import Path

from conf.settings import Settings
from etl.cli.chapters import arrows, chapters, picture
from etl.cli.documents import outdated
from etl.cli.setting_texts import leaves
from jobs import all_stages

ROOT = Path(__file__).resolve().parents[2]


def test_generated_files_are_up_to_date() -> None:
    assert list(outdated()) == [], "run python -m etl.cli.documents"


def test_every_setting_has_a_meaning() -> None:
    for section in Settings.model_fields:
        for key, about, _ in leaves(Settings(), section):
            assert about, f"{key} has no description"


def test_arrows_leave_out_what_follows_from_two_others() -> None:
    members = [chapter for chapter in chapters(all_stages()) if chapter.group == "subtitles"]
    found = arrows(members)
    assert ("ingest", "turns") in found
    assert ("ingest", "dialogues") not in found
    assert "  ingest[Ingest]\n" in picture(members)
