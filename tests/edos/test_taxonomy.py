"""Another taxonomy than the paper's 41 labels: seven labels from a file of the user's own."""

from pathlib import Path

import pytest
from lxml import html
from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.settings import load_settings
from conf.taxonomy import Taxonomy, load_taxonomy
from etl.edos.card import card
from etl.edos.crowd_batches import batch_files
from etl.edos.findings import EdosFindings
from etl.edos.labelling import labelling_batch
from etl.edos.report import report
from etl.edos.settings import AnnotationSettings, PublishingSettings
from etl.edos.votes import VOTE_COLUMNS, agree, answers_from_votes
from etl.edos.weak_examples import examples_of
from etl.publishing.views import all_views
from tests.annotation.batches import task
from tests.stand_ins import StandIns
from udfs.text_files import Row

SEVEN = ("anger", "disgust", "fear", "joy", "sadness", "surprise", "neutral")
LABELS = """name: Mine
labels:
  - {label: glad, kind: emotion, about: Is happy., example: I am so glad!}
  - {label: neutral, kind: neutral, about: Shows nothing., example: It is noon.}
"""
LINES = ("2 <SEP> boo !", "6 <SEP> it is noon .", "7 <SEP> no such label")
FINISHED = """array(named_struct('text', 'Help !', 'label', 'fear', 'confidence', 0.9F),
  named_struct('text', 'Oh .', 'label', 'surprise', 'confidence', 0.4F)) AS turns"""


@pytest.fixture()
def seven() -> Taxonomy:
    return load_settings(overrides={"edos.taxonomy": "ekman"}).edos.taxonomy


def test_the_default_has_the_papers_labels(seven: Taxonomy) -> None:
    assert load_settings().edos.taxonomy.in_words() == "41 labels, 32 emotions, 8 empathetic intents and neutral"
    assert seven.names == SEVEN
    assert seven.in_words() == "7 labels, 6 emotions and neutral"


@pytest.mark.slow
def test_every_view_follows_the_labels(spark: SparkSession, seven: Taxonomy) -> None:
    views = StandIns(spark, all_views(seven))
    views.give("edos.dialogues", spark.sql(f"SELECT 'd' AS dialogue_id, '1' AS movie_id, {FINISHED}"))
    for name, view in views.views.items():
        assert spark.sql(views.sql(view.sql)).columns == list(view.columns), name
    table = views.ask("edos_table_9")
    assert [row.label for row in table] == [*SEVEN, "total"]
    assert {(row.paper_dialogues, row.paper_turns) for row in table if row.label not in ("neutral", "total")} == {
        (None, None)
    }
    assert next(row.paper_turns for row in table if row.label == "neutral") == 55_932
    shares = {row.label: (row.share, row.paper_share) for row in views.ask("edos_label_distribution")}
    assert shares["fear"] == (0.5, None)
    assert shares["neutral"] == (0, 0.019768)
    assert [(row.nats, row.paper) for row in views.ask("edos_kl_divergence")] == [(None, None)] * 4
    assert [row.labels for row in views.ask("edos_table_2")][-2:] == [41, 7]
    names = ("edos_table_3", "edos_label_distribution", "edos_confidence", "edos_kl_divergence", "edos_flow")
    findings = EdosFindings({name: [row.asDict() for row in views.ask(name)] for name in names}, taxonomy=seven)
    views.drop()
    said = " ".join(html.fromstring(report(findings)).text_content().split())
    assert "has one of 7 labels, 6 emotions and neutral" in said
    assert "With 7 classes" in said
    assert "most frequent label is fear with 50.0% of the turns (paper: –)" in said
    assert "intents together" not in said
    assert "None" not in said
    text = card(findings, PublishingSettings(name="mine", formats=["jsonl"]), rows={"train": 1}, languages=["en"])
    assert "one of 7 labels, 6 emotions and neutral" in text
    assert "| fear | emotion | 1 | 50.0% | – |" in text


def test_crowd_votes_agree_in_the_taxonomy(spark: SparkSession, seven: Taxonomy) -> None:
    rows = [
        ("0.9-1", "7", "Boo !", "Fear", "fear (Other)", "Afraid"),
        ("0.9-2", "8", "Hm .", "Afraid", "afraid", "Joy"),
    ]
    votes = spark.createDataFrame(rows, ", ".join(f"`{name}` string" for name in VOTE_COLUMNS))
    agreed = agree(answers_from_votes(votes, seven.names, "mine").rows, seven.names)
    assert {row.dialogue_id: row.label for row in agreed.rows.collect()} == {"7": "fear", "8": None}


def test_weak_examples_are_read_by_the_labels_ids(seven: Taxonomy) -> None:
    found = examples_of([Row(number, line) for number, line in enumerate(LINES, 1)], seven.names, "mine.txt")
    assert found.rows == (("boo !", 2), ("it is noon .", 6))
    assert found.reasons() == {"label_id_outside_taxonomy": 1}


def test_the_annotation_page_offers_the_seven(seven: Taxonomy) -> None:
    tasks = [task("h1", 1, options=["joy", "fear"], label="joy")]
    batch = labelling_batch(tasks, seven)
    assert [one.value for one in batch.questions[0].other] == list(SEVEN)
    assert [one.value for one in batch.tutorial] == list(SEVEN)
    _, files = batch_files(tasks, seven, AnnotationSettings())
    assert files["template.html"].count("<option>") == files["template.html"].count("<dt>") == 7
    assert "Surprise" in files["annotate.html"]
    assert "nostalgic" not in files["annotate.html"]


def test_a_file_of_ones_own_is_found_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(LABELS)
    assert load_settings(overrides={"edos.taxonomy": str(path)}).edos.taxonomy.names == ("glad", "neutral")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("neutral, kind", "glad, kind", r"label 'glad' appears twice"),
        ("kind: emotion", "kind: feeling", r"labels\.0\.kind: Input should be 'emotion', 'intent' or 'neutral'"),
        ("label: glad", "label: Glad ", r"labels\.0\.label: label 'Glad' must be lower case"),
        (", about: Is happy.", "", r"labels\.0\.about: Field required"),
        ("name: Mine\n", "", r"name: Field required"),
        ("labels:", "labels: [", r"is not YAML"),
        (LABELS, "just words", r"Input should be a valid dictionary"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(LABELS.replace(old, new, 1))
    for load in (load_taxonomy, lambda name: load_settings(overrides={"edos.taxonomy": name})):
        with pytest.raises(InputError, match=said) as error:
            load(str(path))
        assert "\n" not in str(error.value)
    with pytest.raises(InputError, match=r"taxonomy nowhere: no such file, and none of edos, ekman$"):
        load_taxonomy("nowhere")
