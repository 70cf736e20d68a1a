"""The trainings of the response generators, from ``replies.examples`` to the registry's champions (EDOS 5, E)."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.reply_settings import ReplyTraining, SteeredReplyTraining
from etl.common.splits import content_share
from etl.pipeline.stage_run import StageRun
from etl.replies.regimes import Regime
from etl.tables.outcome import Trained
from etl.training.registration import HeldOutTest, Recipe, options_of, train_and_register
from etl.training.tracking import TrackedRun, rows_digest
from udfs.models.language.reply_generator import EncodedReply, ReplyGenerator, new_generator
from udfs.models.language.reply_tokenizer import ReplyTokenizer, trained_tokenizer
from udfs.models.loader import resolve
from udfs.models.trainable import TrainingResult, TrainingRows

TRAINED = "trained"
TRAINING = "training.json"
"""In a generator's folder: how it was trained and what came of it, for Table 10."""
SPLITS = ("train", "validation", "test")


def train_and_register_generator(examples: DataFrame, run: StageRun, regime: Regime) -> Trained:
    """Train a generator in its regime till the validation loss falls no more, and measure it on its test rows.

    The alias moves to the generator under which the test replies are likelier, by the word: so that generators of
    other tokenizers can be compared.

    Args:
        examples: ``replies.examples``.

    Raises:
        InputError: a split has no rows.
    """
    options = options_of(run, regime.model)
    rows = {split: chosen_rows(examples, regime, split, options) for split in SPLITS}
    for split in SPLITS:
        if not rows[split]:
            raise InputError(f"replies.examples has no {split} rows of {' or '.join(regime.sources)}: add dialogues")
    run.say(", ".join(f"{len(rows[split]):,} {split} replies" for split in SPLITS))
    model, started_from = _start(examples, run, regime)
    train, validation = (encoded_rows(model, rows[split]) for split in SPLITS[:2])
    by_word = word_ratio(model, validation, rows["validation"])
    recipe = Recipe(
        name=options.name, stage=regime.model, model=ReplyGenerator, options=options, start=lambda: model,
        starts_from=started_from, rows=TrainingRows(train, validation),
        test=ReplyTest(rows["test"], options.batch_size, by_word), rows_out=sum(map(len, rows.values())),
        params={
            **run.all_settings.replies.network.model_dump(), "parameters": model.parameter_count(),
            "tokens": model.tokenizer.size,
        },
        derive=lambda epoch: {"validation_word_perplexity": math.exp(epoch.validation_loss * by_word)},
    )  # fmt: skip
    return train_and_register(recipe, run)


class ReplyTest(HeldOutTest):
    """The log-likelihood of test replies, by the word.

    Args:
        rows: (context, reply, intent).
        by_word: tokens a word of the validation rows.
    """

    metric = "log_likelihood"

    def __init__(self, rows: Sequence[Row], batch_size: int, by_word: float) -> None:
        self.rows, self.batch_size, self.by_word = rows, batch_size, by_word

    def digest(self) -> str:
        return rows_digest([[row.context, row.reply, row.intent] for row in self.rows])

    def measure(self, tracked: TrackedRun, result: TrainingResult) -> dict[str, float]:
        model = ReplyGenerator.load(result.path)
        nats = sum(model.nats(encoded_rows(model, self.rows), self.batch_size))
        figures = held_out_figures(model, self.rows, nats)
        figures["history_gain"] = history_gain(model, self.rows, self.batch_size, nats)
        tracked.log_metrics(figures, "held_out_")
        write_training(result, model, self.by_word)
        return figures

    def score(self, path: Path) -> float:
        model = ReplyGenerator.load(path)
        nats = sum(model.nats(encoded_rows(model, self.rows), self.batch_size))
        return held_out_figures(model, self.rows, nats)[self.metric]

    def summary(self, figures: Mapping[str, float]) -> str:
        return (
            f"perplexity {figures['perplexity']:.2f} a token, {figures['word_perplexity']:.1f} a word, "
            f"{figures['history_gain']:.3f} nats a token less than after another's history"
        )


def chosen_rows(examples: DataFrame, regime: Regime, split: str, own: ReplyTraining) -> list[Row]:
    """A split's rows in an order of their content, as many as the settings say; (context, reply, intent).

    A plain generator's have no intent; a steered one's all have, but for the share that it learns without.
    """
    rows = examples.where(F.col("source").isin(*regime.sources) & (F.col("split") == split))
    intent = F.col("intent") if regime.steered else F.lit(None).cast("string")
    if regime.steered:
        rows = rows.where(F.col("intent").isNotNull())
    if isinstance(own, SteeredReplyTraining) and split == "train":
        asked = content_share(F.col("example_id"), salt="asked") >= own.unasked_share
        intent = F.when(asked, F.col("intent"))
    most = {"train": own.train_rows, "validation": own.validation_rows, "test": own.validation_rows}[split]
    ordered = rows.orderBy(F.xxhash64("example_id"), "example_id")
    chosen = ordered if most is None else ordered.limit(most)
    return list(chosen.select("context", "reply", intent.alias("intent")).toLocalIterator())


def encoded_rows(model: ReplyGenerator, rows: Sequence[Row]) -> list[EncodedReply]:
    """The rows as token ids."""
    return model.encode([row.context for row in rows], [row.reply for row in rows], [row.intent for row in rows])


def word_ratio(model: ReplyGenerator, encoded: Sequence[EncodedReply], rows: Sequence[Row]) -> float:
    """Tokens a word: what a loss by the token is multiplied with to be one by the word."""
    return model.counted(encoded) / sum(model.words(encoded, [row.reply for row in rows]))


def held_out_figures(model: ReplyGenerator, rows: Sequence[Row], nats: float) -> dict[str, float]:
    """Return the perplexity of a token and of a word parted by blanks, and the mean log-likelihood of a word.

    Args:
        nats: the negative log-likelihood of the rows' replies.
    """
    encoded = encoded_rows(model, rows)
    words = sum(model.words(encoded, [row.reply for row in rows]))
    return {
        "perplexity": math.exp(nats / model.counted(encoded)), "word_perplexity": math.exp(nats / words),
        ReplyTest.metric: -nats / words,
    }  # fmt: skip


def history_gain(model: ReplyGenerator, rows: Sequence[Row], batch_size: int, nats: float | None = None) -> float:
    """Return the nats a token by which replies are likelier after their own history than after the next row's (ours).

    Near 0, the generator writes without reading, however low its perplexity.

    Args:
        nats: as `held_out_figures` takes them, where they are known.
    """
    own = encoded_rows(model, rows)
    contexts = [row.context for row in rows]
    others = [*contexts[1:], *contexts[:1]]
    other = model.encode(others, [row.reply for row in rows], [row.intent for row in rows])
    known = sum(model.nats(own, batch_size)) if nats is None else nats
    return (sum(model.nats(other, batch_size)) - known) / model.counted(own)


def write_training(result: TrainingResult, model: ReplyGenerator, by_word: float) -> None:
    """How the generator was trained, into its folder: `parameters`, `epochs`, `best_epoch`, `seconds`, perplexities."""
    facts = {
        "parameters": model.parameter_count(), "tokens": model.tokenizer.size, "epochs": len(result.history),
        "best_epoch": result.best_epoch, "seconds": result.seconds,
        "validation_perplexity": result.metrics["perplexity"],
        "validation_word_perplexity": math.exp(result.metrics["loss"] * by_word),
        "history": [epoch.flat() for epoch in result.history],
    }  # fmt: skip
    (result.path / TRAINING).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def _start(examples: DataFrame, run: StageRun, regime: Regime) -> tuple[ReplyGenerator, str]:
    """The generator to train, and what it starts from: another's weights, or none and a tokenizer."""
    replies = run.all_settings.replies
    if regime.starts_from is not None:
        start = run.models[regime.starts_from]
        model = ReplyGenerator.load(start.path)
        model.set_dropout(replies.network.dropout)
        model.steered = regime.steered
        return model, start.identity
    tokenizer, identity = _tokenizer(examples, run)
    return new_generator(tokenizer, replies.network, options_of(run, regime.model).seed), identity


def _tokenizer(examples: DataFrame, run: StageRun) -> tuple[ReplyTokenizer, str]:
    tokens, labels = run.all_settings.replies.tokens, run.all_settings.edos.taxonomy.names
    if tokens.tokenizer != TRAINED:
        found = resolve(tokens.tokenizer, Path(run.folder), share=run.all_settings.models.share)
        return ReplyTokenizer.load(found.path, labels), f"tokens of {found.identity}"
    # All three sets: the generators that start from this one write in its tokens.
    texts = examples.where("split = 'train'").orderBy("example_id").select("reply")
    said = (row.reply for row in texts.toLocalIterator())
    return trained_tokenizer(said, tokens.vocabulary, labels), "tokens of the training texts"
