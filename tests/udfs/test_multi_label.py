"""The encoder of several emotions at once: its pairs, its token types, its threshold, its training."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from conf.errors import InputError
from etl.emo_pillars.settings import MultiLabelSettings
from etl.training.loop.train import train_model
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.batches import collate
from udfs.models.classifiers.classifier import HEAD_CONFIG, load_encoder
from udfs.models.classifiers.multi_label_classifier import (
    MultiLabelClassifier,
    Passage,
    extend_token_types,
    starting_model,
)
from udfs.models.classifiers.multi_label_metrics import (
    THRESHOLDS,
    best_threshold,
    class_rows,
    counts_at,
    macro_and_micro,
    multi_hot,
    multi_label_metrics,
)
from udfs.models.trainable import TrainingResult, TrainingRows

LABELS = ("sad", "glad", "neutral")
ROWS = [
    (Passage("i cry", "he lost his dog ."), (0,)),
    (Passage("so happy"), (1,)),
    (Passage("sad and alone"), (0,)),
    (Passage("great joy", "we are home ."), (1,)),
    (Passage("it is a home"), (2,)),
    (Passage("happy and sad"), (0, 1)),
]
OPTIONS = MultiLabelSettings(
    epochs=30, batch_size=3, effective_batch=3, learning_rate=1e-2, max_tokens=16, threads=1, device="cpu", keep="last"
)


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {family: tiny_encoder(tmp_path_factory.mktemp(family), family) for family in ("bert", "roberta", "mpnet")}


def train(start: Path, out: Path, options: MultiLabelSettings = OPTIONS, rows: list = ROWS) -> TrainingResult:
    begin = partial(starting_model, start, rows, LABELS, options)
    return train_model(begin, TrainingRows(rows, ROWS), options, out)


def model_of(folder: Path, **options: object) -> MultiLabelClassifier:
    encoder, tokenizer = load_encoder(folder)
    torch.manual_seed(3)
    return MultiLabelClassifier(encoder, tokenizer, LABELS, **{"max_tokens": 12, **options}).eval()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("passage", "context", "said"),
    [
        (Passage("so happy"), 0, 2),
        (Passage("so happy", ""), 0, 2),
        (Passage("so happy", "we are home"), 3, 2),
        (Passage("so happy", "dog cat " * 20), 7, 2),
        (Passage("so very happy and glad i am home", "dog cat rain"), 1, 8),
        (Passage("happy " * 20, "dog cat rain"), 0, 10),
        (Passage("happy " * 20), 0, 10),
    ],
)
def test_a_long_pair_loses_of_its_context_never_of_its_utterance(
    encoders: dict[str, Path], passage: Passage, context: int, said: int
) -> None:
    model = model_of(encoders["bert"])
    (row,) = model.encode([passage])
    ids = model.tokenizer.convert_tokens_to_ids
    assert len(row.ids) <= 12
    assert row.ids[0] == ids("[CLS]")
    assert row.ids[-1] == ids("[SEP]")
    parts = " ".join(model.tokenizer.convert_ids_to_tokens(list(row.ids[1:-1]))).split(" [SEP] ")
    words = [part.split() for part in parts]
    assert len(words[-1]) == said
    assert passage.utterance.split()[:said] == words[-1]
    if context:
        assert (passage.context or "").split()[:context] == words[0]
    assert len(words) == 1 + bool(context)


def test_a_pair_is_what_the_tokenizer_itself_makes_of_it(encoders: dict[str, Path]) -> None:
    for folder in encoders.values():
        model = model_of(folder, max_tokens=40)
        (pair,) = model.encode([Passage("so happy", "we are home .")])
        (alone,) = model.encode([Passage("so happy")])
        assert list(pair.ids) == model.tokenizer("we are home .", "so happy")["input_ids"]
        assert list(alone.ids) == model.tokenizer("so happy")["input_ids"]


def test_typed_tells_context_and_utterance_apart(encoders: dict[str, Path], tmp_path: Path) -> None:
    encoder, tokenizer = load_encoder(encoders["roberta"])
    encoder.embeddings.token_type_embeddings = torch.nn.Embedding(1, 16)  # type: ignore[union-attr]  # as RoBERTa's
    encoder.config.type_vocab_size = 1  # type: ignore[union-attr]
    model = MultiLabelClassifier(encoder, tokenizer, LABELS, 12).eval()
    model.use_token_types()
    (row,) = model.encode([Passage("so happy", "we are home")])
    assert row.types == (0, 0, 0, 0, 0, 1, 1, 1)
    assert collate([row], 0, 10).types.tolist() == [[0, 0, 0, 0, 0, 1, 1, 1, 0, 0]]
    weights = model.encoder.embeddings.token_type_embeddings.weight  # type: ignore[union-attr]
    assert torch.equal(weights[0], weights[1])
    with torch.no_grad():
        weights[1, 3] += 1.0
    items = [Passage("so happy", "we are home")]
    again = MultiLabelClassifier.load(model.save(tmp_path / "typed"))
    assert again.typed
    assert again.encoder.config.type_vocab_size == 2
    assert torch.allclose(again.probabilities(items, 1), model.probabilities(items, 1))
    with torch.no_grad():
        weights[1, 3] -= 1.0
    assert not torch.allclose(again.probabilities(items, 1), model.probabilities(items, 1))


def test_an_encoder_without_token_types_is_refused(encoders: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="no token types"):
        extend_token_types(load_encoder(encoders["mpnet"])[0])


def test_figures_are_scikit_learns() -> None:
    from sklearn.metrics import precision_recall_fscore_support

    random = np.random.default_rng(5)
    truth = random.random((200, 6)) < 0.3
    truth[:, 5] = False
    probabilities = np.clip(0.4 * truth + 0.6 * random.random((200, 6)), 0, 1)
    found = multi_label_metrics(probabilities, truth, 0.45)
    for average in ("macro", "micro"):
        columns = slice(0, 5) if average == "macro" else slice(0, 6)
        wanted = precision_recall_fscore_support(
            truth[:, columns], (probabilities >= 0.45)[:, columns], average=average, zero_division=0
        )
        assert [found[f"{average}_{name}"] for name in ("precision", "recall", "f1")] == pytest.approx(wanted[:3])
    rows = class_rows(counts_at(probabilities, truth, 0.45), list("abcdef"))
    each = precision_recall_fscore_support(truth, probabilities >= 0.45, zero_division=0)
    assert [row["f1"] for row in rows] == pytest.approx(each[2])
    assert rows[5]["support"] == 0
    assert rows[5]["predicted"] > 0


def test_the_threshold_is_the_best_of_the_grid_and_the_lowest_of_equals() -> None:
    assert (THRESHOLDS[0], THRESHOLDS[-1], len(THRESHOLDS)) == (0.05, 0.95, 91)
    truth = multi_hot([(0,), (1,), ()], 2)
    probabilities = np.array([[0.62, 0.3], [0.3, 0.7], [0.4, 0.35]])
    assert best_threshold(probabilities, truth) == 0.41
    assert macro_and_micro(counts_at(probabilities, truth, 0.41))["macro_f1"] == 1.0
    with pytest.raises(ValueError, match="no held-out row has a label"):
        multi_label_metrics(probabilities, np.zeros_like(truth), 0.5)


def test_its_loss_is_the_mean_over_labels_summed_over_rows(encoders: dict[str, Path]) -> None:
    model = model_of(encoders["bert"])
    logits = torch.tensor([[2.0, -1.0, 0.0], [0.5, 0.5, -3.0]])
    targets = model.targets([(0, 2), ()])
    assert targets.tolist() == [[1, 0, 1], [0, 0, 0]]
    expected = torch.nn.functional.binary_cross_entropy_with_logits(logits, targets, reduction="none").mean(1).sum()
    assert torch.isclose(model.loss(logits, targets, 0.0), expected)
    assert model.loss(logits, targets, 0.2) != expected


def test_a_new_head_begins_with_the_labels_shares_and_a_trained_one_as_it_is(
    encoders: dict[str, Path], tmp_path: Path
) -> None:
    model = model_of(encoders["bert"])
    model.begin_at_shares([(0,)] * 6 + [(0, 1)] * 3)
    assert torch.allclose(torch.sigmoid(model.output.bias), torch.tensor([0.95, 0.35, 0.05]))
    folder = model.save(tmp_path / "first")
    still = OPTIONS.model_copy(update={"epochs": 1, "learning_rate": 1e-9})
    fresh = train(encoders["bert"], tmp_path / "fresh", still)
    again = train(folder, tmp_path / "again", still)
    biases = [torch.sigmoid(MultiLabelClassifier.load(result.path).output.bias) for result in (fresh, again)]
    assert torch.allclose(biases[0], torch.tensor([3.5, 3.5, 1.5]) / 7, atol=1e-5)
    assert torch.allclose(biases[1], torch.tensor([0.95, 0.35, 0.05]), atol=1e-5)


def test_a_training_keeps_the_last_epoch_with_its_threshold(encoders: dict[str, Path], tmp_path: Path) -> None:
    result = train(encoders["bert"], tmp_path / "model")
    assert result.best_epoch == 30
    assert len(result.history) == 30
    model = MultiLabelClassifier.load(result.path)
    assert model.threshold == result.metrics["threshold"]
    assert result.metrics["macro_f1"] > 0.9
    answers = model.probabilities([passage for passage, _ in ROWS], 4).numpy()
    assert model.figures(answers, [labels for _, labels in ROWS])["macro_f1"] == result.metrics["macro_f1"]
    rows = model.choice_charts(answers, [labels for _, labels in ROWS])[0].rows
    assert rows[0][0] == "threshold"
    assert len(rows) == 92
    assert [row["support"] for row in model.class_figures(answers, [labels for _, labels in ROWS])] == [3, 3, 1]


def test_the_best_epoch_is_kept_where_that_is_asked(encoders: dict[str, Path], tmp_path: Path) -> None:
    options = OPTIONS.model_copy(update={"keep": "best", "epochs": 4, "learning_rate": 0.2})
    result = train(encoders["bert"], tmp_path / "model", options)
    assert result.best_epoch == min(result.history, key=lambda epoch: epoch.validation_loss).epoch


def test_a_training_goes_on_from_a_trained_model_with_its_head(encoders: dict[str, Path], tmp_path: Path) -> None:
    first = model_of(encoders["roberta"], pooling="mean")
    folder = first.save(tmp_path / "first")
    again = starting_model(folder, ROWS, LABELS, OPTIONS, True)
    assert torch.equal(again.output.weight, first.output.weight)
    assert (again.pooling, again.typed, again.max_tokens) == ("mean", True, 16)
    fresh = starting_model(encoders["roberta"], ROWS, LABELS, OPTIONS, False)
    assert fresh.pooling == "cls"
    assert not torch.equal(fresh.output.weight, first.output.weight)
    with pytest.raises(InputError, match="a model of other labels"):
        starting_model(folder, ROWS, ("a", "b", "c"), OPTIONS, False)
    assert (folder / HEAD_CONFIG).is_file()


def test_a_label_outside_the_taxonomy_is_refused(encoders: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"label id 3 in the training rows is outside the taxonomy's 0\.\.2"):
        train(encoders["bert"], tmp_path / "model", rows=[(Passage("so"), (0, 3))])
