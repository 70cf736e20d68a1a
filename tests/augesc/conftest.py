"""A small AugESC lakehouse's input: sessions, queries and generated texts."""

import csv
import json
from pathlib import Path

import pytest

from etl.augesc.conversation_texts import instruction, prompt
from etl.augesc.queries import COLUMNS

TASK = instruction()

QUERY = "I moved to a new town and I do not know a single person here"
ANSWER = "That sounds lonely , and it takes time to find people you like ."
REPLY = "It does , and every evening I sit at home and stare at the wall ."


def answer(pairs: int) -> str:
    return f" {ANSWER}\n" + "\n".join(f"Human: {REPLY}\nAI: {ANSWER}" for _ in range(pairs))


@pytest.fixture()
def settings(tmp_path: Path) -> dict[str, str]:
    """The settings that name the files of this input."""
    sessions = [
        {
            "problem_type": name,
            "dialog": [{"speaker": "usr", "text": f"{QUERY} {n}"}, {"speaker": "sys", "text": ANSWER}],
        }
        for n, name in enumerate(["job crisis", "job crisis", "sleep"])
    ]
    (tmp_path / "esconv").mkdir()
    (tmp_path / "esconv" / "lines.jsonl").write_text("\n".join([*map(json.dumps, sessions), "{"]), "utf-8")
    with (tmp_path / "talks.csv").open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([COLUMNS, ("lonely", "1", "utterance", QUERY), ("joyful", "2", "utterance", QUERY)])
    (tmp_path / "posts.jsonl").write_text(json.dumps({"id": "p", "selftext": REPLY}) + "\n{\n", "utf-8")
    texts = [
        {
            "text_id": f"t{n}",
            "source": "ed",
            "origin_id": "ed/1",
            "sample": n,
            "text": prompt(QUERY, TASK) + answer(pairs),
        }
        for n, pairs in enumerate((5, 6, 1))
    ]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, texts)), "utf-8")
    return {
        "lakehouse.root": str(tmp_path / "lakehouse"),
        "augesc.sessions": str(tmp_path / "esconv"),
        "augesc.queries": f"[{tmp_path}/talks.csv, {tmp_path}/posts.jsonl]",
        "augesc.generated_texts": str(tmp_path / "texts.jsonl"),
        "augesc.session_rules.training": "2",
        "augesc.generation.methods": "[]",
    }
