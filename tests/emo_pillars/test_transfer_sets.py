"""People's labelled sets: what is read of their files, what is not, and how answers are scored."""

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from conf.errors import InputError
from conf.taxonomy import goemotions_labels
from etl.common.goemotions import goemotions_comments
from etl.common.line_files import one_file, parts_of
from etl.emo_pillars.settings import TransferSettings
from etl.emo_pillars.training.transfer_tasks import (
    Arm,
    TaskRows,
    drawn,
    emocontext_arms,
    goemotions_arms,
    isear_arms,
    synthetic_arms,
)
from etl.emo_pillars.transfer_scores import emocontext_scores, goemotions_scores, isear_scores
from etl.emo_pillars.transfer_sets import emocontext_dialogues, isear_reports, report_text
from udfs.models.classifiers.multi_label_classifier import Passage

NAMES = goemotions_labels()
HEAD = "ID|Field1|Field3|SIT|STATE|"


def place(label: str) -> int:
    return NAMES.index(label)


def test_goemotions_lines_that_are_none_are_left_out() -> None:
    lines = [
        "What a day!\t17,0\ta1\n",
        "no tabs\n",
        "Odd.\t28\ta2\n",
        "Odd.\tx\ta3\n",
        "Twice.\t27\ta1\n",
        "\t27\ta4\n",
        "",
    ]
    found = goemotions_comments({"train": lines[:-1], "dev": ["Fine.\t27\tb1"]}, 0.0)
    assert found.rows == [
        ("a1", "What a day!", ["admiration", "joy"], "train", "train"),
        ("b1", "Fine.", ["neutral"], "dev", "test"),
    ]
    reasons = [row[2] for row in found.dropped]
    assert reasons == ["not_a_comment", "unknown_label", "unknown_label", "repeated_id", "not_a_comment"]
    assert found.dropped[1][:2] == ("comment", "train:3")
    assert found.rows_in == 7


@pytest.mark.parametrize(
    ("parts", "splits"),
    [
        (("train", "dev"), {("train", "train"), ("train", "validation"), ("dev", "test")}),
        (("train", "dev", "test"), {("train", "train"), ("dev", "validation"), ("test", "test")}),
    ],
)
def test_without_a_test_part_dev_is_measured_on(parts: tuple[str, ...], splits: set) -> None:
    lines = {part: [f"Comment {n} of {part}.\t27\t{part}{n}" for n in range(200)] for part in parts}
    rows = goemotions_comments(lines, 0.2).rows
    assert {row[3:] for row in rows} == splits
    counts = Counter(row[3:] for row in rows)
    if "test" not in parts:
        assert 20 < counts[("train", "validation")] < 60


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("We met and á|talked at the á harbour.", "We met and talked at the harbour."),
        ("A quiet day.á", "A quiet day."),
        ('He said \\"wait\\" and left."', 'He said "wait" and left.'),
        ("Olá to all", "Olá to all"[:2] + " to all"),
        ("  Two   blanks ", "Two blanks"),
    ],
)
def test_reports_are_mended(cell: str, text: str) -> None:
    assert report_text(cell) == text


def test_isear_reports_without_a_word_are_left_out() -> None:
    lines = [
        HEAD,
        "1|joy|1|My boat came home.|1|",
        "2|shame|1|[ No response.]|1|",
        "3|guilt|1|I broke it | and hid it.|1|",
        "4|envy|1|He has one.|1|",
        "5|fear|1",
        "6|anger|1|NO RESPONSE|1|",
        "7|fear|1|Nothing was where I left it.|1|",
        "8|sadness|1|[ A late train.]|1|",
        "9|disgust|1|  |1|",
        "",
        "10|joy|1|My boat came home.|1|",
    ]
    found = isear_reports([f"{line}\r\n" for line in lines], 5)
    assert [row[1:4] for row in found.rows] == [
        ("My boat came home.", "joy", "joy"),
        ("I broke it | and hid it.", "guilt", "remorse"),
        ("Nothing was where I left it.", "fear", "fear"),
        ("[ A late train.]", "sadness", "sadness"),
        ("My boat came home.", "joy", "joy"),
    ]
    reasons = [(row[1], row[2]) for row in found.dropped]
    assert reasons == [
        ("line 3", "no_report"),
        ("line 5", "unknown_emotion"),
        ("line 6", "too_few_cells"),
        ("line 7", "no_report"),
        ("line 10", "no_report"),
    ]
    assert found.rows[0][4] == found.rows[4][4], "equal texts are in one fold"
    with pytest.raises(InputError, match="no columns Field1 and SIT"):
        isear_reports(["a,b"], 5)


def test_emocontext_is_held_out_by_what_is_said() -> None:
    lines = ["id\tturn1\tturn2\tturn3\tlabel"] + [f"{n}\thi {n // 2}\tyes\twhy {n // 2}\tsad" for n in range(400)]
    found = emocontext_dialogues({"train": [*lines, "7\ta\tb\tc\tbored", "8\ta\t\tc\tsad", "9\ta\tb\tsad"]}, 0.2, 0.2)
    assert [row[2] for row in found.dropped] == ["unknown_emotion", "not_three_turns", "not_three_turns"]
    splits: dict[str, set[str]] = {}
    for row in found.rows:
        splits.setdefault(row[1][0], set()).add(row[4])
    assert all(len(found) == 1 for found in splits.values())
    assert len(splits) == 200
    counts = Counter(next(iter(found)) for found in splits.values())
    assert 20 < counts["test"] < 60
    assert 20 < counts["validation"] < 60
    given = emocontext_dialogues({"train": lines, "dev": lines[:3]}, 0.2, 0.2).rows
    assert {row[4] for row in given if row[3] == "train"} == {"train", "validation"}
    assert [row[4] for row in given if row[3] == "dev"] == ["test", "test"]


def test_real_sets_are_read_whole(shared_data: Path) -> None:
    folder = str(shared_data / "goemotions")
    parts = parts_of(folder, (".tsv",), ("train", "dev"), (), unit="comment", setting="g")
    comments = goemotions_comments(parts.lines, 0.1)
    assert (len(comments.rows), comments.dropped) == (48_836, [])
    assert {row[1:3] for row in parts.unread.dropped} >= {("labels.txt", "unknown_file")}
    assert not any(row[-1] for row in parts.unread.dropped)
    read = one_file(str(shared_data / "isear"), ("isear.csv.gz",), unit="report", setting="i")
    reports = isear_reports(read.lines[""], 5)
    assert reports.rows_in == 7_666
    assert 130 <= len(reports.dropped) <= 170
    assert {row[2] for row in reports.dropped} == {"no_report"}
    assert not any("á" in row[1].split() or "\\" in row[1] for row in reports.rows)
    parts = parts_of(str(shared_data / "emocontext"), (".txt",), ("train",), (), unit="dialogue", setting="e")
    dialogues = emocontext_dialogues(parts.lines, 0.1, 0.1)
    assert (len(dialogues.rows), dialogues.dropped) == (30_160, [])


def test_files_that_cannot_be_read_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "train.tsv.gz").write_bytes(b"\x1f\x8b no gzip")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\xfa")
    tsv = (".tsv",)
    named = {"unit": "comment", "setting": "g"}
    with pytest.raises(InputError, match=r"g is not set"):
        parts_of(None, tsv, ("train",), (), **named)
    with pytest.raises(InputError, match=r"g: train\.tsv\.gz cannot be read"):
        parts_of(str(tmp_path), tsv, ("train",), (), **named)
    with pytest.raises(InputError, match=r"has no dev\.tsv or dev\.tsv\.gz"):
        parts_of(str(tmp_path), tsv, ("dev",), (), **named)
    with pytest.raises(InputError, match=r"g: bad\.txt cannot be read: not_utf8"):
        one_file(str(tmp_path), ("bad.txt",), **named)
    with pytest.raises(InputError, match=r"is not a file, and has no isear\.csv"):
        one_file(str(tmp_path), ("isear.csv",), **named)


def test_lines_and_files_that_cannot_be_read_are_in_the_ledger(tmp_path: Path) -> None:
    (tmp_path / "train.tsv.gz").write_bytes(gzip.compress(b"Fine.\t27\ta\ncaf\xe9\t27\tb\n" * 9)[:-9])
    (tmp_path / "dev.tsv").write_text("\ufeffid\tlabels\ttext\nb1\t17\tFine.\nb2\t17\n", "utf-8")
    (tmp_path / "notes.md").write_text("x")
    parts = parts_of(str(tmp_path), (".tsv",), ("train", "dev"), ("test",), unit="comment", setting="g")
    found = goemotions_comments(parts.lines, 0.0)
    assert [row[0] for row in found.rows] == ["a", "b1"], "the header of dev.tsv gives the order of its columns"
    dropped = Counter(row[:3] for row in found.plus(parts.unread).dropped if row[2] != "repeated_id")
    assert dropped == Counter(
        [
            *(("comment", f"train.tsv.gz:{2 * n}", "not_unicode") for n in range(1, 10)),
            ("comment", "dev:3", "not_a_comment"),
            ("file", "train.tsv.gz", "bad_gzip"),
            ("file", "notes.md", "unknown_file"),
        ]
    )
    assert found.plus(parts.unread).rows_in == 20


def test_a_header_gives_the_order_of_a_dialogues_columns() -> None:
    lines = ["label\tid\tturn3\tturn2\tturn1", "sad\t1\tc\tb\ta", None, "angry\t2\tc\tb"]
    found = emocontext_dialogues({"train": lines, "dev": ["1\ta\tb\tc\thappy"]}, 0.0, 0.0)
    assert [row[1:3] for row in found.rows] == [(["a", "b", "c"], "sad"), (["a", "b", "c"], "happy")]
    assert [row[1:3] for row in found.dropped] == [("train:4", "not_three_turns")]


def test_goemotions_scores_are_of_all_labels_from_the_threshold_on() -> None:
    truth = np.zeros((3, 28), dtype=bool)
    truth[[0, 1, 2], [place("joy"), place("joy"), place("fear")]] = True
    answers = np.full((3, 28), 0.1)
    answers[0, place("joy")] = answers[1, place("fear")] = answers[2, place("fear")] = 0.4
    found = {score.name: score for score in goemotions_scores(answers, truth, 0.3)}
    assert found["joy"][2:] == (1.0, 0.5, 2 / 3, 2, 1)
    assert found["fear"][2:] == (0.5, 1.0, 2 / 3, 1, 2)
    assert found["macro"].f1 == pytest.approx(2 / 3)
    assert found["micro"].f1 == pytest.approx(2 / 3)
    assert len(found) == 30


def test_isear_ignores_predictions_outside_its_seven() -> None:
    truth = np.zeros((2, 28), dtype=bool)
    answers = np.zeros((2, 28))
    truth[0, place("embarrassment")] = truth[1, place("remorse")] = True
    answers[:, place("love")] = 0.99
    answers[0, place("embarrassment")] = 0.2
    answers[1, place("joy")] = 0.4
    answers[1, place("remorse")] = 0.6
    scores = {(score.scored, score.name): score for score in isear_scores(answers, truth, 0.3)}
    assert scores["7 emotions, strongest", "macro"].f1 == 1.0
    assert scores["7 emotions, threshold", "shame"].recall == 0.0
    assert scores["7 emotions, threshold", "guilt"].f1 == 1.0
    assert scores["7 emotions, threshold", "joy"].predicted == 1


def test_emocontext_is_scored_with_others_and_without() -> None:
    answers = np.zeros((4, 28))
    for row, label in enumerate(("joy", "curiosity", "anger", "sadness")):
        answers[row, place(label)] = 0.9
    scores = {(s.scored, s.name): s for s in emocontext_scores(answers, ["happy", "others", "others", "sad"])}
    assert scores["4 classes, strongest", "others"][2:] == (1.0, 0.5, 2 / 3, 2, 1)
    assert scores["3 classes, strongest", "angry"].predicted == 1
    assert ("3 classes, strongest", "others") not in scores
    assert scores["3 classes, strongest", "micro"].precision == pytest.approx(2 / 3)


def test_arms_are_what_the_paper_compares_as_far_as_models_are_there() -> None:
    transfer = TransferSettings(seeds=(1, 2), folds=3)
    plain = "emo_pillars_encoder"
    less = "emo_pillars_contextless"
    rewritten = "emo_pillars_contextless_rewritten"
    assert goemotions_arms([plain], transfer) == [Arm(plain, True, seed=1), Arm(plain, True, seed=2)]
    arms = goemotions_arms([less, rewritten, plain], transfer)
    assert arms[:2] == [Arm(less, False), Arm(rewritten, False)]
    assert len(arms) == 6
    encoders = TransferSettings(seeds=(1, 2), encoders=("pkg:a", "pkg:b"))
    listed = [plain, less, *encoders.encoders]
    tuned = [(arm.model, arm.seed) for arm in goemotions_arms(listed, encoders) if arm.tuned]
    assert tuned == [(model, seed) for model in listed for seed in (1, 2)]
    assert synthetic_arms([plain, *encoders.encoders], encoders) == [
        Arm(model, True, seed=1) for model in (plain, "pkg:a", "pkg:b")
    ]
    further = TransferSettings(seeds=(1,), folds=2, models=("models:/bert@champion",))
    bert = further.models[0]
    assert [arm for arm in goemotions_arms([plain, bert], further) if arm.model == bert] == [
        Arm(bert, False),
        Arm(bert, True, seed=1),
    ]
    assert [arm.fold for arm in isear_arms([bert], further)] == [None, 0, 1]
    assert synthetic_arms([plain, bert], further) == [Arm(plain, True, seed=1)]
    assert emocontext_arms([bert], further) == []
    assert [arm.fold for arm in isear_arms([plain, less], transfer)] == [None, 0, 1, 2, 0, 1, 2]
    assert len(isear_arms([plain], TransferSettings(folds=5, folds_run=2))) == 2
    seeded = isear_arms([plain], TransferSettings(seeds=(7, 8, 9), folds=5, folds_run=1, fold_seeds=2))
    assert seeded == [Arm(plain, True, seed=7, fold=0), Arm(plain, True, seed=8, fold=0)]
    assert emocontext_arms([plain], transfer) == [Arm(plain, True, "kept", 1)]
    context = ["emo_pillars_contextual", "emo_pillars_contextual_rewritten"]
    variants = [(arm.model, arm.variant) for arm in emocontext_arms(context, transfer) if arm.tuned]
    assert variants == [(model, variant) for model in context for variant in ("kept", "relabelled", "typed")]


def test_a_share_of_the_training_rows_is_drawn_by_their_texts() -> None:
    rows = {
        split: [(Passage(f"{split} {n}"), (n % 3,)) for n in range(400)] for split in ("train", "validation", "test")
    }
    whole = TaskRows(rows, [])
    half = drawn(whole, 0.5)
    less = drawn(whole, 0.1)
    assert drawn(whole, 1.0).rows == rows
    assert 150 < len(half.rows["train"]) < 250
    assert 20 < len(less.rows["train"]) < 60
    assert set(less.rows["train"]) < set(half.rows["train"]) < set(rows["train"])
    assert (half.rows["test"], half.rows["validation"]) == (rows["test"], rows["validation"])
    assert drawn(TaskRows({**rows, "train": rows["train"][::-1]}, []), 0.5).rows["train"] == half.rows["train"][::-1]
    with pytest.raises(InputError, match="training_share"):
        drawn(whole, 1e-9)
    unchanged = TaskRows({**rows, "train": []}, [])  # of a model that is not tuned
    assert drawn(unchanged, 0.1).rows["train"] == []
