"""How far trainings of the turn segmenter with different seeds make other turns of the same films; no Spark.

    python -m tests.benchmarks.bench_seeds FOLDER --transcripts FOLDER ... [--seeds 13 14 15] [--draw 0.8]
                                        [--kind svm|both] [--set KEY=VALUE...]

Trains once for each seed, and applies each model to the first upload of each film with the default settings. ``seed``
changes the order in which the optimizer takes the pairs (of an encoder also its first weights); ``draw`` trains on
another random share of the films and scenes each time, as another corpus would. Prints by way and training: raw
dialogues, those of two turns or more, turns, and the borders that are decided otherwise than by the first; then the
largest difference in number of each, over the smallest number.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from conf.settings import Settings, load_settings
from conf.subtitle_settings import SubtitleSettings
from etl.subtitles.turn_features import LemmaTable
from etl.subtitles.turn_scoring import PairScorer
from tests.benchmarks.harness import content_share
from tests.benchmarks.held_out_spans import first_uploads, raw_dialogues
from tests.benchmarks.turn_folds import BOTH, SVM, arguments, both, pairs_by_fold, read_uploads, segmenter
from udfs.lemmas import lemma_dictionary

COUNTS = ("raw dialogues", "of two turns or more", "turns")


def drawn(pairs: pd.DataFrame, seed: int, share: float) -> pd.DataFrame:
    """Return the pairs of a share of the films and scenes, another one for each seed."""
    place = pairs["split_group"].map(lambda group: content_share(f"draw {seed}\n{group}"))
    return pairs[place < share]


def counted(dialogues: list[list[dict]]) -> dict[str, int]:
    """Return the figures of one model, by the names of ``COUNTS``."""
    found = (len(dialogues), sum(len(turns) > 1 for turns in dialogues), sum(map(len, dialogues)))
    return dict(zip(COUNTS, found, strict=True))


def openings(dialogues: list[list[dict]]) -> set[tuple[str, int]]:
    """Return where turns open: the upload and the number of the sentence."""
    return {(turn["upload"], turn["first"]) for turns in dialogues for turn in turns}


def table(found: dict[tuple[str, int], list[list[dict]]]) -> pd.DataFrame:
    """Return one row for each way and training, with the openings that the first of its way has not, or alone has."""
    rows = {}
    first: dict[str, set[tuple[str, int]]] = {}
    for (way, seed), dialogues in found.items():
        mine = openings(dialogues)
        other = len(mine ^ first.setdefault(way, mine))
        rows[way, seed] = {**counted(dialogues), "borders decided otherwise": other}
    return pd.DataFrame(rows).T.rename_axis(["way", "seed"])


def differences(rows: pd.DataFrame) -> pd.DataFrame:
    """Return by way the largest difference between two trainings in each number, over the smallest number."""
    grouped = rows[list(COUNTS)].groupby("way", sort=False)
    return (grouped.max() - grouped.min()) / grouped.min()


def trained(pairs: pd.DataFrame, seed: int, kind: str, settings: Settings) -> PairScorer:
    """Return the model of a kind that learned from these pairs with a seed."""
    lemmas = LemmaTable.of(lemma_dictionary("en"))
    if kind == SVM:
        return segmenter(pairs, lemmas, seed)
    options = settings.training.turn_pairs.model_copy(update={"seed": seed})
    training = settings.training.model_copy(update={"turn_pairs": options})
    return both(pairs, lemmas, settings.model_copy(update={"training": training}), Path(tempfile.mkdtemp()))


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--kind", choices=(SVM, BOTH), default=SVM)
    parser.add_argument("--set", nargs="+", action="extend", default=[], dest="overrides", metavar="KEY=VALUE")
    parser.add_argument("--seeds", nargs="+", type=int, default=[13, 14])
    parser.add_argument("--draw", type=float, default=0.8, help="of the films and scenes, in the second way")
    given = parser.parse_args()
    settings = load_settings("local", [], given.overrides)
    uploads = read_uploads(given.folder)
    training, _, marked, _ = pairs_by_fold(uploads, given.transcripts, given.folds)
    pairs = pd.concat([training, marked], ignore_index=True)
    judged = first_uploads(uploads, sorted(set(uploads.column("movie_id").to_pylist())))
    rates = SubtitleSettings().certainty.model
    found = {}
    for way, share in (("seed", 1.0), ("draw", given.draw)):
        for seed in given.seeds:
            mine = drawn(pairs, seed, share)
            found[way, seed] = raw_dialogues(judged, trained(mine, seed, given.kind, settings), rates)
            print(f"{way} {seed}: {len(mine):,} pairs", file=sys.stderr, flush=True)
    rows = table(found)
    print(f"{judged.num_rows} films, {_borders(judged):,} adjacent sentences\n")
    print(rows.to_string(), "\n")
    print("largest difference in number\n", differences(rows).map("{:.2%}".format).to_string())
    return 0


def _borders(uploads: pa.RecordBatch) -> int:
    sizes = np.asarray(pc.list_value_length(uploads.column("sentences")))
    return int(np.maximum(sizes - 1, 0).sum())


if __name__ == "__main__":
    sys.exit(main())
