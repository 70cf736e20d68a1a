"""Turns with the marks of other uploads, on a folder of OPUS XML files; no Spark, no lakehouse.

    python -m tests.benchmarks.bench_marks FOLDER [--transcripts FOLDER ...] [--folds N] [--by-film]

Trains the SVM once a fold, so that no film is judged by a model that learned from it, and prints three tables:

1. the accuracy of the SVM and of simpler rules by source of pairs;
2. recall and precision of changes of speaker on one upload without its own marks, where another upload's dashes are
   the truth. The truth's upload is held out with all its near-copies; ``copies`` lets those vote;
3. sentences a turn of uploads with and without marks.
"""

import argparse
import gzip
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from etl.subtitles.carried_marks import border_keys
from etl.subtitles.transcript_files import example_frames
from etl.subtitles.transcripts import transcript_pairs
from etl.subtitles.turn_evaluation import GAPS_MS
from etl.subtitles.turn_features import FeatureSpace, LemmaTable, pair_features
from etl.subtitles.turn_marks import NEW_TURN, SAME_TURN, UNMARKED, spoken
from etl.subtitles.turn_pairs import CARRIED, LABELS, MIN_CARRIED, PAIRS, pair_candidates
from etl.subtitles.turn_scoring import file_scores, pairs_of
from etl.subtitles.turn_segmenter import SOURCE_WEIGHTS, SvmScorer, TurnSegmenter, fit_svm
from etl.subtitles.turn_sentences import Sentences
from etl.subtitles.turns import flat_values, turn_starts
from tests.benchmarks.harness import content_share
from udfs.lemmas import lemma_dictionary
from udfs.opus.batches import record_batch
from udfs.opus.files import UnreadableError
from udfs.opus.parser import parse_subtitles
from udfs.opus.paths import is_subtitle_name

REGULARIZATION, ITERATIONS = 0.007, 60
NEAR_COPY = 0.5
"""Jaccard similarity of decisions from which on two uploads are near-copies; 98% are below 0.4 or above 0.7."""
MIN_SENTENCES = 300
_PAIR_TYPES = {
    "same_block": pa.bool_(), "genres": pa.list_(pa.string()), "density": pa.float64(), "silence_ms": pa.int64(),
    "mark": pa.bool_(), "label": pa.int32(),
}  # fmt: skip


_CARRIED = pa.list_(pa.struct([("sentence", pa.int32()), ("new_turn", pa.bool_())]))
_SENTENCE = pa.struct([(name, pa.int32()) for name in ("index", "block_first", "block_last", "start_ms", "end_ms")]
                      + [("text", pa.string())])  # fmt: skip
_UPLOAD = pa.schema([
    ("source_path", pa.string()), ("movie_id", pa.string()), ("genres", pa.list_(pa.string())),
    ("subtitle_duration_ms", pa.int32()), ("subtitle_id", pa.string()), ("sentences", pa.list_(_SENTENCE)),
])  # fmt: skip


def read_uploads(folder: Path) -> pa.RecordBatch:
    """Return the readable files of a tree ``.../<film>/<upload>.xml[.gz]``, in the order of their paths."""
    rows = []
    for path in sorted(path for path in folder.rglob("*.xml*") if is_subtitle_name(path.name)):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        try:
            parsed = parse_subtitles(data)
        except UnreadableError as error:
            print(f"{path.name} left out: {error.reason}")
            continue
        film = path.parent.name if path.parent.name.isdigit() else f"file:{path.name}"
        row = {"source_path": str(path.relative_to(folder)), "movie_id": film, "subtitle_id": path.name.split(".")[0]}
        rows.append(({**parsed.meta, **row}, parsed.sentences))
    return record_batch(rows, _UPLOAD)


def fold_of(film: str, folds: int) -> int:
    """Return the fold of a film, as ``turn_evaluation.split_held_out``."""
    return int(content_share(film) * folds)


def marked_pairs(uploads: pa.RecordBatch) -> pd.DataFrame:
    """Return the rows of ``turn_pairs.marked_pairs``, with the upload that shows the pair."""
    rows = pa.Table.from_batches(list(pair_candidates([uploads]))).to_pandas()
    rows["key"] = rows["left_text"].str.lower() + "\n" + rows["right_text"].str.lower()
    dashes = rows[rows["is_dash"]].groupby(["split_group", "key"])["label"].agg(["min", "max"]).reset_index()
    rows = rows.merge(dashes, on=["split_group", "key"], how="left")
    to_carry = rows["source"] == CARRIED
    long = rows["left_text"].str.len() + rows["right_text"].str.len() > MIN_CARRIED
    rows = rows[~to_carry | ((rows["min"] == rows["max"]) & long)].copy()
    carried = rows["source"] == CARRIED
    rows.loc[carried, "label"] = rows.loc[carried, "min"].astype("int32")
    key = ["source", "split_group", "left_text", "right_text"]
    labels = rows.groupby(key)["label"]
    agreed = rows[labels.transform("min") == labels.transform("max")]
    return agreed.sort_values("source_path").drop_duplicates(key)[[*PAIRS.names, "source_path"]]


def pair_batch(pairs: pd.DataFrame) -> pa.RecordBatch:
    """Return pairs as a batch; labels between blocks hide whether the block is shared."""
    columns = {name: pairs[name].tolist() for name in PAIRS.names}
    hidden = (pairs["source"] == LABELS) & (pairs["same_block"] == False)  # noqa: E712
    columns["same_block"] = [None if no or value is None else value
                             for no, value in zip(hidden, columns["same_block"], strict=True)]  # fmt: skip
    arrays = [pa.array(columns[name], _PAIR_TYPES.get(name, pa.string()), from_pandas=True) for name in PAIRS.names]
    return pa.RecordBatch.from_arrays(arrays, names=PAIRS.names)


def segmenter(pairs: pd.DataFrame, table: LemmaTable) -> SvmScorer:
    """Return the SVM trained on these pairs."""
    space = FeatureSpace()
    features = pair_features(*pairs_of(pair_batch(pairs)), table, space)
    buckets = pa.ListArray.from_arrays(
        pa.array(features.offsets, pa.int32()), pa.array(space.bucket(features), pa.int32())
    )
    weight = pairs["source"].map(SOURCE_WEIGHTS).fillna(1.0).to_numpy()
    rows = pa.table({"label": pairs["label"].to_numpy(float), "weight": weight, "buckets": buckets})
    weights, intercept = fit_svm(rows, space.buckets, REGULARIZATION, ITERATIONS)
    return SvmScorer(TurnSegmenter(weights, intercept, space), table)


def accuracies(held_out: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy of each rule by source, see ``turn_evaluation.rule_accuracies``."""
    rows = {}
    for source, found in held_out.groupby("source"):
        truth = found["label"] == 1
        silence = found["silence_ms"].astype(float)
        rules = {"pairs": len(found), "SVM": ((found["margin"] > 0) == truth).mean(),
                 "majority": max(truth.mean(), 1 - truth.mean())}  # fmt: skip
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
    rows = pd.DataFrame({
        "film": film[lines.file], "file": lines.file, "key": key, "at": lines.opens_at, "same_block": lines.same_block,
        "certain": lines.certain, "margin": margins[lines.opens_at], "silence_ms": lines.silence_ms,
        "opening_dash": lines.opening_dash,
    })  # fmt: skip
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
    """Return recall and precision of changes: by carried marks alone, by the SVM alone, by both, by the gap rule."""
    truth = rows["truth"] == NEW_TURN
    svm = rows["margin"] > 0
    silence = rows["silence_ms"].where(rows["silence_ms"] > np.iinfo(np.int64).min, 0)
    gap = max((silence > limit for limit in GAPS_MS), key=lambda found: (found == truth).mean())
    both = (rows["vote"] > 0) | ((rows["vote"] == 0) & svm)
    found: dict[str, float] = {"pairs": len(rows), "changes": int(truth.sum()), "covered": (rows["vote"] != 0).mean()}
    for name, predicted in (("carried", rows["vote"] > 0), ("SVM", svm), ("both", both), ("gap", gap)):
        found |= {f"{name} R": (predicted & truth).sum() / max(truth.sum(), 1),
                  f"{name} P": (predicted & truth).sum() / max(predicted.sum(), 1)}  # fmt: skip
    found["both accuracy"], found["majority"] = (both == truth).mean(), max(truth.mean(), 1 - truth.mean())
    return found


def sentences_a_turn(uploads: pa.RecordBatch, margins: np.ndarray, borders: pd.DataFrame) -> pd.DataFrame:
    """Return each upload's sentences a turn: by all rules, without carried marks, and by the SVM alone."""
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
    for name, marks, others in (("all rules", True, carried), ("own marks", True, None), ("SVM alone", False, None)):
        starts = turn_starts(sentences, margins, others, explicit_marks=marks, silence_ends_turn_ms=5_000)
        columns[name] = size / np.maximum(np.bincount(sentences.file[starts], minlength=len(size)), 1)
    return pd.DataFrame(columns)


def pairs_by_fold(
    uploads: pa.RecordBatch, folders: list[str], folds: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.Series]:
    """Return the pairs of transcripts to learn from, their held-out ones, those of films, and the films' folds."""
    training, held_out = transcript_pairs(*example_frames(folders))
    marked = marked_pairs(uploads)
    fold = marked["split_group"].map(lambda film: fold_of(film, folds))
    training, held_out = (pairs.reindex(columns=PAIRS.names).astype(object) for pairs in (training, held_out))
    return training, held_out, marked.astype(object), fold


def margins_by_fold(uploads: pa.RecordBatch, folders: list[str], folds: int) -> tuple[np.ndarray, pd.DataFrame]:
    """Return the margin before each sentence, and the held-out pairs of films and of transcripts with theirs."""
    training, held_out, marked, pair_fold = pairs_by_fold(uploads, folders, folds)
    table = LemmaTable.of(lemma_dictionary("en"))
    sentences = Sentences.of(uploads.column("sentences"))
    film_fold = np.array([fold_of(film, folds) for film in uploads.column("movie_id").to_pylist()])
    margins, judged_pairs = np.zeros(len(sentences)), []
    none = pa.nulls(uploads.num_rows, _CARRIED)
    with_marks = pa.RecordBatch.from_arrays([*uploads.columns, none], [*uploads.schema.names, "carried"])
    for fold in range(folds):
        learned = pd.concat([training, marked[pair_fold != fold]], ignore_index=True)
        scorer = segmenter(learned, table)
        own = marked[pair_fold == fold]
        for pairs in (own, *([held_out] if fold == 0 else [])):
            if len(pairs):
                judged_pairs.append(pairs.assign(margin=scorer(*pairs_of(pair_batch(pairs)))))
        for file in np.flatnonzero(film_fold == fold):
            scores, _, _ = file_scores(with_marks.slice(file, 1), scorer)
            one = Sentences.of(uploads.column("sentences").slice(file, 1))
            margins[sentences.offsets[file] : sentences.offsets[file + 1]] = flat_values(scores, one, 0.0)
        print(f"fold {fold + 1} of {folds} judged", file=sys.stderr, flush=True)
    return margins, pd.concat(judged_pairs)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--transcripts", nargs="*", default=[])
    arguments.add_argument("--folds", type=int, default=5)
    arguments.add_argument("--by-film", action="store_true")
    given = arguments.parse_args()
    uploads = read_uploads(given.folder)
    films = len(set(uploads.column("movie_id").to_pylist()))
    print(f"{uploads.num_rows} uploads of {films} films")
    margins, pairs = margins_by_fold(uploads, given.transcripts, given.folds)
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
    kind = np.select([found["marks all"], found["labels"] >= 10, found["carried"] > 0],
                     ["dashes", "labels", "none, some carried"], "none")  # fmt: skip
    rules = ["all rules", "own marks", "SVM alone"]
    print("\nsentences a turn, by the marks of the upload (mean of the films' means)")
    means = found.assign(kind=kind).groupby(["kind", "film"])[rules].mean()
    counts = means.groupby("kind").size().rename("films")
    print(means.groupby("kind").mean().join(counts).round(2).to_string())
    print("\nfilms whose uploads have no marks")
    alone = found.assign(kind=kind)[kind == "none"].groupby("film")
    print(alone[["sentences", *rules]].mean().join(alone["genres"].first()).round(2).to_string())


if __name__ == "__main__":
    sys.exit(main())
