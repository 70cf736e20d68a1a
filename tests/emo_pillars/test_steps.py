"""A step is one module and its template: its tables, stages, settings and part of the export follow."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.llm_settings import DecodingSettings
from conf.settings import load_settings
from etl.emo_pillars.answers import Parsed, Rejected
from etl.emo_pillars.step import REQUEST_COLUMN, Asked, Rules, Step
from etl.emo_pillars.steps import NAMING, STEPS, SYNTHESIS, clean_contexts
from etl.llm.requests import with_answers
from etl.pipeline import RowAccounting
from etl.pipeline.tables import TABLES
from jobs import all_stages

REPOSITORY = Path(__file__).resolve().parents[2]
MODULE = '''
"""The emotions that a rewritten utterance names."""

from pyspark.sql import functions as F

from etl.emo_pillars.answers import Parsed
from etl.emo_pillars.step import FAULTS_COLUMN, MAPPED, REQUEST_COLUMN, Asked, Step
from etl.emo_pillars.steps import rewrites
from etl.emo_pillars.tables import EXAMPLES
from etl.llm.prompt_texts import as_data
from pyspark.sql import DataFrame


def ask(rewrites: DataFrame, examples: DataFrame) -> Asked:
    """Ask for the emotions that each rewritten utterance names."""
    units = rewrites.select("utterance_id", "rewritten").join(examples, "utterance_id")
    return Asked(units, {"rewritten": as_data(F.col("rewritten"))})


def read(answer, cut_off, rules, given):
    """Parse the emotions, one per line."""
    return Parsed([(line, line, False, []) for line in answer.splitlines() if line in rules.names], [])


STEP = Step(
    name="emotions_in_rewrites",
    asked_for="the emotions that a rewritten utterance names",
    reads=(rewrites.STEP.table, EXAMPLES),
    ask=ask,
    unit="rewrite",
    unit_key="utterance_id",
    item=f"raw_label: string, {MAPPED}",
    read=read,
    row="One emotion that a rewritten utterance names.",
    columns=f"""
    utterance_id string, place int COMMENT 'in the answer, from 1', raw_label string, label string COMMENT 'that it is',
    was_mapped boolean, {FAULTS_COLUMN}, {REQUEST_COLUMN}
    """,
    key=("utterance_id", "place"),
    exported=("label",),
    accounting="rewrites",
)
'''
FOUND = """
import json
from conf.settings import load_settings
from etl.emo_pillars.export import EMO_PILLARS, STEPS
from etl.pipeline.planner import in_order
from etl.pipeline.tables import TABLES
from jobs import all_stages

name = "emotions_in_rewrites"
settings = load_settings(overrides=["emo_pillars.steps.emotions_in_rewrites.max_new_tokens=70"])
stages = {stage.name: stage for stage in all_stages()}
order = [*stages]
asks, reads = stages[f"emo_pillars_ask_{name}"], stages[f"emo_pillars_{name}"]
export = stages["emo_pillars_export"]
print(json.dumps({
    "tables": [TABLES[table].comment for table in (f"llm.emo_pillars_{name}", f"emo_pillars.{name}")],
    "meaning": {column.name: column.comment for column in TABLES[f"emo_pillars.{name}"].described}["label"],
    "asks": [asks.title, [table.name for table in asks.reads], asks.writes.name, asks.group, asks.manual],
    "reads": [reads.title, [table.name for table in reads.reads], reads.writes.name, reads.units.name],
    "keys": sorted(asks.keys("value")),
    "resources": asks.resources,
    "in order": order.index("emo_pillars_rewrites") < order.index(asks.name) < order.index(reads.name),
    "tokens": settings.emo_pillars.steps.emotions_in_rewrites.max_new_tokens,
    "exported": [EMO_PILLARS[name], STEPS[-1], [table.name for table in export.optional][-1]],
    "others": {one.name: one.settings_hash(settings) for one in stages.values() if name not in one.name},
}))
"""


def test_a_module_and_a_template_are_a_step(tmp_path: Path) -> None:
    for package in ("conf", "etl", "jobs", "udfs"):
        shutil.copytree(REPOSITORY / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "conf/prompts/emo_pillars/emotions_in_rewrites.txt").write_text("Which emotions: {rewritten}", "utf-8")
    (tmp_path / "etl/emo_pillars/steps/emotions_in_rewrites.py").write_text(MODULE.lstrip(), "utf-8")
    told = subprocess.run(
        [sys.executable, "-c", FOUND],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout.splitlines()[-1])
    others = found.pop("others")
    assert found == {
        "tables": [
            "One raw answer: the emotions that a rewritten utterance names.",
            "One emotion that a rewritten utterance names.",
        ],
        "meaning": "that it is",
        "asks": [
            "Ask for the emotions that each rewritten utterance names.",
            ["emo_pillars.rewrites", "emo_pillars.examples"],
            "llm.emo_pillars_emotions_in_rewrites",
            "emo_pillars",
            True,
        ],
        "reads": [
            "Parse the emotions, one per line.",
            ["emo_pillars.rewrites", "emo_pillars.examples", "llm.emo_pillars_emotions_in_rewrites"],
            "emo_pillars.emotions_in_rewrites",
            "rewrites",
        ],
        "keys": ["emo_pillars.prompts.emotions_in_rewrites", "emo_pillars.steps.emotions_in_rewrites"],
        "resources": ["prompts/emo_pillars/emotions_in_rewrites.txt"],
        "in order": True,
        "tokens": 70,
        "exported": [{"label": "sc:Text"}, "emotions_in_rewrites", "emo_pillars.emotions_in_rewrites"],
    }
    settings = load_settings()
    assert others == {stage.name: stage.settings_hash(settings) for stage in all_stages()}


def ask(plots: DataFrame) -> Asked:
    """Ask for each plot's colours."""
    return Asked(plots.select("plot_id", "title", "plot"), {"plot": F.col("plot")}, together=F.col("plot_id"))


def read(answer: str, cut_off: bool, rules: Rules, given: Mapping[str, Any]) -> Parsed:
    """Parse the colours, apart by commas."""
    named = [word.strip() for word in answer.split(",")]
    rejected = [Rejected("no_colour", word) for word in named if word in given["title"]]
    return Parsed([(word, len(word)) for word in named if word not in given["title"]], rejected)


COLOURS = Step(
    name="actors",
    asked_for="the colours of a plot",
    reads=(TABLES["emo_pillars.plots"],),
    ask=ask,
    unit="plot",
    unit_key="plot_id",
    given={"title": "lower(title)"},
    item="colour: string, letters: int",
    read=read,
    rules_from=(),
    row="One colour of a plot.",
    columns=f"""
    colour_id string COMMENT 'plot_id and place', plot_id string, place int, colour string,
    shade string COMMENT 'dark where the name is long', {REQUEST_COLUMN}
    """,
    key=("colour_id",),
    values={"colour_id": "concat(plot_id, '-', place)", "shade": "if(item.letters > 4, 'dark', 'light')"},
    accounting=RowAccounting("plots", rows_out="count(DISTINCT plot_id)"),
)
"""A step in the words of another one's template."""


def test_rows_follow_from_the_columns(spark: SparkSession) -> None:
    plots = spark.createDataFrame(
        [("p", "Sea", "It rained."), ("q", "Dusk", "It snowed.")], "plot_id string, title string, plot string"
    )
    asked = COLOURS.requests(ask(plots), DecodingSettings(), files={"actors.txt": "Colours of {plot}"})
    prompts = {row.plot_id: (row.prompt, row.request_id) for row in asked.collect()}
    assert prompts["p"][0] == "Colours of It rained."
    said = [(prompts["p"][1], "m", "red, violet, sea", "stop", None), (prompts["q"][1], "m", None, None, "lost")]
    answers = spark.createDataFrame(
        said, "request_id string, model string, text string, finish_reason string, error string"
    )
    outcome = COLOURS.rows(with_answers(asked, answers, "m"), COLOURS.rules())
    assert outcome.rows.columns == COLOURS.table.columns
    assert [tuple(row)[:5] for row in outcome.rows.orderBy("place").collect()] == [
        ("p-1", "p", 1, "red", "light"),
        ("p-2", "p", 2, "violet", "dark"),
    ]
    assert {row.request.request_id for row in outcome.rows.collect()} == {prompts["p"][1]}
    assert outcome.dropped is not None
    assert {(row.unit, row.id, row.reason) for row in outcome.dropped.collect()} == {
        ("plot", "q", "model_failed"),
        ("line", "p#1", "no_colour"),
    }


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_each_step_has_two_tables_and_two_stages(step: Step) -> None:
    assert TABLES[step.table.name] is step.table
    assert TABLES[step.answers.name] is step.answers
    stages = {stage.name: stage for stage in all_stages()}
    assert stages[f"emo_pillars_ask_{step.name}"].writes is step.answers
    assert stages[f"emo_pillars_{step.name}"].writes is step.table


def test_each_step_is_of_one_chapter() -> None:
    assert sorted(step.name for step in (*SYNTHESIS, *NAMING)) == sorted(step.name for step in STEPS)
    assert clean_contexts.STEP in SYNTHESIS
