"""A language model as arbiter of uncertain borders, judged beside the segmenters on films that none learned from.

    python -m tests.benchmarks.bench_arbiter FOLDER --judged FILE --model URI [--borders N] [--below P] [--threads N]
                                             [--kept FILE] [--minutes M]

FILE is ``judged.parquet`` of a folder that ``bench_pair_encoder --kept`` filled: marked pairs of held-out films with
the margins of the SVM, the encoder and both. Asks the model about N of the pairs that the SVM decides with less
certainty than P, drawn by hash, as ``ask_turn_arbiter`` asks: with the sentences around, here all marks hidden.
Prints the right decisions in % with a 95% interval (Wilson), and the share of changes, of the majority class, a coin,
each segmenter, and the arbiter, which leaves a border to the SVM where its answer cannot be read; then the same for the
borders that it decides, the reasons of the others, and the seconds that asking took. No Spark, no lakehouse.
``--kept`` keeps the answers; those that it has are not asked for again. With ``--minutes`` no question is asked after
so many, and the borders of the questions that were are judged; they are asked in the order of their hash.
"""

import argparse
import hashlib
import json
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from conf.prompts import prompt
from conf.settings import load_settings
from conf.subtitle_settings import ArbiterSettings, TurnCertainty
from etl.common.intervals import wilson
from etl.pipeline.model_loader import resolve
from etl.subtitles.arbiter import TEMPLATE, Question, questions
from etl.subtitles.arbiter_answers import opened_by
from etl.subtitles.borders import Borders
from etl.subtitles.turn_sentences import Sentences
from tests.benchmarks.bench_certainty import told
from tests.benchmarks.harness import content_share
from tests.benchmarks.turn_folds import read_uploads
from udfs.answer_texts import answer_in
from udfs.generate import source_of
from udfs.llm_kinds import Source
from udfs.llm_requests import Request

KINDS = ("SVM", "encoder", "both")
PAIR = ["source_path", "left_text", "right_text"]
AT_ONCE = 8
"""Questions between two writes of ``--kept``."""
Ask = Callable[[Sequence[str]], list[tuple[str | None, bool]]]
"""From prompts to answers, None where there is none, and whether each was cut off."""


def drawn(judged: pd.DataFrame, below: float, number: int) -> pd.DataFrame:
    """Return the pairs of films that the SVM decides with less certainty than ``below``, as many as asked, by hash."""
    films = judged[judged["source_path"].notna()]
    margins = pd.DataFrame({"margin": films["SVM"].astype(float)})
    unsure = films[np.asarray(told(margins, TurnCertainty().model)) < below]
    order = ("arbiter\n" + unsure["source_path"] + "\n" + unsure["left_text"] + "\n" + unsure["right_text"]).map(
        content_share
    )
    return unsure.loc[order.sort_values().index[:number]].reset_index(drop=True)


def questions_about(uploads: pa.RecordBatch, pairs: pd.DataFrame) -> list[tuple[Question, list[int]]]:
    """Return the questions about pairs, with the position in ``pairs`` of each border that they ask about.

    Args:
        uploads: the files that show the pairs (``turn_folds.read_uploads``).
        pairs: columns ``PAIR``; a pair that its file has twice is asked about once.
    """
    wanted = {tuple(row): place for place, row in enumerate(pairs[PAIR].itertuples(index=False, name=None))}
    shown = set(pairs["source_path"])
    paths = uploads.column("source_path").to_pylist()
    files = [place for place, path in enumerate(paths) if path in shown]
    sentences = Sentences.of(uploads.column("sentences").take(pa.array(files)))
    borders = Borders.of(sentences, np.zeros(len(sentences)), explicit_marks=False, silence_ends_turn_ms=5_000)
    lines = borders.lines
    texts = lines.text.to_pylist()
    place_of: dict[tuple[int, int], int] = {}
    unsure = np.zeros(len(texts), dtype=bool)
    for line in np.flatnonzero(lines.pairable):
        file = int(lines.file[line])
        place = wanted.pop((paths[files[file]], texts[line - 1], texts[line]), None)
        if place is not None:
            unsure[line] = True
            place_of[file, int(lines.opens_at[line] - sentences.offsets[file])] = place
    found = questions(borders, unsure)
    return [(one, [place_of[one.file, sentence] for sentence in one.sentences]) for one in found]


def decided(
    asked: Sequence[tuple[Question, list[int]]], answers: Sequence[tuple[str | None, bool]], number: int
) -> tuple[np.ndarray, Counter[str]]:
    """Return the arbiter's decision about each pair (1, 0, or -1 for none), and how many pairs each fault left out."""
    opens = np.full(number, -1)
    faults: Counter[str] = Counter()
    for (question, places), (text, cut_off) in zip(asked, answers, strict=True):
        said = None if text is None else answer_in(text).text
        numbers, fault = (None, "not_answered") if said is None else opened_by(said, question.asked, cut_off)
        if numbers is None:
            faults[str(fault)] += len(places)
            continue
        for place, one in zip(places, question.asked, strict=True):
            opens[place] = int(one in numbers)
    return opens, faults


def table(pairs: pd.DataFrame, opens: np.ndarray) -> pd.DataFrame:
    """Return right decisions, their interval and the share of changes, in %, by who decides.

    Args:
        pairs: label, and the margins of ``KINDS``.
        opens: the arbiter's decisions, -1 where the SVM decides.
    """
    truth = pairs["label"].to_numpy(dtype=int) == 1
    by_kind = {kind: pairs[kind].to_numpy(dtype=float) > 0 for kind in KINDS}
    arbiter = np.where(opens >= 0, opens == 1, by_kind["SVM"])
    majority = np.full(len(truth), truth.mean() > 0.5)
    rows = {}
    for name, said in {"majority": majority, **by_kind, "arbiter": arbiter}.items():
        low, high = wilson(int((said == truth).sum()), len(truth))
        rows[name] = {"right": (said == truth).mean(), "from": low, "to": high, "changes": said.mean()}
    rows["coin"] = {"right": 0.5, "from": np.nan, "to": np.nan, "changes": 0.5}
    rows["truth"] = {"right": 1.0, "from": np.nan, "to": np.nan, "changes": truth.mean()}
    return 100 * pd.DataFrame(rows).T


def asked_of_model(uri: str, threads: int, scratch: Path) -> Ask:
    """Return the function that asks the model of a URI."""
    settings = load_settings("local")
    decoding = ArbiterSettings().decoding

    @cache
    def source() -> Source:
        model = resolve(uri, scratch)
        return source_of(str(model.path), model.identity, settings.llm, threads)

    def ask(prompts: Sequence[str]) -> list[tuple[str | None, bool]]:
        answers = source().generator().answers([Request(one) for one in prompts], decoding)
        return [(one.text, one.finish_reason == "length") for one in answers]

    return ask


def answered(
    prompts: Sequence[str], ask: Ask, kept: Path | None, minutes: float = math.inf
) -> list[tuple[str | None, bool] | None]:
    """Return the answers to prompts, None for those that were not asked in time.

    Args:
        prompts: asked in the order of their hash.
        ask: asks the model.
        kept: a file with answers, which are not asked for again; new ones are added.
        minutes: after which no more is asked.
    """
    known: dict[str, tuple[str | None, bool]] = {}
    if kept is not None and kept.is_file():
        for line in kept.read_text("utf-8").splitlines():
            entry = json.loads(line)
            known[entry["prompt"]] = (entry["text"], entry["cut_off"])
    by_key = {hashlib.sha256(one.encode()).hexdigest(): one for one in prompts}
    left = sorted(by_key.keys() - known.keys())
    began = time.monotonic()
    for begin in range(0, len(left), AT_ONCE):
        if time.monotonic() - began >= 60 * minutes:
            break
        part = left[begin : begin + AT_ONCE]
        for key, answer in zip(part, ask([by_key[key] for key in part]), strict=True):
            known[key] = answer
            if kept is not None:
                entry = {"prompt": key, "text": answer[0], "cut_off": answer[1]}
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(entry) + "\n")
        print(f"{begin + len(part)} of {len(left)} asked", file=sys.stderr, flush=True)
    return [known.get(key) for key in (hashlib.sha256(one.encode()).hexdigest() for one in prompts)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--judged", type=Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--borders", type=int, default=300)
    parser.add_argument("--below", type=float, default=0.6)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--minutes", type=float, default=math.inf)
    given = parser.parse_args()
    pairs = drawn(pd.read_parquet(given.judged), given.below, given.borders)
    wanted = questions_about(read_uploads(given.folder, among=set(pairs["source_path"])), pairs)
    with tempfile.TemporaryDirectory() as scratch:
        ask = asked_of_model(given.model, given.threads, Path(scratch))
        began = time.monotonic()
        template = prompt(TEMPLATE)
        found = answered([question.text(template) for question, _ in wanted], ask, given.kept, given.minutes)
        seconds = time.monotonic() - began
    answers = [(one, answer) for one, answer in zip(wanted, found, strict=True) if answer is not None]
    asked = [one for one, _ in answers]
    opens, faults = decided(asked, [answer for _, answer in answers], len(pairs))
    shown = sorted(place for _, places in asked for place in places)
    print(f"{len(shown)} borders in {len(asked)} questions, {seconds:.0f} s for those that were not kept\n")
    print(f"all\n{table(pairs.loc[shown], opens[shown]).round(1).to_string()}\n")
    own = [place for place in shown if opens[place] >= 0]
    print(f"{len(own)} borders that the arbiter decides; the others: {dict(faults)}")
    if own:
        print(table(pairs.loc[own], opens[own]).round(1).to_string())
    return 0


if __name__ == "__main__":
    sys.exit(main())
