"""Check a GPU against the CPU: equal answers, trainings that resume, and faults of the device that are recognised.

Without a GPU the same calls run on the CPU, against themselves, so that the path is known to work.
"""

import contextlib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from conf.llm_settings import DecodingSettings
from conf.training_options import ClassifierOptions
from etl.training.loop.train import TrainingContext, train_model
from tests.gpu.models import LABELS, Size, histories, turns, write_model
from udfs.devices import chosen_precision, with_back_off
from udfs.llm_requests import Request
from udfs.models.classifiers.classifier import SequenceClassifier
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.models.language.generator import LocalGenerator
from udfs.models.pretrained import causal_model
from udfs.models.sentence_encoder import SentenceEncoder
from udfs.models.trainable import EpochMetrics, TrainingResult, TrainingRows

CPU = torch.device("cpu")
SAME_VECTOR = 1e-4
SAME_LABELS = 0.999
SAME_LOSS = 0.02
"""Relative difference of the losses of two trainings that draw other dropout masks."""
MOST_ROWS = 40
"""The rows that fit in the trial of the back-off where no GPU's memory can run out."""
BROKEN_DEVICE = """
import sys
import torch
from udfs.failures import is_device_fault
device = torch.device(sys.argv[1])
table = torch.nn.Embedding(4, 4).to(device)
for place in (9, 0):
    try:
        table(torch.tensor([place], device=device)).sum().item()
        print("answered")
    except Exception as error:
        print("device" if is_device_fault(error) else "row")
"""
"""A program that reads outside a table, and then inside it, and prints what the product makes of the errors."""


@dataclass(frozen=True)
class Check:
    """One line of the table of checks; ``right`` is None where there is nothing to be right or wrong."""

    what: str
    found: str
    wanted: str = ""
    right: bool | None = None


@dataclass(frozen=True)
class Bench:
    """The device, the sizes of models and the folder that the checks and measurements work with."""

    device: torch.device
    sizes: dict[str, Size]
    folder: Path
    rows: int

    def model(self, name: str) -> Path:
        """Return the folder of a model of this name, written the first time."""
        folder = self.folder / name
        return folder if folder.is_dir() else write_model(name, self.sizes[name], self.folder)

    def classifier(self, kind: type[SequenceClassifier[Any]], name: str) -> Path:
        """Return the folder of a classifier with a drawn head."""
        folder = self.folder / f"{kind.kind}-{name}"
        if not folder.is_dir():
            kind.new(self.model(name), LABELS, ClassifierOptions(max_tokens=100)).save(folder)
        return folder


def checked(bench: Bench) -> Iterator[Check]:
    """Yield the checks, each when it is done."""
    yield hardware(bench)
    yield precision(bench)
    yield embeddings(bench)
    yield labels(bench, WeakLabeler, "MiniLM", turns(bench.rows))
    yield labels(bench, DialogueClassifier, "mpnet", histories(bench.rows))
    yield answers(bench)
    yield back_off(bench)
    yield broken_device(bench)
    yield from trainings(bench)


def hardware(bench: Bench) -> Check:
    """Name the device."""
    if bench.device.type == "cpu":
        return Check("device", f"no GPU: the path is tried on the CPU, torch {torch.__version__}")
    about = torch.cuda.get_device_properties(bench.device)
    found = f"{about.name}, {about.total_memory / 2**30:.0f} GiB, {about.major}.{about.minor}"
    return Check("device", f"{found}, torch {torch.__version__}, CUDA {torch.version.cuda}")


def precision(bench: Bench) -> Check:
    """Say which precision ``auto`` is."""
    chosen = chosen_precision("auto", bench.device)
    return Check("precision auto", f"{chosen.name}: {chosen.reason}")


def embeddings(bench: Bench) -> Check:
    """Compare embeddings with the CPU's."""
    model = SentenceEncoder.load(bench.model("MiniLM"))
    texts = turns(bench.rows)
    here = model.to(CPU).embed(texts, 64)
    there = model.to(bench.device).embed(texts, 256)
    far = float(np.abs(here - there).max())
    return Check(
        f"embeddings of {len(texts):,} turns", f"differ by {far:.1e}", f"at most {SAME_VECTOR:g}", far <= SAME_VECTOR
    )


def labels(bench: Bench, kind: type[SequenceClassifier[Any]], name: str, items: Sequence[Any]) -> Check:
    """Compare a classifier's labels with the CPU's."""
    model = kind.load(bench.classifier(kind, name))
    here = model.to(CPU).probabilities(items, 64).argmax(1)
    there = model.to(bench.device).probabilities(items, 256).argmax(1)
    same = float((here == there).float().mean())
    return Check(
        f"{kind.kind} of {len(items):,}", f"{same:.2%} equal", f"at least {SAME_LABELS:.1%}", same >= SAME_LABELS
    )


def answers(bench: Bench) -> Check:
    """Compare greedy answers in fp32 with the CPU's."""
    requests = [Request(text) for text in turns(8, seed=3)]
    decoding = DecodingSettings(max_new_tokens=16)
    (here, there) = (
        [answer.text for answer in generator_on(bench, device, "fp32").answers(requests, decoding)]
        for device in (CPU, bench.device)
    )
    same = sum(one == other for one, other in zip(here, there, strict=True))
    # Weights that are drawn leave many tokens nearly equal, so that one of eight may take another course.
    return Check("answers of a language model", f"{same} of {len(here)} equal", "at least 7", same >= 7)


def generator_on(bench: Bench, device: torch.device, precision: str) -> LocalGenerator:
    """Return the small language model on a device."""
    chosen = chosen_precision(precision, device)
    (network, tokenizer) = causal_model(bench.model("SmolLM2"), chosen.dtype)
    return LocalGenerator(network.to(device), tokenizer, 8 if device.type == "cpu" else 64)


def back_off(bench: Bench) -> Check:
    """Let the GPU's memory run out: the answers must be those with enough memory."""
    model = SentenceEncoder.load(bench.model("mpnet")).to(bench.device)
    texts = turns(bench.rows // 2, seed=5)
    wanted = model.embed(texts, 32)
    failures: list[int] = []
    if bench.device.type == "cuda":
        torch.cuda.empty_cache()
        total = torch.cuda.get_device_properties(bench.device).total_memory
        spare = 96 << 20
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_allocated() + spare) / total, bench.device)
        before = torch.cuda.memory_stats(bench.device)["num_ooms"]
        found = model.embed(texts, len(texts))
        failures = [0] * (torch.cuda.memory_stats(bench.device)["num_ooms"] - before)
        torch.cuda.set_per_process_memory_fraction(1.0, bench.device)
    else:
        found = np.array(with_back_off(lambda part: _small_batches(model, part, failures), texts))
    far = float(np.abs(found - wanted).max())
    told = f"{len(failures)} times out of memory, then differ by {far:.1e}"
    return Check("back-off", told, f"some, at most {SAME_VECTOR:g}", bool(failures) and far <= SAME_VECTOR)


def _small_batches(model: SentenceEncoder, texts: Sequence[str], failures: list[int]) -> list[NDArray[np.float32]]:
    if len(texts) > MOST_ROWS:
        failures.append(len(texts))
        raise torch.cuda.OutOfMemoryError
    return list(model.embed(texts, 32))


def broken_device(bench: Bench) -> Check:
    """Read outside a table: a GPU is broken from then on, which must be seen; on a CPU one row is wrong."""
    done = subprocess.run(
        [sys.executable, "-c", BROKEN_DEVICE, str(bench.device)], capture_output=True, text=True, timeout=120
    )
    wanted = ["device", "device"] if bench.device.type == "cuda" else ["row", "answered"]
    return Check(
        "an index outside a table, then one inside",
        ", ".join(done.stdout.split()) or done.stderr[-200:],
        ", ".join(wanted),
        done.stdout.split() == wanted,
    )


class StoppedError(Exception):
    """The end of a training that is stopped on purpose."""


def trainings(bench: Bench) -> Iterator[Check]:
    """Train with accumulated gradients: on the CPU and here; stopped after an epoch; in the precision of ``auto``."""
    texts = turns(bench.rows // 2, seed=7)
    rows = [(text, place % len(LABELS)) for place, text in enumerate(texts)]
    cut = len(rows) * 4 // 5
    given = TrainingRows(rows[:cut], rows[cut:])

    def trained(name: str, device: torch.device, precision: str, context: TrainingContext) -> TrainingResult:
        options = ClassifierOptions(
            epochs=2,
            batch_size=16,
            effective_batch=64,
            learning_rate=1e-4,
            keep="last",
            precision=precision,  # type: ignore[arg-type]
            device=str(device),
            max_tokens=100,
            threads=torch.get_num_threads(),
        )

        def start() -> WeakLabeler:
            return WeakLabeler.new(bench.model("MiniLM"), LABELS, options)

        return train_model(start, given, options, bench.folder / name, context)

    def silent(**others: Any) -> TrainingContext:
        return TrainingContext(say=lambda line: None, **others)

    first = trained("trained", bench.device, "fp32", silent())
    other = trained("trained-cpu", CPU, "fp32", silent())
    (loss, beside) = (result.history[-1].validation_loss for result in (first, other))
    yield Check(
        "a training in fp32, gradients of 4 steps added",
        f"loss {loss:.3f} after 2 epochs",
        f"{beside:.3f} on the CPU, within {SAME_LOSS:.0%}",
        abs(loss / beside - 1) <= SAME_LOSS,
    )

    def stop(epoch: EpochMetrics) -> None:
        if epoch.epoch == 1:
            raise StoppedError

    checkpoints = bench.folder / "checkpoints"
    with contextlib.suppress(StoppedError):
        trained("stopped", bench.device, "fp32", silent(checkpoints=checkpoints, on_epoch=stop))
    again = trained("resumed", bench.device, "fp32", silent(checkpoints=checkpoints))
    same = all(
        torch.equal(value, other_value)
        for value, other_value in zip(
            WeakLabeler.load(first.path).state_dict().values(),
            WeakLabeler.load(again.path).state_dict().values(),
            strict=True,
        )
    )
    yield Check("the same, stopped after an epoch and begun again", f"equal weights: {same}", "True", same)
    chosen = chosen_precision("auto", bench.device).name
    faster = trained("faster", bench.device, chosen, silent())
    loss = faster.history[-1].validation_loss
    speed = 2 * cut / faster.seconds
    yield Check(
        f"a training in {chosen}",
        f"loss {loss:.3f}, {speed:,.0f} rows a second",
        f"{beside:.3f}, within {2 * SAME_LOSS:.0%}",
        abs(loss / beside - 1) <= 2 * SAME_LOSS,
    )
