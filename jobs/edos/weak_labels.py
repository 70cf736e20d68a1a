"""Give every turn a weak label, and choose the emotional dialogues: EDOS (initial) (EDOS 3.1)."""

from dataclasses import replace
from typing import Annotated

from pyspark.sql import DataFrame

from conf.taxonomy import Taxonomy
from conf.wordlists import words_in_languages
from etl.common.hashes import distinct_texts
from etl.edos.choosing import choice_curve, choose_emotional, scored_by
from etl.edos.label_thresholds import label_thresholds, sentence_answers, validation_sentences
from etl.edos.settings import ChoiceRules, WeakLabelerSettings, WeakStudentSettings
from etl.edos.tables import INITIAL, WEAK_LABEL_THRESHOLDS, WEAK_LABELS, WEAK_SCORES
from etl.edos.turn_labels import weak_labels_of_turns
from etl.llm.model_stages import model_stage, text_scores
from etl.pipeline import At, Model, RowAccounting, StageRun, stage
from etl.pipeline.outcome import Outcome, Trained
from etl.pipeline.spark_api import cached
from etl.subtitles.tables import CLEAN_DIALOGUES

Languages = Annotated[tuple[str, ...], At("subtitles.languages")]


@stage(
    writes=Model("weak_labeler"),
    units="sentences",
    version=2,
)
def train_weak_labeler(
    options: WeakLabelerSettings,
    encoder: Annotated[str, At("models.weak_encoder")],
    labels: Taxonomy,
    examples: Annotated[str | None, At("edos.weak_label_examples")],
    transcripts: Annotated[tuple[str, ...], At("edos.emotion_transcripts")],
    run: StageRun,
) -> Trained:
    """Train the weak labeler of 41 classes on labelled sentences (EDOS 3.1)."""
    from etl.edos.training.classifiers import train_and_register_weak_labeler

    return train_and_register_weak_labeler(run, options, labels, encoder, examples, transcripts)


@stage(
    writes=Model("weak_student"),
    manual=True,
    units="sentences",
    reads=(CLEAN_DIALOGUES,),
    models=("weak_labeler",),
)
def distil_weak_labeler(
    dialogues: DataFrame,
    options: WeakStudentSettings,
    encoder: Annotated[str, At("models.weak_student_encoder")],
    labels: Taxonomy,
    examples: Annotated[str | None, At("edos.weak_label_examples")],
    run: StageRun,
) -> Trained:
    """Train a small weak labeler on the labels and on the weak labeler's answers to unlabelled turns (ours)."""
    from etl.edos.training.distillation import train_and_register_weak_student

    texts = distinct_texts(dialogues, "turns.text")
    return train_and_register_weak_student(texts, run, options, labels, encoder, examples)


@model_stage(text_scores, "weak_labeler", 12_000, reads=(CLEAN_DIALOGUES,), writes=WEAK_SCORES, units="texts")
def score_weakly(dialogues: DataFrame) -> DataFrame:
    """Score each distinct turn text by the weak labeler, once per model."""
    return distinct_texts(dialogues, "turns.text")


@stage(
    reads=(CLEAN_DIALOGUES, WEAK_SCORES),
    writes=WEAK_LABELS,
    models=("weak_labeler",),
    units=RowAccounting("turns", "sum(size(turns))"),
)
def label_weakly(dialogues: DataFrame, scores: DataFrame, run: StageRun) -> Outcome:
    """Give every turn of the clean dialogues the weak label of its text (EDOS 3.1)."""
    return weak_labels_of_turns(dialogues, scores, run.model("weak_labeler").identity)


@stage(
    writes=WEAK_LABEL_THRESHOLDS,
    models=("weak_labeler",),
    enabled_if="edos.weighs_accepted",
    units=RowAccounting("validation sentences", rows_out="sum(predicted)"),
)
def choose_weak_thresholds(
    examples: Annotated[str | None, At("edos.weak_label_examples")],
    accuracy: Annotated[float, At("edos.accepted_accuracy")],
    labels: Taxonomy,
    run: StageRun,
) -> Outcome:
    """Choose for each weak label the confidence from which on it is accepted, by validation sentences (ours)."""
    from etl.edos.training.classifiers import weak_rows

    model = run.model("weak_labeler")
    sentences = validation_sentences(run.spark, weak_rows(examples, labels.names).validation, labels.names)
    texts = sentences.select("text_hash", "text").dropDuplicates(["text_hash"])
    answers = cached(sentence_answers(sentences, text_scores(texts, run, "weak_labeler")))
    chosen = label_thresholds(answers, labels.names, accuracy, model.identity)
    return replace(chosen, rows_in=sentences.count())


@stage(
    reads=(CLEAN_DIALOGUES, WEAK_LABELS, WEAK_LABEL_THRESHOLDS),
    writes=INITIAL,
    units="dialogues",
    version=2,
    resources=("function_words.txt", "languages/*"),
)
def select_emotional(
    dialogues: DataFrame,
    weak_labels: DataFrame,
    thresholds: DataFrame,
    rules: ChoiceRules,
    languages: Languages,
    run: StageRun,
) -> Outcome:
    """Choose the N emotional dialogues by the confidence of their weak labels: EDOS (initial) (EDOS 3.1)."""
    pool = dialogues.count()
    if rules.top_n >= pool and rules.top_share is None:
        run.say(f"warning: edos.top_n={rules.top_n:,} chooses all of {pool:,} dialogues; the paper takes a quarter")
    words = words_in_languages(languages, "function_words")
    return choose_emotional(dialogues, weak_labels, rules, words, cached, thresholds)


@stage(
    manual=True,
    reads=(CLEAN_DIALOGUES, WEAK_LABELS, WEAK_LABEL_THRESHOLDS),
    writes=None,
    shows="a table by the share of the turns that is chosen",
    resources=("function_words.txt", "languages/*"),
)
def measure_choice(
    dialogues: DataFrame,
    weak_labels: DataFrame,
    thresholds: DataFrame,
    rules: ChoiceRules,
    languages: Languages,
    run: StageRun,
) -> None:
    """Print what a choice of each size holds: turns, tokens, expected faults, emotion, by `edos.top_share` (ours)."""
    words = words_in_languages(languages, "function_words")
    scored = scored_by(rules, dialogues, weak_labels, words, thresholds)
    head = ("dialogues", "films", "turns", "tokens", "told faults", "short", "emotion", "accepted")
    run.say(f"{'share':>6}" + "".join(f"{name:>12}" for name in head))
    for row in choice_curve(scored, rules, cached):
        faults = "?" if row["faults"] is None else f"{row['faults']:.1%}"
        numbers = (
            f"{row['dialogues']:,}",
            f"{row['films']:,}",
            f"{row['turns'] or 0:.2f}",
            f"{row['tokens'] or 0:.1f}",
        )
        accepted = "?" if row["accepted"] is None else f"{row['accepted']:.2f}"
        shown = (*numbers, faults, f"{row['short'] or 0:.1%}", f"{row['emotion'] or 0:.2f}", accepted)
        run.say(f"{row['share']:>6.0%}" + "".join(f"{value:>12}" for value in shown))
