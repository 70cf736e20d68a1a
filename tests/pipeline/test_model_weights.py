"""What of a model's files is refused before anything is loaded, and what is not."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.torch import save_file

from conf.errors import InputError
from etl.pipeline.model_weights import check_weights
from tests.udfs.gguf_files import written
from tests.udfs.tiny_models import tiny_encoder

WEIGHTS = "model.safetensors"


def _bytes(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes())) and None


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "an empty file": (_bytes(WEIGHTS, lambda one: b""), WEIGHTS),
    "a cut in the weights": (_bytes(WEIGHTS, lambda one: one[:-100]), WEIGHTS),
    "a cut in the header": (_bytes(WEIGHTS, lambda one: one[:60]), WEIGHTS),
    "bytes after the end": (_bytes(WEIGHTS, lambda one: one + b"x"), WEIGHTS),
    "a header of 2**60 bytes": (_bytes(WEIGHTS, lambda one: struct.pack("<Q", 1 << 60) + b"{}"), WEIGHTS),
    "a pointer of Git LFS": (_bytes(WEIGHTS, lambda one: b"version https://spec/v1\noid sha256:0\n"), WEIGHTS),
    "no tensors": (lambda folder: save_file({}, folder / WEIGHTS), "no tensors"),
    "a configuration that is no JSON": (_bytes("config.json", lambda one: one[:-9]), r"config\.json: no JSON"),
    "a configuration that is a list": (_bytes("config.json", lambda one: b"[]"), "no JSON object"),
    "a configuration of other bytes": (_bytes("config.json", lambda one: b"\xff\xfe" + one), r"config\.json: no JSON"),
    "a tokenizer that is no JSON": (_bytes("tokenizer.json", lambda one: one[:-9]), r"tokenizer\.json: no JSON"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_folders_are_refused_in_one_line_with_the_cure(tmp_path: Path, damage: str) -> None:
    folder = tiny_encoder(tmp_path / "a model")
    check_weights(tmp_path)
    change, word = DAMAGE[damage]
    change(folder)
    with pytest.raises(InputError, match=word) as refused:
        check_weights(tmp_path)
    assert "a model" in str(refused.value)
    assert "again" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 600


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
    with pytest.raises(InputError, match=r"m\.gguf: not a usable GGUF file"):
        check_weights(tmp_path / "bad")
