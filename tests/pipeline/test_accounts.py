"""An account is of the input: a row that a rule loses stops its stage."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.settings import load_settings
from etl.augesc import comparisons, faults, ratings, statistics
from etl.common.hashes import text_hash
from etl.pipeline.outcome import Outcome
from etl.pipeline.planner import PipelineContext
from etl.pipeline.progress import Progress
from etl.pipeline.runner import StageError, run_stage
from etl.pipeline.stages import Model
from etl.pipeline.tables import TABLES
from jobs import all_stages
from jobs.augesc import evaluation
from jobs.emo_pillars import analysis

pytestmark = pytest.mark.usefixtures("tables")


@pytest.fixture
def place(spark: SparkSession, tmp_path: Path) -> PipelineContext:
    values = {"lakehouse.root": str(tmp_path), "models.sentence_encoder": "openai:nobody"}
    return PipelineContext(spark, load_settings("local", [], values))


def put(place: PipelineContext, name: str, rows: list[dict[str, Any]]) -> None:
    """A table with rows of which only some columns are told."""
    schema = TABLES[name].schema
    told = [tuple(row.get(field.name) for field in schema) for row in rows]
    place.lakehouse.replace(TABLES[name], place.spark.createDataFrame(told, schema), {})


def run(place: PipelineContext, name: str) -> tuple[int | None, int | None, int | None]:
    """In, out and dropped of a stage's run, done again."""
    (own,) = (one for one in all_stages() if one.name == name)
    done = run_stage(place, own, place.plan(own, again=True), Progress(place.spark, 1))
    return done.rows_in, done.rows_out, done.rows_dropped


def turns(*texts: str) -> list[tuple[str, str, int]]:
    return [("seeker" if n % 2 == 0 else "supporter", text, len(text.split())) for n, text in enumerate(texts)]


def measured(text_id: str, said: list[tuple[str, str, int]]) -> dict[str, Any]:
    return {
        "text_id": text_id,
        "method": "people",
        "source": "esconv",
        "origin_id": text_id,
        "sample": 0,
        "turns": said,
        "faulty_lines": 0,
        "tokens": 9,
        "counted_by": "nltk",
    }


@pytest.mark.parametrize(
    ("stage", "rule", "lost", "number"),
    [
        pytest.param(
            "augesc_describe_conversations",
            "role_statistics",
            "data_set = 'ed' AND measure = 'sessions'",
            4,
            marks=pytest.mark.slow,
        ),
        pytest.param("augesc_grow_bigrams", "bigram_growth", "data_set = 'ed'", 4, marks=pytest.mark.slow),
        ("augesc_compare_words", "most_typical", "rank = 2", None),
    ],
)
def test_statistics_are_of_all_conversations(
    place: PipelineContext, monkeypatch: pytest.MonkeyPatch, stage: str, rule: str, lost: str, number: int | None
) -> None:
    put(
        place,
        "augesc.measured_texts",
        [
            measured("a", turns("my dog is lost", "tell me more", "it is a small dog")),
            measured("b", turns("my cat is lost", "oh no")),
        ],
    )
    put(
        place,
        "augesc.conversations",
        [
            {"conversation_id": "c", "source": "ed", "turns": turns("so sad today", "why so sad")},
        ],
    )
    counted, out, dropped = run(place, stage)
    assert counted == out
    assert dropped == 0
    assert counted == (number or counted)
    real: Callable[..., DataFrame] = getattr(statistics, rule)
    monkeypatch.setattr(statistics, rule, lambda *given: real(*given).where(f"NOT ({lost})"))
    with pytest.raises(StageError, match=f"{stage} does not add up"):
        run(place, stage)


def test_scores_are_of_all_answers(place: PipelineContext, monkeypatch: pytest.MonkeyPatch) -> None:
    aspect = next(iter(comparisons.ASPECTS))
    put(
        place,
        "augesc.comparisons",
        [{"pair_id": f"p{n}", "worker_id": "w", "aspect": aspect, "outcome": "win"} for n in range(3)],
    )
    assert run(place, "augesc_score_comparisons") == (3, 3, 0)
    real = comparisons.comparison_scores
    monkeypatch.setattr(comparisons, "comparison_scores", lambda rows: real(list(rows)[1:]))
    with pytest.raises(StageError, match="3 answers in, 2 out, 0 dropped"):
        run(place, "augesc_score_comparisons")


def test_ratings_are_all_counted(place: PipelineContext, monkeypatch: pytest.MonkeyPatch) -> None:
    aspect = next(one.name for one in ratings.ASPECTS)
    (method, source) = ratings.SETS[0]
    own = {"worker_id": "w", "aspect": aspect, "option": 2, "score": 2, "method": method, "source": source}
    put(place, "augesc.ratings", [{"text_id": f"t{n}", "item_id": f"i{n}", **own} for n in range(3)])
    assert run(place, "augesc_score_ratings") == (3, 3, 0)
    real = ratings.rating_scores
    monkeypatch.setattr(ratings, "rating_scores", lambda rows, **more: real(list(rows)[1:], **more))
    with pytest.raises(StageError, match="3 ratings in, 2 out"):
        run(place, "augesc_score_ratings")


def test_utterances_without_a_topic_score_are_told(place: PipelineContext, monkeypatch: pytest.MonkeyPatch) -> None:
    long = "my small dog is lost since so many days and I cannot sleep"
    put(
        place,
        "augesc.measured_texts",
        [
            measured("whole", turns(f"{long} one", f"{long} two", "oh", f"{long} three")),
            measured("without", turns(f"{long} one", "nobody embedded this")),
        ],
    )
    texts = place.spark.createDataFrame([(f"{long} {n}",) for n in ("one", "two", "three")] + [("oh",)], "text string")
    rows = texts.select(text_hash(F.col("text")).alias("text_hash"), F.length("text").alias("n")).collect()
    identity = place.resolve(Model("sentence_encoder")).identity
    put(
        place,
        "augesc.utterance_embeddings",
        [{"text_hash": row.text_hash, "model": identity, "embedding": [1.0, float(row.n)]} for row in rows],
    )
    assert run(place, "augesc_score_topics") == (6, 2, 4)
    real = faults.with_vectors
    monkeypatch.setattr(faults, "with_vectors", lambda *given: real(*given).where("false"))
    assert run(place, "augesc_score_topics") == (6, 0, 6)
    monkeypatch.setattr(faults, "with_vectors", real)
    monkeypatch.setattr(evaluation.faults, "with_others", lambda rows: rows.withColumn("other", F.lit(None)).limit(0))
    with pytest.raises(StageError, match="6 utterances in, 0 out, 4 dropped"):
        run(place, "augesc_score_topics")


@pytest.mark.slow
def test_every_adverb_is_a_marker_or_told(place: PipelineContext, monkeypatch: pytest.MonkeyPatch) -> None:
    own = {"labels": [("joy", 0.9)], "split": "train", "utterance": "I gladly and rarely sang", "rewritten": "I sang"}
    put(
        place,
        "emo_pillars.contextual_examples",
        [
            {"utterance_id": f"u{n}", **own, **({} if n % 2 else {"labels": [("anger", 0.9)], "utterance": "no"})}
            for n in range(40)
        ],
    )
    counted, out, dropped = run(place, "emo_pillars_find_markers")
    assert (counted, out + dropped) == (2, 2)
    real = analysis.adverb_markers

    def lossy(*given: Any, **more: Any) -> Outcome:
        found = real(*given, **more)
        return Outcome(
            found.rows.where("word <> 'gladly'"), found.dropped.where("id <> 'gladly'"), rows_in=found.rows_in
        )

    monkeypatch.setattr(analysis, "adverb_markers", lossy)
    with pytest.raises(StageError, match="2 adverbs in, "):
        run(place, "emo_pillars_find_markers")
