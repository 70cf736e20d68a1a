"""The crowd's way on the tiny run: tasks, the page's file, answers as the page writes them, crowd labels."""

import csv
import io
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.jobs.conftest import TinyRun
from tests.jobs.tables import table
from udfs.answer_files import COLUMNS


def batch_folder(root: Path) -> Path:
    (folder,) = (root / "annotation").glob("crowd-*")
    return folder


def hits_of_page(folder: Path) -> tuple[str, list[dict[str, Any]]]:
    """(batch id, HITs) as the page holds them."""
    page = (folder / "annotate.html").read_text("utf-8")
    found = re.search(r'<script type="application/json" id="batch">(.*?)</script>', page, re.DOTALL)
    assert found
    batch = json.loads(found[1])
    return batch["batch_id"], batch["hits"]


def answers(batch_id: str, hit: dict[str, Any], worker: str, labels: list[str]) -> dict[str, Any]:
    """What the page writes for a HIT, with these labels given."""
    items = [
        {"item_id": item["id"], "position": place, "seconds": 2.5, "answers": {"label": {"value": label}}}
        for place, (item, label) in enumerate(zip(hit["items"], labels, strict=False), 1)
    ]
    return {
        "format": "edos-lakehouse answers 1",
        "batch_id": batch_id,
        "hit_id": hit["id"],
        "worker_id": worker,
        "submitted": "2024-05-01T10:00:00.000Z",
        "answers": items,
    }


def as_csv(done: dict[str, Any]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    for item in done["answers"]:
        value = item["answers"]["label"]["value"]
        own = {name: item[name] for name in ("item_id", "position", "seconds")}
        head = {name: done[name] for name in ("batch_id", "hit_id", "worker_id", "submitted")}
        writer.writerow({**head, **own, "question": "label", "value": value, "other": "false"})
    return text.getvalue()


@pytest.mark.long
def test_the_run_makes_full_hits_with_a_quiz(finished: Path) -> None:
    tasks = table(finished, "edos/annotation_tasks")
    sizes = Counter(task["hit_id"] for task in tasks)
    quiz = Counter(task["hit_id"] for task in tasks if task["quiz_label"])
    assert set(sizes.values()) == {5}
    assert set(quiz.values()) == {2}
    assert set(quiz) == set(sizes)
    weak = {(row["dialogue_id"], row["turn"]): row for row in table(finished, "edos/weak_labels")}
    clean = {row["dialogue_id"]: row for row in table(finished, "subtitles/clean_dialogues")}
    for task in tasks:
        if task["quiz_label"] is None:
            row = weak[task["dialogue_id"], task["turn"]]
            assert sorted(task["options"]) == sorted(one["label"] for one in row["top3"])
            said = [turn["text"] for turn in clean[task["dialogue_id"]]["turns"]]
            assert task["turns"] == said[: task["turn"] + 1]
    batch_id, hits = hits_of_page(batch_folder(finished))
    assert {hit["id"]: len(hit["items"]) for hit in hits} == sizes
    files = {row["name"]: row for row in table(finished, "edos/annotation_files")}
    assert set(files) == {
        "annotate.html",
        "hits.csv",
        "template.html",
        "hit_type.json",
        "key.jsonl",
        "label_studio.json",
        "label_studio.xml",
    }
    assert {row["batch_id"] for row in files.values()} == {batch_id}


@pytest.mark.slow
def test_answers_become_crowd_labels(tiny: TinyRun, finished: Path, tmp_path: Path) -> None:
    root = tmp_path / "lakehouse"
    given = tmp_path / "answers"
    shutil.copytree(finished, root)
    given.mkdir()
    folder = batch_folder(finished)
    key = {row["item_id"]: row for row in map(json.loads, (folder / "key.jsonl").read_text("utf-8").splitlines())}
    batch_id, (hit, *_) = hits_of_page(folder)
    right = [key[item["id"]].get("quiz_label") or key[item["id"]]["label"] for item in hit["items"]]
    (given / "ann.json").write_text(json.dumps(answers(batch_id, hit, "ann", right)), "utf-8")
    (given / "cy.csv").write_text(as_csv(answers(batch_id, hit, "cy", ["wishing"] * 5)), "utf-8")
    sent = [
        answers(batch_id, hit, "bob", right),
        answers(batch_id, hit, "half", right[:2]),
    ]
    (given / "sent.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in sent), "utf-8")
    files = f"edos.annotation.batches=[{folder}/key.jsonl]"
    done = tiny.run(root, files, f"edos.annotation.answers=[{given}]", "--to", "agree_labels")
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    assert Counter(row["worker_id"] for row in table(root, "edos/answers")) == {"ann": 5, "bob": 5, "cy": 5}
    ledger = [row for row in table(root, "ops/dropped") if row["stage"] == "collect_answers"]
    assert Counter(row["reason"] for row in ledger) == {"half_done": 2}
    own = {
        (row["dialogue_id"], row["turn"]): row for row in table(root, "edos/crowd_labels") if row["source"] == batch_id
    }
    assert len(own) == 3
    for item in key.values():
        if item["hit_id"] == hit["id"] and not item.get("quiz_label"):
            row = own[item["dialogue_id"], item["turn"]]
            assert row["label"] == item["label"]
            assert row["turns"] == item["turns"]
            assert len(row["votes"]) == 3
    before = len(table(finished, "edos/crowd_labels"))
    assert len(table(root, "edos/crowd_labels")) == before + 3
