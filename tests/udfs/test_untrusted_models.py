"""Models from outside: weights that are missing, misshaped or unreadable, and files that name code, are refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertForSequenceClassification

from conf.errors import InputError
from tests.udfs.tiny_models import SIZE, tiny_encoder, tiny_language_model
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.hub_classifier import HubClassifier
from udfs.models.pretrained import causal_model
from udfs.models.sentence_encoder import SentenceEncoder

WEIGHTS = "model.safetensors"


def _classifier(folder: Path) -> Path:
    tiny_encoder(folder)
    size = json.loads((folder / "config.json").read_text())["vocab_size"]
    BertForSequenceClassification(BertConfig(vocab_size=size, num_labels=2, **SIZE)).save_pretrained(folder)
    return folder


MADE: dict[str, tuple[Callable[[Path], Path], Callable[[Path], Any]]] = {
    "encoder": (tiny_encoder, load_encoder),
    "sentences": (tiny_encoder, SentenceEncoder.load),
    "classifier": (_classifier, HubClassifier.load),
    "causal": (tiny_language_model, lambda folder: causal_model(folder, torch.float32)),
}


def _without(pattern: str) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        kept = {name: value for name, value in load_file(file).items() if pattern not in name}
        assert kept
        save_file(kept, file, {"format": "pt"})

    return change


def _misshaped(file: Path) -> None:
    stored = load_file(file)
    name = next(name for name in sorted(stored) if "embed" in name and stored[name].dim() == 2)
    save_file({**stored, name: torch.zeros(3, 2)}, file, {"format": "pt"})


def _changed(change: Callable[[torch.Tensor], torch.Tensor], pattern: str = "") -> Callable[[Path], None]:
    def write(file: Path) -> None:
        stored = load_file(file)
        chosen = {name: change(one) for name, one in stored.items() if pattern in name and one.dim() > 1}
        assert chosen
        save_file(stored | chosen, file, {"format": "pt"})

    return write


def _one_nan(weight: torch.Tensor) -> torch.Tensor:
    return weight.index_fill(0, torch.tensor([1]), float("nan"))


def _without_tokenizer(file: Path) -> None:
    for other in file.parent.iterdir():
        if other.name not in ("config.json", "generation_config.json", WEIGHTS):
            other.unlink()


def _other_words(file: Path) -> None:
    """Make the network's vocabulary half as large as the tokenizer's."""
    config = json.loads((file.parent / "config.json").read_text())
    stored = load_file(file)
    words = config["vocab_size"]
    halved = {name: one[: words // 2].clone() for name, one in stored.items() if one.shape[:1] == (words,)}
    save_file(stored | halved, file, {"format": "pt"})
    (file.parent / "config.json").write_text(json.dumps({**config, "vocab_size": words // 2}))


DAMAGE: dict[str, Callable[[Path], None]] = {
    "NaN among the embeddings": _changed(_one_nan, "embed"),
    "an infinite layer": _changed(lambda one: one / 0.0, "layer"),
    "a hole of zeros": _changed(torch.zeros_like, "layer"),
    "no tokenizer": _without_tokenizer,
    "a tokenizer with more words": _other_words,
    "a layer is missing": _without("layer"),
    "embeddings are missing": _without("embed"),
    "no tensors": lambda file: save_file({}, file, {"format": "pt"}),
    "other tensors": lambda file: save_file({"x": torch.zeros(2)}, file, {"format": "pt"}),
    "another shape": _misshaped,
    "an empty file": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-100]),
    "a header of 2**60 bytes": lambda file: file.write_bytes((1 << 60).to_bytes(8, "little") + b"{}"),
    "text": lambda file: file.write_bytes(b"version https://example.org/spec/v1\noid sha256:0\n"),
}


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("damage", DAMAGE)
def test_weights_that_do_not_fit_are_refused_with_the_folder(tmp_path: Path, kind: str, damage: str) -> None:
    make, load = MADE[kind]
    folder = make(tmp_path / "a model")
    DAMAGE[damage](folder / WEIGHTS)
    with pytest.raises(InputError, match="a model") as raised:
        load(folder)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("kind", MADE)
def test_whole_weights_are_read(tmp_path: Path, kind: str) -> None:
    make, load = MADE[kind]
    assert load(make(tmp_path / "a model")) is not None


def test_missing_keys_are_named(tmp_path: Path) -> None:
    folder = _classifier(tmp_path)
    _without("classifier")(folder / WEIGHTS)
    with pytest.raises(InputError, match=r"2 missing \(classifier.bias, classifier.weight\)"):
        HubClassifier.load(folder)


def test_another_number_of_labels_is_named(tmp_path: Path) -> None:
    folder = _classifier(tmp_path)
    config = json.loads((folder / "config.json").read_text())
    names = {"id2label": {"0": "a", "1": "b", "2": "c"}, "label2id": {"a": 0, "b": 1, "c": 2}}
    (folder / "config.json").write_text(json.dumps({**config, **names}))
    with pytest.raises(InputError, match=r"2 of another shape \(classifier.bias, classifier.weight\)"):
        HubClassifier.load(folder)


def test_a_label_that_stands_twice_is_named(tmp_path: Path) -> None:
    folder = _classifier(tmp_path)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "id2label": {"0": "Hate", "1": "hate"}}))
    with pytest.raises(InputError, match="'hate' 2 times"):
        HubClassifier.load(folder)


def test_a_pooler_that_nothing_uses_may_be_missing(tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path)
    _without("pooler")(folder / WEIGHTS)
    assert load_encoder(folder) is not None
    assert SentenceEncoder.load(folder) is not None


def _modules(folder: Path, *types: str) -> Path:
    tiny_encoder(folder)
    rows = [
        {"idx": n, "name": str(n), "path": "" if n == 0 else f"{n}_M", "type": kind} for n, kind in enumerate(types)
    ]
    (folder / "modules.json").write_text(json.dumps(rows))
    for n in range(1, len(types)):
        (folder / f"{n}_M").mkdir()
    return folder


@pytest.mark.parametrize(
    "kind",
    [
        "evil.Evil",
        "os.system",
        "sentence_transformers.models.Router",
        "sentence_transformers.models.CNN",
        "sentence_transformers.models.Transformer\n",
        "sentence_transformers.util.import_from_string",
        "sentence_transformersevil.Dense",
        "",
        "builtins.eval",
    ],
)
def test_modules_of_others_are_refused(tmp_path: Path, kind: str) -> None:
    folder = _modules(tmp_path, "sentence_transformers.models.Transformer", kind)
    with pytest.raises(InputError, match=r"modules\.json"):
        SentenceEncoder.load(folder)


@pytest.mark.parametrize("name", ["sentence_bert_config.json", "config.json", "config_sentence_transformers.json"])
def test_files_that_ask_for_code_of_a_hub_are_refused(tmp_path: Path, name: str) -> None:
    folder = tiny_encoder(tmp_path)
    known = json.loads((folder / name).read_text()) if (folder / name).is_file() else {}
    (folder / name).write_text(json.dumps(known | {"model_args": {"trust_remote_code": True}}))
    with pytest.raises(InputError, match="trust_remote_code"):
        SentenceEncoder.load(folder)


@pytest.mark.parametrize("activation", ["os.system", "torch.load", "torch.nn.modules.activation.Tanh.__init__", "x"])
def test_an_activation_is_one_of_torch(tmp_path: Path, activation: str) -> None:
    kinds = ["sentence_transformers.models.Transformer", "sentence_transformers.models.Dense"]
    folder = _modules(tmp_path, *kinds)
    config = {"in_features": 32, "out_features": 8, "bias": True, "activation_function": activation}
    (folder / "1_M" / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=r"not one of torch\.nn"):
        SentenceEncoder.load(folder)
