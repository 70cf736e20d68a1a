"""Collect crowd labels: make HITs of readable turns, collect answers, find majorities, split them (EDOS 3.2)."""

from pyspark.sql import DataFrame

from conf.errors import InputError
from etl.annotation.collecting import read_answers
from etl.annotation.form_files import write_batch
from etl.common.labelled_files import ROWS, files_under, labelled_rows, with_dropped
from etl.edos import answers as page_answers
from etl.edos.label_doubts import label_doubts
from etl.edos.quiz import situations_of
from etl.edos.readability import correlations, readability_of_turns, reading_of
from etl.edos.tasks import annotation_tasks
from etl.edos.training_rows import seeds_of
from etl.edos.votes import VOTE_COLUMNS, agree, all_annotations
from etl.pipeline import RowAccounting, StageRun, manual_stage, stage, under
from etl.tables import edos as tables
from etl.tables import edos_annotation as annotation_tables
from etl.tables.outcome import Outcome
from etl.tables.subtitles import CLEAN_DIALOGUES

SECTION = "edos.annotation"
TALKS = "edos.empathetic_dialogues"
LABELS = "edos.taxonomy"
ITEMS = under(SECTION, "order", "per_class", "dialogues_per_hit", "quiz_per_hit", "quiz_characters", "seed")


@manual_stage(
    reads=(tables.WEAK_LABELS, CLEAN_DIALOGUES),
    writes=annotation_tables.READABILITY,
    settings=under(SECTION, "bands", "readability_alpha", "distinct_weight", "frequencies", "distinct"),
    units="turns",
)
def score_readability(weak_labels: DataFrame, dialogues: DataFrame, run: StageRun) -> Outcome:
    """Score the readability of each confidently labelled turn with its history (EDOS 3.2, A)."""
    annotation = run.settings.edos.annotation
    return readability_of_turns(weak_labels, dialogues, annotation.bands, reading_of(annotation))


@manual_stage(
    reads=(annotation_tables.READABILITY, tables.WEAK_LABELS, CLEAN_DIALOGUES),
    writes=annotation_tables.ANNOTATION_TASKS,
    settings=(*ITEMS, LABELS),
    inputs=(TALKS,),
    units=RowAccounting("turns", rows_out="count_if(quiz_label IS NULL)"),
)
def prepare_annotation(readability: DataFrame, weak_labels: DataFrame, dialogues: DataFrame, run: StageRun) -> Outcome:
    """Make HITs for the crowd: the most readable or most uncertain turns of each class, with quiz items (EDOS 3.2)."""
    f, d = correlations(readability)
    run.say(f"readability correlates with f {f or 0:+.2f}, with d {d or 0:+.2f}")
    pool, unread = situations_of(run, TALKS)
    outcome = annotation_tasks(readability, weak_labels, dialogues, pool, run.settings.edos.annotation)
    return outcome if unread is None else with_dropped(outcome, unread)


@manual_stage(
    reads=(annotation_tables.ANNOTATION_TASKS,),
    writes=annotation_tables.ANNOTATION_FILES,
    settings=(*under(SECTION, "folder", "post_to", "reward", "workers", "countries"), LABELS),
    units=RowAccounting("items", rows_out="coalesce(max(items), 0)"),
)
def export_annotation(tasks: DataFrame, run: StageRun) -> Outcome:
    """Write the crowd's HITs as files: the annotation page, a platform's table, and a key (EDOS B)."""
    return write_batch(tasks, "crowd", run.settings.edos.annotation.workers, run)


@stage(
    writes=annotation_tables.ANSWERS,
    settings=(*under(SECTION, "known_workers", "keep_half_done", "require_signed"), LABELS),
    inputs=under(SECTION, "answers", "batches"),
    units="answers",
)
def collect_answers(run: StageRun) -> Outcome:
    """Collect the annotation page's valid answers with their items (EDOS 3.2)."""
    annotation = run.settings.edos.annotation
    files = files_under(annotation.answers, ROWS, f"{SECTION}.answers")
    if files and not annotation.batches:
        raise InputError(f"{SECTION}.batches is empty: name the key.jsonl of each batch that was answered")
    keys = page_answers.read_keys(run.spark, files_under(annotation.batches, (".jsonl",), f"{SECTION}.batches"))
    answers = read_answers(run.spark, files).cache()
    outcome = page_answers.accepted_answers(answers, keys, run.settings.edos.taxonomy.names, annotation)
    return files.with_skipped(Outcome(outcome.rows, outcome.dropped, rows_in=answers.count()), run.spark)


@stage(
    reads=(annotation_tables.ANSWERS,),
    writes=annotation_tables.ASSIGNMENTS,
    settings=under(SECTION, "quiz_to_pass", "reward", "bonus"),
    units=RowAccounting("assignments", "count(DISTINCT hit_id, worker_id)"),
)
def score_workers(answers: DataFrame, run: StageRun) -> Outcome:
    """Score each worker's HITs: quiz, time, pay and bonus (EDOS 3.2, 7)."""
    annotation = run.settings.edos.annotation
    pay = {"reward": annotation.reward, "bonus": annotation.bonus}
    return Outcome(page_answers.assignments(answers, pass_at=annotation.quiz_to_pass, **pay))


@stage(
    reads=(annotation_tables.ANSWERS,),
    writes=annotation_tables.ANNOTATIONS,
    settings=(LABELS,),
    inputs=("edos.crowd_votes",),
    units="votes",
)
def collect_annotations(answers: DataFrame, run: StageRun) -> Outcome:
    """Collect the crowd's votes on turns with their history from files and from the page (EDOS 3.2)."""
    files = run.settings.edos.crowd_votes
    votes = None
    if files or answers.isEmpty():
        votes = labelled_rows(run.spark, files, VOTE_COLUMNS, "edos.crowd_votes")
    return all_annotations(votes, answers, run.settings.edos.taxonomy.names)


@stage(
    reads=(annotation_tables.ANNOTATIONS,),
    writes=tables.CROWD_LABELS,
    units=RowAccounting("turns", "count(DISTINCT dialogue_id, turn)"),
    settings=(LABELS, "edos.crowd_aggregation"),
)
def agree_labels(annotations: DataFrame, run: StageRun) -> Outcome:
    """Find the labels on which two of three workers agree, or the most probable ones by Dawid-Skene (EDOS 3.2)."""
    return agree(annotations, run.settings.edos.taxonomy.names, run.settings.edos.crowd_aggregation)


@stage(
    reads=(tables.CROWD_LABELS,),
    writes=tables.SEEDS,
    settings=("edos.test_share", "edos.validation_share"),
    units="turns",
)
def hold_out_labels(crowd_labels: DataFrame, run: StageRun) -> Outcome:
    """Hold out a fifth of the crowd's labels of each class, before the expansion (EDOS 3.3)."""
    edos = run.settings.edos
    return seeds_of(crowd_labels, edos.test_share, edos.validation_share)


@manual_stage(reads=(tables.SEEDS,), writes=tables.LABEL_DOUBTS, units="turns")
def rank_label_doubts(seeds: DataFrame, run: StageRun) -> Outcome:
    """Rank the crowd's labels by how improbable they are to a classifier that did not see them, worst first."""
    return label_doubts(seeds, run.spark)
