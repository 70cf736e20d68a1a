"""Classification of turns: ``score_texts`` in Spark against the transformers pipeline.

    python -m tests.benchmarks.classification [--texts N] [--rounds N] [--small]

Both have one encoder and one head of 41 labels with drawn weights: its answers mean nothing, and are the same.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from pyspark.sql import DataFrame

from etl.common.hashes import distinct_texts
from etl.pipeline.model_loader import resolve
from tests.benchmarks.corpora import film_lines
from tests.benchmarks.embeddings import table_of
from tests.benchmarks.harness import Progress, Result, Row, alternate, arguments, hand_in, without_slowing_variables
from tests.benchmarks.sessions import cores, local_session
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.predict import score_texts

OURS = "ours"
PIPELINE = "transformers pipeline"
LABELS = [f"label {number}" for number in range(41)]
AIM = 2.0
LEAST_ALIKE = 0.999
MAX_TOKENS = 64
SMALL = 1e-3
"""Keeps the pipeline's tanh in its straight part, so that both heads compute the same logits."""
CAUSE = (
    "on distinct turns, both spend nearly all their time in the encoder's matrix products, and ours saves only "
    "padding. On an Intel Xeon with AMX, the same command gave 2.25 and 3.28 (2026-11-24)."
)


def models(encoder: Path, folder: Path) -> tuple[Path, Any]:
    """A weak labeler's folder, and the transformers pipeline with the same encoder and head."""
    from transformers import BertForSequenceClassification, pipeline

    torch.manual_seed(7)
    network, tokenizer = load_encoder(encoder)
    labeler = WeakLabeler(network, tokenizer, LABELS, MAX_TOKENS, pooling="cls").eval()
    torch.nn.init.normal_(labeler.output.weight)
    labeler.save(folder)
    peer = BertForSequenceClassification.from_pretrained(
        str(folder / "encoder"), num_labels=len(LABELS), id2label=dict(enumerate(LABELS))
    ).eval()
    with torch.no_grad():
        # The peer's head is tanh of a square layer first: let that hardly bend anything.
        peer.bert.pooler.dense.weight.copy_(SMALL * torch.eye(peer.config.hidden_size))
        peer.bert.pooler.dense.bias.zero_()
        peer.classifier.weight.copy_(labeler.output.weight / SMALL)
        peer.classifier.bias.copy_(labeler.output.bias)
    torch.set_num_threads(cores())
    return folder, pipeline("text-classification", model=peer, tokenizer=tokenizer, device="cpu")


def alike(scored: DataFrame, texts: list[str], theirs: list[str]) -> float:
    """The share of texts whose most confident label is the same."""
    from etl.common.hashes import text_hash

    wanted = scored.sparkSession.createDataFrame(list(zip(texts, theirs, strict=True)), "text string, label string")
    rows = wanted.select(text_hash(wanted.text).alias("text_hash"), "label").join(scored, "text_hash")
    return rows.where("top3[0].label = label").count() / len(texts)


def compared(corpus: list[str], rounds: int) -> list[Row]:
    """Distinct texts, and the corpus as it is."""
    distinct = list(dict.fromkeys(corpus))
    progress = Progress("classification", 4 * rounds)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        spark, settings = local_session(Path(scratch))
        own = settings.models
        encoder = resolve(own.weak_encoder, Path(scratch) / "models").path
        folder, peer = models(encoder, Path(scratch) / "labeler")
        for number, (name, texts) in enumerate((("distinct turns", distinct), ("turns with repeats", corpus))):
            turns = table_of(spark, texts, Path(scratch) / f"turns{number}")
            target = f"{scratch}/scores{number}"

            def ours(turns: DataFrame = turns, target: str = target) -> None:
                scored = score_texts(
                    distinct_texts(turns, "turns"),
                    str(folder),
                    "drawn",
                    batch_size=own.batch_size,
                    threads=own.threads,
                    partitions=spark.sparkContext.defaultParallelism,
                )
                scored.write.format("delta").mode("overwrite").save(target)

            def theirs(texts: list[str] = texts) -> list[str]:
                answers = peer(texts, batch_size=own.batch_size, truncation=True, max_length=MAX_TOKENS)
                return [answer["label"] for answer in answers]

            works: dict[str, Callable[[], object]] = {OURS: ours, PIPELINE: theirs}
            ours(turns.limit(64))
            theirs(texts[:64])
            took = alternate(works, rounds, progress)
            speeds = {who: f"{len(texts) / took[who]:,.0f} turns/s" for who in took}
            rows.append(
                Row(
                    f"{name} ({len(texts):,})",
                    speeds[OURS],
                    PIPELINE,
                    speeds[PIPELINE],
                    took[PIPELINE] / took[OURS],
                    AIM,
                )
            )
            if number == 0:
                share = alike(spark.read.format("delta").load(target), texts, theirs())
        spark.stop()
    rows.append(Row("same first label", "", PIPELINE, "", share, least=LEAST_ALIKE))
    return rows


def main() -> int:
    """Measure and hand in."""
    parser = arguments(__doc__)
    parser.add_argument("--texts", type=int, default=20_000, help="turns, about (default 20,000)")
    given = parser.parse_args()
    corpus, data = film_lines(400 if given.small else given.texts)
    result = Result(
        "Classification of turns",
        "Seconds from a Delta table of turns to one of labels by `distinct_texts` and `score_texts` in a warm "
        "local session (one thread per worker). The peer is the pipeline on a list in memory, in batches of 64 "
        f"with {cores()} threads, reading and writing nothing. MiniLM's encoder with a random head.",
        f"{data}, {len(set(corpus)):,} distinct",
        compared(corpus, given.rounds),
        CAUSE,
        ("transformers",),
    )
    return hand_in(result, given, "classification")


if __name__ == "__main__":
    without_slowing_variables()
    sys.exit(main())
