"""Turns with the marks of other uploads, on a folder of OPUS XML files; no Spark, no lakehouse.

    python -m tests.benchmarks.bench_marks FOLDER [--transcripts FOLDER ...] [--folds N] [--by-film]
                                        [--kind cascade] [--set KEY=VALUE...] [--margins FOLDER]

Trains the SVM or the cascade once a fold, so that no film is judged by a model that learned from it, and prints three
tables:

1. the accuracy of the segmenter and of simpler rules by source of pairs;
2. recall and precision of changes of speaker on one upload without its own marks, where another upload's dashes are
   the truth. The truth's upload is held out with all its near-copies; ``copies`` lets those vote;
3. sentences a turn of uploads with and without marks.
"""

import sys

import numpy as np
import pandas as pd
import pyarrow as pa

from etl.subtitles.borders import Borders
from etl.subtitles.carried_marks import border_keys
from etl.subtitles.turn_evaluation import GAPS_MS
from etl.subtitles.turn_marks import NEW_TURN, SAME_TURN, UNMARKED, spoken
from etl.subtitles.turn_sentences import Sentences
from tests.benchmarks.turn_folds import arguments, margins_of, read_uploads

NEAR_COPY = 0.5
"""Jaccard similarity of decisions from which on two uploads are near-copies; 98% are below 0.4 or above 0.7."""
MIN_SENTENCES = 300


def accuracies(held_out: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy of each rule by source, see ``turn_evaluation.rule_accuracies``."""
    rows = {}
    for source, found in held_out.groupby("source"):
        truth = found["label"] == 1
        silence = found["silence_ms"].astype(float)
        rules = {
            "pairs": len(found),
            "segmenter": ((found["margin"] > 0) == truth).mean(),
            "majority": max(truth.mean(), 1 - truth.mean()),
        }
        if silence.notna().any():
            rules["gap"] = max(((silence > gap) == truth).mean() for gap in GAPS_MS)
            rules["same block"] = (found["same_block"].astype(bool) != truth).mean()
            rules["dash"] = ((found["mark"] == True) == truth).mean()  # noqa: E712
        rows[source] = rules
    return pd.DataFrame(rows).T


def borders_of(uploads: pa.RecordBatch, margins: np.ndarray) -> pd.DataFrame:
    """Return one row for each border of spoken sentences with its key, its marks and its margin."""
    sentences = Sentences.of(uploads.column("sentences"))
    lines = spoken(sentences)
    key, found = border_keys(lines)
    film = np.array(uploads.column("movie_id").to_pylist(), dtype=object)
    rows = pd.DataFrame(
        {
            "film": film[lines.file],
            "file": lines.file,
            "key": key,
            "at": lines.opens_at,
            "same_block": lines.same_block,
            "certain": lines.certain,
            "margin": margins[lines.opens_at],
            "silence_ms": lines.silence_ms,
            "opening_dash": lines.opening_dash,
        }
    )
    return rows[found]


def families(borders: pd.DataFrame, files: int) -> np.ndarray:
    """Return a number for each upload; near-copies, which say the same at most borders, have the same one."""
    marked = borders[borders["certain"] != UNMARKED][["film", "file", "key", "certain"]]
    sizes = marked.groupby("file").size().reindex(range(files), fill_value=0).to_numpy()
    both = marked.merge(marked, on=["film", "key", "certain"])
    shared = both[both["file_x"] < both["file_y"]].groupby(["file_x", "file_y"]).size().reset_index(name="shared")
    family = np.arange(files)
    for one, other, same in shared.itertuples(index=False):
        if same >= NEAR_COPY * (sizes[one] + sizes[other] - same):
            family[family == family[other]] = family[one]
    return family


def judged(borders: pd.DataFrame, family: np.ndarray, *, copies: bool) -> pd.DataFrame:
    """Return one row for each border whose truth another upload's dashes tell, with the votes of the remaining ones."""
    borders = borders.assign(family=family[borders["file"]])
    marked = borders[borders["certain"] != UNMARKED]
    marked = marked.assign(vote=np.where(marked["certain"] == NEW_TURN, 1, -1))
    parts = []
    for film, uploads in borders.groupby("film"):
        told = marked[marked["film"] == film]
        for own, mine in uploads.groupby("family"):
            chosen = mine[mine["file"] == mine["file"].min()]
            others = told[(told["family"] != own) & told["key"].isin(chosen["key"])]
            for other, theirs in others[others["same_block"]].groupby("family"):
                teller = theirs["file"].min()
                truth = theirs[theirs["file"] == teller].set_index("key")["certain"].rename("truth")
                voters = others[others["file"] != teller] if copies else others[others["family"] != other]
                rows = chosen.set_index("key").join(truth, how="inner")
                rows = rows.join(voters.groupby("key")["vote"].sum()).assign(teller=teller, chosen=chosen["file"].min())
                parts.append(rows)
    return pd.concat(parts).fillna({"vote": 0}) if parts else pd.DataFrame()


def changes(rows: pd.DataFrame) -> dict[str, float]:
    """Return recall and precision of changes: by carried marks, by the segmenter, by both, by the gap rule."""
    truth = rows["truth"] == NEW_TURN
    model = rows["margin"] > 0
    silence = rows["silence_ms"].where(rows["silence_ms"] > np.iinfo(np.int64).min, 0)
    gap = max((silence > limit for limit in GAPS_MS), key=lambda found: (found == truth).mean())
    both = (rows["vote"] > 0) | ((rows["vote"] == 0) & model)
    found: dict[str, float] = {"pairs": len(rows), "changes": int(truth.sum()), "covered": (rows["vote"] != 0).mean()}
    for name, predicted in (("carried", rows["vote"] > 0), ("segmenter", model), ("both", both), ("gap", gap)):
        found |= {
            f"{name} R": (predicted & truth).sum() / max(truth.sum(), 1),
            f"{name} P": (predicted & truth).sum() / max(predicted.sum(), 1),
        }
    found["both accuracy"] = (both == truth).mean()
    found["majority"] = max(truth.mean(), 1 - truth.mean())
    return found


def sentences_a_turn(uploads: pa.RecordBatch, margins: np.ndarray, borders: pd.DataFrame) -> pd.DataFrame:
    """Return each upload's sentences a turn: by all rules, without carried marks, and by the segmenter alone."""
    sentences = Sentences.of(uploads.column("sentences"))
    lines = spoken(sentences)
    vote = borders.assign(vote=np.select([borders["certain"] == NEW_TURN, borders["certain"] == SAME_TURN], [1, -1], 0))
    vote["others"] = vote.groupby(["film", "key"])["vote"].transform("sum") - vote["vote"]
    carried = np.full(len(sentences), UNMARKED)
    carried[vote["at"]] = np.select([vote["others"] > 0, vote["others"] < 0], [NEW_TURN, SAME_TURN], UNMARKED)
    size = np.diff(sentences.offsets)
    columns = {"film": uploads.column("movie_id").to_pylist(), "sentences": size, "marks all": lines.dashed}
    columns["dashes"] = np.bincount(lines.file[lines.dash], minlength=len(size))
    columns["labels"] = np.bincount(lines.file[lines.label >= 0], minlength=len(size))
    columns["carried"] = np.bincount(sentences.file[carried != UNMARKED], minlength=len(size))
    columns["genres"] = [",".join(genres or ()) for genres in uploads.column("genres").to_pylist()]
    for name, marks, others in (
        ("all rules", True, carried),
        ("own marks", True, None),
        ("segmenter alone", False, None),
    ):
        starts = Borders.of(sentences, margins, others, explicit_marks=marks, silence_ends_turn_ms=5_000).starts
        columns[name] = size / np.maximum(np.bincount(sentences.file[starts], minlength=len(size)), 1)
    return pd.DataFrame(columns)


def main() -> int:
    parser = arguments(__doc__, kinds=True)
    parser.add_argument("--by-film", action="store_true")
    given = parser.parse_args()
    uploads = read_uploads(given.folder)
    films = len(set(uploads.column("movie_id").to_pylist()))
    print(f"{uploads.num_rows} uploads of {films} films")
    margins, pairs = margins_of(given, uploads)
    with pd.option_context("display.width", 200, "display.max_columns", 40, "display.max_rows", 400):
        print("\naccuracy by source\n", accuracies(pairs).round(4).to_string())
        borders = borders_of(uploads, margins)
        family = families(borders, uploads.num_rows)
        for copies in (False, True):
            rows = judged(borders, family, copies=copies)
            table = {film: changes(group) for film, group in rows.groupby("film")} if given.by_film else {}
            voted = rows.groupby("film")["vote"].transform(lambda vote: (vote != 0).any())
            table["films with a third upload"] = changes(rows[voted])
            table["all films"] = changes(rows)
            print(f"\nchanges told by another upload ({'its near-copies vote' if copies else 'near-copies held out'})")
            print(pd.DataFrame(table).T.round(3).to_string())
        print_turns(sentences_a_turn(uploads, margins, borders))
    return 0


def print_turns(found: pd.DataFrame) -> None:
    """Print the sentences a turn of uploads of at least ``MIN_SENTENCES`` sentences, by their marks."""
    found = found[found["sentences"] >= MIN_SENTENCES]
    kind = np.select(
        [found["marks all"], found["labels"] >= 10, found["carried"] > 0],
        ["dashes", "labels", "none, some carried"],
        "none",
    )
    rules = ["all rules", "own marks", "segmenter alone"]
    print("\nsentences a turn, by the marks of the upload (mean of the films' means)")
    means = found.assign(kind=kind).groupby(["kind", "film"])[rules].mean()
    counts = means.groupby("kind").size().rename("films")
    print(means.groupby("kind").mean().join(counts).round(2).to_string())
    print("\nfilms whose uploads have no marks")
    alone = found.assign(kind=kind)[kind == "none"].groupby("film")
    print(alone[["sentences", *rules]].mean().join(alone["genres"].first()).round(2).to_string())


if __name__ == "__main__":
    sys.exit(main())
