"""A ConvoKit corpus of an export: its files, what it refuses, ConvoKit's own reader, and the memory it takes."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conf.errors import InputError
from etl.cli.command_line import main
from etl.publishing.convokit import write_convokit

REPOSITORY = Path(__file__).resolve().parents[2]
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
    assert not corpus.with_name("out.old").exists()


def test_the_roles_of_augesc_are_speakers(tmp_path: Path) -> None:
    said = [{"speaker": "seeker", "content": "Hi."}, {"speaker": "supporter", "content": "Hello."}]
    rows = {"train-00000-of-00001": [{"dialogue_id": "q1", "source": "ed", "dialog": said}]}
    assert write_convokit(export(tmp_path / "augesc", rows), tmp_path / "out") == (1, 2)
    assert set(read(tmp_path / "out" / "speakers.json")) == {"seeker", "supporter"}


def test_the_same_export_gives_the_same_bytes_and_replaces_a_corpus(corpus: Path) -> None:
    before = {path.name: path.read_bytes() for path in corpus.iterdir()}
    write_convokit(corpus.with_name("edos"), corpus)
    assert {path.name: path.read_bytes() for path in corpus.iterdir()} == before


def test_what_is_missing_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = {"dialogue_id": "1-0", "turns": [{"sentence_first": 0, "sentence_last": 1, "text_check": "x"}]}
    referring = export(tmp_path / "referring", {"train-00000-of-00001": [place]})
    with pytest.raises(InputError, match="restore-text"):
        write_convokit(referring, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(InputError, match="no corpus"):
        write_convokit(referring, tmp_path / "mine")
    assert main(["convokit", "--set", f"lakehouse.root={tmp_path}"]) == 2
    assert "has no Parquet files" in capsys.readouterr().err


def test_the_command_writes_it_beside_the_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export(tmp_path / "exports" / "edos", {"train-00000-of-00001": [edos(1, 3)]})
    assert main(["convokit", "--set", f"lakehouse.root={tmp_path}"]) == 0
    assert "1 conversations with 3 utterances" in capsys.readouterr().out
    assert (tmp_path / "exports" / "edos-convokit" / "utterances.jsonl").is_file()


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


MEASURE = """
import re, sys
from pathlib import Path
from etl.publishing.convokit import write_convokit
written = write_convokit(Path(sys.argv[1]), Path(sys.argv[2]))
print(*written, re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""
"""The peak of memory is not ``ru_maxrss``, which a new process takes over from the one that starts it."""


@pytest.mark.slow
def test_a_million_turns_take_less_than_a_gigabyte(tmp_path: Path) -> None:
    (tmp_path / "edos" / "parquet").mkdir(parents=True)
    path = tmp_path / "edos" / "parquet" / "train-00000-of-00001.parquet"
    rows = pa.Table.from_pylist([edos(number, 4) for number in range(2_500)])
    with pq.ParquetWriter(path, rows.schema) as writer:
        for part in range(100):
            names = pa.array([f"{part}-{number}" for number in range(2_500)])
            writer.write_table(rows.set_column(0, "dialogue_id", names))
    command = [sys.executable, "-c", MEASURE, str(tmp_path / "edos"), str(tmp_path / "out")]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    conversations, utterances, kilobytes = map(int, done.stdout.split())
    assert (conversations, utterances) == (250_000, 1_000_000)
    assert kilobytes < 1_000_000, kilobytes
    print(f"{kilobytes / 1000:.0f} MB")
