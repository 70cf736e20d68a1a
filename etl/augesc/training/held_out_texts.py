"""Perplexity of causal language models on held-out texts, before and after their training."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from etl.augesc.settings import LanguageTrainingSettings
from etl.training.data_inputs import rows_digest
from etl.training.registration import HeldOutTest
from etl.training.tracking import TrackedRun
from udfs.devices import training_device
from udfs.models.language.causal_language_model import CausalLanguageModel, TokenRow
from udfs.models.language.language_model import mean_loss, perplexity_of
from udfs.models.trainable import TrainingResult


@dataclass(frozen=True)
class HeldOutTexts:
    """Texts that are not trained on.

    Attributes:
        texts: in the form that the model's `encode` takes.
        words: number of predicted words, independent of a model's tokens.
    """

    texts: Sequence[Any]
    words: int

    def figures(self, loss: float, tokens: int) -> dict[str, float]:
        """Return a token's mean loss in nats and perplexity, and the perplexity of a word."""
        word_loss = loss * tokens / max(1, self.words)
        return {"loss": loss, "perplexity": perplexity_of(loss), "word_perplexity": perplexity_of(word_loss)}


def held_out_figures(
    model: CausalLanguageModel, held: HeldOutTexts, options: LanguageTrainingSettings
) -> dict[str, float]:
    """Return a model's metrics on held-out texts."""
    model.to(training_device(options.device))
    rows = model.encode(held.texts)
    return held.figures(mean_loss(model, rows, options.batch_size), model.counted(rows))


class LanguageTest(HeldOutTest):
    """The word perplexity of held-out texts; they are also the validation rows, because nothing is chosen by them.

    Args:
        start: the model before its training.
    """

    metric = "word_perplexity"
    lower = True

    def __init__(
        self,
        start: CausalLanguageModel,
        learned: Sequence[TokenRow],
        held: HeldOutTexts,
        options: LanguageTrainingSettings,
    ) -> None:
        self.held = held
        self.options = options
        self.rows = start.encode(held.texts)
        self.tokens = start.counted(self.rows)
        self.before = held_out_figures(start, held, options)
        self.learned = {"tokens": start.counted(learned), "cut_texts": sum(map(start.is_cut, learned))}

    def digest(self) -> str:
        return rows_digest(list(self.held.texts))

    def measure(self, tracked: TrackedRun, result: TrainingResult) -> dict[str, float]:
        # The last validation has scored the kept model on the same rows.
        figures = self.held.figures(result.metrics["loss"], self.tokens)
        tracked.log_metrics(self.learned)
        tracked.log_metrics(self.before, "held_out_before_")
        tracked.log_metrics(figures, "held_out_")
        tracked.log_updates()
        return figures | {f"{name}_before": value for name, value in self.before.items()}

    def score(self, path: Path) -> float:
        model = CausalLanguageModel.load(path, self.options.max_tokens)
        return held_out_figures(model, self.held, self.options)[self.metric]

    def summary(self, figures: Mapping[str, float]) -> str:
        return f"perplexity {figures['perplexity_before']:.2f} before, {figures['perplexity']:.2f} after"
