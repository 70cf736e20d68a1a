"""The cleaning rules of EDOS 3.1, one small Column function each, with its threshold as an argument."""

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from etl.common.texts import word_pattern

_BRACKETED = r"\[[^\[\]]{0,300}\]|\([^()]{0,300}\)|\{[^{}]{0,300}\}"
_OPENING = r"(?:[-–—>]+\s*|:\s*)*"
_CAPITALISED = r"\p{Lu}[\p{L}\p{Nd}.'’\-]*"
_SHOUTED = r"(?:Mc|Mac|Le|De|La)?\p{Lu}[\p{Lu}\p{Nd}l.'’\-]*"
_FIRST = r"(?:\d{1,2}(?:[sS][tT]|[nN][dD]|[rR][dD]|[tT][hH])\s+)?"
_SMALL = (
    r"#\s?\d{1,2}|\d{1,2}|&|,|['’][sS]|and|of|on|in|over|at|the|tv|radio|phone|police|intercom|loudspeaker"
    r"|man|woman|boy|girl|voice|voice-over|speaker"
)
_TIME_OR_RATIO = r"(?!(?<=\d\s?:)\s?\d)"


def _name_pattern(word: str, not_names: Sequence[str]) -> str:
    words = "|".join(f"\\Q{entry}\\E" for entry in not_names)
    refuse = rf"(?!(?i:(?:[^\s:]+\s+){{0,5}}(?:{words})[\s:,]))" if words else ""
    # Most turns have no colon: ask for it first, the word list is slow.
    further = rf"(?:\s?(?:{_SMALL}|#)(?=[\s:])|\s{word}){{0,4}}"
    return rf"(?=[^:]{{1,80}}:){refuse}{_FIRST}{word}{further}\s?:{_TIME_OR_RATIO}(?:\s+|$)"


def without_bracketed_text(text: Column) -> Column:
    """The text without what stands in square, round or curly brackets.

    In subtitles that is a character's name (`[ GRACIE ]`, `( Bob )`), the description of a sound or a manner
    (`[ DOOR SLAMS ]`, `( whispering )`) or formatting: nothing that is said. Part of removing character names
    (EDOS 3.1), since `[ Steve ]` and `[ Sighs ]` look alike; the dialogues released with EDOS have neither.
    """
    once = F.regexp_replace(text, _BRACKETED, " ")
    return F.trim(F.regexp_replace(once, r"\s+", " "))


def without_character_names(text: Column, not_names: Sequence[str] = ()) -> Column:
    """The text without the names of who speaks; the turn stays (EDOS 3.1).

    A name is up to five words before a colon: capitalised words, with a rank or number (`DR. SMITH :`,
    `MAN # 2 :`, `1ST OFFICER :`, `Man on TV :`), at the start of the turn, or, all in capitals, after the end
    of a sentence within it. Leading dashes and `>>` go as well: they mark a change of speaker. Clock times stay.

    Args:
        text: one turn.
        not_names: lower-case words no name holds (`note`, `one`, `you`); before a colon they leave it alone.
    """
    start = F.regexp_replace(text, rf"^\s*{_OPENING}", "")
    named = F.regexp_replace(start, rf"^{_name_pattern(_CAPITALISED, not_names)}{_OPENING}", "")
    shouted = _name_pattern(rf"(?=[^\s:]*\p{{Lu}}[^\s:]*\p{{Lu}}){_SHOUTED}", not_names)
    inside = F.regexp_replace(named, rf"(?<=[.!?…]\s){shouted}", "")
    return F.trim(F.regexp_replace(inside, r"\s+", " "))


def nothing_said(text: Column, spoken: Column) -> Column:
    """Whether nothing was said: the turn held only a name or a description of a sound (EDOS 3.1)."""
    return (spoken == "") & (F.trim(text) != "")


def comparable(plain: Column, spoken: Column) -> Column:
    """What a turn is compared by for repeating another: its words, and whether it asks.

    "Friday ?" answered by "Friday ." is an exchange, not a repetition.
    """
    return F.when((plain != "") & spoken.rlike(r"\?\W*$"), F.concat(plain, F.lit(" ?"))).otherwise(plain)


def repeats(text: Column, earlier: Column) -> Column:
    """Whether a turn says the same as an earlier one, apart from case and punctuation (EDOS 3.1).

    The paper does not say what a repetitive turn is; the caller chooses which turns count as earlier.

    Args:
        text: a turn, as ``comparable``.
        earlier: array<string> of the turns it may repeat, as ``comparable``.
    """
    return (text != "") & F.array_contains(earlier, text)


def previously_on(text: Column) -> Column:
    """Whether a turn opens an episode's recap: it starts with "previous on" or "previously on" (EDOS 3.1)."""
    return text.rlike(r"(?i)^\W*previous(?:ly)?\s*,?\s+on\b")


def length_of(text: Column, unit: str = "characters") -> Column:
    """The length of a turn in characters, blanks between tokens included (EDOS 3.1), or in tokens."""
    return F.char_length(text) if unit == "characters" else F.size(F.split(text, " "))


def alphabetic_share(text: Column) -> Column:
    """Letters of any script as a share of the characters that are not blank (EDOS 3.1); null for none."""
    letters = F.char_length(F.regexp_replace(text, r"[^\p{L}]", ""))
    visible = F.char_length(F.regexp_replace(text, r"\s", ""))
    return F.when(visible > 0, letters / visible)


def most_frequent_share(words: Column) -> Column:
    """The share of a turn's words that its most frequent word makes up; null for no words (EDOS 3.1).

    Args:
        words: array<string>, normalised words.
    """
    counts = F.transform(F.array_distinct(words), lambda word: F.size(F.filter(words, lambda other: other == word)))
    return F.when(F.size(words) > 0, F.array_max(counts) / F.size(words))


def repetitive_tokens(words: Column, share: float, min_tokens: int) -> Column:
    """Whether one word is more than a share of a turn of at least so many words (EDOS 3.1 gives no number)."""
    # A word above the share leaves few other words: the cheap test first.
    few_distinct = F.size(F.array_distinct(words)) <= F.size(words) * (1 - share) + 1
    return (F.size(words) >= min_tokens) & few_distinct & (most_frequent_share(words) > share)


def is_song(text: Column) -> Column:
    """Whether a turn is sung: it bears a note sign, or `#` or `*` stands around its words. Ours, not the paper's."""
    return text.rlike(r"[♪♫♩♬]|^#\s*[^\s\d#]|[^\d\s]\s*#$|^\*[^*]+\*$")


def from_genre(genres: Column, excluded: Sequence[str]) -> Column:
    """Whether a film is of an excluded genre, in any case: EDOS 3.1 leaves out Documentary."""
    return excluded_genre(genres, excluded).isNotNull()


def excluded_genre(genres: Column, excluded: Sequence[str]) -> Column:
    """The first genre of a film that is excluded, lower case; null where none is."""
    names = [genre.strip().lower() for genre in excluded]
    if not names:
        return F.lit(None).cast("string")
    known = F.transform(genres, lambda genre: F.lower(F.trim(genre)))
    return F.get(F.filter(known, lambda genre: genre.isin(*names)), F.lit(0))


def profane_word(text: Column, entries: Sequence[str]) -> Column:
    """The first profane word of a text, lower case; null when there is none."""
    if not entries:
        return F.lit(None).cast("string")
    found = F.regexp_extract(text, word_pattern(entries), 0)
    return F.when(found != "", F.lower(found))
