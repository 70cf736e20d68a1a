"""Find faults in answers that parse well, which several steps share: lists of labels, repetitions (ours).

A fault is a word in the column ``faults``. Those that ``emo_pillars.quality.reject`` names also drop the item.
"""

from collections import Counter
from collections.abc import Collection, Sequence

from etl.common.other_languages import foreign_texts
from etl.emo_pillars.answers import SENTENCE_END, Parsed, Rejected, words_of

LIST_OF_LABELS = "list_of_labels"
NAMES_EMOTION = "names_emotion"
REPEATS = "repeats_itself"
SHORT = "too_few_words"
OTHER_LANGUAGE = "other_language"
LEAST_WORDS = 2
"""Fewest words of an utterance, original or rewritten."""
MOST_REPEATS = 3
"""Occurrences of a sentence of four words that are a fault."""
REPEATED_WORDS = 4
"""Words of a sentence whose repetitions count."""


def text_faults(text: str, labels: Collection[str], emotions: Collection[str]) -> list[str]:
    """Return the faults of a text by itself.

    Args:
        labels: the emotions that it expresses, which it should not name.
    """
    words = words_of(text)
    found = []
    named = sum(word in emotions for word in words)
    if words and 2 * named >= len(words):
        found.append(LIST_OF_LABELS)
    if set(words) & {word for label in labels for word in words_of(label)}:
        found.append(NAMES_EMOTION)
    if repeats(text) >= MOST_REPEATS:
        found.append(REPEATS)
    return found


def repeats(text: str) -> int:
    """Return how often the most frequent sentence of four words or more occurs, as small models may loop."""
    sentences = (tuple(words_of(sentence)) for sentence in SENTENCE_END.split(text))
    return max(Counter(words for words in sentences if len(words) >= REPEATED_WORDS).values(), default=0)


def of_other_language(texts: Sequence[str], template: str) -> list[list[str]]:
    """Return ``OTHER_LANGUAGE`` as the fault of each text of an answer that is not English, though its prompt is."""
    return [[OTHER_LANGUAGE] if foreign else [] for foreign in foreign_texts(texts, template)]


def judged(parsed: Parsed, texts: Sequence[str], faults: Sequence[list[str]], reject: Collection[str]) -> Parsed:
    """Add its faults to each item, and reject the items that have one of ``reject``."""
    kept = []
    rejected = list(parsed.rejected)
    for item, text, its in zip(parsed.items, texts, faults, strict=True):
        reason = next((fault for fault in its if fault in reject), None)
        if reason is None:
            kept.append((*item, its))
        else:
            rejected.append(Rejected(reason, text))
    return Parsed(kept, rejected)
