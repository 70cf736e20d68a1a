"""One tracked training of a model that writes: run, perplexity before and after, version, alias to the better model."""

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from udfs.devices import training_device
from udfs.models.language.causal_language_model import CausalLanguageModel
from udfs.models.language.language_model import LanguageOptions, LanguageResult, mean_loss
from udfs.models.language.training import fit_language_model
from udfs.models.loader import resolve
from udfs.models.tracked import TrackedTraining
from udfs.models.tracking import CHAMPION, Store, TrackedRun, promote_if_better, rows_digest, tracked_run

METRIC = "word_perplexity"


Fit = Callable[..., LanguageResult]
"""``fit_language_model``, or what takes the same."""


@dataclass(frozen=True)
class Held:
    """Texts that nothing is learned from, as the model's `encode` takes them.

    Attributes:
        texts: of it.
        words: how many words of them are foretold, whatever a model's tokens are.
    """

    texts: Sequence[Any]
    words: int


def held_out_figures(model: CausalLanguageModel, held: Held, options: LanguageOptions) -> dict[str, float]:
    """Mean loss of a token in nats, perplexity of a token, and of a word, which models of other tokens share."""
    model.to(training_device(options.device))
    rows = model.encode(held.texts)
    loss = mean_loss(model, rows, options.batch_size)
    of_words = loss * model.counted(rows) / max(1, held.words)
    return {"loss": loss, "perplexity": math.exp(min(loss, 700)), METRIC: math.exp(min(of_words, 700))}


def train_tracked_writer(
    store: Store,
    name: str,
    *,
    params: Mapping[str, Any],
    tags: Mapping[str, str],
    start: Path,
    load: Callable[[Path], CausalLanguageModel],
    texts: Sequence[Any],
    held: Held,
    options: LanguageOptions,
    folder: Path,
    progress: Callable[[str], None] = print,
    fit: Fit = fit_language_model,
) -> TrackedTraining:
    """Tune, log, register, and move the champion's alias if the new model foretells the held-out texts better.

    Nothing is chosen by the held-out texts while it trains: the last epoch is kept.

    Args:
        store: MLflow's.
        name: of the registered model, and of the run.
        params, tags: of the run; tags hold the versions of the data.
        start: folder of the model to start from.
        load: reads a model's folder.
        texts: to learn from, as the model's `encode` takes them.
        folder: where resolved models go, and the checkpoints from which a killed training goes on.
        fit: the training itself, such as one in several processes.
    """

    def score(path: Path) -> float:
        return held_out_figures(load(path), held, options)[METRIC]

    losses: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as scratch, tracked_run(store, name, params, tags) as run:
        model = load(start)
        before = held_out_figures(model, held, options)
        run.log_metrics(before, "held_out_before_")
        rows = model.encode(texts)
        cut = sum(map(model.is_cut, rows))
        progress(f"{model.counted(rows):,} tokens to learn; {cut} texts are cut at {model.max_tokens}")
        run.log_metrics({"tokens": model.counted(rows), "cut_texts": cut})
        result = fit(
            model, rows, model.encode(held.texts), options,
            Path(scratch) / "model", run.on_epoch, progress, checkpoints=folder / "checkpoints" / name,
            on_update=losses.__setitem__,
        )  # fmt: skip
        figures = _logged(run, result, load(result.path), held, options, losses)
        version = run.register(name, run.log_model(result.path, model.kind), {"kind": model.kind})
    digest = rows_digest(list(held.texts))
    promotion = promote_if_better(
        store, name, version, figures[METRIC], score, METRIC, digest, folder, lower=True
    )  # fmt: skip
    champion = resolve(f"models:/{name}@{CHAMPION}", folder, store.tracking_uri, registry_uri=store.registry_uri)
    shown = figures | {f"{metric}_before": value for metric, value in before.items()}
    return TrackedTraining(champion, shown, promotion)


def _logged(
    run: TrackedRun,
    result: LanguageResult,
    model: CausalLanguageModel,
    held: Held,
    options: LanguageOptions,
    losses: Mapping[int, float],
) -> dict[str, float]:
    """The saved model's figures, logged with the training's."""
    run.log_history(result)
    run.log_updates(losses)
    figures = held_out_figures(model, held, options)
    run.log_metrics(figures, "held_out_")
    return figures
