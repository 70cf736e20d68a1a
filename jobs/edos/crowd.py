"""Collect crowd labels: make HITs of readable turns, collect answers, find majorities, split them (EDOS 3.2)."""

from typing import Annotated

from pyspark.sql import DataFrame

from conf.errors import InputError
from conf.taxonomy import Taxonomy
from etl.annotation.collecting import read_answers, refuse_all_dropped
from etl.common.labelled_files import ROWS, files_under, labelled_rows, with_dropped
from etl.edos import answers as page_answers
from etl.edos import tables
from etl.edos import tables as annotation_tables
from etl.edos.crowd_batches import write_batch
from etl.edos.quiz import situations_of
from etl.edos.readability import Reading, correlations, readability_of_turns
from etl.edos.settings import AnswerRules, HitRules, Posting, ReadabilityRules
from etl.edos.tasks import annotation_tasks
from etl.edos.training_rows import seeds_of
from etl.edos.votes import VOTE_COLUMNS, VOTE_IDS, agree, all_annotations
from etl.pipeline import At, RowAccounting, StageRun, stage
from etl.pipeline.outcome import Outcome
from etl.subtitles.tables import CLEAN_DIALOGUES

SECTION = "edos.annotation"
TALKS = "edos.empathetic_dialogues"
Talks = Annotated[str | None, At(TALKS)]


@stage(
    manual=True,
    reads=(tables.WEAK_LABELS, CLEAN_DIALOGUES),
    writes=annotation_tables.READABILITY,
    units="turns",
)
def score_readability(weak_labels: DataFrame, dialogues: DataFrame, rules: ReadabilityRules) -> Outcome:
    """Score the readability of each confidently labelled turn with its history (EDOS 3.2, A)."""
    return readability_of_turns(weak_labels, dialogues, rules.bands, Reading(rules.frequencies, rules.distinct))


@stage(
    manual=True,
    reads=(annotation_tables.READABILITY, tables.WEAK_LABELS, CLEAN_DIALOGUES),
    writes=annotation_tables.ANNOTATION_TASKS,
    units=RowAccounting("turns", rows_out="count_if(quiz_label IS NULL)"),
)
def prepare_annotation(
    readability: DataFrame,
    weak_labels: DataFrame,
    dialogues: DataFrame,
    rules: HitRules,
    labels: Taxonomy,
    talks: Talks,
    run: StageRun,
) -> Outcome:
    """Make HITs for the crowd: the most readable turns of each class, with quiz items (EDOS 3.2)."""
    f, d = correlations(readability)
    run.say(f"readability correlates with f {f or 0:+.2f}, with d {d or 0:+.2f}")
    pool, unread = situations_of(run, talks, TALKS, labels.names)
    outcome = annotation_tasks(readability, weak_labels, dialogues, pool, rules)
    return outcome if unread is None else with_dropped(outcome, unread)


@stage(
    manual=True,
    reads=(annotation_tables.ANNOTATION_TASKS,),
    writes=annotation_tables.ANNOTATION_FILES,
    units=RowAccounting("items", rows_out="coalesce(max(items), 0)"),
)
def export_annotation(
    tasks: DataFrame,
    posting: Posting,
    labels: Taxonomy,
    run: StageRun,
) -> Outcome:
    """Write the crowd's HITs as files: the annotation page, a platform's table, and a key (EDOS B)."""
    return write_batch(tasks, labels, posting, run)


@stage(
    writes=annotation_tables.ANSWERS,
    units="answers",
    version=3,
)
def collect_answers(rules: AnswerRules, labels: Taxonomy, run: StageRun) -> Outcome:
    """Collect the annotation page's valid answers with their items (EDOS 3.2)."""
    files = files_under(rules.answers, ROWS, f"{SECTION}.answers")
    if files and not rules.batches:
        raise InputError(f"{SECTION}.batches is empty: name the key.jsonl of each batch that was answered")
    keys = page_answers.read_keys(run.spark, files_under(rules.batches, (".jsonl",), f"{SECTION}.batches"))
    answers = read_answers(run.spark, files).cache()
    outcome = page_answers.accepted_answers(answers, keys, labels.names, rules)
    outcome = Outcome(outcome.rows, outcome.dropped, rows_in=answers.count())
    return files.with_skipped(refuse_all_dropped(outcome, f"{SECTION}.answers"), run.spark)


@stage(
    reads=(annotation_tables.ANSWERS,),
    writes=annotation_tables.ASSIGNMENTS,
    units=RowAccounting("assignments", "count(DISTINCT hit_id, worker_id)"),
)
def score_workers(
    answers: DataFrame,
    reward: Annotated[float, At("edos.annotation.reward")],
    bonus: Annotated[float, At("edos.annotation.bonus")],
) -> Outcome:
    """Score each worker's HITs: quiz, time, pay and bonus (EDOS 3.2, 7)."""
    return Outcome(page_answers.assignments(answers, reward=reward, bonus=bonus))


@stage(
    reads=(annotation_tables.ANSWERS,),
    writes=annotation_tables.ANNOTATIONS,
    units="votes",
    version=3,
)
def collect_annotations(
    answers: DataFrame, files: Annotated[tuple[str, ...], At("edos.crowd_votes")], labels: Taxonomy, run: StageRun
) -> Outcome:
    """Collect the crowd's votes on turns with their history from files and from the page (EDOS 3.2)."""
    votes = None
    if files or answers.isEmpty():
        votes = labelled_rows(run.spark, files, VOTE_COLUMNS, "edos.crowd_votes", ids=VOTE_IDS)
        if not votes.rows_in:
            raise InputError(f"edos.crowd_votes: no row of votes in {', '.join(files)}: only headers can be read")
    return refuse_all_dropped(all_annotations(votes, answers, labels.names), "edos.crowd_votes")


@stage(
    reads=(annotation_tables.ANNOTATIONS,),
    writes=tables.CROWD_LABELS,
    units=RowAccounting("turns", "count(DISTINCT dialogue_id, turn)"),
    version=2,
)
def agree_labels(annotations: DataFrame, labels: Taxonomy) -> Outcome:
    """Find the labels on which two of three workers agree (EDOS 3.2)."""
    return agree(annotations, labels.names)


@stage(
    reads=(tables.CROWD_LABELS,),
    writes=tables.SEEDS,
    units="turns",
)
def hold_out_labels(
    crowd_labels: DataFrame,
    validation_share: Annotated[float, At("edos.validation_share")],
) -> Outcome:
    """Hold out a fifth of the crowd's labels of each class, before the expansion (EDOS 3.3)."""
    return seeds_of(crowd_labels, validation_share)
