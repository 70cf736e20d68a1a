"""Visible faults of dialogues beside those of EDOS's released ones, judged by readers who do not see which is which.

    python -m tests.benchmarks.blind_reading draw FOLDER [--released FILE... [--number N] [--chosen TABLE]]
        [--table GROUP=NUMBER=PATH]... [--held-out SHARE]
    python -m tests.benchmarks.blind_reading score FOLDER READER.csv READER.csv...

``draw`` takes released dialogues by a hash of their ids, for each a dialogue with as many turns from a Delta table
such as ``edos/initial``, and a number of dialogues of other tables, in turn over their films; with ``--held-out`` of
the films alone that the training of the turn segmenter held out, a share of 0.2. It writes them mixed to
``dialogues.txt`` and which is which to ``key.csv``. A reader's file has the columns n, A (two speakers in one turn),
B (one speaker's words in two turns) and C (damaged text), each 0 or 1. ``score`` prints what more than half of the
readers found, and their agreement.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import deltalake
import pandas as pd

from etl.annotation.statistics import kappa
from etl.common.intervals import wilson
from etl.common.spelling import detokenised_text
from tests.benchmarks.harness import content_share

FAULTS = ["A", "B", "C"]
TURNS = range(2, 13)
RELEASED = 80
KEY = "key.csv"
TEXTS = "dialogues.txt"
Dialogues = dict[str, list[str]]


def drawn(identifier: str) -> float:
    """Return the place of a dialogue in the order in which they are drawn."""
    return content_share(f"blind\n{identifier}")


def released_dialogues(paths: list[Path]) -> Dialogues:
    """Return the released dialogues of subtitles by their ids, those with a number of turns in ``TURNS``."""
    found: Dialogues = {}
    for path in paths:
        rows = pd.read_csv(path, dtype=str)
        for identifier, text in zip(rows["os_dialog_id"], rows["os_dialog"], strict=True):
            lines = [re.sub(r"^(- )+", "", line).strip() for line in text.split("\n") if line.strip()]
            found.setdefault(identifier, lines)
    return {identifier: turns for identifier, turns in found.items() if len(turns) in TURNS}


def table_dialogues(path: Path, held_out: float | None = None) -> tuple[Dialogues, dict[str, str]]:
    """Return the dialogues of a Delta table, and their films; its turns are texts, or have a text each.

    Args:
        held_out: of the share of films that ``turn_evaluation.split_held_out`` holds out alone.
    """
    rows = deltalake.DeltaTable(path).to_pandas(columns=["dialogue_id", "movie_id", "turns"])
    if held_out is not None:
        rows = rows[rows["movie_id"].map(content_share) < held_out]
    dialogues = {
        identifier: [turn if isinstance(turn, str) else turn["text"] for turn in turns]
        for identifier, turns in zip(rows["dialogue_id"], rows["turns"], strict=True)
    }
    return dialogues, dict(zip(rows["dialogue_id"], rows["movie_id"], strict=True))


def over_films(dialogues: Dialogues, films: Mapping[str, str]) -> list[str]:
    """Return the dialogues as they are drawn: the first of each film, then the second of each."""
    taken: Counter[str] = Counter()
    places = {}
    for one in sorted(dialogues, key=drawn):
        places[one] = taken[films[one]]
        taken[films[one]] += 1
    return sorted(dialogues, key=lambda one: (places[one], drawn(one)))


def partners(turns: list[int], dialogues: Dialogues) -> list[str]:
    """Return for each number of turns the first dialogue that has it, or is nearest to it, each once."""
    left = sorted(dialogues, key=drawn)
    found = []
    for number in turns:
        nearest = min(left, key=lambda one: (abs(len(dialogues[one]) - number), drawn(one)))
        left.remove(nearest)
        found.append(nearest)
    return found


def draw(given: argparse.Namespace) -> None:
    """Write the mixed dialogues and the key; a dialogue of several groups is written once."""
    rows: list[tuple[str, str, list[str]]] = []
    if given.released:
        released = released_dialogues(given.released)
        first = sorted(released, key=drawn)[: given.number]
        rows += [("released", one, released[one]) for one in first]
        if given.chosen:
            chosen, _ = table_dialogues(given.chosen, given.held_out)
            rows += [("chosen", one, chosen[one]) for one in partners([len(released[one]) for one in first], chosen)]
    for table in given.tables:
        group, number, path = table.split("=", 2)
        dialogues, films = table_dialogues(Path(path), given.held_out)
        rows += [(group, one, dialogues[one]) for one in over_films(dialogues, films)[: int(number)]]
    groups: dict[tuple[str, ...], list[str]] = {}
    for group, one, turns in rows:
        groups.setdefault((one, *turns), []).append(group)
    mixed = sorted(groups, key=lambda row: content_share("order\n" + "\n".join(row)))
    given.folder.mkdir(parents=True, exist_ok=True)
    with (given.folder / TEXTS).open("w", encoding="utf-8") as file:
        for place, (_, *turns) in enumerate(mixed, start=1):
            lines = [f"  {number}. {detokenised_text(turn)}" for number, turn in enumerate(turns, start=1)]
            file.write("\n".join([f"## {place}", *lines, ""]))
    key = [(place, group, row[0], len(row) - 1) for place, row in enumerate(mixed, start=1) for group in groups[row]]
    pd.DataFrame(key, columns=["n", "group", "dialogue_id", "turns"]).to_csv(given.folder / KEY, index=False)


def score(given: argparse.Namespace) -> None:
    """Print the faults by group, with Wilson's interval, and Cohen's kappa of each two readers."""
    key = pd.read_csv(given.folder / KEY)
    readers = {path.stem: pd.read_csv(path, usecols=["n", *FAULTS]).set_index("n") for path in given.readers}
    for judged in readers.values():
        judged["any"] = judged[FAULTS].max(axis=1)
    columns = [*FAULTS, "any"]
    majority = sum(readers.values()) > len(readers) / 2  # type: ignore[operator]
    found = key.join(majority, on="n")
    table = found.groupby("group")[columns].sum().join(found.groupby("group")["turns"].agg(["size", "mean"]))
    for name, judged in readers.items():
        table[name] = key.join(judged["any"], on="n").groupby("group")["any"].sum()
    for group, row in table.iterrows():
        table.loc[group, ["low", "high"]] = wilson(int(row["any"]), int(row["size"]))
    print(table.round(3).to_string(), "\n")
    for one, other in combinations(readers, 2):
        agreed = {name: kappa(list(readers[one][name]), list(readers[other][name])) for name in columns}
        print(f"kappa of {one} and {other}:", {name: value and round(value, 2) for name, value in agreed.items()})
    few = found.groupby(["group", found["turns"].clip(upper=5)])["any"].agg(["sum", "size"])
    print("\nany fault, by turns (5: and more)\n", few.to_string())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("folder", type=Path)
    drawing.add_argument("--released", type=Path, nargs="+", default=[])
    drawing.add_argument("--number", type=int, default=RELEASED, help="released dialogues (%(default)s)")
    drawing.add_argument("--chosen", type=Path)
    drawing.add_argument("--held-out", type=float, metavar="SHARE")
    drawing.add_argument("--table", action="append", default=[], dest="tables", metavar="GROUP=NUMBER=PATH")
    drawing.set_defaults(run=draw)
    scoring = commands.add_parser("score")
    scoring.add_argument("folder", type=Path)
    scoring.add_argument("readers", type=Path, nargs="+")
    scoring.set_defaults(run=score)
    given = parser.parse_args()
    given.run(given)
    return 0


if __name__ == "__main__":
    sys.exit(main())
