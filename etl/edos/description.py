"""The last screen of a run: what was made, what it cost, three dialogues, and what to do next."""

import shlex
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.settings import LakehouseSettings
from etl.common.spelling import detokenised_text
from etl.common.splits import SPLITS, Split, split_faults
from etl.edos.export_rows import with_accepted
from etl.edos.label_thresholds import shown_label
from etl.edos.reasons import REASONS
from etl.edos.settings import EdosSettings, PublishingSettings
from etl.edos.tables import DIALOGUES
from etl.pipeline.folders import Folders
from etl.pipeline.lakehouse import Lakehouse
from etl.publishing.dataset_findings import rows_of
from etl.publishing.exports import export_folder, read_manifest
from etl.publishing.findings import Rows
from etl.publishing.ledgers import in_words
from etl.publishing.pages import percent
from etl.publishing.screen_tables import aligned, printable
from etl.subtitles import tables as subtitles

VIEWS = ("cleaning_cost", "edos_label_curve", "edos_accepted_labels")
EXAMPLES = 3
TURNS = 3
"""Most turns of an example."""
RULES = 3
INDENT = "  "
DEMO_ROOT = "demo/lakehouse"
WIDTH = 80
"""Characters of a line on the smallest terminal, which has 24 lines."""


@dataclass(frozen=True)
class Made:
    """What a run has made.

    Attributes:
        dialogues, turns, films: of the finished set; of clean dialogues where nothing was labelled.
        preset: of the set; "" where nothing was labelled.
        costs: rows of ``analysis.cleaning_cost``.
        splits: of the export; {} without one.
        right: share of right labels among all of the crowd's test turns; None: unknown.
        accepted: share of these turns whose label is accepted, and the share of right ones among them.
        examples: dialogues, each of (label, confidence, text).
    """

    root: str
    dialogues: int
    turns: int
    films: int
    raw: int
    clean: int
    preset: str = ""
    costs: Rows = ()
    splits: Mapping[str, Split] = field(default_factory=dict)
    right: float | None = None
    accepted: tuple[float, float] | None = None
    examples: Sequence[Sequence[tuple[str, float | None, str]]] = ()


def describe(
    spark: SparkSession, place: LakehouseSettings, edos: EdosSettings, publishing: PublishingSettings
) -> list[str]:
    """Return the lines of the last screen; none where there are no clean dialogues."""
    lakehouse = Lakehouse(spark, place)
    if not lakehouse.exists(subtitles.CLEAN_DIALOGUES):
        return []
    clean = lakehouse.read(subtitles.CLEAN_DIALOGUES)
    labelled = lakehouse.exists(DIALOGUES)
    finished = lakehouse.read(DIALOGUES) if labelled else clean
    views = rows_of(lakehouse, VIEWS if labelled else VIEWS[:1], edos.taxonomy)
    sizes = _sizes(finished)
    manifest = read_manifest(Folders(spark), export_folder(place.root, publishing, place.set)) if labelled else None
    known = next(iter(views.get("edos_accepted_labels", ())), None)
    curve = views.get("edos_label_curve", ())
    made = Made(
        place.root,
        sizes["dialogues"],
        sizes["turns"],
        sizes["films"],
        _sizes(lakehouse.read(subtitles.DIALOGUES))["turns"],
        _sizes(clean)["turns"] if labelled else sizes["turns"],
        edos.preset if labelled else "",
        views["cleaning_cost"],
        manifest.splits if manifest is not None else {},
        curve[-1]["accuracy"] if curve else None,
        (known["accepted"] / known["turns"], known["accepted_accuracy"]) if known and known["accepted"] else None,
        _examples(finished, labelled),
    )
    return screen(made)


def _sizes(dialogues: DataFrame) -> dict[str, int]:
    turns = F.coalesce(F.sum(F.size("turns")), F.lit(0)).alias("turns")
    counted = dialogues.agg(F.count("*").alias("dialogues"), turns, F.count_distinct("movie_id").alias("films"))
    return {name: int(value) for name, value in counted.collect()[0].asDict().items()}


def _examples(dialogues: DataFrame, labelled: bool) -> list[list[tuple[str, float | None, str]]]:
    """Return short dialogues, chosen by a hash; with labels, those whose openings have different ones."""
    short = dialogues.where(F.size("turns").between(2, TURNS))
    first = F.get("turns", F.lit(0))["label"] if labelled else F.xxhash64("dialogue_id").cast("string")
    several = with_accepted(short).withColumn("opening", first)
    chosen = several.groupBy("opening").agg(
        F.min_by(F.struct("turns", "accepted"), F.xxhash64("dialogue_id")).alias("one")
    )
    kept = chosen.where(F.col("opening") != "questioning").orderBy(F.xxhash64("opening")).limit(EXAMPLES).collect()
    return [_turns(row.one.turns, row.one.accepted, labelled) for row in kept]


def _turns(turns: list[Any], accepted: list[bool] | None, labelled: bool) -> list[tuple[str, float | None, str]]:
    texts = [detokenised_text(turn.text) for turn in turns]
    if not labelled:
        return [("", None, text) for text in texts]
    known: Sequence[bool | None] = accepted or [None] * len(turns)
    return [
        (shown_label(turn.label, is_accepted), turn.confidence, text)
        for turn, is_accepted, text in zip(turns, known, texts, strict=True)
    ]


def screen(made: Made) -> list[str]:
    """Return the lines, at most 24 of 80 characters."""
    what = f"labelled, preset {made.preset}" if made.preset else "not labelled"
    lines = [
        f"{made.dialogues:,} dialogues of {made.turns:,} turns from {_films(made.films)}, {what}",
        f"Turns: {made.raw:,} in, {made.clean:,} left by cleaning ({_share(made.clean, made.raw)})"
        + (f", {made.turns:,} chosen and labelled" if made.preset else ""),
        *_costs(made.costs),
        *_splits(made.splits),
        *_labels(made),
        "",
        *_dialogues(made.examples),
        "",
    ]
    return [*(printable(line)[:WIDTH] for line in lines), *next_steps(made.root, bool(made.preset))]


def _films(number: int) -> str:
    return f"{number:,} film{'' if number == 1 else 's'}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}%" if whole else "–"


def _costs(rows: Rows) -> list[str]:
    """Return what cleaning removed, and the rules that cost most, with what goes with the turns that they remove."""
    if not rows:
        return []
    columns = ("turns", "turns_after", "turns_of_dialogues")
    total = sum(row[column] for row in rows for column in columns)
    cells = [(in_words(row["rule"], REASONS), *(row[column] for column in columns)) for row in rows[:RULES]]
    titles = ("what cost most", "its own", "after them", "with whole dialogues")
    return [f"Cleaning removed {total:,} turns:", *(INDENT + line for line in aligned(titles, cells, WIDTH - 2))]


def _splits(splits: Mapping[str, Split]) -> list[str]:
    if not splits:
        return []
    told = [f"{name} {one.dialogues:,} of {_films(one.films)}" for name in SPLITS if (one := splits.get(name))]
    return [f"Splits: {', '.join(told)}", *(f"{INDENT}{fault}" for fault in split_faults(splits)[:1])]


def _labels(made: Made) -> list[str]:
    if made.right is None:
        return []
    sure = ""
    if made.accepted is not None:
        share, right = made.accepted
        sure = f"; of the accepted {percent(share)}, {percent(right)}"
    return [f"Labels: {percent(made.right)} of the crowd's test turns are right{sure}"]


def _dialogues(examples: Iterable[Sequence[tuple[str, float | None, str]]]) -> list[str]:
    lines = []
    for turns in examples:
        for place, (label, confidence, text) in enumerate(turns):
            sure = "" if confidence is None else f"{label:>13s} {confidence:.2f}  "
            said = textwrap.shorten(text, WIDTH - len(sure) - 4, placeholder=" ...")
            lines.append(f"{'- ' if place == 0 else INDENT}{sure}{said}")
    return lines


def next_steps(root: str, labelled: bool = True) -> list[str]:
    """Return three lines of what to do with finished tables: the command, and what it shows.

    Args:
        root: of the lakehouse; the demo's has a short option of its own.
    """
    demo = root == DEMO_ROOT
    which = "--demo" if demo else f"--set lakehouse.root={shlex.quote(root)}"
    steps = (
        (f"python -m jobs run {'--demo' if demo else '...'} --to export_dataset,report_dataset", "files, a page"),
        (f"python -m jobs read {which}", "as a person reads them"),
        (f"python -m jobs sql {which}", "edos.turns" if labelled else "their tables by SQL"),
    )
    lines = [(command, f"{command}  # {shows}") for command, shows in steps]
    return [line if len(line) <= WIDTH else command for command, line in lines]
