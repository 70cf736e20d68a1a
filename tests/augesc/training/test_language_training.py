"""The loop of models that write: the loss of a token, updates from parts, going on after a kill."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from conf.errors import InputError
from conf.training_options import TrainingOptions
from etl.training.loop.optimization import learning_rate_factor
from etl.training.loop.train import TrainingContext, train_model
from udfs.models.language.language_model import LanguageModel, mean_loss, perplexity
from udfs.models.trainable import EpochMetrics, TrainingResult, TrainingRows

WORDS = 7


class Bigrams(LanguageModel):
    """Guesses each word of a row from the one before; its dropout makes the course depend on chance."""

    kind = "bigrams"

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.seen = nn.Embedding(WORDS, 12)
        self.drop = nn.Dropout(0.2)
        self.said = nn.Linear(12, WORDS)

    def lengths(self, rows: Sequence[Any]) -> list[int]:
        return [len(row) for row in rows]

    def counted(self, rows: Sequence[Any]) -> int:
        return sum(len(row) - 1 for row in rows)

    def forward(self, rows: Sequence[Any], label_smoothing: float = 0.0) -> Tensor:
        losses = [
            functional.cross_entropy(
                self.said(self.drop(self.seen(torch.tensor(row[:-1])))),
                torch.tensor(row[1:]),
                reduction="sum",
                label_smoothing=label_smoothing,
            )
            for row in rows
        ]
        return torch.stack(losses).sum()

    def save(self, folder: Path) -> Path:
        folder.mkdir(parents=True)
        save_file(self.state_dict(), folder / "model.safetensors")
        return folder


def rows(number: int, first: int = 0) -> list[tuple[int, ...]]:
    """Words that go up by two, of several lengths."""
    return [tuple((n + 2 * place) % WORDS for place in range(3 + n % 5)) for n in range(first, first + number)]


OPTIONS = TrainingOptions(epochs=4, batch_size=3, effective_batch=6, learning_rate=0.02, warmup_steps=2, threads=1)


def fitted(folder: Path, options: TrainingOptions = OPTIONS, **told: Any) -> TrainingResult:
    context = TrainingContext(say=lambda line: None, **told)
    return train_model(Bigrams, TrainingRows(rows(40), rows(8, 3)), options, folder, context)


def changed(options: TrainingOptions, **values: Any) -> TrainingOptions:
    return options.model_copy(update=values)


def test_the_loss_is_the_mean_of_a_token_whatever_row_it_is_of() -> None:
    model = Bigrams().eval()
    given = rows(9)
    each = []
    for row in given:
        logits = model.said(model.seen(torch.tensor(row[:-1])))
        each += [-math.log(torch.softmax(logits, -1)[n, word].item()) for n, word in enumerate(row[1:])]
    for batch_size in (1, 4, 9):
        assert mean_loss(model, given, batch_size) == pytest.approx(sum(each) / len(each), rel=1e-5)
    assert perplexity(model, given, 4) == pytest.approx(math.exp(sum(each) / len(each)), rel=1e-5)


def test_a_training_learns_and_keeps_the_best_epoch(tmp_path: Path) -> None:
    seen: list[EpochMetrics] = []
    result = fitted(tmp_path / "model", on_epoch=seen.append)
    losses = [epoch.validation_loss for epoch in seen]
    assert losses[-1] < losses[0] < math.log(WORDS) + 0.5
    assert tuple(seen) == result.history
    assert result.metrics["loss"] == min(losses)
    assert result.best_epoch == losses.index(min(losses)) + 1
    model = Bigrams()
    model.load_state_dict(load_file(result.path / "model.safetensors"))
    assert mean_loss(model, rows(8, 3), 8) == pytest.approx(min(losses), rel=1e-5)


def test_an_update_does_not_depend_on_what_fits_the_device(tmp_path: Path) -> None:
    class Still(Bigrams):
        def __init__(self) -> None:
            super().__init__()
            self.drop = nn.Dropout(0.0)

    def history(batch_size: int) -> list[float]:
        options = changed(OPTIONS, batch_size=batch_size, precision="fp32")
        folder = tmp_path / str(batch_size)
        result = train_model(Still, TrainingRows(rows(40), rows(8, 3)), options, folder)
        return [epoch.train_loss for epoch in result.history]

    assert history(1) == pytest.approx(history(6), rel=1e-4)


@pytest.mark.parametrize("killed_after", [1, 3])
def test_a_killed_training_ends_in_the_same_weights(tmp_path: Path, killed_after: int) -> None:
    def kill(epoch: EpochMetrics) -> None:
        # The epoch that is told has no checkpoint yet: it is done again.
        if epoch.epoch == killed_after + 1:
            raise KeyboardInterrupt

    whole = fitted(tmp_path / "whole")
    checkpoints = tmp_path / "checkpoints"
    with pytest.raises(KeyboardInterrupt):
        fitted(tmp_path / "model", on_epoch=kill, checkpoints=checkpoints)
    assert [folder.name for folder in checkpoints.iterdir()] == [f"epoch-{killed_after:05d}"]
    later: list[EpochMetrics] = []
    result = fitted(tmp_path / "model", on_epoch=later.append, checkpoints=checkpoints)
    assert [epoch.epoch for epoch in later] == list(range(killed_after + 1, 5))
    assert [replace(epoch, seconds=0) for epoch in result.history] == [
        replace(epoch, seconds=0) for epoch in whole.history
    ]
    one, other = (load_file(made.path / "model.safetensors") for made in (whole, result))
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert not checkpoints.exists()


def test_a_checkpoint_of_another_training_is_not_gone_on_from(tmp_path: Path) -> None:
    def stop(epoch: EpochMetrics) -> None:
        if epoch.epoch == 3:
            raise KeyboardInterrupt

    checkpoints = tmp_path / "checkpoints"
    later = list[EpochMetrics]()
    with pytest.raises(KeyboardInterrupt):
        fitted(tmp_path / "model", on_epoch=stop, checkpoints=checkpoints)
    fitted(tmp_path / "other", changed(OPTIONS, seed=14), on_epoch=later.append, checkpoints=checkpoints)
    assert [epoch.epoch for epoch in later] == [1, 2, 3, 4]
    # A checkpoint cut short, as by a full disk, is as good as none.
    with pytest.raises(KeyboardInterrupt):
        fitted(tmp_path / "third", on_epoch=stop, checkpoints=checkpoints)
    (next(checkpoints.iterdir()) / "weights.safetensors").write_bytes(b"cut")
    later.clear()
    fitted(tmp_path / "third", on_epoch=later.append, checkpoints=checkpoints)
    assert [epoch.epoch for epoch in later] == [1, 2, 3, 4]


def test_patience_ends_a_training_and_the_last_epoch_can_be_kept(tmp_path: Path) -> None:
    wild = changed(OPTIONS, learning_rate=3.0, epochs=30, patience=2, warmup_steps=0)
    result = fitted(tmp_path / "wild", wild)
    assert len(result.history) == result.best_epoch + 2 < 30
    last = fitted(tmp_path / "last", changed(wild, patience=None, keep="last", epochs=5))
    assert last.best_epoch == 5
    assert last.metrics["loss"] == last.history[-1].validation_loss


def test_nothing_to_learn_from_is_said_in_one_line(tmp_path: Path) -> None:
    for train, valid, what in (([], rows(2), "training"), (rows(2), [(1,)], "validation")):
        with pytest.raises(InputError, match=f"no {what} rows"):
            train_model(Bigrams, TrainingRows(train, valid), OPTIONS, tmp_path / "model")


@pytest.mark.parametrize(
    ("step", "warmup", "decay", "expected"),
    [
        (0, 5, "linear", 0.2),
        (4, 5, "linear", 1.0),
        (5, 5, "linear", 1.0),
        (10, 5, "linear", 0.5),
        (15, 5, "linear", 0.0),
        (9, 0, "none", 1.0),
        (0, 99, "linear", 1 / 15),
    ],
)
def test_the_rates_course(step: int, warmup: int, decay: Any, expected: float) -> None:
    options = TrainingOptions(warmup_steps=warmup, decay=decay)
    assert learning_rate_factor(step, 15, options) == pytest.approx(expected)
