"""Charts of trainings, for MLflow."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.figure import Figure
from numpy.typing import NDArray

if TYPE_CHECKING:
    from udfs.models.trainable import EpochMetrics


class Chart(NamedTuple):
    """A figure with its numbers: rows of cells, the first one the header."""

    name: str
    rows: list[list[Any]]
    figure: Figure


def loss_curve(history: Sequence["EpochMetrics"]) -> Figure:
    """Return the chart of training and validation loss by epoch."""
    figure = Figure(figsize=(6, 4))
    axes = figure.subplots()
    epochs = [epoch.epoch for epoch in history]
    axes.plot(epochs, [epoch.train_loss for epoch in history], marker="o", label="training")
    axes.plot(epochs, [epoch.validation_loss for epoch in history], marker="o", label="validation")
    axes.set(xlabel="epoch", ylabel="loss")
    axes.legend()
    return figure


def update_curve(losses: Mapping[int, float]) -> Figure:
    """Return the chart of a token's training loss by update."""
    figure = Figure(figsize=(6, 4))
    axes = figure.subplots()
    axes.plot(list(losses), list(losses.values()))
    axes.set(xlabel="update", ylabel="loss of a token, nats")
    return figure


def confusion_chart(counts: NDArray[Any], labels: Sequence[str]) -> Chart:
    """Return a chart of counts (true class, predicted class), drawn as shares of the true class's rows."""
    rows = [["true \\ guessed", *labels], *([label, *row] for label, row in zip(labels, counts.tolist(), strict=True))]
    size = max(5.0, 0.28 * len(labels))
    figure = Figure(figsize=(size + 1, size))
    axes = figure.subplots()
    shares = counts / counts.sum(axis=1, keepdims=True).clip(min=1)
    figure.colorbar(axes.imshow(shares, cmap="Blues", vmin=0, vmax=1), ax=axes, fraction=0.046)
    axes.set(xlabel="guessed", ylabel="true")
    axes.set_xticks(range(len(labels)), labels, rotation=90, fontsize=7)
    axes.set_yticks(range(len(labels)), labels, fontsize=7)
    figure.tight_layout()
    return Chart("confusion", rows, figure)


def threshold_chart(curve: Sequence[tuple[float, float, float, float]], chosen: float) -> Chart:
    """Return a chart of macro precision against recall, one point a threshold (Emo Pillars Figure 8).

    Args:
        curve: (threshold, macro precision, recall, F1), thresholds increasing.
        chosen: the threshold in use, which is marked.
    """
    figure = Figure(figsize=(6, 5))
    axes = figure.subplots()
    axes.plot([point[2] for point in curve], [point[1] for point in curve], marker=".")
    marked = min(curve, key=lambda point: abs(point[0] - chosen))
    axes.plot(marked[2], marked[1], "o", markersize=9, label=f"threshold {marked[0]:.2f}: macro-F1 {marked[3]:.3f}")
    axes.set(xlabel="macro recall", ylabel="macro precision", xlim=(0, 1), ylim=(0, 1))
    axes.legend()
    rows: list[list[Any]] = [["threshold", "macro_precision", "macro_recall", "macro_f1"]]
    return Chart("precision_recall", rows + [[round(cell, 4) for cell in point] for point in curve], figure)
