"""The language of a text, by py3langid: a naive Bayes classifier of byte sequences, without network or randomness."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from py3langid.langid import MODEL_FILE, LanguageIdentifier
from simplemma import in_target_language
from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

from udfs.opus.paths import LANGUAGE_CODES

_MOST_LETTERS = 6_000
_NOT_LETTERS = re.compile(r"[\W\d_]+")
_LABEL_OR_TAG = re.compile(r"<[^<>]{1,80}>|\{[^{}]{1,80}\}|https?://\S+")
_TRADITIONAL = frozenset("這個們說來對時會國學後沒過還麼嗎為點開長東車書買賣話見錢頭門問間聽讓認識應該")
_SIMPLIFIED = frozenset("这个们说来对时会国学后没过还么吗为点开长东车书买卖话见钱头门问间听让认识应该") - _TRADITIONAL
_OPUS = {"nb": "no", "nn": "no", "se": "no", "wa": "fr", "oc": "ca"}
_ALIKE = (
    {"bs", "hr", "sr", "sl"},
    {"da", "no", "sv"},
    {"cs", "sk"},
    {"id", "ms"},
    {"es", "gl", "ca", "pt", "pt_br"},
    {"zh_cn", "zh_tw", "zh"},
    {"ru", "uk", "be", "bg", "mk"},
    {"fa", "ar", "ur"},
    {"hi", "mr", "ne"},
)
"""Languages that a short text does not tell apart."""
_LABELS = {*LANGUAGE_CODES.values(), "nb", "nn", "zh"}
"""The classifier's labels that are told apart: the languages of OPUS, and those that are read as one of them."""
_ONE_SPOKEN = ({"pt", "pt_br"}, {"bs", "hr", "sr"}, {"id", "ms"})
"""Codes that a text does not tell apart, however long it is."""
LOOKED_AT = 2_000
"""Characters of a film by which its language is told."""
SURE = 0.99
FEWEST_LETTERS = 300
_FEWEST_WITH_WORDS = 100
MOST_WORDS = 0.7
"""A text contradicts its file's name (ours) if the classifier is so sure of another language by so many letters. Where
simplemma has a dictionary of the named language, fewer letters do, if at most such a share of the words is in it."""


def language_of(text: str) -> tuple[str | None, float]:
    """Return the code of a text's language, as OPUS writes it, and its probability; None without letters."""
    letters = " ".join(_NOT_LETTERS.sub(" ", _LABEL_OR_TAG.sub(" ", text[: 4 * _MOST_LETTERS])).split())
    if not letters:
        return None, 0.0
    # Capitals are rare in what the classifier has learnt from: a shouted text is a foreign one to it.
    label, probability = _classifier().classify(letters[:_MOST_LETTERS].lower())
    if label == "zh":
        signs = set(text)
        label = "zh_tw" if len(signs & _TRADITIONAL) > len(signs & _SIMPLIFIED) else "zh_cn"
    return _OPUS.get(label, label), round(float(probability), 4)


def spread(lines: Sequence[str], characters: int) -> str:
    """Return lines from all over a text, about so many characters of them."""
    return "\n".join(lines[:: max(1, sum(map(len, lines)) // characters)])


def are_alike(one: str, other: str) -> bool:
    """Return whether a short text does not tell two languages apart."""
    return any({one, other} <= group for group in _ALIKE)


def are_one_spoken(one: str, other: str) -> bool:
    """Return whether a text of any length does not tell two languages apart."""
    return one[:2] == other[:2] or any({one, other} <= group for group in _ONE_SPOKEN)


def as_asked(found: str | None, named: str | None, languages: Sequence[str]) -> str | None:
    """Return the code of a text's language that its name or ``languages`` have, where a text does not tell: ``pt_br``.

    A name without a region, ``zh``, gets that of the text.
    """
    if named is not None:
        return found if found is not None and found.partition("_")[0] == named else named
    group: set[str] = next((group for group in _ONE_SPOKEN if found in group), set())
    return found if found in languages else next((code for code in languages if code in group), found)


def likelier(text: str, one: str, other: str) -> str:
    """Return which of two languages a text is in; the first where it has no letter."""
    letters = " ".join(_NOT_LETTERS.sub(" ", text[:_MOST_LETTERS]).split()).lower()
    if not letters:
        return one
    shares = {_OPUS.get(label, label): share for label, share in reversed(_classifier().rank(letters))}
    found = {code: shares.get(code, shares.get(code[:2], 0.0)) for code in (one, other)}
    return other if found[other] > found[one] else one


def contradicts(named: str, text: str, found: str | None, probability: float) -> bool:
    """Return whether a text is surely of another language than its file's name says."""
    if found is None or named == found or probability < SURE or are_alike(named, found):
        return False
    letters = sum(map(str.isalpha, text))
    if named not in SUPPORTED_LANGUAGES:
        return letters >= FEWEST_LETTERS
    return letters >= _FEWEST_WITH_WORDS and in_target_language(text, named) <= MOST_WORDS


@lru_cache(maxsize=1)
def _classifier() -> Any:
    classifier = LanguageIdentifier.from_pickled_model(MODEL_FILE, norm_probs=True)
    classifier.set_languages([label for label in classifier.nb_classes if label in _LABELS])
    return classifier
