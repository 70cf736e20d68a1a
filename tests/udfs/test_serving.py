"""Classifiers as MLflow pyfuncs: the answers of the tables, from a logged folder without pickles."""

import platform
import re
from pathlib import Path
from typing import Any

import mlflow
import pandas as pd
import pytest
from mlflow.exceptions import MlflowException
from mlflow.models import Model

from conf.errors import InputError
from etl.pipeline.model_loader import resolve
from etl.training.model_card import model_card
from etl.training.signatures import SERVED, signature_of
from etl.training.tracking import FLAVOR
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier, Passage
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.predict import top_labels
from udfs.serving import SERVED as SERVED_MODELS
from udfs.serving import ServedClassifier

LABELS = ("sad", "glad", "neutral")
TEXTS = ["i am sad", "happy happy joy", "the dog"]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("encoder"), "bert")


def test_the_kinds_that_are_logged_as_pyfuncs_are_those_that_are_served() -> None:
    assert set(SERVED) == SERVED_MODELS.keys()


def logged(model, folder: Path) -> Path:
    """Save a model as trainings log it."""
    model.eval().save(folder)
    description = Model(artifact_path="model", signature=signature_of(model.kind))
    description.add_flavor(FLAVOR, kind=model.kind, data=".")
    description.add_flavor("python_function", loader_module="udfs.serving", python_version=platform.python_version())
    description.save(str(folder / "MLmodel"))
    card = model_card("edos-tiny", model.kind, "Trained on 9 rows, from pkg:tiny.", {"accuracy": 0.5})
    (folder / "README.md").write_text(card, encoding="utf-8")
    return folder


def test_a_weak_labeler_gives_the_tables_label(encoder: Path, tmp_path: Path) -> None:
    model = WeakLabeler(*load_encoder(encoder), LABELS)
    served = mlflow.pyfunc.load_model(str(logged(model, tmp_path / "weak")))
    found = served.predict(pd.DataFrame({"text": TEXTS}))
    scores = model.probabilities(TEXTS, 4).numpy()
    assert list(zip(found["label"], found["confidence"], strict=True)) == [
        top_labels(row, LABELS, 1)[0] for row in scores
    ]


def test_a_dialogue_classifier_reads_turns(encoder: Path, tmp_path: Path) -> None:
    model = DialogueClassifier(*load_encoder(encoder), LABELS, 24)
    turns = [["i am sad", "why"], ["happy"], []]
    found = ServedClassifier(logged(model, tmp_path / "dialogues")).predict(pd.DataFrame({"turns": turns}))
    scores = model.probabilities(turns[:2], 4).numpy()
    assert [(row.label, row.confidence) for row in found[:2].itertuples()] == [
        top_labels(row, LABELS, 1)[0] for row in scores
    ]
    assert found["error"].isna().tolist()[:2] == [True, True]


@pytest.mark.parametrize("form", ["inputs", "instances"])
def test_texts_that_may_be_one_dialogue_or_several_are_refused(encoder: Path, tmp_path: Path, form: str) -> None:
    from mlflow.pyfunc.scoring_server import infer_and_parse_data

    served = mlflow.pyfunc.load_model(
        str(logged(DialogueClassifier(*load_encoder(encoder), LABELS, 24), tmp_path / "dialogues"))
    )
    request = infer_and_parse_data({form: ["i am sad", "happy"]}, served.metadata.get_input_schema())
    with pytest.raises(MlflowException, match="texts without names may be one dialogue or several: send"):
        served.predict(request)
    assert len(served.predict(pd.DataFrame({"turns": [["i am sad"], ["happy"]]}))) == 2


def test_a_multi_label_classifier_gives_labels_from_its_threshold_on(encoder: Path, tmp_path: Path) -> None:
    model = MultiLabelClassifier(*load_encoder(encoder), LABELS)
    model.threshold = 0.0
    frame = pd.DataFrame({"context": ["the rain", None], "text": TEXTS[:2]})
    found = ServedClassifier(logged(model, tmp_path / "labels")).predict(frame)
    scores = model.probabilities([Passage(TEXTS[0], "the rain"), Passage(TEXTS[1])], 4).numpy()
    assert found["probabilities"][0] == pytest.approx(scores[0].tolist(), abs=1e-4)
    assert found["labels"].tolist() == [list(LABELS)] * 2


def models(encoder: Path) -> list[Any]:
    parts = load_encoder(encoder)
    return [WeakLabeler(*parts, LABELS), DialogueClassifier(*parts, LABELS, 24), MultiLabelClassifier(*parts, LABELS)]


def test_a_models_card_runs_as_printed(
    encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for model in models(encoder):
        monkeypatch.chdir(logged(model, tmp_path / model.kind))
        card = Path("README.md").read_text("utf-8")
        programs = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
        assert len(programs) == 1
        for program in programs:
            exec(program, {})
        assert "confidence" in capsys.readouterr().out or model.kind == MultiLabelClassifier.kind


def test_what_serves_a_model_is_no_content_of_it(encoder: Path, tmp_path: Path) -> None:
    model = WeakLabeler(*load_encoder(encoder), LABELS)
    model.eval().save(tmp_path / "bare")
    bare = resolve(f"file:{tmp_path / 'bare'}", tmp_path / "cache").identity
    (tmp_path / "served").mkdir()
    served = resolve(f"file:{logged(model, tmp_path / 'served' / 'bare')}", tmp_path / "cache").identity
    assert served == bare


def test_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "head.json").write_text('{"kind": "turn_window_classifier"}')
    with pytest.raises(InputError, match="turn_window_classifier is not served"):
        ServedClassifier(tmp_path)
