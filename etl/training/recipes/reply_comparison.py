"""The response generators side by side: Table 7 as rows and as runs in MLflow, Table 10 as rows (EDOS 5, E)."""

import json
from collections import defaultdict
from typing import Any

from pyspark.sql import DataFrame, Row

from conf.errors import InputError
from etl.pipeline.stage_run import StageRun
from etl.replies.measures import table_7
from etl.replies.regimes import PAPERS
from etl.tables.outcome import Outcome
from etl.tables.replies import EVALUATION, TRAININGS
from etl.training.recipes.replies import TRAINING
from etl.training.registration import data_tags
from etl.training.registry import model_store
from etl.training.tracking import tracked_run
from udfs.models.language.reply_generator import CONFIG

SHOWN = ("perplexity", "word_perplexity", "distinct_1", "distinct_2", "similarity")


def compared_generators(
    likelihoods: DataFrame, generated: DataFrame, embeddings: DataFrame, run: StageRun
) -> Outcome:  # fmt: skip
    """Rows of ``replies.evaluation``, and one run in MLflow a generator, all under one: figures ``<name>/<source>``.

    Raises:
        InputError: there are no replies yet.
    """
    cells = table_7(likelihoods, generated, embeddings, run.models["sentence_encoder"].identity)
    rows = cells.select(EVALUATION.columns).collect()
    if not rows:
        raise InputError("replies.generated is empty: replies.examples needs test replies")
    by_generator: defaultdict[str, list[Row]] = defaultdict(list)
    for row in sorted(rows):
        by_generator[row.generator].append(row)
        run.say(
            f"{row.generator} on {row.source}: perplexity {row.perplexity}, by the word {row.word_perplexity}, "
            f"distinct {row.distinct_1} and {row.distinct_2}, similarity {row.similarity}"
        )
    store, tags = model_store(run.all_settings), {"stage": "evaluate_response_generator", **data_tags(run)}
    with tracked_run(
        store, "comparison of response generators", {"examples": max(row.examples for row in rows)}, tags
    ) as whole:
        for generator, some in by_generator.items():
            params = {"generator": generator, "model": some[0].model}
            with tracked_run(store, generator, params, {**tags, "mlflow.parentRunId": whole.run_id}) as one:
                one.log_metrics(_figures(some))
    return Outcome(run.spark.createDataFrame(rows, EVALUATION.schema), rows_in=len(rows))


def listed_trainings(run: StageRun) -> Outcome:
    """Rows of ``replies.trainings``, from what each generator's folder tells of its training."""
    rows = []
    for regime in PAPERS:
        model = run.models[regime.model]
        facts: dict[str, Any] = {"generator": regime.generator, "model": model.identity}
        for name in (CONFIG, TRAINING):
            path = model.path / name
            facts |= json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        rows.append(tuple(facts.get(name) for name in TRAININGS.columns))
    return Outcome(run.spark.createDataFrame(rows, TRAININGS.schema), rows_in=len(rows))


def _figures(rows: list[Row]) -> dict[str, float]:
    return {f"{name}/{row.source}": row[name] for row in rows for name in SHOWN if row[name] is not None}
