import numpy as np
import pandas as pd
import pytest
import torch
from pyspark import TaskContext
from pyspark.sql import functions as F

from etl.common.hashes import history_hash, text_hash
from tests.udfs.tiny_models import tiny_encoder
from udfs import devices, predict
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.predict import by_length, gathered, score_histories, score_texts, scores_or_errors, top_labels

LABELS = ("sad", "glad", "neutral", "afraid")
TEXTS = [
    "i was so happy",
    "",
    "what a dark night . " * 100,
    "she cried 😀 ￿ \x00",
    *(f"the dog and the cat number {number} are glad" for number in range(30)),
]
HISTORIES = [
    ["i lost my dog ."],
    ["what did he do ?", "he was so mad ."],
    ["rain " * 200, "sun"],
    [""],
    *([f"are you sure number {number} ?", "yes ."] for number in range(20)),
]


@pytest.fixture(scope="module")
def scored_models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predict")
    encoder = tiny_encoder(folder / "encoder")
    torch.manual_seed(11)
    weak = WeakLabeler(*load_encoder(encoder), LABELS, max_tokens=32).save(folder / "weak")
    dialogue = DialogueClassifier(*load_encoder(encoder), LABELS).save(folder / "dialogue")
    return {"weak": str(weak), "dialogue": str(dialogue)}


class FailsOn:
    """A model that fails on a text, alone and in a batch."""

    labels = LABELS

    def __init__(self, error: Exception, bad: str = "bad") -> None:
        self.error = error
        self.bad = bad
        self.calls = 0

    def probabilities(self, items, batch_size):
        self.calls += 1
        if self.bad in items:
            raise self.error
        rows = [[0.1, 0.2, 0.3, 0.4] if item != "odd" else [np.nan] * 4 for item in items]
        return torch.tensor(rows, dtype=torch.float32).reshape(-1, 4)


def test_texts_are_scored_as_the_model_scores_them(spark, scored_models):
    texts = spark.createDataFrame([(text,) for text in TEXTS], "text string").withColumn(
        "text_hash", text_hash(F.col("text"))
    )
    scored = score_texts(texts, scored_models["weak"], "weak@1", batch_size=8, partitions=2)
    assert scored.schema.simpleString() == (
        "struct<text_hash:string,model:string,top3:array<struct<label:string,confidence:float>>,error:string>"
    )
    rows = {row.text_hash: row for row in scored.collect()}
    assert len(rows) == len(TEXTS)
    model = WeakLabeler.load(scored_models["weak"])
    expected = model.probabilities(TEXTS, 8).numpy()
    for (text, probabilities), row in zip(
        zip(TEXTS, expected, strict=True), (rows[key] for key in hashes_of(texts)), strict=True
    ):
        assert row.error is None, text
        assert row.model == "weak@1"
        assert [(one.label, round(one.confidence, 4)) for one in row.top3] == top_labels(probabilities, LABELS, 3)


def hashes_of(texts):
    found = {row.text: row.text_hash for row in texts.collect()}
    return [found[text] for text in TEXTS]


def test_histories_are_the_same_whatever_the_partitioning(spark, scored_models):
    histories = spark.createDataFrame([(turns,) for turns in HISTORIES], "turns array<string>").withColumn(
        "history_hash", history_hash(F.col("turns"))
    )
    answers = [
        score_histories(rows, scored_models["dialogue"], "dialogue@1", batch_size=8).orderBy("history_hash").collect()
        for rows in (
            histories.coalesce(1),
            histories.repartition(3),
            histories.orderBy(F.desc("history_hash")),
        )
    ]
    assert answers[0] == answers[1] == answers[2]
    model = DialogueClassifier.load(scored_models["dialogue"])
    best = {top_labels(row, LABELS, 1)[0] for row in model.probabilities(HISTORIES, 8).numpy()}
    assert {(row.label, round(row.confidence, 4)) for row in answers[0]} == best
    assert all(row.error is None and row.model == "dialogue@1" for row in answers[0])


@pytest.mark.parametrize("precision", ["bf16", pytest.param("fp16", marks=pytest.mark.long)])
def test_labels_in_half_precision_are_near_those_in_single(spark, scored_models, precision):
    histories = spark.createDataFrame([(turns,) for turns in HISTORIES], "turns array<string>").withColumn(
        "history_hash", history_hash(F.col("turns"))
    )
    path = scored_models["dialogue"]
    single, half = (
        score_histories(histories, path, "d", **given).orderBy("history_hash").collect()
        for given in ({}, {"precision": precision})
    )
    assert [row.confidence for row in half] == pytest.approx([row.confidence for row in single], abs=0.01)
    assert [row.confidence for row in half] != [row.confidence for row in single]
    texts = spark.createDataFrame([("a", TEXTS[0])], "text_hash string, text string")
    (row,) = score_texts(texts, scored_models["weak"], "w", precision=precision).collect()
    model = WeakLabeler.load(scored_models["weak"])
    expected = top_labels(model.probabilities(TEXTS[:1], 1).numpy()[0], LABELS, 3)
    assert [one.confidence for one in row.top3] == pytest.approx([one for _, one in expected], abs=0.01)


def test_rows_without_text_have_an_error_and_the_rest_go_on(spark, scored_models):
    texts = spark.createDataFrame([("a", None), ("b", "yes")], "text_hash string, text string")
    rows = {row.text_hash: row for row in score_texts(texts, scored_models["weak"], "w").collect()}
    assert (rows["a"].top3, rows["a"].error) == (None, "no text")
    assert len(rows["b"].top3) == 3
    histories = spark.createDataFrame(
        [("a", []), ("b", ["yes", None]), ("c", None), ("d", ["yes"])],
        "history_hash string, turns array<string>",
    )
    found = {row.history_hash: row for row in score_histories(histories, scored_models["dialogue"], "d").collect()}
    assert {key: row.error for key, row in found.items()} == {
        "a": "no turns",
        "b": "a turn is null",
        "c": "no text",
        "d": None,
    }
    assert (found["a"].label, found["a"].confidence) == (None, None)
    assert found["d"].label in LABELS


def test_a_failing_row_does_not_take_its_batch_along():
    model = FailsOn(ValueError("cannot read this\nmore"))
    scores, errors = scores_or_errors(model, ["one", "bad", None, "odd", "two"], 4)
    assert errors == [
        None,
        "ValueError: cannot read this more",
        "no text",
        "the model's answer is not a number",
        None,
    ]
    assert [score is None for score in scores] == [False, True, True, True, False]
    assert model.calls == 5  # four together, two and two, one and one


def test_without_a_failure_the_model_is_asked_once():
    model = FailsOn(ValueError("x"))
    _, errors = scores_or_errors(model, ["one", "two"], 4)
    assert errors == [None, None]
    assert model.calls == 1


def test_a_row_that_does_not_fit_the_gpu_says_so():
    _, errors = scores_or_errors(FailsOn(torch.cuda.OutOfMemoryError("CUDA: 3 GiB")), ["bad", "one"], 2)
    assert errors == ["OutOfMemoryError: out of GPU memory", None]


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ([0.1, 0.6, 0.2, 0.1], [("glad", 0.6), ("neutral", 0.2), ("sad", 0.1)]),
        ([0.25, 0.25, 0.25, 0.25], [("sad", 0.25), ("glad", 0.25), ("neutral", 0.25)]),
        ([0.33334, 0.33333, 0.33333, 0.0], [("sad", 0.3333), ("glad", 0.3333), ("neutral", 0.3333)]),
        ([0.2500001, 0.2500002, 0.25, 0.25], [("sad", 0.25), ("glad", 0.25), ("neutral", 0.25)]),
    ],
)
def test_top_labels_round_first_and_break_ties_by_id(probabilities, expected):
    assert top_labels(np.array(probabilities, dtype=np.float32), LABELS, 3) == expected


def test_small_arrow_batches_are_gathered():
    frames = [pd.DataFrame({"n": range(start, start + 4)}) for start in range(0, 22, 4)]
    sizes = [len(frame) for frame in gathered(iter(frames), 10)]
    assert sizes == [12, 12]
    assert pd.concat(gathered(iter(frames), 10))["n"].tolist() == list(range(24))
    assert list(gathered(iter([]), 10)) == []


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("a", "x"), ("b", "xxx"), ("c", "xx")], [["b"], ["c", "a"]]),
        (
            [("a", ["x", "xx"]), ("b", np.array(["xxxx"], dtype=object)), ("c", None), ("d", [])],
            [["b", "a", "c", "d"]],
        ),
        ([("aaaa", "x"), ("b", "xx")], [["b", "aaaa"]]),
        ([("a", "xx"), ("b", "xx"), ("c", "xx")], [["a"], ["b", "c"]]),
        ([("a", ["x", None])], [["a"]]),
        ([], []),
    ],
)
def test_rows_leave_some_characters_at_a_time_longest_first(rows, expected):
    frame = pd.DataFrame(rows, columns=["key", "text"])
    found = list(by_length(frame, 4))
    assert [list(some["key"]) for some in found] == expected
    assert all(list(some.index) == list(range(len(some))) for some in found)


def test_hashes_of_histories_tell_borders_apart(spark):
    turns = [
        ["a", "b"],
        ["ab"],
        ["a", "", "b"],
        ["a", "b", ""],
        ["b", "a"],
        [],
        [""],
        ["a", None, "b"],
        ["a\u001eb"],
    ]
    rows = spark.createDataFrame([(one,) for one in turns], "turns array<string>")
    hashes = [row.h for row in rows.select(history_hash(F.col("turns")).alias("h")).collect()]
    assert len(set(hashes)) == len(turns)
    assert all(len(value) == 64 for value in hashes)


def test_text_hash_is_plain_sha256(spark):
    row = spark.createDataFrame([("é",)], "text string").select(text_hash(F.col("text")).alias("h")).first()
    assert row.h == "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"


class Resource:
    def __init__(self, addresses):
        self.addresses = addresses


@pytest.mark.parametrize(
    ("resources", "cuda", "count", "expected"),
    [
        ({}, True, 2, "cpu"),
        ({"gpu": Resource([])}, True, 2, "cpu"),
        ({"gpu": Resource(["1"])}, True, 2, "cuda:1"),
        ({"gpu": Resource(["3"])}, True, 1, "cuda:0"),
        ({"gpu": Resource(["1"])}, False, 0, RuntimeError),
    ],
)
def test_the_device_is_the_one_spark_gave_the_task(monkeypatch, resources, cuda, count, expected):
    context = type("Context", (), {"resources": lambda self: resources})()
    monkeypatch.setattr(TaskContext, "get", classmethod(lambda cls: context))
    monkeypatch.setattr(devices.torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(devices.torch.cuda, "device_count", lambda: count)
    if isinstance(expected, str):
        assert str(devices.task_device()) == expected
    else:
        with pytest.raises(expected, match="sees no CUDA device") as error:
            devices.task_device()
        assert "\n" not in str(error.value)


def test_outside_a_task_the_device_is_the_cpu():
    assert str(devices.task_device()) == "cpu"


def test_a_worker_keeps_its_model(scored_models):
    one = predict.worker_model(scored_models["weak"], predict.WeakLabeler.load, 0)
    assert predict.worker_model(scored_models["weak"], predict.WeakLabeler.load, 0) is one
