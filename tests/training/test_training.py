from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from conf.errors import InputError
from conf.settings import load_settings
from conf.training_options import ClassifierOptions
from etl.edos.settings import EmotionClassifierSettings
from etl.training.loop import train as training
from etl.training.loop.optimization import adamw, learning_rate_factor
from etl.training.loop.train import TrainingContext, train_model
from tests.training.small_sets import LABELS, TRAIN, VALID
from tests.udfs.tiny_models import tiny_encoder
from udfs.devices import training_device, with_back_off
from udfs.models.batches import Encoded, batches_alike
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.metrics import (
    classification_metrics,
    confusion_counts,
    expected_calibration_error,
    per_class_metrics,
)
from udfs.models.trainable import TrainingResult, TrainingRows

OPTIONS = EmotionClassifierSettings(
    epochs=6,
    batch_size=4,
    effective_batch=4,
    learning_rate=5e-3,
    warmup_share=0.1,
    decay="linear",
    threads=1,
    device="cpu",
    precision="fp32",
)


@pytest.fixture(scope="module")
def training_encoder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("training"))


def train(encoder, out, options=OPTIONS, rows=TRAIN, last=(), **told) -> TrainingResult:
    start = partial(DialogueClassifier.new, encoder, LABELS, options)
    return train_model(start, TrainingRows(rows, VALID, last), options, out, TrainingContext(**told))


def changed(**values) -> EmotionClassifierSettings:
    return OPTIONS.model_copy(update=values)


@pytest.mark.parametrize(
    ("last_epochs", "last", "sizes"),
    [(1, TRAIN[:3], [10, 10, 3]), (5, TRAIN[:3], [3, 3, 3]), (1, [], [10, 10, 10]), (0, TRAIN[:3], [10, 10, 10])],
)
def test_the_last_epochs_go_over_rows_of_their_own(training_encoder, tmp_path, monkeypatch, last_epochs, last, sizes):
    seen = []

    def noted(lengths, *more):
        seen.append(len(lengths))
        return batches_alike(lengths, *more)

    monkeypatch.setattr(training, "batches_alike", noted)
    options = changed(epochs=3, crowd_epochs=last_epochs)
    result = train(training_encoder, tmp_path / "model", options, last=last)
    assert seen == sizes
    assert len(result.history) == 3


def test_rows_of_the_last_epochs_have_the_last_word(training_encoder, tmp_path):
    wrong = [(turns, (label + 1) % 4) for turns, label in TRAIN]
    plain = train(training_encoder, tmp_path / "plain", rows=wrong)
    mended = train(training_encoder, tmp_path / "mended", changed(crowd_epochs=4), rows=wrong, last=TRAIN)
    assert mended.metrics["cross_entropy"] < plain.metrics["cross_entropy"]


def test_a_training_is_repeatable_and_leaves_torch_as_it_was(training_encoder, tmp_path):
    torch.manual_seed(99)
    expected = torch.rand(3)
    torch.manual_seed(99)
    one = train(training_encoder, tmp_path / "one")
    assert torch.equal(torch.rand(3), expected)
    assert not torch.are_deterministic_algorithms_enabled()
    torch.manual_seed(7)
    two = train(training_encoder, tmp_path / "two")
    for name in ("head.safetensors", "encoder/model.safetensors"):
        assert (one.path / name).read_bytes() == (two.path / name).read_bytes()
    assert [epoch.train_loss for epoch in one.history] == [epoch.train_loss for epoch in two.history]


def test_another_seed_is_another_training(training_encoder, tmp_path):
    one = train(training_encoder, tmp_path / "one")
    two = train(training_encoder, tmp_path / "two", changed(seed=14))
    assert one.history[0].train_loss != two.history[0].train_loss


def test_it_learns_and_saves_the_epoch_of_the_lowest_validation_loss(training_encoder, tmp_path):
    seen = []
    result = train(training_encoder, tmp_path / "model", on_epoch=seen.append)
    assert seen == list(result.history)
    assert [epoch.epoch for epoch in seen] == [1, 2, 3, 4, 5, 6]
    assert seen[-1].train_loss < seen[0].train_loss
    losses = [epoch.validation_loss for epoch in seen]
    assert losses[result.best_epoch - 1] == min(losses)
    saved = DialogueClassifier.load(result.path)
    probabilities = saved.probabilities([turns for turns, _ in VALID], OPTIONS.batch_size).numpy()
    again = classification_metrics(probabilities, [label for _, label in VALID])
    assert again["cross_entropy"] == pytest.approx(min(losses), abs=1e-6)
    assert again == pytest.approx(result.metrics, abs=1e-6)


def test_when_the_validation_loss_rises_the_early_epoch_is_kept(training_encoder, tmp_path):
    misleading = [(turns, (label + 1) % len(LABELS)) for turns, label in TRAIN]
    result = train(training_encoder, tmp_path / "model", rows=misleading)
    losses = [epoch.validation_loss for epoch in result.history]
    assert result.best_epoch < len(losses)
    assert result.metrics["cross_entropy"] == min(losses) < losses[-1]


def test_a_killed_training_ends_in_the_same_weights(training_encoder, tmp_path):
    def kill(epoch) -> None:
        if epoch.epoch == 4:
            raise KeyboardInterrupt

    options = changed(crowd_epochs=1)
    kept = tmp_path / "checkpoints"
    whole = train(training_encoder, tmp_path / "whole", options, last=TRAIN[:4])
    with pytest.raises(KeyboardInterrupt):
        train(training_encoder, tmp_path / "killed", options, last=TRAIN[:4], on_epoch=kill, checkpoints=kept)
    assert [folder.name for folder in kept.iterdir()] == ["epoch-00003"]
    later = []
    said = []
    told = {"on_epoch": lambda epoch: later.append(epoch.epoch), "checkpoints": kept, "say": said.append}
    again = train(training_encoder, tmp_path / "again", options, last=TRAIN[:4], **told)
    assert later == [4, 5, 6]
    assert said[0] == "resumed after epoch 3/6 from a checkpoint"
    assert not kept.exists()
    assert again.metrics == whole.metrics
    assert again.best_epoch == whole.best_epoch
    for name in ("head.safetensors", "encoder/model.safetensors"):
        assert (again.path / name).read_bytes() == (whole.path / name).read_bytes()


def test_other_labels_of_the_same_rows_are_another_training(training_encoder, tmp_path):
    def kill(epoch) -> None:
        if epoch.epoch == 2:
            raise KeyboardInterrupt

    kept = tmp_path / "checkpoints"
    later = []
    with pytest.raises(KeyboardInterrupt):
        train(training_encoder, tmp_path / "killed", on_epoch=kill, checkpoints=kept)
    wrong = [(turns, (label + 1) % 4) for turns, label in TRAIN]
    train(training_encoder, tmp_path / "other", rows=wrong, checkpoints=kept, on_epoch=lambda e: later.append(e.epoch))
    assert later == [1, 2, 3, 4, 5, 6]


def test_accumulated_gradients_are_those_of_the_whole_batch(training_encoder, tmp_path, monkeypatch):
    whole, parts = (gradients_of(training_encoder, batch_size, tmp_path, monkeypatch) for batch_size in (10, 3))
    for name, gradient in whole.items():
        torch.testing.assert_close(parts[name], gradient, atol=1e-5, rtol=1e-4)


def gradients_of(encoder, batch_size, out, monkeypatch):
    options = changed(epochs=1, batch_size=batch_size, effective_batch=10, dropout=0.0, precision="fp32")
    model = DialogueClassifier(*load_encoder(encoder, 0.0), LABELS, dropout=0.0)
    torch.manual_seed(1)
    for name, value in model.named_parameters():
        if not name.startswith("encoder."):
            nn.init.normal_(value, std=0.1)
    kept: dict[str, torch.Tensor] = {}
    monkeypatch.setattr(
        training.OptimizerStep,
        "step",
        lambda step: kept.update({n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}),
    )
    train_model(lambda: model, TrainingRows(TRAIN, VALID), options, out)
    return kept


def test_bfloat16_trains_too(training_encoder, tmp_path):
    options = changed(precision="bf16", epochs=2)
    result = train(training_encoder, tmp_path / "model", options)
    assert result.history[1].train_loss < result.history[0].train_loss


def test_adam_is_the_papers_with_a_rate_for_the_head(training_encoder):
    model = DialogueClassifier(*load_encoder(training_encoder), LABELS)
    optimizer = adamw(model, ClassifierOptions(learning_rate=2e-5, head_learning_rate=1e-3))
    assert sorted(group["lr"] for group in optimizer.param_groups) == [2e-5, 1e-3]
    assert {(group["betas"], group["eps"]) for group in optimizer.param_groups} == {((0.9, 0.98), 1e-6)}
    trained = {id(value) for group in optimizer.param_groups for value in group["params"]}
    assert trained == {id(value) for value in model.parameters()}


@pytest.mark.parametrize("profile", ["emr", "databricks"])
@pytest.mark.parametrize("model", ["emotion_classifier", "self_labeler"])
def test_clusters_train_by_the_authors_recipe(profile, model):
    """The public script of EDOS: Adam at a constant 2e-5, 10 epochs in batches of 256, sequences from `<s>` on."""
    options = getattr(load_settings(profile).training, model)
    assert (options.epochs, options.effective_batch, options.max_tokens, options.keep) == (10, 256, 100, "best")
    assert {learning_rate_factor(step, 440, options) for step in range(440)} == {1.0}
    assert (options.learning_rate, options.head_learning_rate, options.layer_decay) == (2e-5, None, 1.0)
    assert (options.beta2, options.epsilon, options.weight_decay, options.dropout) == (0.98, 1e-6, 0.0, 0.1)
    assert options.start_token
    assert options.weighted
    assert options.patience is None
    assert (options.crowd_epochs, options.start_from_weak_labeler, options.label_smoothing) == (0, False, 0.0)


@pytest.mark.parametrize("profile", ["emr", "databricks"])
@pytest.mark.parametrize(("model", "epochs"), [("reply_pretrained", 50), ("reply_edos", 20), ("reply_empathetic", 20)])
def test_clusters_train_generators_as_the_paper_says(profile, model, epochs):
    """EDOS 5, E: Adam at 5e-5 in batches of 512 until the lowest validation loss; 32 beams, no 4-gram twice."""
    settings = load_settings(profile)
    options = getattr(settings.training, model)
    assert (options.learning_rate, options.effective_batch, options.weight_decay) == (5e-5, 512, 0.0)
    assert (options.epochs, options.keep, options.patience) == (epochs, "best", 2)
    assert {learning_rate_factor(step, 440, options) for step in range(440)} == {1.0}
    replies = settings.replies
    assert replies.tokens.tokenizer == "hf:roberta-base"
    assert (replies.decoding.method, replies.decoding.beams, replies.decoding.blocked_ngrams) == ("beam", 32, 4)


@pytest.mark.parametrize("family", ["bert", "roberta", "mpnet"])
def test_lower_layers_learn_more_slowly(tmp_path, family):
    model = DialogueClassifier(*load_encoder(tiny_encoder(tmp_path, family)), LABELS)
    options = ClassifierOptions(learning_rate=1e-3, head_learning_rate=1e-2, layer_decay=0.5)
    rates = model.learning_rates(options)
    assert rates["output.weight"] == rates["attention.bias"] == 1e-2
    assert {rate for name, rate in rates.items() if ".layer.1." in name} == {1e-3}
    assert {rate for name, rate in rates.items() if ".layer.0." in name} == {5e-4}
    assert {rate for name, rate in rates.items() if ".embeddings." in name} == {2.5e-4}
    grouped = {id(value): group["lr"] for group in adamw(model, options).param_groups for value in group["params"]}
    assert grouped == {id(value): rates[name] for name, value in model.named_parameters()}


@pytest.mark.parametrize(
    ("step", "decay", "factor"),
    [
        (0, "linear", 0.1),
        (9, "linear", 1.0),
        (10, "linear", 1.0),
        (55, "linear", 0.5),
        (100, "linear", 0.0),
        (99, "none", 1.0),
        (0, "none", 0.1),
    ],
)
def test_the_rate_rises_then_falls(step, decay, factor):
    options = ClassifierOptions(warmup_share=0.1, decay=decay)
    assert learning_rate_factor(step, 100, options) == pytest.approx(factor)


def test_without_warm_up_the_first_step_has_the_full_rate():
    assert learning_rate_factor(0, 10, ClassifierOptions(warmup_share=0.0)) == 1.0


@pytest.mark.parametrize(
    ("rows", "message"),
    [([], "no training rows"), ([(["yes"], 4)], "label id 4"), ([(["yes"], -1)], "label id -1")],
)
def test_rows_outside_the_taxonomy_are_refused(training_encoder, tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        train(training_encoder, tmp_path / "model", rows=rows)


def test_an_epochs_batches_hold_each_row_once_and_near_lengths_together():
    rows = [Encoded((1,) * (index % 50 + 1), (1.0,) * (index % 50 + 1)) for index in range(500)]
    lengths = [len(row.ids) for row in rows]
    batches = batches_alike(lengths, 8, torch.Generator().manual_seed(1), pool=20)
    assert sorted(index for batch in batches for index in batch) == list(range(500))
    spreads = [max(len(rows[i].ids) for i in batch) - min(len(rows[i].ids) for i in batch) for batch in batches]
    assert np.mean(spreads) < 5
    again = batches_alike(lengths, 8, torch.Generator().manual_seed(1), pool=20)
    assert batches == again
    assert batches != batches_alike(lengths, 8, torch.Generator().manual_seed(2), pool=20)


def test_metrics_by_hand():
    probabilities = np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.2, 0.5, 0.3]])
    truth = [0, 1, 1, 2]
    figures = classification_metrics(probabilities, truth)
    assert figures["accuracy"] == 0.5
    assert figures["macro_precision"] == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert figures["macro_recall"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert figures["macro_f1"] == pytest.approx((2 / 3 + 0.5 + 0) / 3)
    assert figures["cross_entropy"] == pytest.approx(-np.log([0.7, 0.3, 0.8, 0.3]).mean())
    rows = per_class_metrics(probabilities, truth, ("a", "b", "c"))
    assert [(row["label"], row["support"], row["predicted"]) for row in rows] == [
        ("a", 1, 2),
        ("b", 2, 2),
        ("c", 1, 0),
    ]
    assert confusion_counts(probabilities, truth).tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 0]]


def test_macro_figures_leave_out_classes_that_do_not_occur():
    probabilities = np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1]])
    assert classification_metrics(probabilities, [0, 1])["macro_f1"] == 1.0
    with pytest.raises(ValueError, match="no held-out rows"):
        classification_metrics(probabilities[:0], [])


@pytest.mark.parametrize(
    ("confidence", "truth", "error"),
    [([1.0, 1.0], [0, 0], 0.0), ([1.0, 1.0], [0, 1], 0.5), ([0.75, 0.75], [1, 1], 0.75)],
)
def test_calibration_error(confidence, truth, error):
    probabilities = np.array([[value, 1 - value] for value in confidence])
    assert expected_calibration_error(probabilities, truth) == pytest.approx(error)


def test_memory_errors_halve_the_batch():
    sizes = []

    def fits_three(items):
        sizes.append(len(items))
        if len(items) > 3:
            raise torch.cuda.OutOfMemoryError("full")
        return [item * 10 for item in items]

    assert with_back_off(fits_three, list(range(8))) == [item * 10 for item in range(8)]
    assert sizes == [8, 4, 2, 2, 4, 2, 2]


def test_one_row_that_does_not_fit_raises():
    def never(items):
        raise torch.cuda.OutOfMemoryError("full")

    with pytest.raises(torch.cuda.OutOfMemoryError):
        with_back_off(never, [1, 2])


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_gpu_that_is_not_there_is_refused_in_one_line():
    assert training_device("auto").type == "cpu"
    with pytest.raises(RuntimeError, match="sees no CUDA device") as error:
        training_device("cuda")
    assert "\n" not in str(error.value)
