"""Trainings of models that say one speaker's utterances: AugESC's role models (6.1) and its chatbots (7.1)."""

from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.augesc.sessions import held_out_sessions, without_greetings
from etl.augesc.texts import learned_role
from etl.pipeline.stage_run import StageRun
from etl.tables.outcome import Outcome, Trained
from etl.training.held_out_texts import held_out_figures
from etl.training.recipes.augesc import held_of, pieces_of, tuning_recipe
from etl.training.registration import options_of, train_and_register
from udfs.models.language.causal_language_model import CausalLanguageModel
from udfs.models.loader import resolve

COMPARED = {"chatbot": "esconv", "augmented_chatbot": "esconv, then augesc"}
"""The two bots (AugESC 7.1), and what each is tuned on. One on AugESC alone would say little, as ESConv is in it."""


def train_and_register_speaker(model: str, role: str, drawn: DataFrame, sessions: DataFrame, run: StageRun) -> Trained:
    """Tune a model of one speaker's utterances on ESConv, the held-out sessions aside.

    Args:
        model: its key under ``models`` and ``training``.
        role: seeker or supporter.
        drawn: ``augesc.training_sessions``, never held out.
        sessions: ``augesc.sessions``.
    """
    settings = run.all_settings.models
    start = resolve(settings.dialogue_base, Path(run.folder), share=settings.share)
    held = held_out_sessions(sessions, drawn, options_of(run, model).held_out)
    rest = sessions.where(~F.col("contrast")).join(held.select("session_id"), "session_id", "left_anti")
    learned = rest.select("session_id", without_greetings(F.col("turns")).alias("turns"))
    pieces = partial(learned_role, role=role)
    return train_and_register(tuning_recipe(run, model, start, learned, held, pieces), run)


def train_and_register_augmented_chatbot(
    conversations: DataFrame, drawn: DataFrame, sessions: DataFrame, run: StageRun
) -> Trained:
    """Tune the chatbot further on AugESC (7.1); its figures before are the chatbot's own, on the same sessions."""
    model = "augmented_chatbot"
    held = held_out_sessions(sessions, drawn, options_of(run, model).held_out)
    learned = conversations.select(F.col("conversation_id").alias("session_id"), "turns")
    pieces = partial(learned_role, role="supporter")
    return train_and_register(tuning_recipe(run, model, run.models["chatbot"], learned, held, pieces), run)


def compared_chatbots(drawn: DataFrame, sessions: DataFrame, run: StageRun) -> Outcome:
    """Each bot's perplexity of what supporters said in the held-out sessions of ESConv.

    Returns:
        Outcome of ``augesc.chatbots``.
    """
    options = options_of(run, "chatbot")
    held_out = held_out_sessions(sessions, drawn, options.held_out)
    given = pieces_of(held_out, partial(learned_role, role="supporter"))
    rows = []
    for name, tuned_on in COMPARED.items():
        model = CausalLanguageModel.load(run.models[name].path, options.max_tokens)
        figures = held_out_figures(model, held_of(given), options)
        tokens = model.counted(model.encode(list(given.values())))
        run.say(f"{name}: perplexity {figures['perplexity']:.2f} of {tokens:,} tokens")
        identity = run.models[name].identity
        rows.append(
            (
                name,
                tuned_on,
                identity,
                len(given),
                tokens,
                *(figures[key] for key in ("loss", "perplexity", "word_perplexity")),
            )
        )
    schema = (
        "chatbot string, tuned_on string, model string, sessions int, tokens int, loss double, perplexity double, "
        "word_perplexity double"
    )
    return Outcome(run.spark.createDataFrame(rows, schema), rows_in=len(rows))
