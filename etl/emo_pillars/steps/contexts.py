"""The context of an utterance: the events that led to it (Emo Pillars 3.4)."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.emo_pillars.answers import Parsed
from etl.emo_pillars.examples import with_needed_context
from etl.emo_pillars.prompts import spoken_slots
from etl.emo_pillars.prose import parse_prose
from etl.emo_pillars.quality import judged, of_other_language, text_faults
from etl.emo_pillars.step import FAULTS_COLUMN, PROSE, REQUEST_COLUMN, Asked, Rules, Step, text_schema
from etl.emo_pillars.tables import EXAMPLES, PLOTS
from etl.llm.prompt_texts import as_data
from etl.pipeline import RowAccounting


def ask(examples: DataFrame, plots: DataFrame) -> Asked:
    """Ask for the events before each drawn utterance (Emo Pillars 3.4)."""
    units = with_needed_context(examples).join(plots.select("plot_id", "plot"), "plot_id")
    return Asked(units, {"plot": as_data(F.col("plot")), **spoken_slots()}, together=F.col("plot_id"))


def read(answer: str, cut_off: bool, rules: Rules, given: Mapping[str, Any]) -> Parsed:
    """Parse the contexts (Emo Pillars 3.4)."""
    parsed = parse_prose(answer, rules.template, cut_off)
    texts = [one.text for one in parsed.items]
    faults = [
        foreign + text_faults(text, given.get("labels") or (), rules.names)
        for text, foreign in zip(texts, of_other_language(texts, rules.template), strict=True)
    ]
    return judged(parsed, texts, faults, rules.quality.reject)


STEP = Step(
    name="contexts",
    asked_for="the context of an utterance (Emo Pillars 3.4)",
    reads=(EXAMPLES, PLOTS),
    ask=ask,
    schema=lambda taxonomy: text_schema("context"),
    unit="context",
    unit_key="utterance_id",
    given={"labels": "labels.label"},
    item=PROSE,
    read=read,
    row="What led a character to an utterance (Emo Pillars 3.4).",
    columns=f"""
    utterance_id string, context string, cut boolean COMMENT 'ends with the last whole sentence',
    {FAULTS_COLUMN}, {REQUEST_COLUMN}
    """,
    key=("utterance_id",),
    values={"context": "item.text"},
    accounting=RowAccounting("examples", rows_in="count_if(needs_context)"),
    version=8,
)
