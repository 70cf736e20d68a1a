"""The trainings of the AugESC path: language models tuned on conversations, to the registry's champion."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame

from conf.errors import InputError
from conf.language_settings import LanguageTrainingSettings
from etl.augesc.sessions import held_out_sessions
from etl.augesc.texts import learned_session
from etl.lakehouse.outcome import Trained
from etl.lakehouse.registry import model_store
from etl.lakehouse.stage import StageRun
from etl.lakehouse.trainings.classifiers import data_tags
from udfs.models.language.causal_language_model import CausalLanguageModel, Piece, TokenRow
from udfs.models.language.language_model import LanguageEpoch, LanguageOptions, LanguageResult
from udfs.models.language.tracked import Fit, Held, train_tracked_writer
from udfs.models.language.training import fit_language_model
from udfs.models.loader import ResolvedModel, resolve

Pieces = Callable[[Sequence[dict[str, str]]], list[Piece]]


def tracked_augmenter(drawn: DataFrame, sessions: DataFrame, run: StageRun) -> Trained:
    """Tune the base model on the drawn sessions (AugESC 4.1), and measure perplexity before and after.

    Raises:
        InputError: no sessions were drawn, or none are left to measure on.
    """
    own = run.settings.training.augmenter
    start = resolve(run.settings.models.augmenter_base, Path(run.folder), share=run.all_settings.models.share)
    held = held_out_sessions(sessions, drawn, own.held_out)
    return tuned(run, "augesc_train_augmenter", own, start, drawn, held, learned_session)


def tuned(
    run: StageRun,
    stage: str,
    own: LanguageTrainingSettings,
    start: ResolvedModel,
    sessions: DataFrame,
    held_out: DataFrame,
    pieces: Pieces,
) -> Trained:
    """Tune a causal language model on conversations.

    Args:
        stage: for the run's tags.
        own: how.
        start: what it starts from.
        sessions, held_out: session_id, turns.
        pieces: from a session's turns to what is read and what is learned of it.
    """
    settings = run.all_settings
    given, kept_back = (pieces_of(frame, pieces) for frame in (sessions, held_out))
    if not given or not kept_back:
        raise InputError(f"{stage}: {len(given)} sessions to tune on, {len(kept_back)} held out: it needs both")
    run.say(f"{len(given):,} sessions to tune on, {len(kept_back):,} held out; starts from {start.identity}")
    options = language_options(own, settings.models.training_threads)

    def load(folder: Path) -> CausalLanguageModel:
        return CausalLanguageModel.load(folder, own.max_tokens, own.gradient_checkpointing)

    tracked = train_tracked_writer(
        model_store(settings),
        own.name,
        params={**own.model_dump(exclude={"name"}), "starts_from": start.identity, "sessions": len(given)},
        tags={"stage": stage, **data_tags(run)},
        start=start.path,
        load=load,
        texts=list(given.values()),
        held=held_of(kept_back),
        options=options,
        folder=Path(run.folder),
        progress=run.say,
        fit=fit_language_model if settings.training.processes == 1 else fit_in_processes(run, start, own),
    )
    figures = {name: round(value, 4) for name, value in tracked.figures.items()}
    run.say(
        f"held out: perplexity {figures['perplexity_before']:.2f} before, {figures['perplexity']:.2f} after; "
        f"champion: {tracked.promotion.reason}"
    )
    rows = len(given) + len(kept_back)
    return Trained(tracked.champion.identity, rows, rows, figures=figures)


def fit_in_processes(run: StageRun, start: ResolvedModel, own: LanguageTrainingSettings) -> Fit:
    """A training in ``training.processes`` processes, each of which holds a part of the model."""
    from etl.lakehouse.trainings.processes import train_in_processes
    from udfs.models.language.shared_writing import SharedWriting, read_result, read_updates

    def fit(
        model: CausalLanguageModel,
        train: Sequence[TokenRow],
        valid: Sequence[TokenRow],
        options: LanguageOptions,
        out_dir: Path,
        on_epoch: Callable[[LanguageEpoch], None],
        progress: Callable[[str], None],
        checkpoints: Path,
        on_update: Callable[[int, float], None],
    ) -> LanguageResult:
        model.to("cpu")  # a process may need the place
        told = {"max_tokens": own.max_tokens, "gradient_checkpointing": own.gradient_checkpointing}
        job = SharedWriting(model.kind, str(start.path), options, str(checkpoints.resolve()), told)

        losses: dict[int, float] = {}

        def read(folder: Path) -> LanguageResult:
            losses.update(read_updates(folder))
            return read_result(folder, options)

        result = train_in_processes(run, job, partial(job.put, (train, valid)), read, out_dir, on_epoch)
        for number, loss in losses.items():
            on_update(number, loss)
        return result

    return fit


def language_options(own: LanguageTrainingSettings, threads: int) -> LanguageOptions:
    """The training loop's options from the settings; the last epoch is kept, as the paper has it."""
    return LanguageOptions(
        epochs=own.epochs, batch_size=own.batch_size, effective_batch=own.effective_batch,
        learning_rate=own.learning_rate, warmup_steps=own.warmup_steps, weight_decay=own.weight_decay, keep="last",
        seed=own.seed, threads=threads, precision=own.precision, device=own.device,
    )  # fmt: skip


def held_of(pieces: Mapping[str, list[Piece]]) -> Held:
    """Held-out sessions with the number of words that a model foretells in them."""
    words = sum(len(text.split()) for session in pieces.values() for text, learned in session if learned)
    return Held(list(pieces.values()), words)


def pieces_of(sessions: DataFrame, pieces: Pieces) -> dict[str, list[Piece]]:
    """What is learned of each session, in the order of their ids."""
    ordered = sessions.select("session_id", "turns").orderBy("session_id")
    return {row.session_id: pieces([turn.asDict() for turn in row.turns]) for row in ordered.toLocalIterator()}
