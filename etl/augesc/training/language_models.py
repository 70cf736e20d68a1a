"""The trainings of AugESC's language models on conversations: augmenters (4.1), role models (6.1), chatbots (7.1)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.augesc.conversation_texts import learned_role, learned_session
from etl.augesc.sessions import held_out_sessions, without_greetings
from etl.augesc.settings import LanguageTrainingSettings
from etl.augesc.training.held_out_texts import HeldOutTexts, LanguageTest, held_out_figures
from etl.pipeline.model_loader import ResolvedModel
from etl.pipeline.outcome import Outcome, Trained
from etl.pipeline.stage_run import StageRun
from etl.training.registration import Recipe, train_and_register
from udfs.models.language.causal_language_model import CausalLanguageModel, Piece
from udfs.models.trainable import TrainingRows

Pieces = Callable[[Sequence[dict[str, str]]], list[Piece]]
COMPARED = {"chatbot": "esconv", "augmented_chatbot": "esconv, then augesc"}
"""The two chatbots (AugESC 7.1) and their training data; AugESC includes ESConv, so it is not used alone."""


def train_and_register_augmenter(
    drawn: DataFrame,
    sessions: DataFrame,
    run: StageRun,
    options: LanguageTrainingSettings,
    base: str | None,
    task: str,
) -> Trained:
    """Tune the base model on the drawn sessions (AugESC 4.1), and measure perplexity before and after.

    Args:
        drawn: ``augesc.training_sessions``.
        sessions: ``augesc.sessions``.
        base: URI of the model to tune.
        task: result of ``etl.augesc.conversation_texts.instruction``.

    Raises:
        InputError: there are no drawn or no held-out sessions.
    """
    if base is None:
        raise InputError("models.augmenter_base is null: name a language model to tune")
    start = run.model(base)
    held = held_out_sessions(sessions, drawn, options.held_out)
    return train_and_register(tuning_recipe(run, options, start, drawn, held, partial(learned_session, task=task)), run)


def train_and_register_speaker(
    role: str, drawn: DataFrame, sessions: DataFrame, run: StageRun, options: LanguageTrainingSettings, base: str
) -> Trained:
    """Tune a model of one speaker's utterances on the sessions of ESConv that are not held out.

    Args:
        role: seeker or supporter.
        drawn: ``augesc.training_sessions``, which are never held out.
        sessions: ``augesc.sessions``.
    """
    start = run.model(base)
    held = held_out_sessions(sessions, drawn, options.held_out)
    rest = sessions.where(~F.col("contrast")).join(held.select("session_id"), "session_id", "left_anti")
    learned = rest.select("session_id", without_greetings(F.col("turns")).alias("turns"))
    return train_and_register(tuning_recipe(run, options, start, learned, held, partial(learned_role, role=role)), run)


def train_and_register_augmented_chatbot(
    conversations: DataFrame, drawn: DataFrame, sessions: DataFrame, run: StageRun, options: LanguageTrainingSettings
) -> Trained:
    """Tune the chatbot further on AugESC (7.1), and measure perplexity before and after."""
    held = held_out_sessions(sessions, drawn, options.held_out)
    learned = conversations.select(F.col("conversation_id").alias("session_id"), "turns")
    pieces = partial(learned_role, role="supporter")
    return train_and_register(tuning_recipe(run, options, run.model("chatbot"), learned, held, pieces), run)


def compared_chatbots(
    drawn: DataFrame, sessions: DataFrame, run: StageRun, options: LanguageTrainingSettings
) -> Outcome:
    """Return each chatbot's perplexity of the supporters' utterances in the held-out sessions of ESConv.

    Returns:
        Outcome of ``augesc.chatbots``.

    Raises:
        InputError: no session is held out.
    """
    held_out = held_out_sessions(sessions, drawn, options.held_out)
    pieces = pieces_of(held_out, partial(learned_role, role="supporter"))
    if not pieces:
        raise InputError(f"{run.stage}: no session is held out: augesc.sessions needs more than are drawn for training")
    rows = []
    for name, tuned_on in COMPARED.items():
        model = CausalLanguageModel.load(run.model(name).path, options.max_tokens)
        figures = held_out_figures(model, held_of(pieces), options)
        tokens = model.counted(model.encode(list(pieces.values())))
        run.say(f"{name}: perplexity {figures['perplexity']:.2f} of {tokens:,} tokens")
        values = (figures[key] for key in ("loss", "perplexity", "word_perplexity"))
        rows.append((name, tuned_on, run.model(name).identity, len(pieces), tokens, *values))
    schema = (
        "chatbot string, tuned_on string, model string, sessions int, tokens int, loss double, perplexity double, "
        "word_perplexity double"
    )
    return Outcome(run.spark.createDataFrame(rows, schema), rows_in=len(rows))


def tuning_recipe(
    run: StageRun,
    options: LanguageTrainingSettings,
    start: ResolvedModel,
    sessions: DataFrame,
    held_out: DataFrame,
    pieces: Pieces,
) -> Recipe:
    """Return the recipe of a causal language model that is tuned on conversations.

    Args:
        sessions, held_out: session_id, turns.
        pieces: from a session's turns to its pieces of text.
    """
    given, kept_back = (pieces_of(frame, pieces) for frame in (sessions, held_out))
    if not given or not kept_back:
        raise InputError(f"{run.stage}: {len(given)} sessions to tune on, {len(kept_back)} held out: it needs both")
    run.say(f"{len(given):,} sessions to tune on, {len(kept_back):,} held out; starts from {start.identity}")
    network = CausalLanguageModel.load(start.path, options.max_tokens, options.gradient_checkpointing)
    rows = network.encode(list(given.values()))
    test = LanguageTest(network, rows, held_of(kept_back), options)
    tokens = test.learned["tokens"]
    cut = test.learned["cut_texts"]
    run.say(f"{tokens:,} tokens to learn; {cut} texts are truncated to {network.max_tokens} tokens")
    return Recipe(
        name=options.name,
        model=CausalLanguageModel,
        options=options,
        start=lambda options: network,
        starts_from=start.identity,
        rows=TrainingRows(rows, test.rows),
        test=test,
        rows_out=len(given) + len(kept_back),
        params={"sessions": len(given)},
    )


def held_of(pieces: Mapping[str, list[Piece]]) -> HeldOutTexts:
    """Return held-out sessions with the number of words that a model predicts in them."""
    words = sum(len(text.split()) for session in pieces.values() for text, learned in session if learned)
    return HeldOutTexts(list(pieces.values()), words)


def pieces_of(sessions: DataFrame, pieces: Pieces) -> dict[str, list[Piece]]:
    """Return the pieces of each session by session_id, in the order of the ids."""
    ordered = sessions.select("session_id", "turns").orderBy("session_id")
    return {row.session_id: pieces([turn.asDict() for turn in row.turns]) for row in ordered.toLocalIterator()}
