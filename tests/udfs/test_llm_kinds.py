"""The prefix of a language model's URI chooses how it is run."""

from pathlib import Path

import pytest

from conf.errors import InputError
from etl.pipeline.model_loader import is_installed, is_uri, resolve, schemes
from udfs.llm_kinds import kind_of, kinds


@pytest.mark.parametrize(
    ("uri", "prefix", "in_files", "shared"),
    [
        ("openai:gpt:latest", "openai:", False, True),
        ("recorded:answers.jsonl", "recorded:", False, False),
        ("gguf:hf:a/b", "gguf:", True, False),
        ("hf:a/b@main", "", True, False),
        ("models:/edos-augmenter@champion", "", True, False),
        ("ggufs:x", "", True, False),
        ("", "", True, False),
    ],
)
def test_a_prefix_chooses_the_kind(uri: str, prefix: str, in_files: bool, shared: bool) -> None:
    kind = kind_of(uri)
    assert (kind.prefix, kind.in_files, kind.shared) == (prefix, in_files, shared)


def test_each_kind_has_a_prefix_of_its_own_and_messages_name_it() -> None:
    prefixes = [kind.prefix for kind in kinds()]
    assert len(set(prefixes)) == len(prefixes)
    for prefix in prefixes:
        assert prefix in schemes()


@pytest.mark.parametrize("uri", ["gguf:openai:x", "gguf:gguf:file:x"])
def test_no_kind_follows_another(uri: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is followed by hf:, pkg:, file: or models:/"):
        resolve(uri, tmp_path)


@pytest.mark.parametrize(
    ("text", "in_files", "installed"),
    [
        ("gguf:pkg:llm", True, True),
        ("file:/m", True, True),
        ("openai:x", False, False),
        ("recorded:x.jsonl", False, False),
        ("trained", False, False),
    ],
)
def test_uris_of_models_in_files(text: str, in_files: bool, installed: bool) -> None:
    assert is_uri(text) == in_files
    assert is_installed(text) == installed
