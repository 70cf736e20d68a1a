"""What README, CONTRIBUTING and the pages under docs/ print is so: commands, options, settings, names, links, SQL."""

import importlib.util
import re
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from conf.settings import Settings, load_settings
from conf.taxonomy import load_taxonomy
from etl.cli.setting_texts import shown
from etl.pipeline.tables import TABLES
from etl.publishing.views import all_views
from jobs import all_stages
from tests.command_lines import parsed
from tests.pages import PAGES, ROOT, commands, fenced, job_commands, queries, spans
from tests.stand_ins import StandIns

every_page = pytest.mark.parametrize("page", sorted(PAGES))


@every_page
def test_make_targets_exist(page: str) -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {match[1] for line in commands(PAGES[page]) if (match := re.match(r"make ([a-z0-9-]+)", line))}
    assert named <= targets


@every_page
def test_commands_are_understood(page: str) -> None:
    known = {stage.name for stage in all_stages()}
    for arguments in job_commands(PAGES[page]):
        if "--help" in arguments:
            continue
        options = parsed(arguments)
        named = {*(options.get("to") or "").split(","), options.get("start"), options.get("only")} - {"", None}
        assert named <= known
        if "overrides" in options:
            load_settings(options["profile"], [], options["overrides"])


@every_page
def test_settings_files_are_settings(page: str) -> None:
    for text in fenced(PAGES[page], "yaml"):
        Settings.model_validate(yaml.safe_load(text))


@every_page
def test_modules_and_files_exist(page: str) -> None:
    for line in commands(PAGES[page]):
        module = re.search(r"python -m ([\w.]+)", line)
        if module is not None:
            assert importlib.util.find_spec(module[1]) is not None, line
    for span in spans(PAGES[page]):
        if re.fullmatch(r"(?:conf|etl|jobs|udfs|tests|notebooks)/[\w./]*", span):
            assert (ROOT / span).exists(), span


@every_page
def test_links_lead_to_files(page: str) -> None:
    for target in re.findall(r"(?:\]\(|src=\"|srcset=\")([^)\"#]+)", PAGES[page]):
        path = ((ROOT / page).parent / target).resolve()
        if "://" not in target:
            assert path.exists(), target


@every_page
def test_links_within_a_page_lead_to_headings(page: str) -> None:
    headings = re.findall(r"^#+ (.+)$", PAGES[page], re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGES[page])) <= anchors


@every_page
def test_dotted_names_are_settings_tables_or_views(page: str) -> None:
    known = {*TABLES, *all_views(load_taxonomy("edos"))}
    starts = {*Settings.model_fields, *(name.split(".")[0] for name in known)} - {"spark"}  # Spark's own keys
    for span in spans(PAGES[page]):
        name = re.fullmatch(r"([a-z_]+(?:\.[a-z_]+)+)(?:=.*)?", span)
        is_file = span.endswith((".md", ".py", ".sql", ".ipynb", ".csv"))
        if name is None or name[1].split(".")[0] not in starts or is_file:
            continue
        assert name[1] in known or is_setting(name[1]), name[1]


def is_setting(key: str) -> bool:
    try:
        default_of(key)
    except AttributeError:
        return False
    return True


def test_the_page_of_deviations_shows_the_defaults() -> None:
    rows = re.findall(r"^\|[^|]+\|[^|]+\| (`[^|]+`) \|$", PAGES["docs/deviations.md"], re.MULTILINE)
    given = [span.split("=", 1) for row in rows for span in re.findall(r"`([^`]+)`", row)]
    assert len(given) > 35
    for key, value in given:
        assert shown(default_of(key)) == value, key


def default_of(key: str) -> Any:
    value: Any = Settings()
    for part in key.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.long
def test_sql_fits_the_tables(spark: SparkSession, stand_ins: StandIns) -> None:
    found = [query for text in PAGES.values() for query in queries(text)]
    assert len(found) >= 25
    for query in found:
        assert spark.sql(stand_ins.sql(query).strip().rstrip(";")).columns, query
