"""A ConvoKit corpus of an export: its files, what it refuses, and ConvoKit's own reader."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conf.errors import InputError
from etl.extras.convokit import write_convokit

pytestmark = pytest.mark.slow
HOSTILE = 'A "quoted" line \u2028 and \U0001f600'


def edos(number: int, turns: int) -> dict[str, Any]:
    spoken = [{"text": f"{HOSTILE} {place}", "label": "sad", "confidence": 0.5} for place in range(turns)]
    return {"dialogue_id": f"77-{number}", "movie_id": "007", "turns": spoken}


def export(folder: Path, files: dict[str, Sequence[dict[str, Any]]]) -> Path:
    (folder / "parquet").mkdir(parents=True)
    for name, rows in files.items():
        pq.write_table(pa.Table.from_pylist(list(rows)), folder / "parquet" / f"{name}.parquet")
    return folder


@pytest.fixture()
def corpus(tmp_path: Path) -> Path:
    rows = {"train-00000-of-00001": [edos(1, 3), edos(2, 1), edos(3, 0)], "test-00000-of-00001": [edos(4, 2)]}
    assert write_convokit(export(tmp_path / "edos", rows), tmp_path / "out") == (3, 6)
    return tmp_path / "out"


def read(path: Path) -> Any:
    return json.loads(path.read_text("ascii"))


def test_every_turn_is_an_utterance_that_replies_to_the_one_before(corpus: Path) -> None:
    lines = [json.loads(line) for line in (corpus / "utterances.jsonl").read_text("ascii").splitlines()]
    assert [(one["id"], one["conversation_id"], one["reply-to"]) for one in lines] == [
        ("77-4_0", "77-4_0", None),
        ("77-4_1", "77-4_0", "77-4_0"),
        ("77-1_0", "77-1_0", None),
        ("77-1_1", "77-1_0", "77-1_0"),
        ("77-1_2", "77-1_0", "77-1_1"),
        ("77-2_0", "77-2_0", None),
    ]
    assert lines[1]["text"] == f"{HOSTILE} 1"
    assert lines[1]["meta"] == {"label": "sad", "confidence": 0.5}
    assert set(read(corpus / "conversations.json")) == {one["conversation_id"] for one in lines}
    meta = read(corpus / "conversations.json")["77-4_0"]["meta"]
    assert meta == {"dialogue_id": "77-4", "movie_id": "007", "split": "test"}
    assert set(read(corpus / "speakers.json")) == {"unknown"}
    assert set(read(corpus / "index.json")) >= {"utterances-index", "speakers-index", "conversations-index"}
    assert not corpus.with_name("out.new").exists()


def test_the_roles_of_augesc_are_speakers(tmp_path: Path) -> None:
    said = [{"speaker": "seeker", "content": "Hi."}, {"speaker": "supporter", "content": "Hello."}]
    rows = {"train-00000-of-00001": [{"dialogue_id": "q1", "source": "ed", "dialog": said}]}
    assert write_convokit(export(tmp_path / "augesc", rows), tmp_path / "out") == (1, 2)
    assert set(read(tmp_path / "out" / "speakers.json")) == {"seeker", "supporter"}


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    place = {"dialogue_id": "1-0", "turns": [{"sentence_first": 0, "sentence_last": 1, "text_check": "x"}]}
    referring = export(tmp_path / "referring", {"train-00000-of-00001": [place]})
    with pytest.raises(InputError, match="restore-text"):
        write_convokit(referring, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (tmp_path / "mine").mkdir()
    with pytest.raises(InputError, match="name a new folder"):
        write_convokit(referring, tmp_path / "mine")
    with pytest.raises(InputError, match="has no Parquet files"):
        write_convokit(tmp_path / "mine", tmp_path / "out")


def test_convokit_loads_it(corpus: Path) -> None:
    convokit = pytest.importorskip("convokit", reason="convokit is not installed (pip install convokit)")
    loaded = convokit.Corpus(filename=str(corpus))
    assert len(loaded.get_utterance_ids()) == 6
    assert len(loaded.get_conversation_ids()) == 3
    conversation = loaded.get_conversation("77-1_0")
    assert conversation.check_integrity(verbose=False)
    texts = [utterance.text for utterance in conversation.get_chronological_utterance_list()]
    assert texts == [f"{HOSTILE} {place}" for place in range(3)]
    assert conversation.meta["split"] == "train"
    assert loaded.get_utterance("77-1_1").meta["label"] == "sad"
