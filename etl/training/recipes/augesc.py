"""The trainings of the AugESC path: language models tuned on conversations."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame

from conf.errors import InputError
from etl.augesc.sessions import held_out_sessions
from etl.augesc.texts import learned_session
from etl.pipeline.stage_run import StageRun
from etl.tables.outcome import Trained
from etl.training.held_out_texts import HeldOutTexts, LanguageTest
from etl.training.registration import Recipe, options_of, train_and_register
from udfs.models.language.causal_language_model import CausalLanguageModel, Piece
from udfs.models.loader import ResolvedModel, resolve
from udfs.models.trainable import TrainingRows

Pieces = Callable[[Sequence[dict[str, str]]], list[Piece]]


def train_and_register_augmenter(drawn: DataFrame, sessions: DataFrame, run: StageRun) -> Trained:
    """Tune the base model on the drawn sessions (AugESC 4.1), and measure perplexity before and after.

    Raises:
        InputError: no sessions were drawn, or none are left to measure on.
    """
    start = resolve(run.settings.models.augmenter_base, Path(run.folder), share=run.all_settings.models.share)
    held = held_out_sessions(sessions, drawn, run.all_settings.training.augmenter.held_out)
    return train_and_register(tuning_recipe(run, "augmenter", start, drawn, held, learned_session), run)


def tuning_recipe(
    run: StageRun, model: str, start: ResolvedModel, sessions: DataFrame, held_out: DataFrame, pieces: Pieces
) -> Recipe:  # fmt: skip
    """Return the recipe of a causal language model that is tuned on conversations.

    Args:
        model: its key under ``training``.
        start: what it starts from.
        sessions, held_out: session_id, turns.
        pieces: from a session's turns to what is read and what is learned of it.
    """
    options, stage = options_of(run, model), f"augesc_train_{model}"
    given, kept_back = (pieces_of(frame, pieces) for frame in (sessions, held_out))
    if not given or not kept_back:
        raise InputError(f"{stage}: {len(given)} sessions to tune on, {len(kept_back)} held out: it needs both")
    run.say(f"{len(given):,} sessions to tune on, {len(kept_back):,} held out; starts from {start.identity}")
    network = CausalLanguageModel.load(start.path, options.max_tokens, options.gradient_checkpointing)
    rows = network.encode(list(given.values()))
    test = LanguageTest(network, rows, held_of(kept_back), options)
    run.say(
        f"{test.learned['tokens']:,} tokens to learn; {test.learned['cut_texts']} texts are cut at {network.max_tokens}"
    )
    return Recipe(
        name=options.name, stage=stage, model=CausalLanguageModel, options=options, start=lambda: network,
        starts_from=start.identity, rows=TrainingRows(rows, test.rows), test=test,
        rows_out=len(given) + len(kept_back), params={"sessions": len(given)},
    )  # fmt: skip


def held_of(pieces: Mapping[str, list[Piece]]) -> HeldOutTexts:
    """Held-out sessions with the number of words that a model foretells in them."""
    words = sum(len(text.split()) for session in pieces.values() for text, learned in session if learned)
    return HeldOutTexts(list(pieces.values()), words)


def pieces_of(sessions: DataFrame, pieces: Pieces) -> dict[str, list[Piece]]:
    """What is learned of each session, in the order of their ids."""
    ordered = sessions.select("session_id", "turns").orderBy("session_id")
    return {row.session_id: pieces([turn.asDict() for turn in row.turns]) for row in ordered.toLocalIterator()}
