"""The prefix of a language model's URI chooses how it is run."""

from pathlib import Path

import pytest

from conf.errors import InputError
from etl.pipeline.model_loader import is_installed, is_uri, resolve, schemes
from udfs.llm_kinds import kind_of, kinds


@pytest.mark.parametrize(
    ("uri", "prefix", "in_files", "shared", "whole_gpu"),
    [
        ("openai:gpt:latest", "openai:", False, True, False),
        ("recorded:answers.jsonl", "recorded:", False, False, False),
        ("gguf:hf:a/b", "gguf:", True, False, False),
        ("vllm:file:/models/m", "vllm:", True, True, True),
        ("hf:a/b@main", "", True, False, False),
        ("models:/edos-augmenter@champion", "", True, False, False),
        ("ggufs:x", "", True, False, False),
        ("", "", True, False, False),
    ],
)
def test_a_prefix_chooses_the_kind(uri: str, prefix: str, in_files: bool, shared: bool, whole_gpu: bool) -> None:
    kind = kind_of(uri)
    assert (kind.prefix, kind.in_files, kind.shared, kind.whole_gpu) == (prefix, in_files, shared, whole_gpu)


def test_each_kind_has_a_prefix_of_its_own_and_messages_name_it() -> None:
    prefixes = [kind.prefix for kind in kinds()]
    assert len(set(prefixes)) == len(prefixes)
    for prefix in prefixes:
        assert prefix in schemes()


@pytest.mark.parametrize("uri", ["gguf:openai:x", "vllm:gguf:file:x", "gguf:vllm:hf:a/b"])
def test_no_kind_follows_another(uri: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is followed by hf:, pkg:, file: or models:/"):
        resolve(uri, tmp_path)


@pytest.mark.parametrize(
    ("text", "in_files", "installed"),
    [
        ("gguf:pkg:llm", True, True),
        ("vllm:hf:a/b", True, False),
        ("file:/m", True, True),
        ("openai:x", False, False),
        ("recorded:x.jsonl", False, False),
        ("trained", False, False),
    ],
)
def test_uris_of_models_in_files(text: str, in_files: bool, installed: bool) -> None:
    assert is_uri(text) == in_files
    assert is_installed(text) == installed
