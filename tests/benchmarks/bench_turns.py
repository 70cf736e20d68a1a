"""Turn segmentation over all films: each is held out once, in one of several folds.

    python -m tests.benchmarks.bench_turns [--folds N] [--profile NAME] [--config FILE]... [--set KEY=VALUE...]

Reads ``subtitles.files`` of a finished lakehouse and trains once a fold, with the run's own settings. The held-out
pairs of all folds are counted together, so that a source with few films is not judged on one of them. Exit status 1
where the SVM does not beat the majority class and each rule that did not make the source's labels.
"""

import argparse
import sys
import time
from functools import reduce

from pyspark.sql import DataFrame

from conf.settings import load_settings
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.session import close_session, spark_session
from etl.subtitles.turn_evaluation import DASH, GAP, MAJORITY, SAME_BLOCK, SEGMENTER, rule_accuracies
from etl.subtitles.turn_features import LemmaTable
from etl.subtitles.turn_pairs import CARRIED, DASHES, LABELS
from etl.subtitles.turn_scoring import with_margins
from etl.subtitles.turn_segmenter import SvmScorer
from etl.tables.subtitles import FILES
from etl.training.recipes.turn_segmenter import (
    accuracy_table,
    pairs_apart,
    train_svm,
)
from udfs.lemmas import lemma_dictionary

MARKED = (DASHES, LABELS, CARRIED)
MADE_BY = {DASHES: (DASH,), LABELS: (DASH, SAME_BLOCK)}
"""The rules that made a source's labels: a mark opens a turn, and a speaker's label is one; in films with such labels
nothing else opens a turn within a block, and between blocks nothing but changes is known."""


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--folds", type=int, default=5)
    arguments.add_argument("--profile", default="local")
    arguments.add_argument("--config", action="append", default=[])
    arguments.add_argument("--set", nargs="+", action="extend", default=[], dest="overrides", metavar="KEY=VALUE")
    given = arguments.parse_args()
    settings = load_settings(given.profile, given.config, given.overrides)
    spark = spark_session(settings, "bench_turns")
    try:
        files = Lakehouse(spark, settings.lakehouse).read(FILES)
        table = LemmaTable.of(lemma_dictionary(settings.subtitles.lemma_language))
        options = settings.training.turn_segmenter
        examples = settings.subtitles.turn_examples
        scored: list[DataFrame] = []
        for fold in range(given.folds):
            started = time.monotonic()
            training, held_out = (
                part.persist() for part in pairs_apart(files, options, examples, 1 / given.folds, fold)
            )
            segmenter = train_svm(training, table, options)
            marked = held_out.where(held_out.source.isin(*MARKED))
            scored.append(with_margins(marked, SvmScorer(segmenter, table)).localCheckpoint())
            print(
                f"fold {fold + 1} of {given.folds}: {training.count():,} pairs learned, "
                f"{scored[-1].count():,} judged in {time.monotonic() - started:.0f} s",
                flush=True,
            )
        found = rule_accuracies(reduce(DataFrame.unionByName, scored)).persist()
        print(accuracy_table(found))
        return int(any(_lost(found)))
    finally:
        close_session(spark, settings)


def _lost(found: DataFrame) -> list[str]:
    """What to say of each source on which a rule is at least as good as the SVM."""
    accuracy = {(row["source"], row["rule"]): row["accuracy"] for row in found.collect()}
    lost = []
    for source in MARKED:
        for rule in (MAJORITY, DASH, GAP, SAME_BLOCK):
            theirs = accuracy.get((source, rule)) or 0.0
            ours = accuracy.get((source, SEGMENTER), 1.0)
            if rule not in MADE_BY.get(source, ()) and theirs >= ours:
                lost.append(f"{source}: the {rule} is right as often as the segmenter")
    for line in lost:
        print(line)
    return lost


if __name__ == "__main__":
    sys.exit(main())
