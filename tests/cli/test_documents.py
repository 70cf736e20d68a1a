"""What the documentation says is so: generated parts, commands, targets, settings, tables and SQL."""

import importlib.util
import re
import shlex
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.settings import Settings, load_settings
from conf.taxonomy import load_taxonomy
from etl.analysis.views import all_views
from etl.cli import documents
from etl.cli.bundle import databricks_yaml
from etl.cli.documents import (
    outdated,
    refreshed,
    stage_table,
    table_table,
)
from etl.cli.options import parsed
from etl.tables import TABLES
from jobs import all_stages
from tests.stand_ins import StandIns

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
MAIN_JOB = (
    "find_subtitles", "ingest_subtitles", "choose_uploads", "lemmatize_words", "train_turn_segmenter", "score_turns",
    "segment_dialogues", "clean_dialogues", "train_weak_labeler", "score_weakly", "label_weakly", "select_emotional",
    "collect_annotations", "agree_labels", "gather_training_dialogues", "train_emotion_classifier", "score_dialogues",
    "annotate_dialogues", "describe_dataset",
)  # fmt: skip


def fenced(text: str, language: str) -> list[str]:
    """The contents of a language's fenced blocks."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def spans(text: str) -> list[str]:
    """What stands in backticks within a line, fenced blocks aside."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))


def commands(text: str) -> list[str]:
    """Command lines: those of console blocks, continued lines joined, and those in backticks."""
    blocks = "\n".join(fenced(text, "console")).replace("\\\n", " ")
    return [line.strip() for line in [*blocks.splitlines(), *spans(text)] if line.strip()]


def job_commands(text: str) -> list[list[str]]:
    """The arguments of each ``python -m jobs`` and of each ``spark-submit jobs/__main__.py``."""
    found = []
    for line in commands(text):
        words = shlex.split(line, comments=True) if "jobs" in line else []
        if words[:3] == ["python", "-m", "jobs"]:
            found.append(words[3:])
        for place, word in enumerate(words):
            if words[0] == "spark-submit" and word.startswith("jobs/"):
                assert word == "jobs/__main__.py", line
                found.append(words[place + 1 :])
    return [words for words in found if words]


def test_readme_and_bundle_are_up_to_date() -> None:
    assert outdated() == [], "run python -m etl.cli.documents"


def test_a_changed_table_is_seen(tmp_path: Path) -> None:
    changed = README.replace("One finished EDOS dialogue", "One dialogue")
    assert changed != README
    (tmp_path / "README.md").write_text(changed, "utf-8")
    (tmp_path / "databricks.yml").write_text(databricks_yaml(all_stages()), "utf-8")
    assert outdated(tmp_path) == ["README.md"]
    documents.refresh(tmp_path / "README.md")
    (tmp_path / "databricks.yml").write_text("bundle: {}\n", "utf-8")
    assert outdated(tmp_path) == ["databricks.yml"]
    assert (tmp_path / "README.md").read_text("utf-8") == README


def test_a_readme_without_markers_is_refused() -> None:
    with pytest.raises(InputError, match="between <!-- stages --> and <!-- /stages -->"):
        refreshed("# nothing\n", all_stages())


def test_every_stage_of_the_main_job_is_in_the_table() -> None:
    rows = stage_table(all_stages()).splitlines()
    names = [re.match(r"\| \[(\w+)\]\((jobs/\w+/\w+\.py)\) \|", row) for row in rows]
    found = {match[1]: match[2] for match in names if match}
    assert len(found) == len(all_stages())
    assert set(MAIN_JOB) <= set(found)
    assert all((ROOT / path).is_file() for path in found.values())


def test_rows_have_as_many_cells_as_the_head() -> None:
    for table in (stage_table(all_stages()), table_table(), documents.view_table()):
        rows = [line for line in table.splitlines() if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in rows}) == 1


def test_each_part_is_folded_under_its_number_of_rows() -> None:
    for table in (stage_table(all_stages()), table_table(), documents.view_table()):
        parts = re.findall(r"<details[^>]*><summary>.+? \((\d+)\)</summary>\n\n(.*?)\n\n</details>", table, re.DOTALL)
        assert [int(number) for number, _ in parts] == [len(rows.splitlines()) - 2 for _, rows in parts]
        assert sum(len(rows.splitlines()) for _, rows in parts) == len(re.findall(r"^\|", table, re.MULTILINE))


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_make_targets_exist(text: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {match[1] for line in commands(text) if (match := re.match(r"make ([a-z-]+)", line))}
    assert named and named <= targets


def test_commands_are_understood() -> None:
    known = {stage.name for stage in all_stages()}
    found = job_commands(README)
    assert len(found) > 10
    for arguments in found:
        options = vars(parsed(arguments))
        named = {*(options.get("to") or "").split(","), options.get("start"), options.get("only")} - {"", None}
        assert named <= known
        if "set" in options:
            load_settings(options["profile"], [], [pair for group in options["set"] for pair in group])


def test_settings_files_in_the_readme_are_settings() -> None:
    files = fenced(README, "yaml")
    assert files
    for text in files:
        Settings.model_validate(yaml.safe_load(text))


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_modules_and_files_exist(text: str) -> None:
    for line in commands(text):
        module = re.search(r"python -m ([\w.]+)", line)
        if module is not None:
            assert importlib.util.find_spec(module[1]) is not None, line
    for span in spans(text):
        if re.fullmatch(r"(?:conf|etl|jobs|udfs|tests|notebooks)/[\w./]*", span):
            assert (ROOT / span).exists(), span


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_dotted_names_are_settings_tables_or_views(text: str) -> None:
    known = {*TABLES, *all_views(load_taxonomy("edos"))}
    starts = {*Settings.model_fields, *(name.split(".")[0] for name in known)} - {"spark"}  # Spark's own keys
    for span in spans(text):
        name = re.fullmatch(r"([a-z_]+(?:\.[a-z_]+)+)(?:=.*)?", span)
        if name is None or name[1].split(".")[0] not in starts:
            continue
        assert name[1] in known or is_setting(name[1]), name[1]


def is_setting(key: str) -> bool:
    try:
        default_of(key)
    except AttributeError:
        return False
    return True


def test_the_table_of_settings_shows_the_defaults() -> None:
    part = README.partition("## Settings worth knowing")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+`) \| ([^|]+) \| [^|]+ \|$", part, re.MULTILINE)
    assert len(rows) > 25
    for keys, shown in rows:
        if shown != "by profile":
            assert shown.replace("`", "") == ", ".join(shown_as(default_of(key)) for key in spans(keys)), keys


def default_of(key: str) -> object:
    value: object = Settings()
    for part in key.split("."):
        value = getattr(value, part)
    return value


def shown_as(value: object) -> str:
    """A default as the README writes it."""
    if isinstance(value, bool) or value is None:
        return {None: "none", True: "true", False: "false"}[value]
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def test_sql_examples_fit_the_tables(spark: SparkSession, stand_ins: StandIns) -> None:
    inline = [words[words.index("-e") + 1] for words in job_commands(README) if "-e" in words]
    queries = [*fenced(README, "sql"), *(sql for sql in inline if sql.startswith("SELECT"))]
    assert len(queries) >= 8
    for query in queries:
        assert spark.sql(stand_ins.sql(query).strip().rstrip(";")).columns
