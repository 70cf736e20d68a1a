"""A classifier's export answers through ``transformers.pipeline`` as its table does."""

import io
import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, pipeline

from conf.errors import InputError
from conf.settings import load_settings
from conf.training_options import ClassifierOptions
from etl.cli.model_export import open_export, uri_of
from etl.publishing.model_export import export_model
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.predict import scores_or_errors, top_labels

LABELS = ("glad", "sad", "angry", "neutral")
SENTENCES = ["i am so happy", "the dog is lost", "why did you cry ?", "not", "", "rain " * 40]
DIALOGUES = [
    ["i am happy"],
    ["the dog is lost", "why ?"],
    ["we hate rain", "but the sun is great", "i am so glad"],
    ["one very long turn " * 12, "and you ?"],
    ["a", "b", "c", "d", "e", "f", "g", "h"],
]


def trained(kind: Any, encoder: Path, **options: Any) -> Any:
    """A model with a random head, as training leaves it: with a temperature, in evaluation mode."""
    model = kind.new(encoder, LABELS, ClassifierOptions(max_tokens=24, **options))
    with torch.no_grad():
        for value in model.parameters():
            value.add_(torch.randn_like(value) * 0.05)
    model.temperature = 1.7
    model.confidence = [0.3, 0.6]
    return model.eval()


def answers(model: Any, items: list[Any]) -> list[tuple[str, float]]:
    scores, errors = scores_or_errors(model, items, 8)
    assert not any(errors)
    return [top_labels(row, model.labels, 1)[0] for row in scores if row is not None]


def piped(folder: Path, texts: list[str]) -> list[tuple[str, float]]:
    warnings = io.StringIO()
    handler = logging.StreamHandler(warnings)
    logging.getLogger("transformers").addHandler(handler)
    try:
        classifier: Any = pipeline("text-classification", model=str(folder), trust_remote_code=True)
    finally:
        logging.getLogger("transformers").removeHandler(handler)
    assert "is not supported" not in warnings.getvalue()
    return [(one["label"], one["score"]) for one in classifier(texts, batch_size=4)]


@pytest.mark.parametrize("family", ["bert", "roberta", "mpnet"])
def test_a_weak_labelers_export_answers_alike(tmp_path: Path, family: str) -> None:
    model = trained(WeakLabeler, tiny_encoder(tmp_path / "tiny", family))
    config = export_model(model.save(tmp_path / "model"), tmp_path / "out")
    assert list(config["id2label"].values()) == list(LABELS)
    _compare(answers(model, SENTENCES), piped(tmp_path / "out", SENTENCES))


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("family", "start_token"), [("bert", False), ("roberta", True), ("mpnet", True)])
def test_a_dialogue_classifiers_export_answers_alike(
    tmp_path: Path, family: str, start_token: bool, weighted: bool
) -> None:
    model = trained(DialogueClassifier, tiny_encoder(tmp_path / "tiny", family))
    model.start_token = start_token
    model.weighted = weighted
    export_model(model.save(tmp_path / "model"), tmp_path / "out")
    separator = model.tokenizer.sep_token
    _compare(answers(model, DIALOGUES), piped(tmp_path / "out", [separator.join(turns) for turns in DIALOGUES]))


def _compare(ours: list[tuple[str, float]], theirs: list[tuple[str, float]]) -> None:
    assert [label for label, _ in ours] == [label for label, _ in theirs]
    np.testing.assert_allclose([sure for _, sure in ours], [sure for _, sure in theirs], atol=2e-4)


def test_an_export_has_a_card_and_no_pickles(tmp_path: Path) -> None:
    model = trained(WeakLabeler, tiny_encoder(tmp_path / "tiny"))
    saved = model.save(tmp_path / "model")
    (saved / "README.md").write_text(
        "# edos-weak-labeler\n\n| accuracy | 0.6 |\n\n## How it is opened\n\nearlier words\n\n## Limits\n\n- few\n",
        "utf-8",
    )
    export_model(saved, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    for part in (
        "pipeline_tag: text-classification",
        "| accuracy | 0.6 |",
        "trust_remote_code=True",
        "- few",
        "Licence",
    ):
        assert part in card
    assert "earlier words" not in card
    assert not [file.name for file in (tmp_path / "out").iterdir() if file.suffix in (".bin", ".pt", ".pkl")]
    opened = AutoModelForSequenceClassification.from_pretrained(tmp_path / "out", trust_remote_code=True)
    assert json.loads((tmp_path / "out" / "config.json").read_text())["label2id"] == opened.config.label2id


def test_what_cannot_be_exported_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no classifier with a head"):
        export_model(tmp_path, tmp_path / "out")
    (tmp_path / "head.json").write_text('{"kind": "multi_label_classifier"}')
    with pytest.raises(InputError, match="multi_label_classifier is not exported"):
        export_model(tmp_path, tmp_path / "out")
    model = trained(WeakLabeler, tiny_encoder(tmp_path / "tiny")).save(tmp_path / "model")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    with pytest.raises(InputError, match="not empty"):
        export_model(model, tmp_path / "full")


def test_the_command_names_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = trained(WeakLabeler, tiny_encoder(tmp_path / "tiny")).save(tmp_path / "model")
    settings = load_settings(
        "local", [], {"lakehouse.root": str(tmp_path / "l"), "models.weak_labeler": f"file:{model}"}
    )
    assert open_export(settings, "weak_labeler", str(tmp_path / "out")) == 0
    assert str(tmp_path / "out") in capsys.readouterr().out
    assert (tmp_path / "out" / "model.safetensors").is_file()


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("edos-emotion-classifier", "models:/edos-emotion-classifier@champion"),
        ("models:/x/3", "models:/x/3"),
        ("weak_labeler", "models:/edos-weak-labeler@champion"),
    ],
)
def test_a_model_is_named_by_key_name_or_uri(name: str, uri: str) -> None:
    assert uri_of(load_settings("local"), name) == uri
