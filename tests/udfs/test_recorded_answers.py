"""``recorded:FILE`` plays back answers: the first line that fits, by sample, without a model."""

import json
from pathlib import Path

import pytest

from conf.errors import InputError
from conf.llm_settings import DecodingSettings
from etl.pipeline.model_loader import resolve
from udfs.llm_kinds import ModelSource
from udfs.llm_requests import Request

LINES = [
    {"contains": ["Name", "a \u201cquoted\u201d story"], "answers": ["1. Ann"]},
    {"contains": ["Name"], "answers": ["1. Ben", "1. Ben\n2. Cid"]},
]


def written(folder: Path, text: str) -> str:
    (folder / "answers.jsonl").write_text(text, encoding="utf-8")
    return f"recorded:{folder / 'answers.jsonl'}"


@pytest.fixture()
def source(tmp_path: Path) -> ModelSource:
    uri = written(tmp_path, "\n\n".join(json.dumps(line) for line in LINES))
    model = resolve(uri, tmp_path / "cache")
    return ModelSource(str(model.path), model.identity)


@pytest.mark.parametrize(
    ("prompt", "sample", "text", "error"),
    [
        ("Name all in a \u201cquoted\u201d story.", 0, "1. Ann", None),
        ("Name all in another one.", 0, "1. Ben", None),
        ("Name all in another one.", 1, "1. Ben\n2. Cid", None),
        ("Name all in another one.", 2, "1. Ben", None),
        ("name all", 0, None, "no recorded answer fits the prompt"),
        ("", 0, None, "no recorded answer fits the prompt"),
    ],
)
def test_a_prompt_gets_the_first_answer_that_fits(
    source: ModelSource, prompt: str, sample: int, text: str | None, error: str | None
) -> None:
    (answer,) = source.generator().answers([Request(prompt, sample=sample)], DecodingSettings())
    assert (answer.text, answer.error) == (text, error)
    assert answer.finish_reason == (None if text is None else "stop")


def test_the_identity_is_the_content_and_says_that_it_is_recorded(tmp_path: Path) -> None:
    first = resolve(written(tmp_path, json.dumps(LINES[0])), tmp_path).identity
    again = resolve(written(tmp_path, json.dumps(LINES[0])), tmp_path).identity
    other = resolve(written(tmp_path, json.dumps(LINES[1])), tmp_path).identity
    assert first == again
    assert first != other
    assert first.startswith("recorded:answers.jsonl#sha256:")


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        "[]",
        '{"contains": [], "answers": ["a"]}',
        '{"contains": ["a"], "answers": []}',
        '{"contains": ["a"]}',
        '{"contains": [1], "answers": ["a"]}',
        "[" * 100_000,
    ],
)
def test_a_line_that_is_no_answer_is_named(tmp_path: Path, text: str) -> None:
    uri = written(tmp_path, json.dumps(LINES[0]) + "\n" + text)
    with pytest.raises(InputError, match=r"answers\.jsonl: line 2 is not a JSON object"):
        resolve(uri, tmp_path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file .*nothing\.jsonl: check the path"):
        resolve(f"recorded:{tmp_path}/nothing.jsonl", tmp_path)
