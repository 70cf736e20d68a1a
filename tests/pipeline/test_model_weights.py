"""Headers of weights against the configuration: what is refused before anything is loaded, and what is not."""

import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from conf.errors import InputError
from etl.pipeline.model_weights import CLASSIFIER, ENCODER, FAMILIES, INDEX, LANGUAGE_MODEL, check_weights
from tests.udfs.gguf_files import written
from tests.udfs.tiny_models import tiny_encoder, tiny_language_model

WEIGHTS = "model.safetensors"
CONFIGS = {
    "bert": {"intermediate_size": 24},
    "camembert": {"intermediate_size": 24},
    "electra": {"intermediate_size": 24, "embedding_size": 8},
    "roberta": {"intermediate_size": 24},
    "xlm-roberta": {"intermediate_size": 24},
    "mpnet": {"intermediate_size": 24},
    "distilbert": {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24},
    "llama": {"intermediate_size": 24, "num_key_value_heads": 1},
    "mistral": {"intermediate_size": 24, "num_key_value_heads": 1, "head_dim": 4},
    "qwen2": {"intermediate_size": 24, "num_key_value_heads": 1},
    "gpt2": {"n_embd": 16, "n_layer": 2, "n_head": 2},
    "gptj": {"n_embd": 16, "n_layer": 2, "n_head": 2, "rotary_dim": 4},
    "bart": {"d_model": 16, "encoder_layers": 2, "decoder_layers": 1, "encoder_ffn_dim": 24, "decoder_ffn_dim": 20},
    "mbart": {"d_model": 16, "encoder_layers": 1, "decoder_layers": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 20},
}
COMMON = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
UNUSED = ("pooler", "token_type_embeddings", "relative_attention_bias", "final_logits_bias", "rotary", "lm_head")
"""Weights that are missing without harm, that few files have, or that are tied to others."""


def made(folder: Path, family: str, kind: str = "AutoModel") -> Path:
    """Save a tiny model of a family, with a tokenizer's file."""
    own = CONFIGS[family]
    common = COMMON if not {"dim", "n_embd", "d_model"} & own.keys() else {"vocab_size": 50}
    config = transformers.AutoConfig.for_model(family, **common, **own, pad_token_id=1)
    getattr(transformers, kind).from_config(config).save_pretrained(folder)
    (folder / "tokenizer.json").write_text("{}")
    return folder


def test_each_family_has_a_case() -> None:
    assert CONFIGS.keys() == FAMILIES.keys()


@pytest.mark.parametrize("family", CONFIGS)
def test_what_the_library_saves_is_whole_and_each_weight_is_missed(tmp_path: Path, family: str) -> None:
    folder = made(tmp_path / "m", family)
    check_weights(folder, ENCODER)
    stored = load_file(folder / WEIGHTS)
    needed = [name for name in stored if ".0." in name or "embed" in name or name.startswith(("wte", "wpe", "ln_f"))]
    needed = [name for name in needed if not any(word in name for word in UNUSED)]
    if family in ("bart", "mbart"):
        needed = [name for name in needed if "encoder_attn" not in name and "layernorm_embedding" not in name]
        needed = [name for name in needed if name.startswith("encoder.layers") or "embed_positions" in name]
    if family == "qwen2":
        needed = [name for name in needed if not name.endswith(".bias")]
    if family == "electra":
        needed = [name for name in needed if "embeddings_project" not in name]
    assert len(needed) >= 9
    for name in needed:
        save_file({key: value for key, value in stored.items() if key != name}, folder / WEIGHTS)
        with pytest.raises(InputError, match="is missing"):
            check_weights(folder)
    large = [name for name in needed if stored[name].dim() == 2 and "bart" not in family]
    for name in large:
        save_file({**stored, name: torch.zeros(3, 7)}, folder / WEIGHTS)
        with pytest.raises(InputError, match="has the shape 3 x 7"):
            check_weights(folder)


@pytest.mark.parametrize(
    ("family", "kind"),
    [
        ("bert", "AutoModelForSequenceClassification"),
        ("bert", "AutoModelForMaskedLM"),
        ("roberta", "AutoModelForSequenceClassification"),
        ("distilbert", "AutoModelForSequenceClassification"),
        ("mpnet", "AutoModelForSequenceClassification"),
        ("llama", "AutoModelForCausalLM"),
        ("llama", "AutoModelForSequenceClassification"),
        ("gpt2", "AutoModelForCausalLM"),
        ("gptj", "AutoModelForCausalLM"),
        ("bart", "AutoModelForSeq2SeqLM"),
        ("mbart", "AutoModelForSeq2SeqLM"),
    ],
)
def test_weights_below_a_head_are_found(tmp_path: Path, family: str, kind: str) -> None:
    uses = {"AutoModelForSequenceClassification": CLASSIFIER, "AutoModelForCausalLM": LANGUAGE_MODEL}
    check_weights(made(tmp_path, family, kind), uses.get(kind))


def _changed(**values: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | values))

    return change


def _bytes(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes())) and None


def _sharded(folder: Path, lost: bool) -> None:
    stored = load_file(folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    names = sorted(stored)
    parts = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
    for file, own in parts.items():
        save_file({name: stored[name] for name in own}, folder / file)
    placed = {name: file for file, own in parts.items() for name in own}
    (folder / INDEX).write_text(json.dumps({"weight_map": placed}))
    if lost:
        (folder / "model-00002-of-00002.safetensors").unlink()


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "an empty file": (_bytes(WEIGHTS, lambda one: b""), WEIGHTS),
    "a cut in the weights": (_bytes(WEIGHTS, lambda one: one[:-100]), WEIGHTS),
    "a cut in the header": (_bytes(WEIGHTS, lambda one: one[:60]), WEIGHTS),
    "bytes after the end": (_bytes(WEIGHTS, lambda one: one + b"x"), WEIGHTS),
    "a header of 2**60 bytes": (_bytes(WEIGHTS, lambda one: struct.pack("<Q", 1 << 60) + b"{}"), WEIGHTS),
    "a pointer of Git LFS": (_bytes(WEIGHTS, lambda one: b"version https://spec/v1\noid sha256:0\n"), WEIGHTS),
    "no tensors": (lambda folder: save_file({}, folder / WEIGHTS), "no tensors"),
    "other tensors": (lambda folder: save_file({"x": torch.zeros(2)}, folder / WEIGHTS), "word_embeddings"),
    "more layers announced": (_changed(num_hidden_layers=3), r"encoder\.layer\.2"),
    "another width announced": (_changed(hidden_size=32), "not 81 x 32|not . x 32|x 32"),
    "another vocabulary announced": (_changed(vocab_size=9), "not 9 x 16"),
    "a configuration that is no JSON": (_bytes("config.json", lambda one: one[:-9]), r"config\.json: no JSON"),
    "a configuration that is a list": (_bytes("config.json", lambda one: b"[]"), "no JSON object"),
    "a configuration of other bytes": (_bytes("config.json", lambda one: b"\xff\xfe" + one), r"config\.json: no JSON"),
    "no configuration": (lambda folder: (folder / "config.json").unlink(), r"no config\.json"),
    "no tokenizer": (lambda folder: (folder / "tokenizer.json").unlink(), "no tokenizer"),
    "a tokenizer that is no JSON": (_bytes("tokenizer.json", lambda one: one[:-9]), r"tokenizer\.json: no JSON"),
    "a lost part": (lambda folder: _sharded(folder, lost=True), "model-00002-of-00002.safetensors is not there"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_folders_are_refused_in_one_line_with_the_cure(tmp_path: Path, damage: str) -> None:
    folder = tiny_encoder(tmp_path / "a model")
    change, word = DAMAGE[damage]
    change(folder)
    with pytest.raises(InputError, match=word) as refused:
        check_weights(folder, ENCODER)
    assert "a model" in str(refused.value)
    assert "again" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 600


def test_all_parts_of_a_model_are_one_model(tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path)
    _sharded(folder, lost=False)
    check_weights(folder, ENCODER)


@pytest.mark.parametrize(
    ("labels", "word"), [({"0": "a", "1": "b"}, None), ({"0": "a", "1": "b", "2": "c"}, "for 3 labels")]
)
def test_a_head_has_a_row_for_each_label(tmp_path: Path, labels: dict[str, str], word: str | None) -> None:
    folder = made(tmp_path, "bert", "AutoModelForSequenceClassification")
    _changed(id2label=labels)(folder)
    if word is None:
        check_weights(folder, CLASSIFIER)
        return
    with pytest.raises(InputError, match=word):
        check_weights(folder, CLASSIFIER)


def test_a_classifier_without_its_head_is_an_encoder_alone(tmp_path: Path) -> None:
    folder = made(tmp_path, "bert")
    check_weights(folder, ENCODER)
    with pytest.raises(InputError, match="the classifier's head is missing"):
        check_weights(folder, CLASSIFIER)


def test_a_language_model_without_an_output_layer_is_refused_unless_it_is_tied(tmp_path: Path) -> None:
    folder = tiny_language_model(tmp_path)
    stored = load_file(folder / WEIGHTS)
    save_file({name: value for name, value in stored.items() if name != "lm_head.weight"}, folder / WEIGHTS)
    _changed(tie_word_embeddings=True)(folder)
    check_weights(folder, LANGUAGE_MODEL)
    _changed(tie_word_embeddings=False)(folder)
    with pytest.raises(InputError, match=r"lm_head\.weight is missing"):
        check_weights(folder, LANGUAGE_MODEL)


def test_architectures_that_are_not_compared_pass_with_whole_files(tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path)
    _changed(model_type="modernbert")(folder)
    check_weights(folder, ENCODER)


@pytest.mark.parametrize("key", ["tokenizer.ggml.tokens", "tokenizer.ggml.token_type"])
def test_a_scalar_where_a_list_is_due_is_refused(tmp_path: Path, key: str) -> None:
    whole = written(tmp_path / "whole.gguf").read_bytes()
    other = b"x" * len(key)
    start = whole.index(key.encode())
    pair = struct.pack("<Q", len(key)) + key.encode() + struct.pack("<II", 4, 7)
    renamed = whole[:start] + other + whole[start + len(key) :]
    keys = struct.unpack("<Q", whole[16:24])[0]
    bad = renamed[:16] + struct.pack("<Q", keys + 1) + pair + renamed[24:]
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "m.gguf").write_bytes(bad)
    with pytest.raises(InputError, match=r"m\.gguf: no GGUF file"):
        check_weights(tmp_path / "bad", LANGUAGE_MODEL)


def test_a_vocabulary_in_json_stands_for_no_configuration(tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path)
    (folder / "config.json").unlink()
    (folder / "vocab.json").write_text("{}")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text("{}")
    with pytest.raises(InputError, match=r"no config\.json"):
        check_weights(folder, ENCODER)


def test_the_network_may_lie_in_a_folder_below(tmp_path: Path) -> None:
    tiny_encoder(tmp_path / "0_Transformer")
    (tmp_path / "2_Dense").mkdir()
    save_file({"linear.weight": torch.zeros(8, 16)}, tmp_path / "2_Dense" / "model.safetensors")
    (tmp_path / "2_Dense" / "config.json").write_text(json.dumps({"in_features": 16, "out_features": 8}))
    check_weights(tmp_path, ENCODER)
    (tmp_path / "2_Dense" / "config.json").write_text(json.dumps({"in_features": 16, "out_features": 9}))
    with pytest.raises(InputError, match="not 9 x 16"):
        check_weights(tmp_path, ENCODER)
