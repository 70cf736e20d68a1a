"""Emo Pillars' analysis: similarities, changes, topics, markers (Emo Pillars 7, G, H)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.settings import Settings, load_settings
from etl.common.hashes import text_hash
from etl.emo_pillars import samples, steps
from etl.emo_pillars.markers import adverb_markers
from etl.emo_pillars.settings import TopicQuery
from etl.emo_pillars.similarities import partial_ratio
from etl.emo_pillars.tables import CONTEXTUAL_EXAMPLES, EXAMPLES
from etl.emo_pillars.topics import communities, keywords, topics_of
from etl.pipeline.model_loader import ResolvedModel
from etl.pipeline.stages import Stage
from jobs.emo_pillars.analysis import (
    emo_pillars_compare_texts,
    emo_pillars_embed_texts,
    emo_pillars_find_markers,
    emo_pillars_find_topics,
    emo_pillars_group_markers,
    emo_pillars_measure_changes,
    emo_pillars_query_topic,
)
from jobs.emo_pillars.evaluation import emo_pillars_export_evaluation, emo_pillars_prepare_evaluation
from tests.frames import computed
from tests.stages import called, stage_run
from udfs.pair_similarities import BINS, BLOCK, counted, pair_counts

RANDOM = np.random.default_rng(3)


def whole(counts: dict[int, tuple[int, float, float]]) -> tuple[int, float, float]:
    number, total, squares = (sum(own) for own in zip(*counts.values(), strict=True))
    return number, total / number, (squares / number - (total / number) ** 2) ** 0.5


def test_all_pairs_are_counted_whatever_the_blocks() -> None:
    vectors = RANDOM.normal(size=(BLOCK + 300, 5)).astype(np.float32)
    rows = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = (rows @ rows.T)[np.triu_indices(len(rows), k=1)]
    counts = pair_counts(vectors)
    assert whole(counts) == pytest.approx((len(cosines), cosines.mean(), cosines.std()), abs=1e-5)
    so_far = np.cumsum([counts.get(place, (0,))[0] for place in range(BINS)])
    assert np.searchsorted(so_far, 0.99 * len(cosines)) / (BINS / 2) - 1 == pytest.approx(
        np.percentile(cosines, 99), abs=0.002
    )
    owners = np.arange(len(rows)) % 3
    same = pair_counts(vectors, owners)
    other = pair_counts(vectors, owners, False)
    assert whole(same)[0] + whole(other)[0] == len(cosines)
    alike = np.equal.outer(owners, owners)[np.triu_indices(len(rows), k=1)]
    assert whole(same)[1] == pytest.approx(cosines[alike].mean(), abs=1e-5)
    assert counted(np.array([1.0, -1.0, 1.00001])).keys() == {0, BINS - 1}


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [
        ("the plane", "I must land the plane now", 100),
        ("abcd", "abxd", 75),
        ("", "", 100),
        ("", "a", 0),
        ("I need to land this plane.", "I am scared. I need to get this plane down safely.", 81),
    ],
)
def test_partial_ratio(first: str, second: str, ratio: int) -> None:
    assert partial_ratio(first, second) == partial_ratio(second, first) == ratio


def test_topics_are_communities_and_the_same_every_time() -> None:
    base = np.eye(4)
    own = [base[0] + 0.1 * n * base[3] for n in range(5)] + [base[1] + 0.1 * n * base[3] for n in range(3)]
    vectors = np.vstack([*own, base[2]])
    found = communities(vectors, 0.6, 13)
    assert found == [[0, 1, 2, 3, 4], [5, 6, 7], [8]]
    texts = (
        [f"the wedding was a happy feast {n}" for n in range(5)] + ["surgery went well, a patient lives"] * 3 + ["oh"]
    )
    topics = topics_of("joy", texts, vectors, 0.6, 13)
    assert [(one.topic, one.utterances) for one in topics] == [(1, 5), (2, 3), (3, 1)]
    assert "wedding" in topics[0].keywords
    assert "surgery" in topics[1].keywords
    assert topics[2].keywords == []
    assert topics[1].examples == [texts[5]] * 3
    assert topics_of("joy", [], np.empty((0, 4)), 0.6, 13) == []
    assert keywords(["", ""]) == [[], []]


QUERY = TopicQuery().topic_query


def example(name: str, actor: str, plot: str, label: str, utterance: str) -> tuple[object, ...]:
    return (name, plot, actor, "A", utterance, label, [(label, 1.0)], True, "train")


@pytest.fixture(scope="module")
def made(spark: SparkSession) -> dict[str, DataFrame]:
    examples = spark.createDataFrame(
        [
            example("u1", "a1", "p1", "neutral", "x"),
            example("u2", "a1", "p1", "neutral", "y"),
            example("u3", "a2", "p1", "joy", "x y"),
            example("u4", "a3", "p2", "joy", "y x"),
            example("u5", "a3", "p2", "neutral", "z"),
        ],
        EXAMPLES.schema,
    )
    contexts = spark.createDataFrame(
        [(f"u{n}", context, False, [], None) for n, context in enumerate(("cx", "cy", "cx", "cy"), start=1)],
        steps.contexts.STEP.table.schema,
    )
    contextual = spark.createDataFrame(
        [
            ("u3", "p1", "a2", "A", "cy", "x y", "x", "joy", [("joy", 1.0)], "train"),
            ("u4", "p2", "a3", "A", "cy", "y x", "y x", "joy", [("joy", 1.0)], "train"),
        ],
        CONTEXTUAL_EXAMPLES.schema,
    )
    vectors = {
        "x": [1.0, 0.0],
        "y": [0.0, 1.0],
        "z": [-1.0, 0.0],
        "x y": [1.0, 0.0],
        "y x": [0.6, 0.8],
        "cx": [1.0, 0.0],
        "cy": [0.8, 0.6],
        QUERY: [0.0, 1.0],
    }
    embeddings = spark.createDataFrame(
        [(text, "m", vector, None) for text, vector in vectors.items()],
        "text string, model string, embedding array<float>, error string",
    ).withColumn("text_hash", text_hash(F.col("text")))
    frames = {"examples": examples, "contexts": contexts, "contextual": contextual, "embeddings": embeddings}
    return {name: computed(frame) for name, frame in frames.items()}


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    own = {"topic_emotion": "neutral", "marker_count": 3}
    values = {f"emo_pillars.analysis.{name}": value for name, value in own.items()}
    return load_settings("local", [], {**values, "lakehouse.root": str(tmp_path_factory.mktemp("lakehouse"))})


def result(stage: Stage, settings: Settings, *frames: DataFrame) -> Any:
    """Return what a stage's function returns for these tables, where the model ``m`` has embedded the texts."""
    models = {"analysis_encoder": ResolvedModel(Path(), "m")}
    return called(stage, stage_run(frames[0].sparkSession, settings, models=models), settings, *frames)


def test_each_text_of_the_samples_is_embedded_once(made: dict[str, DataFrame], settings: Settings) -> None:
    frames = [made[name] for name in ("examples", "contextual", "contexts")]
    run = stage_run(frames[0].sparkSession, settings)
    texts = emo_pillars_embed_texts.units_of_work(frames, settings, run).collect()
    assert sorted(row.text for row in texts) == sorted([QUERY, "cx", "cy", "x", "x y", "y", "y x", "z"])


def test_comparisons_of_samples(made: dict[str, DataFrame], settings: Settings) -> None:
    frames = (made[name] for name in ("examples", "contextual", "contexts", "embeddings"))
    outcome = result(emo_pillars_compare_texts, settings, *frames)
    found = {(row.kind, row.label): row for row in outcome.rows.collect()}
    assert outcome.rows_in == sum(row.pairs for row in found.values())
    assert {key: row.pairs for key, row in found.items()} == {
        (samples.UTTERANCES, ""): 10,
        (samples.NEUTRALS, ""): 3,
        (samples.OF_EMOTION, "joy"): 1,
        (samples.ONE_ACTOR, ""): 1,
        (samples.OF_ACTOR, ""): 1,
        (samples.OF_PLOT, ""): 2,
        (samples.ACROSS, ""): 1,
    }
    of_joy = found[samples.OF_EMOTION, "joy"]
    of_plot = found[samples.OF_PLOT, ""]
    assert (of_joy.mean, of_joy.deviation, of_joy.model) == (0.6, 0.0, "m")
    assert (of_plot.mean, of_plot.deviation, of_plot.percentile_99) == (0.9, 0.1, 1.0)
    assert found[samples.ONE_ACTOR, ""].mean == 0
    assert found[samples.NEUTRALS, ""].mean == pytest.approx(-1 / 3, abs=1e-4)


def test_what_changed_and_what_is_near(made: dict[str, DataFrame], settings: Settings) -> None:
    frames = (made[name] for name in ("contextual", "contexts", "embeddings"))
    changed = result(emo_pillars_measure_changes, settings, *frames)
    assert changed.rows_in == 2
    rows = {row.utterance_id: row for row in changed.rows.collect()}
    first = rows["u3"]
    second = rows["u4"]
    assert (first.utterance_tokens, first.rewritten_tokens, first.partial_ratio) == (2, 1, 100)
    assert (first.utterance_similarity, first.context_similarity) == (1.0, 0.8)
    assert (second.utterance_similarity, second.context_similarity, second.partial_ratio) == (1.0, 1.0, 100)
    near = result(emo_pillars_query_topic, settings, made["examples"], made["embeddings"]).rows.collect()
    assert len(near) == 5
    assert [(row["rank"], row.utterance_id, row.similarity, row.labels) for row in near[:2]] == [
        (1, "u2", 1.0, ["neutral"]),
        (2, "u4", 0.8, ["joy"]),
    ]


def test_topics_are_those_of_one_emotion(made: dict[str, DataFrame], settings: Settings) -> None:
    outcome = result(emo_pillars_find_topics, settings, made["examples"], made["embeddings"])
    assert outcome.rows_in == 3
    assert sorted(row.examples for row in outcome.rows.collect()) == [["x"], ["y"], ["z"]]


def test_labels_are_checked_on_a_page(made: dict[str, DataFrame], settings: Settings) -> None:
    tasks = result(emo_pillars_prepare_evaluation, settings, made["contextual"])
    assert tasks.rows_in == 2
    assert {row.utterance_id for row in tasks.rows.collect()} == {"u3", "u4"}
    result(emo_pillars_export_evaluation, settings, tasks.rows)
    (page,) = Path(settings.lakehouse.root).glob("annotation/*/annotate.html")
    text = page.read_text("utf-8")
    shown = tasks.rows.collect()
    assert all(row.item_id in text for row in shown)
    assert not any(row.utterance_id in text for row in shown)


def test_markers_are_what_rewriting_takes_out(spark: SparkSession, settings: Settings) -> None:
    def row(n: int, utterance: str, rewritten: str, *labels: str) -> tuple[object, ...]:
        return (f"u{n}", "p", "a", "A", "c", utterance, rewritten, labels[0], [(one, 1.0) for one in labels], "train")

    rows = [
        *(row(n, "They treat us horribly, really", "They treat us really", "anger") for n in range(4)),
        row(4, "It went horribly", "It went horribly", "sadness"),
        *(row(n, "My family waits safely", "My family waits", "caring", "fear") for n in range(5, 8)),
        row(8, "I barely slept", "I slept", "sadness"),
    ]
    contextual = spark.createDataFrame(rows, CONTEXTUAL_EXAMPLES.schema)
    markers = computed(adverb_markers(contextual, ("family",), removed=0.6, share=0.75, least=3).rows)
    found = markers.collect()
    assert {(one.word, one.label, one.removed_share) for one in found} == {
        ("horribly", "anger", 0.8),
        ("safely", "caring", 1.0),
        ("safely", "fear", 1.0),
    }
    horribly = next(one for one in found if one.word == "horribly")
    assert (horribly.occurrences, horribly.left_in, horribly.with_label, horribly.share) == (5, 1, 4, 0.8)
    assert horribly.label_share == pytest.approx(4 / 12, abs=1e-4)
    by_default = result(emo_pillars_find_markers, settings, contextual).rows.collect()
    assert {(one.word, one.label) for one in by_default} > {(one.word, one.label) for one in found}
    grouped = result(emo_pillars_group_markers, settings, markers).rows.collect()
    assert {tuple(row.emotions) for row in grouped} == {("caring", "fear")}
