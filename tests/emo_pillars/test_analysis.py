"""Emo Pillars' analysis: similarities, changes, topics, markers (Emo Pillars 7, G, H)."""

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.common.hashes import text_hash
from etl.emo_pillars import samples, steps
from etl.emo_pillars.markers import adverb_markers
from etl.emo_pillars.settings import Samples
from etl.emo_pillars.similarities import changes, counts_of_samples, nearest_to, partial_ratio, summarised
from etl.emo_pillars.tables import CONTEXTUAL_EXAMPLES, EXAMPLES
from etl.emo_pillars.topics import communities, keywords, topics_of
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
    }
    embeddings = spark.createDataFrame(
        [(text, "m", vector, None) for text, vector in vectors.items()],
        "text string, model string, embedding array<float>, error string",
    ).withColumn("text_hash", text_hash(F.col("text")))
    return {"examples": examples, "contexts": contexts, "contextual": contextual, "embeddings": embeddings.cache()}


def test_comparisons_of_samples(spark: SparkSession, made: dict[str, DataFrame]) -> None:
    sizes = Samples(utterances=9, pairs=9, plots=9)
    frames = (made[name] for name in ("examples", "contextual", "contexts", "embeddings"))
    counts = counts_of_samples(*frames, "m", sizes, "neutral")
    found = {(row.kind, row.label): row for row in summarised(counts, "m").collect()}
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


@pytest.mark.slow
def test_what_changed_and_what_is_near(made: dict[str, DataFrame]) -> None:
    rows = {
        row.utterance_id: row
        for row in changes(made["contextual"], made["contexts"], made["embeddings"], "m", 9).collect()
    }
    first = rows["u3"]
    second = rows["u4"]
    assert (first.utterance_tokens, first.rewritten_tokens, first.partial_ratio) == (2, 1, 100)
    assert (first.utterance_similarity, first.context_similarity) == (1.0, 0.8)
    assert (second.utterance_similarity, second.context_similarity, second.partial_ratio) == (1.0, 1.0, 100)
    near = nearest_to("y", made["examples"], made["embeddings"], "m", 2).collect()
    assert [(row["rank"], row.utterance_id, row.similarity, row.labels) for row in near] == [
        (1, "u2", 1.0, ["neutral"]),
        (2, "u4", 0.8, ["joy"]),
    ]


@pytest.mark.slow
def test_markers_are_what_rewriting_takes_out(spark: SparkSession) -> None:
    def row(n: int, utterance: str, rewritten: str, *labels: str) -> tuple[object, ...]:
        return (f"u{n}", "p", "a", "A", "c", utterance, rewritten, labels[0], [(one, 1.0) for one in labels], "train")

    rows = [
        *(row(n, "They treat us horribly, really", "They treat us really", "anger") for n in range(4)),
        row(4, "It went horribly", "It went horribly", "sadness"),
        *(row(n, "My family waits safely", "My family waits", "caring", "fear") for n in range(5, 8)),
        row(8, "I barely slept", "I slept", "sadness"),
    ]
    contextual = spark.createDataFrame(rows, CONTEXTUAL_EXAMPLES.schema)
    found = adverb_markers(contextual, ("family",), removed=0.6, share=0.75, least=3).rows.collect()
    assert {(one.word, one.label, one.removed_share) for one in found} == {
        ("horribly", "anger", 0.8),
        ("safely", "caring", 1.0),
        ("safely", "fear", 1.0),
    }
    horribly = next(one for one in found if one.word == "horribly")
    assert (horribly.occurrences, horribly.left_in, horribly.with_label, horribly.share) == (5, 1, 4, 0.8)
    assert horribly.label_share == pytest.approx(4 / 12, abs=1e-4)
