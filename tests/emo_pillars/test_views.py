"""The views' SQL, on a few rows."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from conf.taxonomy import goemotions_labels, load_taxonomy
from etl.emo_pillars.plots import Story, select_plots
from etl.publishing.views import all_views
from tests.stand_ins import StandIns

LABELS = "array(named_struct('label', 'joy', 'level', 0.9D), named_struct('label', 'fear', 'level', 0.5D))"
ROWS = {
    "emo_pillars.plots": "SELECT concat('p', id) AS plot_id, CAST(800 AS int) AS tokens FROM range(450)",
    "emo_pillars.actors": "SELECT * FROM VALUES ('p1'), ('p1'), ('p1'), ('p2') AS t(plot_id)",
    "emo_pillars.utterances": "SELECT concat('a', id % 2) AS actor_id FROM range(6)",
    "emo_pillars.examples": f"SELECT concat('p', id) AS plot_id, concat('a', id) AS actor_id, 'joy' AS primary_label, "
    f"{LABELS} AS labels, id % 4 = 0 AS needs_context FROM range(400)",
    "emo_pillars.goemotions": "SELECT * FROM VALUES (array('joy', 'neutral')), (array('fear', 'anger', 'surprise')) "
    "AS t(labels)",
    "emo_pillars.contextual_examples": "SELECT id FROM range(100)",
    "emo_pillars.similarities": "SELECT * FROM VALUES ('utterances', '', 45L, 0.2D, 0.1D, 0.5D, 'm'), "
    "('utterances of one emotion', 'joy', 10L, 0.3D, 0.1D, 0.6D, 'm') "
    "AS t(kind, label, pairs, mean, deviation, percentile_99, model)",
    "emo_pillars.changes": "SELECT 20 + id AS utterance_tokens, CAST(60 + 10 * id AS int) AS partial_ratio, "
    "0.7D + 0.05D * id AS utterance_similarity FROM range(3)",
    "emo_pillars.topics": "SELECT * FROM VALUES ('joy', 1, 25, array('song', 'hall'), array('We sang')), "
    "('joy', 2, 2, array('sea'), array('Waves')), ('joy', 3, 1, array('tea'), array('Tea')) "
    "AS t(emotion, topic, utterances, keywords, examples)",
    "emo_pillars.topic_names": "SELECT * FROM VALUES ('joy', 1, 'Singing'), ('joy', 2, 'The sea') "
    "AS t(emotion, topic, name)",
    "emo_pillars.topic_categories": "SELECT 'joy' AS emotion, 2 AS topic, 'Nature' AS category",
    "emo_pillars.query_examples": "SELECT 1 AS rank, array('joy', 'anger', 'joy') AS labels",
    "emo_pillars.markers": "SELECT * FROM VALUES ('safely', 'fear', 9L, 1L, 0.8889D, 0.6D), "
    "('safely', 'joy', 9L, 1L, 0.8889D, 0.2D), ('badly', 'fear', 5L, 0L, 1.0D, 0.5D) "
    "AS t(word, label, occurrences, left_in, removed_share, share)",
    "llm.emo_pillars_actors": "SELECT 'm' AS model, 10 AS prompt_tokens, 5 AS answer_tokens, 1.8D AS seconds, "
    "CAST(if(id = 0, 'bad', NULL) AS string) AS error FROM range(4)",
}


@pytest.fixture(scope="module")
def views(spark: SparkSession) -> Iterator[StandIns]:
    """The views over tables with a few rows or none."""
    found = StandIns(spark, all_views(load_taxonomy("edos")))
    for name, query in ROWS.items():
        found.give(name, spark.sql(query))
    yield found
    found.drop()


def test_scale(views: StandIns) -> None:
    found = {row.criterion: (row.value, row.paper) for row in views.ask("emo_pillars_scale")}
    assert found["plots"] == (450, 2000)
    assert found["actors a plot, mean"] == (2, 15)
    assert found["actors a plot, standard deviation"] == (1.4142, 9.44)
    assert found["utterances an actor, mean"] == (3, 10)
    assert found["share of examples drawn for contexts"] == (0.25, 0.3333)
    assert found["labels an example, mean"] == (2, 3.17)
    assert found["labels"] == (800, 1_000_000)
    polarities = ("positive", "negative", "ambiguous", "neutral")
    assert [found[f"share of {name} labels"][0] for name in polarities] == [0.5, 0.5, 0, 0]
    assert found["share of examples with neutral"] == (0, 0.09)
    shares = [found[f"share of {name} labels in GoEmotions"] for name in polarities[:3]]
    assert shares == [(0.25, 0.54), (0.5, 0.3), (0.25, 0.16)]
    assert found["labels of an emotion over those in GoEmotions, mean"] == (400, 50)


def test_groups_of_emotions_that_share_markers(spark: SparkSession, views: StandIns) -> None:
    groups = """SELECT * FROM VALUES (1, array('fear', 'nervousness', 'pride'), 'safely', 0.5D),
        (1, array('fear', 'nervousness', 'pride'), 'wildly', 1.0D), (2, array('joy', 'love'), 'dearly', 0.75D)
        AS t(place, emotions, word, ratio)"""
    views.give("emo_pillars.marker_groups", spark.sql(groups))
    rows = views.ask("emo_pillars_table_9")
    assert [tuple(row)[:6] for row in rows if row.place] == [
        (1, "negative", "fear, nervousness, pride", 2, "wildly (1.00), safely (0.50)", 2),
        (2, "positive", "joy, love", 1, "dearly (0.75)", 2),
    ]
    assert [row.paper_emotions.split(", ")[0] for row in rows] == [
        "fear",
        "excitement",
        "anger",
        "sadness",
        "surprise",
        "optimism",
    ]
    assert rows[0].paper_words == "vastly (0.80), accidentally (0.51), secretly (0.43), safely (0.29)"


def test_models_side_by_side_and_labels_other_than_the_true_one(spark: SparkSession, views: StandIns) -> None:
    labels = goemotions_labels()
    seen = {"fear": {"fear": 0.9, "joy": 0.05}, "joy": {"joy": 0.7, "neutral": 0.5}, "none": {"joy": 0.2}}
    rows = [
        (
            learner,
            kind,
            "t",
            "User: so",
            "what now",
            "sad" if kind == "dialogue" else None,
            "sadness" if kind == "dialogue" else None,
            [float(seen[name].get(label, 0.0)) for label in labels],
            [label for label in sorted(seen[name], key=lambda one: -seen[name][one]) if seen[name][label] >= 0.5],
        )
        for kind in ("comment", "dialogue")
        for learner, name in (("a", "fear"), ("b", "joy"), ("c", "none"))
    ]
    columns = (
        "learner string, kind string, text_id string, context string, utterance string, truth string, "
        "true_label string, probabilities array<float>, given array<string>"
    )
    views.give("emo_pillars.predictions", spark.createDataFrame(rows, columns))
    shown = {(row.label, row.learner): (row.probability, row.given) for row in views.ask("emo_pillars_figure_6")}
    assert {label for label, _ in shown} == {"fear", "joy", "neutral"}
    assert len(shown) == 9
    assert shown["fear", "a"] == (pytest.approx(0.9), True)
    assert shown["joy", "c"] == (pytest.approx(0.2), False)
    assert shown["neutral", "b"] == (0.5, True)
    assert shown["joy", "a"] == (pytest.approx(0.05), False)
    found = [(row.learner, row.truth, row.labels) for row in views.ask("emo_pillars_table_8")]
    assert found == [("a", "sad", "fear (0.90)"), ("b", "sad", "joy (0.70), neutral (0.50)")]


def test_yield_grows_by_two_hundred_plots(views: StandIns) -> None:
    found = views.ask("emo_pillars_yield")
    assert [row.plots for row in found] == [200, 400, 450, 2000]
    *ours, last = found
    assert [row.examples for row in ours] == sorted(row.examples for row in ours)
    assert (ours[-1].examples, ours[-1].labels, ours[-1].actors, last.examples) == (400, 800, 400, None)
    assert [(row.paper_contextual_f1, row.paper_goemotions_f1) for row in (*found[:2], last)] == [
        (0.77, 0.5),
        (None, None),
        (0.79, 0.54),
    ]


def test_the_first_plots_are_those_of_a_smaller_limit(spark: SparkSession, stand_ins: StandIns) -> None:
    stories = [Story(f"f:{n}", f"Title {n}", f"The story of the town and its people, number {n}.") for n in range(230)]
    every, fewer = (select_plots(stories, limit, 100, 0.0).rows for limit in (None, 200))
    plots = [(row[0], 9) for row in every]
    stand_ins.give("emo_pillars.plots", spark.createDataFrame(plots, "plot_id string, tokens int"))
    made = [(row[0], "a", []) for row in fewer]
    columns = "plot_id string, actor_id string, labels array<struct<label: string, level: double>>"
    stand_ins.give("emo_pillars.examples", spark.createDataFrame(made, columns))
    assert [(row.plots, row.examples) for row in stand_ins.ask("emo_pillars_yield")][:2] == [(200, 200), (230, 200)]


def test_labels(views: StandIns) -> None:
    found = {row.label: row for row in views.ask("emo_pillars_labels")}
    assert len(found) == 28
    assert (found["joy"].primary_labels, found["joy"].labels, found["joy"].mean_level) == (400, 400, 0.9)
    assert (found["fear"].primary_labels, found["fear"].labels, found["grief"].labels) == (0, 400, 0)


def test_cost_is_projected(spark: SparkSession, views: StandIns) -> None:
    found = {row.step: row for row in views.ask("llm_cost")}
    step = found["emo_pillars_actors"]
    every = found["all"]
    assert (step.prompts, step.errors, step.prompt_tokens, step.answer_tokens) == (4, 1, 40, 20)
    assert (step.seconds, step.seconds_a_prompt, step.paper_prompts, step.projected_hours) == (7.2, 1.8, 2000, 1.0)
    assert (every.projected_hours, every.paper_hours) == (350.0, 450)
    half = found["context-less"]
    assert (half.prompts, half.paper_prompts, half.projected_hours, half.paper_hours) == (4, 2000, 1.0, 200)
    assert {row.step for row in views.ask("llm.generations")} == {"emo_pillars_actors"}
    runs = "SELECT 'emo_pillars_ask_actors' AS stage, 'done' AS event, 0.9D AS seconds, map('generator', 'm') AS models"
    views.give("ops.stage_runs", spark.sql(runs))
    found = {row.step: row for row in views.ask("llm_cost")}  # by the clock
    step = found["emo_pillars_actors"]
    assert (step.seconds, step.clock_seconds, step.seconds_a_prompt, step.projected_hours) == (7.2, 0.9, 1.8, 0.1)
    assert found["all"].projected_hours == 43.8


def test_the_papers_cost_stands_beside_models_of_emo_pillars_alone(spark: SparkSession, views: StandIns) -> None:
    other = ROWS["llm.emo_pillars_actors"].replace("'m' AS model", "'other' AS model")
    views.give("llm.augesc_augmenter", spark.sql(other))
    found = {row.model: row for row in views.ask("llm_cost") if row.step == "all"}
    assert {model: (row.prompts, row.paper_prompts, row.paper_hours) for model, row in found.items()} == {
        "m": (4, 700_000, 450),
        "other": (4, None, None),
    }
    assert found["other"].projected_hours is None


def test_similarities_and_changes_stand_beside_the_papers(views: StandIns) -> None:
    found = {row.kind: row for row in views.ask("emo_pillars_similarity")}
    assert len(found) == 6
    one = found["utterances"]
    missing = found["contexts across plots"]
    assert (one.pairs, one.mean, one.paper_mean, one.percentile_99, one.paper_percentile_99) == (
        45,
        0.2,
        0.12,
        0.5,
        0.4,
    )
    assert (missing.mean, missing.paper_mean, missing.paper_percentile_99) == (None, 0.24, None)
    classes = {row.label: row for row in views.ask("emo_pillars_table_12")}
    assert len(classes) == 28
    assert sum(row.paper_utterances for row in classes.values()) == 83226
    assert (classes["joy"].mean, classes["joy"].paper_mean, classes["joy"].utterances) == (0.3, 0.23, 0)
    changed = {row.measure: (row.value, row.paper) for row in views.ask("emo_pillars_changes")}
    assert changed["tokens of an utterance"] == (21, 20)
    assert changed["partial Levenshtein ratio, percent, mean"] == (70, 66)
    assert changed["utterance and rewritten one, similarity, mean"] == (0.75, 0.78)
    assert changed["utterance and rewritten one, similarity, 99 % do not exceed"] == (0.8, 1.0)
    assert changed["context and cleaned context, similarity, 99 % do not exceed"] == (None, 1.0)
    assert changed["tokens of a context"] == (None, 145)
    assert changed["tokens of a plot"] == (800, 823)


def test_topics_coverage_and_markers(views: StandIns) -> None:
    (sizes,) = views.ask("emo_pillars_topic_sizes")
    assert (sizes.utterances, sizes.topics, sizes.topics_of_two_or_more, sizes.large_topics) == (28, 3, 2, 1)
    first = views.ask("emo_pillars_topics")[0]
    assert (first.keywords, first.example) == ("song, hall", "We sang")
    named = views.ask("emo_pillars_named_topics")
    assert [(row.topic, row.utterances, row.name, row.category, row.keywords) for row in named] == [
        (1, 25, "Singing", None, "song, hall"),
        (2, 2, "The sea", "Nature", "sea"),
    ]
    categories = {row.category: row for row in views.ask("emo_pillars_topic_categories")}
    assert len(categories) == 17
    assert (categories["Nature"].topics, categories["Nature"].names, categories["Nature"].paper_topics) == (
        1,
        "The sea",
        None,
    )
    assert (categories["Human Relationships"].topics, categories["Human Relationships"].paper_topics) == (None, 5)
    near = {row.label: row for row in views.ask("emo_pillars_topic_emotions")}
    assert (near["joy"].share, near["joy"].share_of_all, near["fear"].share) == (0.6667, 0.5, 0.0)
    coverage = {row.measure: (row.value, row.paper) for row in views.ask("emo_pillars_coverage")}
    assert coverage["emotions with less than 1.5 % of the labels"] == (25, 8)
    assert coverage["percent positive"] == (50, 33)
    assert coverage["percent negative"] == (50, 48)
    assert coverage["percent neutral"] == (0, 2.7)
    assert coverage["percent positive near the query"] == (66.7, 82)
    words = {row.word: row.emotions for row in views.ask("emo_pillars_markers")}
    assert words == {"badly": "fear (0.50)", "safely": "fear (0.60), joy (0.20)"}
    (shared,) = views.ask("emo_pillars_marker_overlap")
    assert (shared.label, shared.other_label, shared.shared, shared.overlap) == ("fear", "joy", 1, 0.5)
