"""The pipeline with another taxonomy: seven labels from votes to views, report, card and annotation page."""

import csv
import gzip
from pathlib import Path

import pytest

from conf.taxonomy import edos_labels, load_taxonomy
from etl.pipeline.model_loader import resolve
from tests.jobs.conftest import ON_REQUEST, TinyRun, jobs
from tests.jobs.tables import table
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.weak_labeler import WeakLabeler

pytestmark = pytest.mark.slow
SEVEN = load_taxonomy("ekman").names
AS_SEVEN = {label: SEVEN[number % len(SEVEN)] for number, label in enumerate(edos_labels())}


def _as_seven(answer: str) -> str:
    label = answer.lower().removesuffix(" (other)")
    return AS_SEVEN[label].capitalize() if label in AS_SEVEN else answer


@pytest.fixture(scope="module")
def seven_sets(tiny: TinyRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus's labelled sentences and votes, in seven labels."""
    folder = tmp_path_factory.mktemp("seven")
    labels = tiny.corpus / "labels"
    for given in ("classifier_train.txt.gz", "classifier_valid.txt"):
        content = (labels / given).read_bytes()
        text = (gzip.decompress(content) if given.endswith(".gz") else content).decode()
        rows = (line.partition(" <SEP> ") for line in text.splitlines())
        renamed = "".join(f"{int(label) % len(SEVEN)} <SEP> {said}\n" for label, _, said in rows)
        (folder / given.removesuffix(".gz")).write_text(renamed)
    with gzip.open(labels / "crowd_votes.csv.gz", "rt", newline="") as given, (folder / "votes.csv").open("w") as out:
        votes = csv.DictReader(given)
        writer = csv.DictWriter(out, votes.fieldnames or ())
        writer.writeheader()
        for row in votes:
            writer.writerow({name: _as_seven(value) if "answer" in name else value for name, value in row.items()})
    return folder


@pytest.fixture(scope="module")
def in_seven(tiny: TinyRun, seven_sets: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lakehouse of a run with the other taxonomy."""
    root = tmp_path_factory.mktemp("seven_run") / "lakehouse"
    stages = f"annotate_dialogues,describe_dataset,{ON_REQUEST}"
    own = (
        "edos.annotation.quiz_per_hit=0",  # the situations have labels of the other taxonomy
        "edos.taxonomy=ekman",
        f"edos.weak_label_examples={seven_sets}",
        f"edos.crowd_votes=[{seven_sets}/votes.csv]",
    )
    done = tiny.run(root, *own, command=("run", "--to", stages))
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    return root


def test_every_label_is_one_of_the_seven(in_seven: Path) -> None:
    crowd = [row["label"] for row in table(in_seven, "edos/crowd_labels")]
    assert set(crowd) == {*SEVEN, None}
    weak = {row["label"] for row in table(in_seven, "edos/weak_labels")}
    assert weak
    assert weak <= set(SEVEN)
    turns = [turn for row in table(in_seven, "edos/dialogues") for turn in row["turns"]]
    assert turns
    assert {turn["label"] for turn in turns} <= set(SEVEN)


def test_both_classifiers_have_seven_outputs(in_seven: Path, tmp_path: Path) -> None:
    for name, kind in (("edos-weak-labeler", WeakLabeler), ("edos-emotion-classifier", DialogueClassifier)):
        model = resolve(f"models:/{name}@champion", tmp_path, f"sqlite:///{in_seven}/mlflow.db")
        assert kind.load(model.path).labels == SEVEN


def test_every_view_answers(in_seven: Path) -> None:
    asked = "SELECT label FROM analysis.edos_table_9; SELECT count(*) FROM analysis.edos_label_distribution;"
    shown = jobs("sql", "--set", f"lakehouse.root={in_seven}", "edos.taxonomy=ekman", "-e", asked)
    assert shown.returncode == 0, shown.stderr
    assert all(label in shown.stdout for label in SEVEN)
    assert "nostalgic" not in shown.stdout


def test_report_card_and_page_speak_of_seven(in_seven: Path) -> None:
    report = (in_seven / "reports" / "edos.html").read_text("utf-8")
    assert "has one of 7 labels, 6 emotions and neutral" in report
    assert "nostalgic" not in report
    cards = [path.read_text("utf-8") for path in in_seven.rglob("README.md")]
    assert [card for card in cards if "one of 7 labels, 6 emotions and neutral" in card]
    pages = [path.read_text("utf-8") for path in in_seven.rglob("annotate.html")]
    assert pages
    assert all("Surprise" in page and "nostalgic" not in page.lower() for page in pages)
