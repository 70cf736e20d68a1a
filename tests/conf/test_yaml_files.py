"""Settings files from outside: what is wrong with each is told in one line, soon."""

import time
from pathlib import Path

import pytest

from conf.errors import InputError
from conf.settings import load_settings

BOMB = "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
MERGES = "a0: &a0 {k: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 12))

FAULTS: dict[str, tuple[bytes, str]] = {
    "a section twice": (b"edos: {taxonomy: edos}\nllm: {}\nedos: {}\n", "'edos' of line 1 occurs again in line 3"),
    "a key twice": (b"llm:\n  batch_size: 2\n  batch_size: 3\n", "'batch_size' of line 2 occurs again in line 3"),
    "a key twice, quoted": (b"llm: {batch_size: 2, 'batch_size': 3}\n", "occurs again"),
    "Latin-1": ("lakehouse:\n  root: /home/René\n".encode("latin-1"), "line 2; Latin-1"),
    "UTF-16": ("llm: {}\n".encode("utf-16"), "UTF-16"),
    "UTF-16 without a mark": ("llm: {}\n".encode("utf-16-le"), "UTF-16"),
    "an alias of itself": (b"llm: &a\n  server: *a\n", "refers to itself"),
    "a list of itself": (b"a: &a [*a]\n", "refers to itself"),
    "a bomb of aliases": (BOMB.encode(), "with its aliases"),
    "a bomb of merges": (MERGES.encode(), "with its aliases"),
    "a list": (b"- a\n", "must hold sections"),
    "a section that is a text": (b"models: x\n", "setting models is a section"),
    "a section that is a list": (b"augesc: [1]\n", "setting augesc is a section"),
    "no section below a switch": (b"edos: {expansion: {enabled: false}}\nmodels: 3\n", "setting models is a section"),
    "a tag of Python": (b"a: !!python/object/apply:os.system [id]\n", "not YAML in line 1"),
    "a tab": (b"llm:\n\tbatch_size: 2\n", "not YAML in line 2"),
    "two documents": (b"llm: {}\n---\nllm: {}\n", "not YAML"),
    "no end": (b"llm: {batch_size: [1", "not YAML"),
    "deep": (b"a: " + b"[" * 5000, "levels"),
    "deep and closed": (b"a: " + b"[" * 300 + b"]" * 300, "levels"),
    "a date that is none": (b"a: 2020-13-45\n", "a value that cannot be read"),
    "control characters": (b"a: \x01\n", "not YAML"),
    "large": (b"#" * (5 << 20), "more than 4 MiB"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_bad_file_is_named_in_one_line(tmp_path: Path, kind: str) -> None:
    data, words = FAULTS[kind]
    path = tmp_path / "mine é #1.yaml"
    path.write_bytes(data)
    began = time.monotonic()
    with pytest.raises(InputError) as raised:
        load_settings("local", [path])
    assert time.monotonic() - began < 5
    line = str(raised.value)
    assert words in line
    assert str(path) in line or "setting " in line
    assert "\n" not in line


def test_a_message_is_short_whatever_the_value(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "models: {" + ", ".join(f"x{n}: '{'9' * 5_000}'" for n in range(50)) + f", batch_size: '{'9' * 9_999}'}}"
    )
    with pytest.raises(InputError) as raised:
        load_settings("local", [path])
    assert len(str(raised.value)) < 4_000
    assert "and 41 more" in str(raised.value)


def test_aliases_merges_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xef\xbb\xbfllm: &a {batch_size: 3}\nmodels: {}\n")
    assert load_settings("local", [path]).llm.batch_size == 3
    path.write_text("llm:\n  <<: {batch_size: 4, context_tokens: 300}\n  batch_size: 5\n")
    settings = load_settings("local", [path]).llm
    assert (settings.batch_size, settings.context_tokens) == (5, 300)


def test_a_folder_is_no_config_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        load_settings("local", [tmp_path])
