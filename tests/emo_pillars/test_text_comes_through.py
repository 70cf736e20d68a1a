"""Texts that people wrote pass each parser unchanged, except for the marks of an answer's form."""

import csv
import gzip
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from conf.prompts import prompt
from etl.emo_pillars.answers import Parsed
from etl.emo_pillars.prose import LEAST_WORDS, parse_prose
from etl.emo_pillars.steps.clean_contexts import parse_cleaned
from etl.emo_pillars.steps.rewrites import MOST_UTTERANCE_WORDS, parse_rewrite
from etl.emo_pillars.steps.utterances import parse_utterances

CONTEXT, CLEAN, REWRITE, UTTERANCES = (
    prompt(f"emo_pillars/{name}") for name in ("contexts", "clean_contexts", "rewrites", "utterances")
)
WINDOW = 6
FORM = re.compile(
    r"\s*(?:[-*•–—+#>]|\(?\d{1,3}[.):\]])|[\"“”„«'‘].*[\"“”»'’]\W*$|.*(?:\*\*|__|`|\\|[\"“«][^\"”»]*[\"”»]\s*[\[(/])"
    r"|[A-Z][\w .'’-]{0,40}:\s*[\"“«]|.*[\[(][A-Za-z]+[\])]\W*$",
    re.DOTALL,
)
"""Marks of an answer's form: a list, quotation marks around the whole, Markdown, a speaker before a quotation, a label
in brackets."""
MOST_IN_FORM = 0.1


def speech_fault(text: str) -> str | None:
    """Return the parser that does not give the text back; None if all do."""
    if len(text.split()) <= MOST_UTTERANCE_WORDS:
        if [one.text for one in parse_rewrite(text, REWRITE).items] != [text]:
            return "rewrite"
        spoken = text.replace('"', "'")
        said = parse_utterances(f'1. (Anger) "{spoken}"', UTTERANCES).items
        if [one.utterance for one in said] != [spoken]:
            return "utterance"
    return story_fault(text)


def story_fault(text: str) -> str | None:
    """Return the parser of contexts that does not give the text back; None if both do."""
    if len(text.split()) < LEAST_WORDS:
        return None
    if not _is(parse_prose(text, CONTEXT), text):
        return "context"
    return None if _is(parse_cleaned(text, CLEAN), text) else "cleaned context"


def _is(parsed: Parsed, text: str) -> bool:
    return [(one.text, one.unchanged) for one in parsed.items] == [(text, False)]


def of_no_form(texts: Iterator[str]) -> list[str]:
    """Return the texts with letters and without marks of an answer's form, in single spaces."""
    plain = [" ".join(text.split()) for text in texts]
    plain = [text for text in plain if any(character.isalpha() for character in text)]
    kept = [text for text in plain if not FORM.match(text)]
    assert len(kept) >= (1 - MOST_IN_FORM) * len(plain)
    return kept


def comments(folder: Path) -> Iterator[str]:
    for line in (folder / "goemotions" / "dev.tsv").read_text("utf-8").splitlines():
        yield line.split("\t")[0]


def lines_of_series(folder: Path) -> Iterator[str]:
    for name in ("train", "dev"):
        yield from (row["Utterance"] for row in _rows((folder / "meld" / f"{name}_sent_emo.csv").read_bytes()))


def windows(folder: Path) -> Iterator[str]:
    packed = (folder / "plots" / "wiki_movie_plots_subset.csv.gz").read_bytes()
    for row in _rows(gzip.decompress(packed)):
        sentences = re.split(r"(?<=[.!?])\s+", row["Plot"].strip())
        for first in range(0, len(sentences), WINDOW):
            yield " ".join(sentences[first : first + WINDOW])


def _rows(data: bytes) -> Iterator[dict[str, str]]:
    return csv.DictReader(io.StringIO(data.decode("utf-8"), newline=""))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "fault", "least"),
    [(comments, speech_fault, 4_500), (lines_of_series, speech_fault, 9_000), (windows, story_fault, 5_000)],
)
def test_real_texts_come_through(shared_data: Path, source, fault, least: int) -> None:
    texts = of_no_form(source(shared_data))
    assert len(texts) >= least
    damaged = [(fault(text), text[:60]) for text in texts if fault(text)]
    assert not damaged, f"{len(damaged)} of {len(texts)}: {damaged[:20]}"


def test_remarks_do_not_come_through() -> None:
    """The property fails for texts that are remarks, so that it can fail."""
    remarks = (
        "I can't fulfill that request.",
        "Rewritten utterance: The lamp is out again.",
        "Sure!\nThe lamp is out again.",
    )
    assert all(speech_fault(remark) for remark in remarks)
