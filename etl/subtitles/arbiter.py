"""A language model as arbiter of the borders that the segmenter is unsure of: its questions and its answers. Ours."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from conf.llm_settings import DecodingSettings
from conf.prompts import SLOT, prompt
from conf.subtitle_settings import TurnRules
from etl.llm.requests import TEMPLATE_MARK, answered_request, fault_of, with_requests
from etl.pipeline.outcome import Outcome, dropped_columns
from etl.subtitles.arbiter_answers import opened_by
from etl.subtitles.borders import Borders
from etl.subtitles.film_shift import FilmSpread
from etl.subtitles.turn_marks import NEW_TURN, UNMARKED
from etl.subtitles.turns import batch_borders

TEMPLATE = "turn_arbiter"
TEMPLATE_FILE = f"prompts/{TEMPLATE}.txt"
BEFORE = 4
AFTER = 2
"""Sentences that are shown before the first and after the last one that is asked about."""
MOST_APART = 6
"""Sentences from the first to the last one that a question asks about, at most."""
MOST_CHARACTERS = 300
"""Of a sentence in a question."""
_QUESTIONS = pa.schema(
    {
        "source_path": pa.string(),
        "question_id": pa.string(),
        "asked": pa.list_(pa.int32()),
        "sentences": pa.list_(pa.int32()),
        "question": pa.string(),
    }
)


@dataclass(frozen=True)
class Question:
    """Successive sentences of one file, some of which may open a turn.

    Attributes:
        file: position of the file in its batch.
        texts: the sentences without marks; the first has the number 1.
        opens: whether each is known to open a turn by a mark.
        asked: the numbers of those that are asked about.
        sentences: the index in its file of each one that is asked about.
    """

    file: int
    texts: tuple[str, ...]
    opens: tuple[bool, ...]
    asked: tuple[int, ...]
    sentences: tuple[int, ...]

    def text(self, template: str) -> str:
        """Return the question in the words of a template with the slots ``sentences`` and ``asked``."""
        lines = [
            f"{number}. {'- ' if opens else ''}{text}"
            for number, (text, opens) in enumerate(zip(self.texts, self.opens, strict=True), 1)
        ]
        slots = {"sentences": "\n".join(lines), "asked": ", ".join(map(str, self.asked))}
        return SLOT.sub(lambda slot: slots[slot[1]], template)


def unsure_of(borders: Borders, certainty: np.ndarray, below: float) -> np.ndarray:
    """Return whether the segmenter alone decides before each spoken sentence, with less certainty than ``below``.

    Args:
        borders: of several files.
        certainty: the probability that the decision before each sentence is right (``Borders.certainty``).
        below: the limit.
    """
    opens_at = borders.lines.opens_at
    alone = borders.lines.pairable & (borders.marked == UNMARKED) & ~borders.silent[opens_at]
    return alone & (certainty[opens_at] < below)


def questions(borders: Borders, unsure: np.ndarray) -> list[Question]:
    """Return the questions about borders.

    Borders of at most ``MOST_APART`` sentences share a question. It shows ``BEFORE`` sentences before the first and
    ``AFTER`` after the last, none beyond a silence that ends a turn.

    Args:
        borders: of several files.
        unsure: whether the border before each spoken sentence is asked about.
    """
    lines = borders.lines
    scene = np.cumsum(borders.silent[lines.opens_at] | lines.first)
    texts = _safe_texts(lines.text)
    known = borders.marked == NEW_TURN
    found = []
    places = np.flatnonzero(unsure)
    begin = 0
    while begin < len(places):
        first = places[begin]
        together = (places - first < MOST_APART) & (scene[places] == scene[first])
        end = begin + int(together[begin:].argmin()) if not together[begin:].all() else len(places)
        last = places[end - 1]
        low = max(first - BEFORE, int(np.searchsorted(scene, scene[first])))
        high = min(last + AFTER, int(np.searchsorted(scene, scene[first], side="right")) - 1)
        asked = places[begin:end]
        found.append(
            Question(
                file=int(lines.file[first]),
                texts=tuple(texts[low : high + 1]),
                opens=(False, *known[low + 1 : high + 1].tolist()),
                asked=tuple((asked - low + 1).tolist()),
                sentences=tuple((lines.opens_at[asked] - borders.sentences.offsets[lines.file[first]]).tolist()),
            )
        )
        begin = end
    return found


def _safe_texts(texts: pa.Array) -> list[str]:
    """Return texts on one line each, not too long, with marks of chat templates broken up."""
    shown = pd.Series(texts.to_pylist(), dtype=object).str.slice(0, MOST_CHARACTERS)
    one_line = shown.str.replace(r"\s+", " ", regex=True).str.strip()
    safe: list[str] = one_line.str.replace(TEMPLATE_MARK, r"\1 ", regex=True).tolist()
    return safe


def asked_borders(scored: DataFrame, rules: TurnRules, below: float) -> DataFrame:
    """Return one row for each question about the uncertain borders of files.

    Args:
        scored: as ``turns.turns_of`` takes it, without ``arbitrated``.
        rules: who decides.
        below: certainty under which a border of the segmenter is asked about.

    Returns:
        source_path, question_id, asked (numbers in the question), sentences (their indices in the file), question.
    """
    template = prompt(TEMPLATE)

    def ask(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            borders = batch_borders(
                batch,
                explicit_marks=rules.explicit_marks,
                silence_ends_turn_ms=rules.silence_ends_turn_ms,
                carried_marks=rules.carried_marks,
                opening_dash_margin=rules.opening_dash_margin,
                films=FilmSpread(rules.film_spread, rules.certainty.model[1]),
            )
            unsure = unsure_of(borders, borders.certainty(rules.certainty), below)
            paths = batch.column("source_path").to_pylist()
            rows = [
                {
                    "source_path": paths[one.file],
                    "question_id": f"{paths[one.file]}#{one.sentences[0]}",
                    "asked": one.asked,
                    "sentences": one.sentences,
                    "question": one.text(template),
                }
                for one in questions(borders, unsure)
            ]
            yield pa.RecordBatch.from_pylist(rows, _QUESTIONS)

    kept = [name for name in ("source_path", "sentences", "scores", "carried", "ruled") if name in scored.columns]
    return scored.select(*kept).mapInArrow(ask, from_arrow_schema(_QUESTIONS))


def requests(asked: DataFrame, decoding: DecodingSettings) -> DataFrame:
    """Return the requests of questions.

    Args:
        asked: result of :func:`asked_borders`.
        decoding: of the answers.
    """
    return with_requests(asked, F.col("question"), decoding, template=prompt(TEMPLATE)).drop("question")


def arbitrated(answers: DataFrame) -> Outcome:
    """Return ``subtitles.arbitrated_borders``; the borders of an answer that cannot be read stay the segmenter's.

    Args:
        answers: :func:`requests` with their answers (``etl.llm.requests.with_answers``).

    Returns:
        Outcome: dropped are questions with the reason, each counting as many borders as it asks about.
    """

    def read(answer: pd.Series, asked: pd.Series, cut_off: pd.Series) -> pd.DataFrame:
        rows = [
            (None, None) if text is None else opened_by(text, [int(one) for one in numbers], bool(cut))
            for text, numbers, cut in zip(answer, asked, cut_off, strict=True)
        ]
        return pd.DataFrame(rows, columns=["opens", "fault"])

    said = F.pandas_udf(read, "opens array<int>, fault string")("answer", "asked", "cut_off")  # type: ignore[call-overload]
    found = answers.withColumn("said", F.when(F.col("error").isNull(), said)).persist()
    read_well = F.col("error").isNull() & F.col("said.fault").isNull()
    lost = F.coalesce("said.fault", fault_of(F.col("error"), "not_answered"))
    detail = F.coalesce("error", F.substring("answer", 1, MOST_CHARACTERS))
    dropped = found.where(~read_well).select(*dropped_columns("question", "question_id", lost, F.size("asked"), detail))
    each = found.where(read_well).select(
        "source_path",
        F.explode(F.arrays_zip("asked", "sentences")).alias("border"),
        "said",
        "model",
        answered_request(),
    )
    rows = each.select(
        "source_path",
        F.col("border.sentences").alias("sentence"),
        F.array_contains("said.opens", F.col("border.asked")).alias("opens"),
        "model",
        "request",
    )
    asked = found.agg(F.coalesce(F.sum(F.size("asked")), F.lit(0)).cast("int").alias("borders"))
    return Outcome(rows, dropped, rows_in=asked.collect()[0]["borders"])


def by_file(borders: DataFrame) -> DataFrame:
    """Return source_path and ``arbitrated``, the arbiter's decisions as ``turn_scoring.CARRIED``, from its table."""
    one = F.struct("sentence", F.col("opens").alias("new_turn"))
    return borders.groupBy("source_path").agg(F.collect_list(one).alias("arbitrated"))


def decisions_hash(borders: DataFrame) -> DataFrame:
    """Return source_path and ``decisions``, a hash of the arbiter's decisions about the file, from its table."""
    each = F.xxhash64("sentence", "opens", "model")
    return borders.groupBy("source_path").agg(F.bit_xor(each).alias("decisions"))
