"""The growth of labels in a run of all stages: switched on over a lakehouse that was made without it."""

import shutil
from pathlib import Path

import pytest

from tests.jobs.conftest import TinyRun
from tests.jobs.tables import table

# An untrained encoder finds everything alike, an untrained classifier is sure of nothing.
GROWING = (
    "edos.expansion.enabled=true",
    "edos.expansion.threshold=0.99",
    "edos.expansion.again_threshold=0.995",
    "edos.expansion.held_out_threshold=0.9999",
    "edos.expansion.floor=0.98",
    "edos.self_labels.confidence=null",
    "edos.self_labels.per_class=2",
    "training.self_labeler.epochs=1",
)


@pytest.mark.slow
def test_expansion_adds_every_origin_and_nothing_near_the_held_out(
    tiny: TinyRun, finished: Path, tmp_path: Path
) -> None:
    root = tmp_path / "lakehouse"
    shutil.copytree(finished, root)
    done = tiny.run(root, *GROWING)
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    rows = table(root, "edos/training_dialogues")
    by_origin: dict[str, set[str]] = {}
    for row in rows:
        by_origin.setdefault(row["origin"], set()).add(row["split"])
    assert by_origin == {
        "crowd": {"train", "validation", "test"},
        "similar": {"train"},
        "self": {"train"},
        "similar_self": {"train"},
    }
    held_out = {tuple(row["turns"]) for row in rows if row["split"] != "train"}
    assert not [row for row in rows if row["origin"] != "crowd" and tuple(row["turns"]) in held_out]
    assert len({(row["dialogue_id"], row["turn"]) for row in rows}) == len(rows)
    matched = {row["matched_id"]: row["label"] for row in rows if row["origin"] == "similar"}
    seeds = {f"{row['dialogue_id']}/{row['turn']}": row for row in table(root, "edos/seeds")}
    assert {seeds[seed]["split"] for seed in matched} == {"train"}
    assert all(seeds[seed]["label"] == label for seed, label in matched.items())
    held_back = [row for row in table(root, "edos/similar_matches") if row["seed_split"] != "train"]
    assert held_back
    assert {row["label"] for row in held_back} == {None}
