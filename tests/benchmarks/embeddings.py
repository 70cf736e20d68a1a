"""Embeddings: ``embed_texts`` in Spark against sentence-transformers' ``encode``.

python -m tests.benchmarks.embeddings [--texts N] [--rounds N] [--small]
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.common.hashes import distinct_texts, text_hash
from etl.pipeline.model_loader import resolve
from tests.benchmarks.corpora import film_lines
from tests.benchmarks.harness import Progress, Result, Row, alternate, arguments, hand_in, without_slowing_variables
from tests.benchmarks.sessions import cores, local_session
from udfs.predict import embed_texts

OURS = "ours"
ENCODE = "sentence-transformers encode"
DISTINCT_AIM = 1.2
CORPUS_AIM = 2.0
LARGEST_DIFFERENCE = 1e-5
CAUSE = (
    "on distinct texts, both spend nearly all their time in the encoder's matrix products, on batches sorted by "
    "length. Ours also reads and writes Delta, so only the padding inside a batch is left to gain."
)


def peer_encoder(folder: Path) -> Any:
    """The same model in sentence-transformers, on all cores."""
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(cores())
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


def table_of(spark: SparkSession, texts: list[str], folder: Path) -> DataFrame:
    """Texts as rows of one turn each, in Delta."""
    spark.createDataFrame([([text],) for text in texts], "turns array<string>").write.format("delta").save(str(folder))
    return spark.read.format("delta").load(str(folder))


def largest_difference(embedded: DataFrame, texts: list[str], theirs: NDArray[np.float32]) -> float:
    """The largest difference of a component between our vector of a text and the peer's."""
    wanted = embedded.sparkSession.createDataFrame(list(enumerate(texts)), "place int, text string")
    keyed = wanted.select("place", text_hash(F.col("text")).alias("text_hash"))
    rows = keyed.join(embedded, "text_hash").select("place", "embedding").collect()
    if len(rows) != len(texts):
        raise SystemExit(f"{len(texts) - len(rows)} texts have no embedding")
    ours = np.empty_like(theirs)
    for place, embedding in rows:
        ours[place] = embedding
    return float(np.abs(ours - theirs).max())


def compared(corpus: list[str], rounds: int) -> list[Row]:
    """Distinct texts, and the corpus as it is."""
    distinct = list(dict.fromkeys(corpus))
    progress = Progress("embeddings", 4 * rounds)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        spark, settings = local_session(Path(scratch))
        models = settings.models
        model = resolve(models.sentence_encoder, Path(scratch) / "models")
        encoder = peer_encoder(model.path)
        sizes = {"distinct texts": (distinct, DISTINCT_AIM), "the corpus with its repeats": (corpus, CORPUS_AIM)}
        for number, (name, (texts, aim)) in enumerate(sizes.items()):
            histories = table_of(spark, texts, Path(scratch) / f"texts{number}")
            target = f"{scratch}/vectors{number}"

            def ours(histories: DataFrame = histories, target: str = target) -> None:
                found = embed_texts(
                    distinct_texts(histories, "turns"),
                    str(model.path),
                    model.identity,
                    batch_size=models.batch_size,
                    threads=models.threads,
                    partitions=spark.sparkContext.defaultParallelism,
                )
                found.write.format("delta").mode("overwrite").save(target)

            def encode(texts: list[str] = texts) -> NDArray[np.float32]:
                return encoder.encode(texts, batch_size=models.batch_size, show_progress_bar=False)

            ours(histories.limit(64))
            encode(texts[:64])
            took = alternate({OURS: ours, ENCODE: encode}, rounds, progress)
            speeds = {who: f"{len(texts) / took[who]:,.0f} texts/s" for who in took}
            rows.append(
                Row(f"{name} ({len(texts):,})", speeds[OURS], ENCODE, speeds[ENCODE], took[ENCODE] / took[OURS], aim)
            )
            if number == 0:
                far = largest_difference(spark.read.format("delta").load(target), texts, encode())
        spark.stop()
    rows.append(Row("largest difference of a component", "", ENCODE, "", far, most=LARGEST_DIFFERENCE))
    return rows


def main() -> int:
    """Measure and hand in."""
    parser = arguments(__doc__)
    parser.add_argument("--texts", type=int, default=40_000, help="lines of the corpus, about (default 40,000)")
    given = parser.parse_args()
    corpus, data = film_lines(400 if given.small else given.texts)
    result = Result(
        "Embeddings",
        "Seconds from a Delta table of texts to one of vectors by `distinct_texts` and `embed_texts` in a warm "
        "local session (each text once, one thread per worker). The peer is `encode` on the same texts as a list "
        f"in memory, with its own sorting and {cores()} threads, reading and writing nothing. Loading the model is "
        "not counted.",
        f"{data}, {len(set(corpus)):,} distinct",
        compared(corpus, given.rounds),
        CAUSE,
        ("sentence-transformers", "transformers"),
    )
    return hand_in(result, given, "embeddings")


if __name__ == "__main__":
    without_slowing_variables()
    sys.exit(main())
