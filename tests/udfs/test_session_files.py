"""Files of support conversations as people have them, and what is wrong with some."""

import gzip
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from udfs.session_files import one_line, role_of, sessions_in

TALK = [
    {"speaker": "usr", "text": "My lease ends soon and I have nowhere to go .\r\n"},
    {"speaker": "sys", "text": "That sounds worrying . When does it end ?", "strategy": "Question"},
]


def read(name: str, content: str | bytes) -> list[dict[str, Any]]:
    return list(sessions_in(name, BytesIO(content.encode() if isinstance(content, str) else content)))


def test_lists_and_lines_give_the_same_turns() -> None:
    raw = [{"speaker": t["speaker"], "annotation": {}, "content": t["text"]} for t in TALK]
    about = {"problem_type": "Housing  Trouble", "emotion_type": "fear", "situation": "x"}
    (whole,) = read("a.json", json.dumps([{**about, "dialog": raw}]))
    (line,) = read("b.jsonl.gz", gzip.compress(("\ufeff\n" + json.dumps({**about, "dialog": TALK}) + "\n\n").encode()))
    assert whole["turns"] == line["turns"]
    assert [turn["role"] for turn in line["turns"]] == ["seeker", "supporter"]
    assert line["turns"][0]["text"] == "My lease ends soon and I have nowhere to go ."
    assert (whole["form"], line["form"], line["problem"]) == ("esconv", "lines", "housing trouble")
    assert line["place"] == "b.jsonl.gz#1"


def test_windows_are_pieced_together() -> None:
    lines = [
        "1.0 0 0 Our dog ran off.  EOS 1.0 1 1 [Questions] When was that?\r\n",
        "0.0 0 0 Our dog ran off.  EOS 0.0 1 1 [Questions] When was that? EOS 0.0 0 2 On [Monday] night EOS "
        "1.0 1 3 [Reflection of feelings] You must miss him.\r\n",
        "1.0 0 0 I failed again EOS 1.0 1 1 Oh no\r\n",
        "0.0 0 4 later EOS 1.0 1 5 [Other] Bye\r\n",
        "nothing of the kind\r\n",
    ]
    rows = read("w.tsv", "".join(lines))
    assert [turn["text"] for turn in rows[0]["turns"]] == [
        "Our dog ran off.",
        "When was that?",
        "On [Monday] night",
        "You must miss him.",
    ]
    assert [(row.get("fault"), row.get("detail")) for row in rows[1:]] == [
        ("missing_turns", "2 of 6 turns are in no line"),
        ("not_readable", "no utterances: nothing of the kind"),
    ]


@pytest.mark.parametrize(
    ("speaker", "role"),
    [
        ("usr", "seeker"),
        ("Seeker", "seeker"),
        (" HUMAN: ", "seeker"),
        ("ｕｓｒ", "seeker"),
        ("Listener", "supporter"),
        ("AI", "supporter"),
        ("uѕr", None),
        ("Dr. Kim", None),
        ("", None),
        (None, None),
        (1, None),
        (["usr"], None),
    ],
)
def test_roles(speaker: Any, role: str | None) -> None:
    assert role_of(speaker) == role


def test_broken_lines_are_faults_and_the_rest_goes_on() -> None:
    good = json.dumps({"dialog": TALK})
    content = "\n".join(
        [
            good,
            '{"dialog": [{"speaker"',
            "[" * 100_000,
            "17",
            '{"dialog": "x"}',
            '{"dialog": [3]}',
            good,
            json.dumps({"dialog": [{"speaker": "Кто", "text": "x"}]}),
            json.dumps({"dialog": [*TALK, {"speaker": "sys", "text": " \u200a\n"}, {"speaker": "usr", "text": 5}]}),
        ]
    )
    rows = read("dump.jsonl", content)
    assert [row.get("fault") for row in rows] == [None, *["not_readable"] * 5, None, "unknown_role", None]
    assert all(len(row.get("detail") or "") <= 500 for row in rows)
    assert rows[-1]["empty_turns"] == 2
    assert len(rows[-1]["turns"]) == 2


@pytest.mark.parametrize(
    ("name", "content", "detail"),
    [
        ("x.json.gz", b"\x1f\x8bno gzip", "bad_gzip"),
        ("x.json.gz", gzip.compress(b"[]" * 999, mtime=0)[:20], "bad_gzip"),
        ("x.json", b"\xff\xfe{", "not_utf8"),
        ("x.json", b"[", "not_json"),
    ],
)
def test_unreadable_files(name: str, content: bytes, detail: str) -> None:
    (row,) = read(name, content)
    assert row["fault"] == "not_readable"
    assert row["detail"].startswith(detail)


def test_an_empty_file_has_no_sessions() -> None:
    assert read("x.jsonl", "") == read("x.json", "[]") == read("x.tsv", "\r\n") == []


def test_line_breaks_within_an_utterance_go() -> None:
    assert one_line("a\u2028b\x00c\r\n\td\ud800e") == "a b c d e"


def test_the_real_files_are_read_whole(shared_data: Path) -> None:
    found = {}
    for path in sorted((shared_data / "esconv").glob("*")):
        if path.name.endswith((".json", ".jsonl", ".tsv.gz")) and path.name != "strategy.json":
            rows = read(path.name, path.read_bytes())
            found[path.name] = (len(rows), sum(1 for row in rows if row.get("fault")))
    assert found["FailedESConv.json"] == (196, 0)
    assert found["multiesc_valid.jsonl"] == found["multiesc_test.jsonl"] == (195, 0)
    assert found["ppdpp_valid.jsonl"] == (130, 0)
    # The supporter's windows leave out some turns of long monologues.
    assert found["blender_devWithStrategy_short.tsv.gz"] == (211, 8)
    assert found["blender_testWithStrategy_short.tsv.gz"] == (210, 8)
