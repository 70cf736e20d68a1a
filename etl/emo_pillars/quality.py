"""Find faults in answers that parse well: lists of labels, repetitions, another person (ours).

A fault is a word in the column ``faults``. Those that ``emo_pillars.quality.reject`` names also drop the item.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from etl.emo_pillars.answers import SENTENCE_END, Parsed, Rejected, words_of

LIST_OF_LABELS = "list_of_labels"
NAMES_EMOTION = "names_emotion"
REPEATS = "repeats_itself"
SAME = "same_across_emotions"
SHORT = "too_few_words"
LONG = "too_many_words"
OTHER_PERSON = "other_person"
UNCHANGED = "same_as_original"
FEW_LABELS = "few_labels"
EQUAL_LEVELS = "equal_levels"
MORE_WORDS = 10
"""Words that a rewritten utterance may always have beyond its share of the original."""
REPEATED_WORDS = 4
"""Words of a sentence whose repetitions count."""
_FIRST = frozenset(words_of("I me my mine myself we us our ours ourselves"))
_THIRD = frozenset(words_of("he she they his her their him them"))
_SPEAKERS = (("the", "character"), ("the", "speaker"), ("this", "character"), ("this", "person"))


def text_faults(text: str, labels: Collection[str], emotions: Collection[str], quality: Any) -> list[str]:
    """Return the faults of a text by itself.

    Args:
        text: an utterance or a context.
        labels: the emotions that it expresses, which it should not name.
        emotions: all known names of emotions.
        quality: the section ``emo_pillars.quality``.
    """
    words = words_of(text)
    found = []
    named = sum(word in emotions for word in words)
    if words and 2 * named >= len(words):
        found.append(LIST_OF_LABELS)
    if set(words) & {word for label in labels for word in words_of(label)}:
        found.append(NAMES_EMOTION)
    if repeats(text) >= quality.most_repeats:
        found.append(REPEATS)
    return found


def repeats(text: str) -> int:
    """Return how often the most frequent sentence of four words or more occurs, as small models may loop."""
    sentences = (tuple(words_of(sentence)) for sentence in SENTENCE_END.split(text))
    return max(Counter(words for words in sentences if len(words) >= REPEATED_WORDS).values(), default=0)


def utterance_faults(said: Sequence[tuple[str, str]], emotions: Collection[str], quality: Any) -> list[list[str]]:
    """Return the faults of an answer's utterances, given as (label, text): also nearly equal ones of other emotions."""
    bags = [frozenset(words_of(text)) - set(emotions) for _, text in said]
    found = []
    for place, (label, text) in enumerate(said):
        faults = text_faults(text, [label], emotions, quality)
        if len(words_of(text)) < quality.least_words:
            faults.append(SHORT)
        others = (bag for other, bag in zip(said, bags, strict=True) if other[0] != label)
        if any(_jaccard(bags[place], bag) >= quality.sameness for bag in others):
            faults.append(SAME)
        found.append(faults)
    return found


def rewrite_faults(text: str, given: Mapping[str, Any], emotions: Collection[str], quality: Any) -> list[str]:
    """Return the faults of a rewritten utterance: also its length and its person.

    Args:
        text: the rewritten utterance.
        given: the original ``utterance``, the ``actor`` who says it, and its ``labels``.
        emotions: all known names of emotions.
        quality: the section ``emo_pillars.quality``.
    """
    found = text_faults(text, given.get("labels") or (), emotions, quality)
    words = words_of(text)
    before = words_of(given.get("utterance") or "")
    if len(words) < quality.least_words:
        found.append(SHORT)
    if before and len(words) > quality.longest_rewrite * len(before) + MORE_WORDS:
        found.append(LONG)
    if words == before:
        found.append(UNCHANGED)
    if is_of_other_person(words, before, given.get("actor") or ""):
        found.append(OTHER_PERSON)
    return found


def is_of_other_person(words: Sequence[str], before: Sequence[str], actor: str) -> bool:
    """Return true if words tell of a character instead of being said by it.

    They begin with the character, or with a pronoun or the character's name where the original says "I".
    """
    if tuple(words[:2]) in _SPEAKERS:
        return True
    name = words_of(actor.split("(")[0])
    tells = bool(words) and (words[0] in _THIRD or words[0] in name[:1])
    return tells and bool(_FIRST & set(before)) and not _FIRST & set(words)


def label_faults(levels: Sequence[tuple[str, float]], quality: Any) -> list[str]:
    """Return the faults of an utterance's labels with levels: too few labels, or three and more of one level."""
    found = [FEW_LABELS] if len({label for label, _ in levels}) < quality.least_labels else []
    equal = len(levels) > 2 and len({level for _, level in levels}) == 1
    return [*found, EQUAL_LEVELS] if equal else found


def judged(parsed: Parsed, texts: Sequence[str], faults: Sequence[list[str]], reject: Collection[str]) -> Parsed:
    """Add its faults to each item, and reject the items that have one of ``reject``.

    Args:
        parsed: items as tuples.
        texts: the items' texts, for the ledger.
        faults: the items' faults.
        reject: faults that reject an item.
    """
    kept = []
    rejected = list(parsed.rejected)
    for item, text, its in zip(parsed.items, texts, faults, strict=True):
        reason = next((fault for fault in its if fault in reject), None)
        if reason is None:
            kept.append((*item, its))
        else:
            rejected.append(Rejected(reason, text))
    return Parsed(kept, rejected)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0
