"""Charts of trainings, for MLflow."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.figure import Figure
from numpy.typing import NDArray

if TYPE_CHECKING:
    from udfs.models.classifiers.metrics import ConfidenceBin


class Chart(NamedTuple):
    """A figure with its numbers: rows of cells, the first one the header."""

    name: str
    rows: list[list[Any]]
    figure: Figure


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


def reliability_chart(bins: Sequence["ConfidenceBin"]) -> Chart:
    """Return a chart of accuracy by confidence; a calibrated classifier's points lie on the diagonal."""
    figure = Figure(figsize=(6, 5))
    axes = figure.subplots()
    points = [(one.confidence or 0.0, one.accuracy or 0.0, one.rows) for one in bins if one.rows]
    axes.plot([0, 1], [0, 1], linestyle="--", color="grey", label="calibrated")
    axes.plot([point[0] for point in points], [point[1] for point in points], marker="o", label="this model")
    for confidence, accuracy, rows_there in points:
        axes.annotate(f"{rows_there:,}", (confidence, accuracy), textcoords="offset points", xytext=(6, -10))
    axes.set(
        title="Accuracy by confidence, with the number of rows",
        xlabel="mean confidence",
        ylabel="accuracy",
        xlim=(0, 1),
        ylim=(0, 1),
    )
    axes.legend()
    rows: list[list[Any]] = [["low", "high", "rows", "confidence", "accuracy"]]
    return Chart("reliability", rows + [list(map(_rounded, one)) for one in bins], figure)


def _rounded(cell: float | None) -> float | None:
    return round(cell, 4) if isinstance(cell, float) else cell


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
