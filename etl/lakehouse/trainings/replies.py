"""The trainings of the response generators, from ``replies.examples`` to the registry's champions (EDOS 5, E)."""

import json
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.reply_settings import ReplyTraining, SteeredReplyTraining
from etl.edos.splits import content_share
from etl.lakehouse.outcome import Trained
from etl.lakehouse.registry import model_store
from etl.lakehouse.stage import StageRun, setting
from etl.lakehouse.trainings.classifiers import data_tags
from etl.replies.regimes import Regime
from udfs.models.language.language_model import LanguageEpoch, LanguageOptions, LanguageResult
from udfs.models.language.reply_generator import EncodedReply, ReplyGenerator, new_generator
from udfs.models.language.reply_tokenizer import ReplyTokenizer, trained_tokenizer
from udfs.models.language.training import fit_language_model
from udfs.models.loader import resolve
from udfs.models.tracking import CHAMPION, promote_if_better, rows_digest, tracked_run

TRAINED = "trained"
TRAINING = "training.json"
"""In a generator's folder: how it was trained and what came of it, for Table 10."""
METRIC = "log_likelihood"
SPLITS = ("train", "validation", "test")


def tracked_generator(examples: DataFrame, run: StageRun, regime: Regime) -> Trained:
    """Train a generator in its regime till the validation loss falls no more, and measure it on its test rows.

    A training that was killed goes on after its last whole epoch. The alias moves to the generator under which the
    test replies are likelier, by the word: so that generators of other tokenizers can be compared.

    Args:
        examples: ``replies.examples``.

    Raises:
        InputError: a split has no rows.
    """
    settings = run.all_settings
    own: ReplyTraining = setting(settings, f"training.{regime.model}")
    rows = {split: chosen_rows(examples, regime, split, own) for split in SPLITS}
    for split in SPLITS:
        if not rows[split]:
            raise InputError(f"replies.examples has no {split} rows of {' or '.join(regime.sources)}: add dialogues")
    run.say(", ".join(f"{len(rows[split]):,} {split} replies" for split in SPLITS))
    model, started_from = _start(examples, run, regime)
    encoded = [encoded_rows(model, rows[split]) for split in SPLITS]
    options = options_of(own, settings.models.training_threads)
    store, batch_size = model_store(settings), own.batch_size
    params = {
        **own.model_dump(exclude={"name"}), **settings.replies.network.model_dump(), "starts_from": started_from,
        "parameters": model.parameter_count(), "tokens": model.tokenizer.size,
    }  # fmt: skip
    tags = {"stage": regime.model, **data_tags(run)}
    with tempfile.TemporaryDirectory() as scratch, tracked_run(store, own.name, params, tags) as tracked:
        by_word = word_ratio(model, encoded[1], rows["validation"])
        told: set[int] = set()

        def on_epoch(epoch: LanguageEpoch) -> None:
            told.add(epoch.epoch)
            tracked.on_epoch(epoch)
            words = math.exp(epoch.validation_loss * by_word)
            tracked.client.log_metric(tracked.run_id, "validation_word_perplexity", words, step=epoch.epoch)
            run.say(f"validation perplexity {epoch.validation_perplexity:.2f} a token, {words:.1f} a word")

        result = _fitted(model, encoded, options, Path(scratch) / "model", on_epoch, run, own.name)
        for epoch in result.history:
            if epoch.epoch not in told:  # of before an interruption
                on_epoch(epoch)
        trained = ReplyGenerator.load(result.path)
        figures = held_out_figures(trained, rows["test"], batch_size)
        figures["history_gain"] = history_gain(trained, rows["test"], batch_size)
        tracked.log_history(result)
        tracked.log_metrics(figures, "held_out_")
        write_training(result, trained, by_word)
        source = tracked.log_model(result.path, trained.kind)
        version = tracked.register(own.name, source, {"kind": trained.kind})

    def score(path: Path) -> float:
        return held_out_figures(ReplyGenerator.load(path), rows["test"], batch_size)[METRIC]

    digest = rows_digest([[row.context, row.reply, row.intent] for row in rows["test"]])
    promotion = promote_if_better(store, own.name, version, figures[METRIC], score, METRIC, digest, Path(run.folder))
    champion = resolve(f"models:/{own.name}@{CHAMPION}", Path(run.folder), store.tracking_uri,
                       registry_uri=store.registry_uri)  # fmt: skip
    run.say(f"held out: perplexity {figures['perplexity']:.2f} a token, {figures['word_perplexity']:.1f} a word, "
            f"{figures['history_gain']:.3f} nats a token less than after another's history; "
            f"champion: {promotion.reason}")  # fmt: skip
    total = sum(map(len, rows.values()))
    return Trained(champion.identity, total, total, None, {name: round(value, 4) for name, value in figures.items()})


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


def held_out_figures(model: ReplyGenerator, rows: Sequence[Row], batch_size: int) -> dict[str, float]:
    """Perplexity of a token and of a word parted by blanks, and the mean log-likelihood of a word."""
    encoded = encoded_rows(model, rows)
    nats = sum(model.nats(encoded, batch_size))
    words = sum(model.words(encoded, [row.reply for row in rows]))
    return {
        "perplexity": math.exp(nats / model.counted(encoded)), "word_perplexity": math.exp(nats / words),
        METRIC: -nats / words,
    }  # fmt: skip


def history_gain(model: ReplyGenerator, rows: Sequence[Row], batch_size: int) -> float:
    """Nats a token by which replies are likelier after their own history than after the next row's (ours).

    Near 0, the generator writes without reading, however low its perplexity.
    """
    replies, intents = [row.reply for row in rows], [row.intent for row in rows]
    contexts = [row.context for row in rows]
    own, other = (
        model.encode(some, replies, intents) for some in (contexts, [*contexts[1:], *contexts[:1]])
    )  # fmt: skip
    return (sum(model.nats(other, batch_size)) - sum(model.nats(own, batch_size))) / model.counted(own)


def write_training(result: LanguageResult, model: ReplyGenerator, by_word: float) -> None:
    """How the generator was trained, into its folder: `parameters`, `epochs`, `best_epoch`, `seconds`, perplexities."""
    facts = {
        "parameters": model.parameter_count(), "tokens": model.tokenizer.size, "epochs": len(result.history),
        "best_epoch": result.best_epoch, "seconds": result.seconds,
        "validation_perplexity": result.metrics["perplexity"],
        "validation_word_perplexity": math.exp(result.metrics["loss"] * by_word),
        "history": [asdict(epoch) for epoch in result.history],
    }  # fmt: skip
    (result.path / TRAINING).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def options_of(settings: ReplyTraining, threads: int) -> LanguageOptions:
    """The training loop's options from the settings."""
    return LanguageOptions(
        epochs=settings.epochs, batch_size=settings.batch_size, effective_batch=settings.effective_batch,
        learning_rate=settings.learning_rate, warmup_steps=settings.warmup_steps, decay=settings.decay,
        label_smoothing=settings.label_smoothing, patience=settings.patience, seed=settings.seed, threads=threads,
        precision=settings.precision, device=settings.device,
    )  # fmt: skip


def _start(examples: DataFrame, run: StageRun, regime: Regime) -> tuple[ReplyGenerator, str]:
    """The generator to train, and what it starts from: another's weights, or none and a tokenizer."""
    replies = run.all_settings.replies
    if regime.starts_from is not None:
        start = run.models[regime.starts_from]
        model = ReplyGenerator.load(start.path)
        model.set_dropout(replies.network.dropout)
        model.steered = regime.steered
        return model, start.identity
    seed = setting(run.all_settings, f"training.{regime.model}.seed")
    tokenizer, identity = _tokenizer(examples, run)
    return new_generator(tokenizer, **replies.network.model_dump(), seed=seed), identity


def _tokenizer(examples: DataFrame, run: StageRun) -> tuple[ReplyTokenizer, str]:
    tokens, labels = run.all_settings.replies.tokens, run.all_settings.edos.taxonomy.names
    if tokens.tokenizer != TRAINED:
        found = resolve(tokens.tokenizer, Path(run.folder), share=run.all_settings.models.share)
        return ReplyTokenizer.load(found.path, labels), f"tokens of {found.identity}"
    # All three sets: the generators that start from this one write in its tokens.
    texts = examples.where("split = 'train'").orderBy("example_id").select("reply")
    said = (row.reply for row in texts.toLocalIterator())
    return trained_tokenizer(said, tokens.vocabulary, labels), "tokens of the training texts"


def _fitted(
    model: ReplyGenerator,
    encoded: Sequence[Sequence[EncodedReply]],
    options: LanguageOptions,
    out_dir: Path,
    on_epoch: Callable[[LanguageEpoch], None],
    run: StageRun,
    name: str,
) -> LanguageResult:
    """Train on the driver, or in ``training.processes`` processes; the generator goes to ``out_dir``."""
    checkpoints = Path(run.folder).resolve() / "checkpoints" / name
    train, valid, _ = encoded
    if run.all_settings.training.processes == 1:
        return fit_language_model(model, train, valid, options, out_dir, on_epoch, run.say, checkpoints=checkpoints)
    from etl.lakehouse.trainings.processes import train_in_processes
    from udfs.models.language.shared_writing import SharedWriting, read_result

    Path(run.folder).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=run.folder) as start:  # which all machines see
        job = SharedWriting(model.kind, str(model.save(Path(start).resolve() / "start")), options, str(checkpoints))
        put, read = partial(job.put, (train, valid)), partial(read_result, options=options)
        return train_in_processes(run, job, put, read, out_dir, on_epoch)
