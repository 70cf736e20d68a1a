"""The trainings of the response generators, and their comparison in Tables 7 and 10 (EDOS 5, E)."""

import json
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.taxonomy import Taxonomy
from etl.common.splits import SPLITS, content_share
from etl.pipeline.outcome import Outcome, Trained
from etl.pipeline.stage_run import StageRun
from etl.replies.generation import compared, unsteered
from etl.replies.measures import table_7
from etl.replies.regimes import Regime
from etl.replies.settings import ReplyNetwork, ReplyTokens, ReplyTraining, SteeredReplyTraining
from etl.replies.tables import EVALUATION, TRAININGS
from etl.training.data_inputs import rows_digest
from etl.training.registration import HeldOutTest, Recipe, data_tags, train_and_register
from etl.training.registry import model_store
from etl.training.tracking import TrackedRun, tracked_run
from udfs.models.language.causal_reply_generator import causal_generator, load_generator
from udfs.models.language.reply_generator import CONFIG, EncodedReply, ReplyGenerator, new_generator
from udfs.models.language.reply_tokenizer import ReplyTokenizer, trained_tokenizer
from udfs.models.trainable import TrainingResult, TrainingRows

TRAINED = "trained"
TRAINING = "training.json"
"""File in a generator's folder with its training's facts, for Table 10."""
SHOWN = ("perplexity", "word_perplexity", "distinct_1", "distinct_2", "similarity")


@dataclass(frozen=True)
class Start:
    """The model that a training starts from.

    Attributes:
        identity: of its initial weights, or of its tokenizer.
        network: the settings of its network, for the parameters of the run.
    """

    model: ReplyGenerator
    identity: str
    network: Mapping[str, Any]


def pretrain_generator(
    examples: DataFrame,
    run: StageRun,
    regime: Regime,
    options: ReplyTraining,
    tokens: ReplyTokens,
    network: ReplyNetwork,
    labels: Taxonomy,
) -> Trained:
    """Train a generator from random weights (EDOS 5); see `train_and_register_generator`."""

    def start() -> Start:
        tokenizer, identity = _tokenizer(examples, run, tokens, labels)
        return Start(new_generator(tokenizer, network, options.seed), identity, network.model_dump())

    return train_and_register_generator(examples, run, regime, options, start)


def tune_generator(
    examples: DataFrame, run: StageRun, regime: Regime, options: ReplyTraining, dropout: float
) -> Trained:
    """Train a generator further from the one that its regime starts from; see `train_and_register_generator`."""

    def start() -> Start:
        given = run.model(unsteered(run).model if regime.steered else str(regime.starts_from))
        model = load_generator(given.path)
        model.set_dropout(dropout)
        if regime.steered and not model.steered:
            model.begin_intents()
        model.steered = regime.steered
        return Start(model, given.identity, {"dropout": dropout})

    return train_and_register_generator(examples, run, regime, options, start)


def tune_causal_generator(
    examples: DataFrame,
    run: StageRun,
    regime: Regime,
    options: ReplyTraining,
    base: str,
    max_tokens: int,
    labels: Taxonomy,
) -> Trained:
    """Tune a causal language model, whose URI is ``base`` (ours); see `train_and_register_generator`."""

    def start() -> Start:
        given = run.model(base)
        return Start(causal_generator(given.path, labels.names, max_tokens), given.identity, {"max_tokens": max_tokens})

    return train_and_register_generator(examples, run, regime, options, start)


def train_and_register_generator(
    examples: DataFrame, run: StageRun, regime: Regime, options: ReplyTraining, start: Callable[[], Start]
) -> Trained:
    """Train a generator until the validation loss stops decreasing, and evaluate it on its test rows.

    The alias moves to the generator with the higher log-likelihood of a validation reply's word. Likelihoods of words
    can be compared across tokenizers.

    Args:
        examples: ``replies.examples``.

    Raises:
        InputError: a split has no rows.
    """
    rows = {split: chosen_rows(examples, regime, split, options) for split in SPLITS}
    for split in SPLITS:
        if not rows[split]:
            raise InputError(f"replies.examples has no {split} rows of {' or '.join(regime.sources)}: add dialogues")
    run.say(", ".join(f"{len(rows[split]):,} {split} replies" for split in SPLITS))
    begun = start()
    model = begun.model
    train, validation = (encoded_rows(model, rows[split]) for split in SPLITS[:2])
    by_word = word_ratio(model, validation, rows["validation"])
    recipe = Recipe(
        name=options.name,
        model=type(model),
        options=options,
        start=lambda options: model,
        starts_from=begun.identity,
        rows=TrainingRows(train, validation),
        test=ReplyTest(rows["test"], options.batch_size, by_word),
        choice=ReplyTest(rows["validation"], options.batch_size, by_word),
        rows_out=sum(map(len, rows.values())),
        params={**begun.network, "parameters": model.parameter_count(), "tokens": model.tokenizer.size},
        derive=lambda epoch: {"validation_word_perplexity": math.exp(epoch.validation_loss * by_word)},
    )
    return train_and_register(recipe, run)


class ReplyTest(HeldOutTest):
    """The mean log-likelihood of a word of the test replies.

    Args:
        rows: (context, reply, intent).
        by_word: number of tokens a word in the validation rows.
    """

    metric = "log_likelihood"

    def __init__(self, rows: Sequence[Row], batch_size: int, by_word: float) -> None:
        self.rows = rows
        self.batch_size = batch_size
        self.by_word = by_word

    def digest(self) -> str:
        return rows_digest([[row.context, row.reply, row.intent] for row in self.rows])

    def measure(self, tracked: TrackedRun, result: TrainingResult) -> dict[str, float]:
        model = load_generator(result.path)
        figures, nats = self._figures(model)
        figures["history_gain"] = history_gain(model, self.rows, self.batch_size, nats)
        tracked.log_metrics(figures, "held_out_")
        write_training(result, model, self.by_word)
        return figures

    def score(self, path: Path) -> float:
        return self._figures(load_generator(path))[0][self.metric]

    def _figures(self, model: ReplyGenerator) -> tuple[dict[str, float], float]:
        """Return the perplexities of a token and a word, the metric, and the replies' negative log-likelihood."""
        encoded = encoded_rows(model, self.rows)
        nats = sum(model.nats(encoded, self.batch_size))
        words = sum(model.words(encoded, [row.reply for row in self.rows]))
        figures = {"perplexity": math.exp(nats / model.counted(encoded)), "word_perplexity": math.exp(nats / words)}
        return {**figures, self.metric: -nats / words}, nats

    def summary(self, figures: Mapping[str, float]) -> str:
        return (
            f"perplexity {figures['perplexity']:.2f} a token, {figures['word_perplexity']:.1f} a word, "
            f"{figures['history_gain']:.3f} nats a token less than after another history"
        )


def chosen_rows(examples: DataFrame, regime: Regime, split: str, options: ReplyTraining) -> list[Row]:
    """Return a split's rows (context, reply, intent), ordered by a hash, up to the limit of the settings.

    Rows of a plain generator have no intent. Those of a steered one have it, except for a share of the training rows.
    """
    rows = examples.where(F.col("source").isin(*regime.sources) & (F.col("split") == split))
    intent = F.col("intent") if regime.steered else F.lit(None).cast("string")
    if regime.steered:
        rows = rows.where(F.col("intent").isNotNull())
    if isinstance(options, SteeredReplyTraining) and split == "train":
        steered = content_share(F.col("example_id"), salt="asked") >= options.unasked_share
        intent = F.when(steered, F.col("intent"))
    most = None if split == "train" else options.validation_rows
    ordered = rows.orderBy(F.xxhash64("example_id"), "example_id")
    chosen = ordered if most is None else ordered.limit(most)
    return list(chosen.select("context", "reply", intent.alias("intent")).toLocalIterator())


def encoded_rows(model: ReplyGenerator, rows: Sequence[Row]) -> list[EncodedReply]:
    """Return the rows as token ids."""
    return model.encode([row.context for row in rows], [row.reply for row in rows], [row.intent for row in rows])


def word_ratio(model: ReplyGenerator, encoded: Sequence[EncodedReply], rows: Sequence[Row]) -> float:
    """Return the number of tokens a word, which converts a token's loss to a word's."""
    return model.counted(encoded) / sum(model.words(encoded, [row.reply for row in rows]))


def history_gain(model: ReplyGenerator, rows: Sequence[Row], batch_size: int, nats: float | None = None) -> float:
    """Return by how many nats a token replies are likelier after their history than after the next row's (ours).

    A value near 0 means that the generator ignores the history, however low its perplexity is.

    Args:
        nats: the negative log-likelihood of the rows' replies, if it is known.
    """
    encoded = encoded_rows(model, rows)
    contexts = [row.context for row in rows]
    others = [*contexts[1:], *contexts[:1]]
    shifted = model.encode(others, [row.reply for row in rows], [row.intent for row in rows])
    known = sum(model.nats(encoded, batch_size)) if nats is None else nats
    return (sum(model.nats(shifted, batch_size)) - known) / model.counted(encoded)


def write_training(result: TrainingResult, model: ReplyGenerator, by_word: float) -> None:
    """Write the training's facts to the generator's folder: parameters, epochs, seconds and perplexities."""
    facts = {
        "parameters": model.parameter_count(),
        "tokens": model.tokenizer.size,
        "epochs": len(result.history),
        "best_epoch": result.best_epoch,
        "seconds": result.seconds,
        "validation_perplexity": result.metrics["perplexity"],
        "validation_word_perplexity": math.exp(result.metrics["loss"] * by_word),
        "history": [epoch.flat() for epoch in result.history],
    }
    (result.path / TRAINING).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def _tokenizer(examples: DataFrame, run: StageRun, tokens: ReplyTokens, labels: Taxonomy) -> tuple[ReplyTokenizer, str]:
    if tokens.tokenizer != TRAINED:
        found = run.model(tokens.tokenizer)
        return ReplyTokenizer.load(found.path, labels.names), f"tokens of {found.identity}"
    # Rows of all sources, because other generators start from this one and share its tokens.
    rows = examples.where("split = 'train'").orderBy("example_id").select("reply")
    replies = (row.reply for row in rows.toLocalIterator())
    return trained_tokenizer(replies, tokens.vocabulary, labels.names), "tokens of the training texts"


def compared_generators(
    likelihoods: DataFrame, generated: DataFrame, baselines: DataFrame, embeddings: DataFrame, run: StageRun
) -> Outcome:
    """Return rows of ``replies.evaluation``, and log one MLflow run a generator, with metrics ``<name>/<source>``.

    Raises:
        InputError: there are no replies.
    """
    cells = table_7(likelihoods, generated, baselines, embeddings, run.model("sentence_encoder").identity)
    rows = cells.select(EVALUATION.columns).collect()
    if not rows:
        raise InputError("replies.generated is empty: replies.examples needs test replies")
    by_generator: defaultdict[str, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row.generator, row.source)):
        by_generator[row.generator].append(row)
        run.say(
            f"{row.generator} on {row.source}: perplexity {row.perplexity}, by the word {row.word_perplexity}, "
            f"distinct {row.distinct_1} and {row.distinct_2}, similarity {row.similarity}"
        )
    store = model_store(run.tracking)
    tags = {"stage": run.stage, **data_tags(run)}
    with tracked_run(
        store, "comparison of response generators", {"examples": max(row.examples for row in rows)}, tags
    ) as whole:
        for generator, some in by_generator.items():
            params = {"generator": generator, "model": some[0].model, "kind": some[0].kind}
            with tracked_run(store, generator, params, {**tags, "mlflow.parentRunId": whole.run_id}) as one:
                one.log_metrics(
                    {f"{name}/{row.source}": row[name] for row in some for name in SHOWN if row[name] is not None}
                )
    return Outcome(run.spark.createDataFrame(rows, EVALUATION.schema), rows_in=len(rows))


def listed_trainings(run: StageRun) -> Outcome:
    """Return rows of ``replies.trainings`` from the files in each generator's folder."""
    rows = []
    for regime in compared(run):
        model = run.model(regime.model)
        facts: dict[str, Any] = {"generator": regime.generator, "model": model.identity}
        for name in (CONFIG, TRAINING):
            path = model.path / name
            facts |= json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        rows.append(tuple(facts.get(name) for name in TRAININGS.columns))
    return Outcome(run.spark.createDataFrame(rows, TRAININGS.schema), rows_in=len(rows))
