"""Java's regular expressions of ``etl/``: none repeats a group without bound, which overflows the stack of Java."""

import ast
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from conf.resources import text
from etl.augesc import queries, requirements
from etl.common import spelling
from etl.edos import votes
from etl.pipeline.tables import hidden_secrets
from etl.subtitles import text_rules, turn_rules
from etl.subtitles.cleaning_words import cleaning_words
from tests.expressions import slow_unit

REPOSITORY = Path(__file__).resolve().parents[2]
NAMES = ("rlike", "regexp_replace", "regexp_extract", "regexp_extract_all")
CLASSES = {r"\s": " ", r"\p{L}": "a", r"\p{Lu}": "A", r"\p{Ll}": "a", r"\p{Nd}": "1", r"\d": "1", r"\w": "a"}
RANGES = {
    "L": "a-zA-ZÀ-ɏ",
    "Lu": "A-ZÀ-Þ",
    "Ll": "a-zß-ÿ",
    "Lo": "ぁ-ん",
    "M": "\u0300-\u036f",
    "Mn": "\u0300-\u036f",
    "Nd": "0-9",
    "N": "0-9",
    "P": "!-/:-@",
}
LENGTH = 100_000


LABEL = text_rules.ONE_LABEL % "BEN"


def calls() -> dict[str, Callable[[Column], Any]]:
    """Return calls of the functions whose expressions depend on their arguments."""
    words = cleaning_words(tuple(yaml.safe_load(text("credit_patterns.yaml"))))
    return {
        "names": lambda text: text_rules.without_character_names(text, words.not_names),
        "scans": text_rules.without_scan_errors,
        "shares": lambda text: [turn_rules.alphabetic_share(text, among) for among in ("all", "visible", "words")],
        "recaps": lambda text: turn_rules.opens_with(text, words.recaps),
        "credits": lambda text: turn_rules.is_credit(text, words.credit_patterns),
        "songs": turn_rules.is_song,
        "sung parts": turn_rules.without_songs,
        "quotations": turn_rules.is_quotation,
        "second speaker": lambda text: turn_rules.names_second_speaker(text, words.not_names),
        "profanity": lambda text: turn_rules.profane_word(text, words.profanity),
        "listed": lambda text: queries.listed_word(text, ["OP", "drug*"]),
        "roles": lambda text: requirements.has_role_words(F.array(F.struct(text.alias("text"))), ["Human"]),
        "several options": lambda text: votes.several_options(text, ["sad", "angry"]),
        "dialogue cells": votes.dialogue_turns,
        "secrets": hidden_secrets.redacted_text,
        "spelling": spelling.detokenised,
    }


def sites() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted((REPOSITORY / "etl").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            of_spark = node.func.attr == "split" and getattr(node.func.value, "id", "") == "F"
            if node.func.attr in NAMES or of_spark:
                yield str(path), node


def literals_of_sql() -> dict[str, str]:
    """Return the texts in quotation marks of the views, and of Python's texts of SQL, that have expressions."""
    found: dict[str, str] = {}
    for path in sorted(path for ending in ("*.sql", "*.py") for path in (REPOSITORY / "etl").rglob(ending)):
        for line in path.read_text("utf-8").split(";" if path.suffix == ".sql" else "\n"):
            if re.search(r"regexp_\w+\(|\brlike\b|\bRLIKE\b", line) and (path.suffix == ".sql" or "F.expr(" in line):
                found.update((literal, str(path)) for literal in re.findall(r"'((?:[^']|'')*)'", line))
    return found


@pytest.fixture(scope="module")
def expressions(spark: SparkSession) -> dict[str, str]:
    """All expressions, with their place: of calls, or from the source where it names no local variable."""
    seen: dict[str, str] = {}
    places: set[tuple[str, int]] = set()

    def noted(original: Callable[..., Column], at: int) -> Callable[..., Column]:
        def call(*given: Any) -> Column:
            frame = sys._getframe(1)
            places.add((frame.f_code.co_filename, frame.f_lineno))
            seen[given[at]] = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            return original(*given)

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Column, "rlike", noted(Column.rlike, 1))
        for name in NAMES[1:3]:
            patch.setattr(F, name, noted(getattr(F, name), 1))
        for call in calls().values():
            call(F.col("text"))
    for path, node in sites():
        if any(file == path and node.lineno <= line <= (node.end_lineno or 0) for file, line in places):
            continue
        at = 0 if node.func.attr == "rlike" else 1  # type: ignore[attr-defined]
        module = importlib.import_module(path.removeprefix(f"{REPOSITORY}/").removesuffix(".py").replace("/", "."))
        known = {"words": ["a"], "profane": ["a"], "most": 3, "suspect": hidden_secrets.SUSPECT, "label": LABEL}
        try:
            value = eval(compile(ast.Expression(node.args[at]), path, "eval"), {**module.__dict__, **known})
        except NameError as error:
            raise AssertionError(f"{path}:{node.lineno}: add a call of its function") from error
        pattern = value if isinstance(value, str) else str(value).removeprefix("Column<'").removesuffix("'>")
        seen.setdefault(pattern, f"{path}:{node.lineno}")
    return seen


def test_no_group_is_repeated_without_bound(expressions: dict[str, str]) -> None:
    repeated = re.compile(r"(?<!\\)\)(?:[*+]|\{\d+,\})(?!\+)")
    every = {**expressions, **literals_of_sql()}
    found = {place: repeated.findall(re.sub(r"\[[^\]]*\]", "x", pattern)) for pattern, place in every.items()}
    assert len(expressions) > 100
    assert "#([0-9]+)$" in every
    assert not {place: groups for place, groups in found.items() if groups}


def python_of(pattern: str) -> re.Pattern[str] | None:
    """Return nearly the same expression of Python; None where Python has nothing like it."""

    def ranges(match: re.Match[str]) -> str:
        if match[0].startswith("["):
            return re.sub(r"\\p\{?(\w+)\}?", lambda inner: RANGES[inner[1]], match[0])
        return f"[{'^' if match[0][1] == 'P' else ''}{RANGES[match[0].strip('pP{}' + chr(92))]}]"

    plain = re.sub(r"\\Q(.*?)\\E", lambda match: re.escape(match[1]), pattern.replace("&&[^lI]", ""))
    plain = plain.replace("(?iu)", "(?i)").replace("(?<name>", "(?P<name>").replace(r"\x{", r"\x").replace("]]", r"\]]")
    try:
        return re.compile(re.sub(r"\[(?:\\.|[^\]\\])*\]|\\[pP]\{\w+\}", ranges, plain))
    except (re.error, KeyError):
        return None


def test_no_expression_takes_squared_time(expressions: dict[str, str]) -> None:
    every = {**expressions, **literals_of_sql()}
    tried = {pattern: one for pattern in every if len(pattern) < 4_000 and (one := python_of(pattern))}
    assert len(tried) > 60
    assert {(every[pattern], pattern): found for pattern, one in tried.items() if (found := slow_unit(one))} == {}


@pytest.mark.slow
def test_no_expression_overflows_the_stack(spark: SparkSession, expressions: dict[str, str]) -> None:
    compiled = spark.sparkContext._jvm.java.util.regex.Pattern.compile  # type: ignore[union-attr]
    for pattern in expressions:
        if len(pattern) > 4_000:  # alternatives of word lists take seconds a text, and are not repeated
            continue
        signs = {sign for sign in pattern if not sign.isalnum()} | {" ", "a", "A", "1"}
        signs |= {sign for name, sign in CLASSES.items() if name in pattern}
        for unit in sorted(signs) + [f"{sign} " for sign in sorted(signs)]:
            compiled(pattern).matcher(unit * (LENGTH // len(unit))).lookingAt()
            compiled(pattern).matcher("." + unit * (2_000 // len(unit))).find()
