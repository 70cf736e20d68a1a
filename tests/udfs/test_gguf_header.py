"""The header of a GGUF file: what is read of it, and what is refused before llama.cpp sees it."""

import struct
from pathlib import Path

import pytest

from conf.errors import InputError
from tests.udfs.gguf_files import written
from udfs.models.gguf_header import gguf_file, read_header


def test_a_header_tells_the_architecture_the_context_and_the_marks_of_a_chat(tmp_path: Path) -> None:
    header = read_header(written(tmp_path / "m.gguf"))
    assert header == ("llama", 64, ("<s>", "<|end|>"), True)


def _set(content: bytes, place: int, value: bytes) -> bytes:
    return content[:place] + value + content[place + len(value) :]


DAMAGES = {
    "another file": lambda one: b"PK\x03\x04" + one[4:],
    "nothing": lambda one: b"",
    "a cut in the header": lambda one: one[:100],
    "a version of the future": lambda one: _set(one, 4, struct.pack("<I", 9)),
    "more tensors than a model has": lambda one: _set(one, 8, struct.pack("<Q", 1 << 63)),
    "no tensors": lambda one: _set(one, 8, struct.pack("<Q", 0)),
    "more keys than bytes": lambda one: _set(one, 16, struct.pack("<Q", 1 << 40)),
    "a key longer than the file": lambda one: _set(one, 24, struct.pack("<Q", 1 << 62)),
    "more texts than bytes": lambda one: _set(
        one, one.index(b"tokenizer.ggml.tokens") + 29, struct.pack("<Q", 1 << 60)
    ),
    "an array of arrays": lambda one: _set(one, one.index(b"tokenizer.ggml.tokens") + 25, struct.pack("<I", 9)),
    "a value of no known type": lambda one: _set(one, one.index(b"general.architecture") + 20, struct.pack("<I", 77)),
    "no architecture": lambda one: one.replace(b"general.architecture", b"general.architectura"),
    "no vocabulary": lambda one: one.replace(b"tokenizer.ggml.tokens", b"tokenizer.ggml.tokenz"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_and_hostile_files_are_refused_in_one_line(tmp_path: Path, damage) -> None:
    whole = written(tmp_path / "whole.gguf").read_bytes()
    read_header(tmp_path / "whole.gguf")
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(damage(whole))
    assert bad.read_bytes() != whole
    with pytest.raises(InputError, match=r"bad\.gguf: not a usable GGUF file \(.*\): fetch it again") as error:
        read_header(bad)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_types_that_do_not_fit_the_tokens_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the types of 3 tokens do not fit"):
        read_header(written(tmp_path / "m.gguf", types=(1, 3)))


def test_a_folder_has_one_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"0 \.gguf files"):
        gguf_file(tmp_path)
    written(tmp_path / "a.gguf")
    assert gguf_file(tmp_path).name == "a.gguf"
    written(tmp_path / "b.gguf")
    with pytest.raises(InputError, match=r"2 \.gguf files"):
        gguf_file(tmp_path)
