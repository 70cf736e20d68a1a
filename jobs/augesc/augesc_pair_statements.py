"""Pair statements of one speaker that speak of one thing, for a model of entailment (AugESC 6.4)."""

from pyspark.sql import DataFrame

from etl.augesc.faults import looked_at, statement_pairs, with_vectors
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.augesc import MEASURED_TEXTS
from etl.lakehouse.tables.augesc_faults import STATEMENT_PAIRS, UTTERANCE_EMBEDDINGS

SETTINGS = ("sampled", "least_tokens", "related", "pairs")


@stage(
    reads=(MEASURED_TEXTS, UTTERANCE_EMBEDDINGS),
    writes=STATEMENT_PAIRS,
    asks=(Model("sentence_encoder"),),
    settings=tuple(f"augesc.faults.{name}" for name in SETTINGS),
    units=Units("pairs"),
    on_request=True,
)
def augesc_pair_statements(measured: DataFrame, embeddings: DataFrame, run: StageRun) -> Outcome:
    wanted = run.settings.augesc.faults
    texts = looked_at(measured, wanted.sampled)
    conversations = with_vectors(texts, embeddings, run.models["sentence_encoder"].identity)
    rows = statement_pairs(conversations, wanted.least_tokens, wanted.related, wanted.pairs).cache()
    return Outcome(rows, rows_in=rows.count())


if __name__ == "__main__":
    augesc_pair_statements.main()
