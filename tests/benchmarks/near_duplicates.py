"""Near-duplicates: the cleaning's ``duplicates`` in Spark against datatrove's MinHash and rensa.

    python -m tests.benchmarks.near_duplicates [--texts N] [--rounds N] [--small]

All take the same texts as one block, with signatures of 16 bands of 4 over runs of three words. Recall is counted
against all pairs of an exact Jaccard of 0.8 and more: a pair is found when both texts end up in one cluster.
"""

import logging
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from etl.common.near_duplicates import NearDuplicates, duplicates, exact_copies
from tests.benchmarks.corpora import film_windows
from tests.benchmarks.harness import Progress, Result, Row, alternate, arguments, hand_in, without_slowing_variables
from tests.benchmarks.sessions import cores, local_session

OURS = "ours"
DATATROVE = "datatrove MinHash"
RENSA = "rensa"
AIM = 1.5
LINES = 4
CAUSE = (
    "rensa hashes and looks up in compiled code within one process's memory, and does not verify its pairs. Ours "
    "shuffles the bands and verifies each pair's exact Jaccard, so a corpus need not fit into one process. Of 6.8 s, "
    "1.3 are normalising and shingles, 1.9 signatures and their shuffle, 0.9 buckets and comparison, and 2.7 planning "
    "and starting eight Spark stages, which is more than rensa takes."
)
Pair = tuple[int, int]


def shingles_of(text: str, size: int) -> frozenset[str]:
    """The runs of so many words of a text, without case and punctuation."""
    words = re.sub(r"[^a-z0-9]+", " ", text.lower()).split()
    return frozenset(" ".join(words[at : at + size]) for at in range(len(words) - size + 1))


def exact_pairs(sets: list[frozenset[str]], least: float) -> set[Pair]:
    """All pairs of at least this Jaccard: candidates share one of the rarest shingles, then the sets are compared."""
    frequency = Counter(shingle for one in sets for shingle in one)
    index: defaultdict[str, list[int]] = defaultdict(list)
    found: set[Pair] = set()
    for place, one in enumerate(sets):
        rarest = sorted(one, key=lambda shingle: (frequency[shingle], shingle))
        prefix = rarest[: len(one) - int(least * len(one) + 0.999999) + 1]
        for other in {other for shingle in prefix for other in index[shingle]}:
            common = len(one & sets[other])
            if common >= least * (len(one) + len(sets[other]) - common):
                found.add((other, place))
        for shingle in prefix:
            index[shingle].append(place)
    return found


def recall(links: Iterable[Pair], pairs: set[Pair]) -> float:
    """The share of pairs whose texts the links connect."""
    parent: dict[int, int] = {}

    def root(place: int) -> int:
        while parent.setdefault(place, place) != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    for left, right in links:
        parent[root(left)] = root(right)
    return sum(root(left) == root(right) for left, right in pairs) / max(1, len(pairs))


def by_us(spark: SparkSession, source: Path, target: Path, near: NearDuplicates) -> list[Pair]:
    """Duplicates as ``clean_dialogues`` finds them, all texts taken as one film's."""
    rows = spark.read.parquet(str(source)).selectExpr(
        "lpad(CAST(id AS string), 9, '0') AS dialogue_id", "'one' AS movie_id", "array(text) AS texts"
    )
    found = duplicates(rows, exact_copies(rows), near, lambda frame: frame.persist())
    found.write.mode("overwrite").parquet(str(target))
    spark.catalog.clearCache()
    pairs = pq.read_table(target, columns=["dialogue_id", "detail"]).to_pylist()
    # "same text as <id>", "like <id>, Jaccard <share>"
    return [(int(row["dialogue_id"]), int(re.findall(r"\d{9}", row["detail"])[0])) for row in pairs]


def by_datatrove(source: Path, target: Path, near: NearDuplicates) -> list[Pair]:
    """datatrove's three steps on all cores, up to the pairs that its clusters are made of."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets, MinhashDedupSignature
    from datatrove.pipeline.readers import ParquetReader

    config = MinhashConfig(n_grams=near.shingle_words, num_buckets=near.bands, hashes_per_bucket=near.rows)
    signatures = f"{target}/signatures"
    pairs = f"{target}/pairs"
    signing = MinhashDedupSignature(signatures, config=config, language=blank_tokenizer())
    signing._hash_func = hash_of_text
    steps = (
        (cores(), [ParquetReader(str(source)), signing]),
        (near.bands, [MinhashDedupBuckets(signatures, pairs, config=config)]),
    )
    for number, (tasks, pipeline) in enumerate(steps):
        LocalPipelineExecutor(
            pipeline=pipeline, tasks=tasks, workers=cores(), logging_dir=f"{target}/logs{number}", skip_completed=False
        ).run()
    return list(datatrove_pairs(Path(pairs), sorted(source.glob("*.parquet"))))


def blank_tokenizer() -> Any:
    """A tokenizer for datatrove that parts words at blanks: the texts are tokenised.

    Its own tokenizers need spaCy and would take far longer.
    """
    from datatrove.utils.word_tokenizers import WordTokenizer

    class BlankTokenizer(WordTokenizer):
        def word_tokenize(self, text: str) -> list[str]:
            return text.split()

        def sent_tokenize(self, text: str) -> list[str]:
            return [text]

        def span_tokenize(self, text: str) -> list[tuple[int, int]]:
            return [(0, len(text))]

    return BlankTokenizer()


def hash_of_text(text: str) -> int:
    """The hash that datatrove takes by default; since xxhash 4 it wants bytes and datatrove gives text."""
    import xxhash

    return int(xxhash.xxh64_intdigest(text.encode()))


def datatrove_pairs(folder: Path, files: list[Path]) -> Iterator[Pair]:
    """The pairs in datatrove's files: (task, row) and (task, row), a task's rows counted over its files."""
    import numpy as np

    tasks = min(cores(), len(files))
    first = [0]
    for task in range(tasks):
        first.append(first[-1] + sum(pq.read_metadata(file).num_rows for file in files[task::tasks]))
    places = [row["id"] for task in range(tasks) for file in files[task::tasks] for row in _ids(file)]
    for file in folder.rglob("*.dups"):
        for left_file, left, right_file, right in np.frombuffer(file.read_bytes(), dtype="<u4").reshape(-1, 4):
            yield places[first[left_file] + left], places[first[right_file] + right]


def by_rensa(source: Path, near: NearDuplicates) -> list[Pair]:
    """rensa's index over the texts' signatures, made and asked in bulk."""
    from rensa import RMinHash, RMinHashLSH

    rows = [row for file in sorted(source.glob("*.parquet")) for row in pq.read_table(file).to_pylist()]
    sets = [sorted(shingles_of(row["text"], near.shingle_words)) for row in rows]
    kept = [place for place, one in enumerate(sets) if one]
    signatures = RMinHash.from_token_sets([sets[place] for place in kept], near.bands * near.rows, 42)
    index = RMinHashLSH(near.jaccard, near.bands * near.rows, near.bands)
    index.insert_many(signatures)
    found = index.query_all(signatures)
    return [
        (rows[kept[place]]["id"], rows[kept[other]]["id"])
        for place, others in enumerate(found)
        for other in others
        if other < place
    ]


def compared(texts: list[str], rounds: int) -> list[Row]:
    """Seconds and recall of all three."""
    near = NearDuplicates()
    pairs = exact_pairs([shingles_of(text, near.shingle_words) for text in texts], near.jaccard)
    print(f"near_duplicates: {len(pairs):,} pairs of Jaccard {near.jaccard} and more", file=sys.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "texts"
        source.mkdir()
        share = -(-len(texts) // cores())
        for part in range(cores()):
            ids = range(part * share, min(len(texts), (part + 1) * share))
            table = pa.table({"id": list(ids), "text": [texts[place] for place in ids]})
            pq.write_table(table, source / f"{part}.parquet")
        spark, _ = local_session(Path(scratch))
        works: dict[str, Callable[[], list[Pair]]] = {
            OURS: partial(by_us, spark, source, Path(scratch) / "ours", near),
            DATATROVE: partial(by_datatrove, source, Path(scratch) / "datatrove", near),
            RENSA: partial(by_rensa, source, near),
        }
        found = {name: recall(work(), pairs) for name, work in works.items()}
        took = alternate(works, rounds, Progress("near_duplicates", rounds * len(works)))
        spark.stop()
    told = {name: f"{took[name]:.1f} s, recall {found[name]:.4f}" for name in works}
    work = f"{len(texts):,} texts"
    return [Row(work, told[OURS], peer, told[peer], took[peer] / took[OURS], AIM) for peer in (DATATROVE, RENSA)]


def _ids(file: Path) -> list[dict[str, int]]:
    found: list[dict[str, int]] = pq.read_table(file, columns=["id"]).to_pylist()
    return found


def main() -> int:
    """Measure and hand in."""
    parser = arguments(__doc__)
    parser.add_argument("--texts", type=int, default=100_000, help="texts, at most (default 100,000)")
    given = parser.parse_args()
    logging.disable(logging.INFO)
    windows, data = film_windows(LINES)
    texts = [text for _, text in windows][: 500 if given.small else given.texts]
    result = Result(
        "Near-duplicates",
        "Seconds from Parquet to the duplicates by `duplicates` in a warm local session. All texts count as one "
        f"film's, so that every comparison is made. datatrove runs up to the pairs with {cores()} processes, rensa "
        "in one process. All use 16 bands of 4 minima over runs of three words. Recall is of the pairs with an "
        "exact Jaccard of at least 0.8; ours also verifies each pair.",
        f"{data}, the first {len(texts):,}",
        compared(texts, given.rounds),
        CAUSE,
        ("datatrove", "rensa"),
    )
    return hand_in(result, given, "near_duplicates")


if __name__ == "__main__":
    without_slowing_variables()
    sys.exit(main())
