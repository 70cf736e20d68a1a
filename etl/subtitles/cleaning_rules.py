"""The cleaning rules of EDOS 3.1 as Column functions."""

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from conf.subtitle_settings import CleaningSettings
from conf.wordlists import words_of
from etl.common.texts import word_pattern
from etl.subtitles import residue_rules as residue

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


def _without_words(not_names: Sequence[str]) -> str:
    words = "|".join(f"\\Q{entry}\\E" for entry in not_names)
    return rf"(?!(?i:(?:[^\s:]+\s+){{0,5}}(?:{words})[\s:,]))" if words else ""


def _name_pattern(word: str, not_names: Sequence[str]) -> str:
    # Most turns have no colon, and the word list is slow: check for the colon first.
    further = rf"(?:\s?(?:{_SMALL}|#)(?=[\s:])|\s{word}){{0,4}}"
    return rf"(?=[^:]{{1,80}}:){_without_words(not_names)}{_FIRST}{word}{further}\s?:{_TIME_OR_RATIO}(?:\s+|$)"


def without_bracketed_text(text: Column) -> Column:
    """Return the text without anything in square, round or curly brackets.

    In subtitles, brackets hold a character's name (`[ GRACIE ]`, `( Bob )`), a sound or manner (`[ DOOR SLAMS ]`,
    `( whispering )`) or formatting. This belongs to the removal of character names (EDOS 3.1), because `[ Steve ]` and
    `[ Sighs ]` look alike. The dialogues released with EDOS have neither.
    """
    once = F.regexp_replace(text, _BRACKETED, " ")
    return F.trim(F.regexp_replace(once, r"\s+", " "))


def without_character_names(text: Column, not_names: Sequence[str] = ()) -> Column:
    """Return a turn's text without the names of its speakers (EDOS 3.1).

    A name is up to five capitalised words before a colon, with a rank or number (`DR. SMITH :`, `MAN # 2 :`,
    `1ST OFFICER :`, `Man on TV :`), or one word in small letters before a capital (`woman : How`), at the start of the
    turn. After the end of a sentence within the turn, a name must
    be all in capitals. Leading dashes and `>>` are removed too, because they mark a change of speaker. Clock times are
    kept.

    Args:
        text: one turn.
        not_names: lower-case words that no name contains, such as `note`, `one` and `you`.
    """
    start = F.regexp_replace(text, rf"^\s*{_OPENING}", "")
    named = F.regexp_replace(start, rf"^{_name_pattern(_CAPITALISED, not_names)}{_OPENING}", "")
    small = rf"^(?=\p{{Ll}}{{2,}}\s?:){_without_words(not_names)}\p{{Ll}}+\s?:\s+(?=[\"'\p{{Lu}}])"
    named = F.regexp_replace(named, small, "")
    shouted = _name_pattern(rf"(?=[^\s:]*\p{{Lu}}[^\s:]*\p{{Lu}}){_SHOUTED}", not_names)
    inside = F.regexp_replace(named, rf"(?<=[.!?…]\s){shouted}", "")
    return F.trim(F.regexp_replace(inside, r"\s+", " "))


def names_second_speaker(text: Column, not_names: Sequence[str] = ()) -> Column:
    """Return whether a label after the end of a sentence names a second speaker: `I know . Mrs. Oliver : Sit down .`.

    Such a turn holds the words of two speakers. A label in capitals is a character name, which leaves the turn
    (``without_character_names``). This rule is ours.

    Args:
        text: one turn, tokenised, without bracketed text.
        not_names: lower-case words that no name contains.
    """
    label = _name_pattern(_CAPITALISED, not_names)
    opening = r"(?<=[^\s:]\s[.!?…]{1,3}\s)(?:[-–—\"]\s?)?(?=\S*\p{Ll})"
    return text.rlike(rf"{opening}{label}(?=[\"'\p{{Lu}}\p{{Nd}}]|\.\.)")


def nothing_said(text: Column, spoken: Column) -> Column:
    """Return whether a turn has only a name or the description of a sound (EDOS 3.1)."""
    return (spoken == "") & (F.trim(text) != "")


def comparable(plain: Column, spoken: Column) -> Column:
    """Return a turn's words, with " ?" for a question: "Friday ." does not repeat "Friday ?" (preset ``paper``)."""
    return F.when((plain != "") & spoken.rlike(r"\?\W*$"), F.concat(plain, F.lit(" ?"))).otherwise(plain)


def repeats(text: Column, earlier: Column) -> Column:
    """Return whether a turn equals an earlier one apart from case and punctuation (EDOS 3.1).

    The paper does not define a repetitive turn, so the caller chooses the earlier turns.

    Args:
        text: the turn, from ``comparable``.
        earlier: array<string> of earlier turns, from ``comparable``.
    """
    return (text != "") & F.array_contains(earlier, text)


def previously_on(text: Column) -> Column:
    """Return whether a turn starts with "previous on" or "previously on", as a recap does (EDOS 3.1)."""
    return text.rlike(r"(?i)^\W*previous(?:ly)?\s*,?\s+on\b")


def opens_with(text: Column, phrases: Sequence[str]) -> Column:
    """Return whether a turn begins with one of the phrases, in any case, after marks; false without phrases."""
    if not phrases:
        return F.lit(False)
    words = "|".join(rf"\Q{phrase}\E" for phrase in phrases)
    return text.rlike(rf"(?iu)^[^\p{{L}}\p{{Nd}}]*(?:{words})(?![\p{{L}}\p{{Nd}}])")


def length_of(text: Column, unit: str = "characters") -> Column:
    """Return the length of a turn in tokens, or in characters including blanks (EDOS 3.1)."""
    return F.char_length(text) if unit == "characters" else F.size(F.split(text, " "))


def alphabetic_share(text: Column, among: str = "visible") -> Column:
    """Return the share of letters of any script among the visible or all characters of a turn (EDOS 3.1).

    In each released file the lowest share is exactly 0.6 among all characters, blanks included. It is null for a turn
    without characters.
    """
    letters = F.char_length(F.regexp_replace(text, r"[^\p{L}]", ""))
    size = F.char_length(F.regexp_replace(text, r"\s", "") if among == "visible" else text)
    return F.when(size > 0, letters / size)


def distinct_share(text: Column) -> Column:
    """Return the distinct tokens of a turn as a share of all, to 4 decimals (EDOS 3.1: a lot of repetitive tokens).

    Tokens that differ in case are distinct. Of 48,414 different released turns 314 have exactly two thirds, none less.
    """
    tokens = F.split(text, " ")
    return F.round(F.size(F.array_distinct(tokens)) / F.size(tokens), 4)


def most_frequent_share(words: Column) -> Column:
    """Return the share of the most frequent word in an array of normalised words; null for no words (EDOS 3.1)."""
    counts = F.transform(F.array_distinct(words), lambda word: F.size(F.filter(words, lambda other: other == word)))
    return F.when(F.size(words) > 0, F.array_max(counts) / F.size(words))


def repetitive_tokens(words: Column, share: float, min_tokens: int) -> Column:
    """Return whether one word exceeds a share of a turn of at least ``min_tokens`` words (EDOS 3.1 has no number)."""
    # A cheap necessary condition: a word above the share leaves few distinct words.
    few_distinct = F.size(F.array_distinct(words)) <= F.size(words) * (1 - share) + 1
    return (F.size(words) >= min_tokens) & few_distinct & (most_frequent_share(words) > share)


def certain_up_to(place: Column) -> Column:
    """Return the probability that all turns of a dialogue up to this place are right, from column certainties."""
    return F.round(
        F.aggregate(F.slice("certainties", 1, place + 1), F.lit(1.0), lambda all_right, turn: all_right * turn), 4
    )


def excluded_genre(genres: Column, excluded: Sequence[str]) -> Column:
    """Return a film's first excluded genre in lower case, or null; EDOS 3.1 excludes Documentary."""
    names = [genre.strip().lower() for genre in excluded]
    if not names:
        return F.lit(None).cast("string")
    known = F.transform(genres, lambda genre: F.lower(F.trim(genre)))
    return F.get(F.filter(known, lambda genre: genre.isin(*names)), F.lit(0))


def profane_word(text: Column, entries: Sequence[str]) -> Column:
    """Return the first profane word of a text in lower case; null without one."""
    if not entries:
        return F.lit(None).cast("string")
    found = F.regexp_extract(text, word_pattern(entries), 0)
    return F.when(found != "", F.lower(found))


class CleaningRules(CleaningSettings):
    """The settings ``subtitles.cleaning`` with their word lists.

    Attributes:
        not_names: words that no character name contains.
        profanity: words that make a dialogue profane.
        address_words: words with which speakers speak of themselves and to each other.
        recaps, credits: beginnings of recaps and credits in other languages than English, whose are patterns.
    """

    not_names: tuple[str, ...] = ()
    profanity: tuple[str, ...] = ()
    address_words: tuple[str, ...] = ()
    recaps: tuple[str, ...] = ()
    credits: tuple[str, ...] = ()


def rules_of(settings: CleaningSettings, languages: Sequence[str] = ("en",)) -> CleaningRules:
    """Return the rules of settings ``subtitles.cleaning``, with the word lists of the languages in ``conf/``."""
    names = ("not_names", "profanity", "address_words", "recaps", "credits")
    return CleaningRules(**settings.model_dump(), **{name: words_of(languages or ("en",), name) for name in names})


def spoken_text(text: Column, rules: CleaningRules, language: Column | None = None) -> Column:
    """Return a turn's text without character names and bracketed descriptions (EDOS 3.1).

    Args:
        text: the turn's sentences, joined by blanks.
        rules: which parts leave the text.
        language: the film's; scanning errors are repaired in English films. None: English.
    """
    spoken = F.trim(F.coalesce(text, F.lit("")))
    if rules.repair_scans:
        repaired = residue.without_scan_errors(spoken)
        spoken = repaired if language is None else F.when(language == "en", repaired).otherwise(spoken)
    if rules.strip_brackets:
        spoken = without_bracketed_text(spoken)
    return without_character_names(spoken, rules.not_names) if rules.strip_names else spoken


def _paper_faults(
    turn: Column, index: Column, comparable: Column, tokens: Column, rules: CleaningRules
) -> list[tuple[Column, str, Column]]:
    """Return (broken, reason, detail) of the paper's rules in its order, as the preset reads them."""
    text = turn["text"]
    spoken = turn["spoken"]
    found: list[tuple[Column, str, Column]] = [(nothing_said(text, spoken), "nothing_said", text)]
    if rules.repeated_turns != "off":
        # The first turn has no previous one: `slice` must return an empty array, not fail on position 0.
        previous = F.slice(comparable, F.greatest(index, F.lit(1)), F.when(index > 0, 1).otherwise(0))
        earlier = previous if rules.repeated_turns == "previous" else F.slice(comparable, 1, index)
        found.append((repeats(F.get(comparable, index), earlier), "repeated_turn", spoken))
    if rules.previously_on:
        recap = previously_on(spoken) | opens_with(spoken, rules.recaps)
        found.append((recap, "previously_on", spoken))
    length = length_of(spoken, rules.length_in)
    measured = F.concat(length.cast("string"), F.lit(f" {rules.length_in}: "), spoken)
    if rules.min_characters is not None:
        found.append((length < rules.min_characters, "too_short", measured))
    if rules.max_characters is not None:
        found.append((length > rules.max_characters, "too_long", measured))
    if rules.min_alphabetic_share is not None:
        share = F.coalesce(alphabetic_share(spoken, rules.letters_among), F.lit(0.0))
        found.append((share < rules.min_alphabetic_share, "too_few_letters", _measured(share, "letters", spoken)))
    if rules.min_distinct_share is not None:
        share = distinct_share(spoken)
        evidence = _measured(share, "distinct tokens", spoken)
        found.append((share < rules.min_distinct_share, "repetitive_tokens", evidence))
    if rules.repetitive_share is not None:
        evidence = _measured(most_frequent_share(tokens), "one word", spoken)
        repetitive = repetitive_tokens(tokens, rules.repetitive_share, rules.repetitive_min_tokens)
        found.append((repetitive, "repetitive_tokens", evidence))
    return found


def _residue_faults(turn: Column, rules: CleaningRules) -> list[tuple[Column, str, Column]]:
    """Return (broken, reason, detail) of our rules."""
    spoken = turn["spoken"]
    bracketless = without_bracketed_text(turn["text"])
    is_credit = residue.is_credit(bracketless) | opens_with(bracketless, rules.credits)
    rules_in_order = (
        (rules.drop_songs, residue.is_song(spoken), "song"),
        (rules.drop_credits, is_credit, "credit"),
        (rules.drop_quoted, residue.begins_with_quotation(spoken), "quotation"),
        (rules.drop_inner_labels, names_second_speaker(bracketless, rules.not_names), "second_speaker"),
    )
    found = [(broken, reason, turn["text"]) for switched_on, broken, reason in rules_in_order if switched_on]
    if rules.min_certainty is not None and rules.certain_turns == "first":
        certainty = turn["certainty"]
        broken = F.coalesce(certainty < rules.min_certainty, F.lit(False))
        found.append((broken, "uncertain_turn", _measured(certainty, "certain", spoken)))
    return found


def turn_fault(turn: Column, index: Column, comparable: Column, tokens: Column, rules: CleaningRules) -> Column:
    """Return struct(reason, detail) of the first rule that removes a turn, or null: the paper's rules, then ours."""
    verdict = F.lit(None).cast("struct<reason: string, detail: string>")
    found = _paper_faults(turn, index, comparable, tokens, rules) + _residue_faults(turn, rules)
    for broken, reason, detail in reversed(found):
        verdict = F.when(broken, F.struct(F.lit(reason).alias("reason"), detail.alias("detail"))).otherwise(verdict)
    return verdict


def _measured(share: Column, of_what: str, spoken: Column) -> Column:
    return F.concat(F.format_number(share, 4), F.lit(f" {of_what}: "), spoken)
