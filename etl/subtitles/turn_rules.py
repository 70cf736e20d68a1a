"""Turn rules: what removes a turn; the paper's rules in its order, then ours (EDOS 3.1)."""

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from etl.common.text_comparison import word_pattern
from etl.subtitles.cleaning_words import CleaningWords
from etl.subtitles.settings import CleaningSettings
from etl.subtitles.text_rules import CAPITALISED, MOST_CHARACTERS, name_pattern, without_bracketed_text


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

    Combining marks, such as the vowel signs of Hindi, are letters.

    In each released file the lowest share is exactly 0.6 among all characters, blanks included. It is null for a turn
    without such characters.

    Args:
        text: the turn.
        among: ``all`` characters, the ``visible`` ones (those but blanks), or those of ``words``, which punctuation is
            not either: "No ..." is all letters (ours).
    """
    letters = F.char_length(F.regexp_replace(text, r"[^\p{L}\p{M}]", ""))
    left_out = {"all": None, "visible": r"\s", "words": r"[\s\p{P}]"}[among]
    size = F.char_length(text if left_out is None else F.regexp_replace(text, left_out, ""))
    return F.when(size > 0, letters / size)


def distinct_share(text: Column) -> Column:
    """Return the distinct tokens of a turn as a share of all, to 4 decimals (EDOS 3.1: a lot of repetitive tokens).

    Tokens that differ in case are distinct. Of 48,414 different released turns 314 have exactly two thirds, none less.
    """
    tokens = F.split(text, " ")
    return F.round(F.size(F.array_distinct(tokens)) / F.size(tokens), 4)


LOCAL_WORDS = 10


def local_distinct_share(words: Column) -> Column:
    """Return the mean share of distinct words in each ten successive ones, to 4 decimals; null for no words.

    This is the moving-average type-token ratio (Covington and McFall 2010). Unlike the share among all tokens it does
    not fall with the length of a turn. Shorter turns are one window. This rule is ours.

    Args:
        words: normalised words of a turn.
    """
    windows = F.sequence(F.lit(1), F.greatest(F.size(words) - LOCAL_WORDS + 1, F.lit(1)))
    shares = F.transform(
        windows,
        lambda start: (
            F.size(F.array_distinct(F.slice(words, start, LOCAL_WORDS))) / F.least(F.size(words), F.lit(LOCAL_WORDS))
        ),
    )
    total = F.aggregate(shares, F.lit(0.0), lambda sofar, share: sofar + share)
    return F.when(F.size(words) > 0, F.round(total / F.size(windows), 4))


def most_frequent_share(words: Column) -> Column:
    """Return the share of the most frequent word in an array of normalised words; null for no words (EDOS 3.1)."""
    counts = F.transform(F.array_distinct(words), lambda word: F.size(F.filter(words, lambda other: other == word)))
    return F.when(F.size(words) > 0, F.array_max(counts) / F.size(words))


def repetitive_tokens(words: Column, share: float, min_tokens: int) -> Column:
    """Return whether one word exceeds a share of a turn of at least ``min_tokens`` words (EDOS 3.1 has no number)."""
    # A cheap necessary condition: a word above the share leaves few distinct words.
    few_distinct = F.size(F.array_distinct(words)) <= F.size(words) * (1 - share) + 1
    return (F.size(words) >= min_tokens) & few_distinct & (most_frequent_share(words) > share)


_BY = r"(?:\s+\S+){0,5}?\s*(?:\b(?:[Bb]y|BY|[Ff]rom|[Ff]or)\b|:)"
_SUBTITLE = r"(?i:sub-?titl(?:es?|ed|ing)|caption(?:s|ed|ing)?|subbed|fan-?subs?|eng(?:lish)?\s?-?subs?|subs)\b"
_VERSION = (
    r"(?:(?:[Tt]ranslat(?:ed|ion)|[Tt]ranscri(?:bed|pt|ption)|(?:[Rr]e)?-?[Ss]ync(?:ed|hed|hro|hroni[sz](?:ed|ation))?"
    r"|[Rr]ipped|[Ee]ncoded|(?:[Rr]e)?-?[Tt]im(?:ed|ing)|[Tt]ypeset(?:ting)?|[Pp]roofread(?:ing)?|[Uu]ploaded"
    r"|[Cc]orrect(?:ed|ions?)|[Rr]evis(?:ed|ions?)|[Aa]dapt(?:ed|ation))"
    r"(?:\s*(?:,|&|/|and|\p{L}+(?:ed|ing|ion|ions))){0,8}\s*(?:by|:)\s+(?=[\p{Lu}\p{Nd}\"'@]))"
)
_MAKER = (
    r"(?:[Dd]irected|[Pp]roduced|[Ww]ritten(?: (?:and|&) directed)?|[Ss]creenplay|[Pp]hotograph(?:ed|y)"
    r"|[Cc]inematography|[Mm]usic|[Ee]dited|[Cc]ostumes?|[Aa]rt direction|[Pp]roduction design(?:ers?)?"
    r"|[Ee]xecutive producers?|[Bb]ased on (?:the|a) (?:novel|story|play|book)|[Nn]arrated|[Aa]ssistant directors?)"
)
_NUMBER = r"(?:\p{Nd}{1,3}|[Oo]ne|[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|[Ss]even|[Ee]ight|[Nn]ine|[Tt]en)"
_CREDITS = (
    # makers of the subtitles: at the start of a turn, or capitalised within it
    rf"(?:^\W*(?:\p{{L}}+\s)?{_SUBTITLE}|\b(?=\p{{Lu}}){_SUBTITLE}){_BY}",
    rf"(?:^|[.!?…]\s)\W{{0,20}}{_VERSION}",
    r"(?i)^\W*(?:english\s+)?(?:sub-?titles?|captions?)\W+(?:\(\s*c\s*\)|©|downloaded|provided|conformed|made|performed)",
    r"(?i)^\W*(?:english|full)\s+sub-?titles?\b(?!\W*(?:\?|are|is|were|would|for)\b)",
    r"(?i)opensubtitles|open-subtitles|addic7ed|subscene|podnapisi|tvsubtitles|yifysub|legendas\s?\.\s?(?:tv|com|net)|\bwww\s?\.|\bhttps?\b",
    r"(?i)\bcaption(?:ing|s)? (?:made possible|performed|prohibited|without permission)|\bof captions prohibited",
    r"(?i)\bcopyright\s*(?:\(\s*c\s*\)|©|\p{Nd}{4})|©\s*\p{Nd}{4}|\ball rights reserved\b",
    r"(?i)\bbrought to you by\b.{0,200}\bsub",
    # makers of the film, its parts and its end
    rf"^\W*{_MAKER}\s*(?:[Bb]y\b|:)\s*(?:$|[\p{{Lu}}\p{{Nd}}:]|camera)",
    r"(?i)^\W*(?:the end|fin|to be continued|end of (?:part|episode)\s+\w+|presents|starring|original title"
    r"|sponsored by|special thanks(?: to)?)\W*$",
    rf"^\W*(?:[Ss]eason|SEASON|[Ss]eries)\s+{_NUMBER}\W+(?:[Ee]pisode|EPISODE|[Ee]p)\b",
    rf"^\W*(?:Episode|EPISODE|Ep|EP)\s*[.#]?\s*{_NUMBER}\b\W*(?:$|[\"\p{{Lu}}:])|^\W*[Ss]\p{{Nd}}{{1,2}}\s?[Ee]\p{{Nd}}{{1,2}}\b",
)


def is_credit(text: Column, more: Sequence[str] = ()) -> Column:
    """Return whether a turn names makers of the subtitles or the film, a site, a season and episode, or the end.

    Such lines are shown on the screen and spoken by nobody. Few are left in the released rows of EDOS.

    Args:
        text: one turn, without bracketed text.
        more: patterns of ``conf/credit_patterns.yaml``.
    """
    return reduce(lambda found, pattern: found | text.rlike(pattern), (*_CREDITS[1:], *more), text.rlike(_CREDITS[0]))


_SONGS = (
    r"[♪♫♩♬]",
    r"(?:^|[.!?:]\s)#\s*[\p{L}\"'.]|[^\d\s]\s*#$",
    r"^\*\s*[\p{L}\"'.]|[\p{L}.,!?'\"]\s\*$",
    r"(?:^|\s)(?:[Ll]a|[Nn]a|[Dd]a|[Dd]oo)(?:\s*[,-]?\s*(?:[Ll]a|[Nn]a|[Dd]a|[Dd]oo)\b){3}",
)


def is_song(text: Column) -> Column:
    """Return whether a turn is sung: a note sign, `#` or `*` beside its words, or syllables."""
    return reduce(lambda found, pattern: found | text.rlike(pattern), _SONGS[1:], text.rlike(_SONGS[0]))


_END_OF_SONG = r"(?:(?<=\s[.!?\x{2026}]{1,3})(?=\s+\P{Ll})|$)"
_SUNG_PARTS = (
    r"[♪♫♩♬][^♪♫♩♬]{0,2000}[♪♫♩♬]",
    r"(?<!\S)#(?=[\s#]{0,9}[\p{L}\"'.])[^#]{1,2000}(?<!\d\s?)#(?!\s?\d)",
    rf"[♪♫♩♬]\s*(?=\S).{{1,2000}}?{_END_OF_SONG}",
    rf"(?<=^|[.!?:]\s)#\s*(?=[\p{{L}}\"'.]).{{1,2000}}?{_END_OF_SONG}",
    r"(?:^|(?<=\s[.!?\x{2026}]{1,3}\s))[^♪♫♩♬.!?\x{2026}]{1,400}[.!?\x{2026}\s]{0,9}[♪♫♩♬]\s*$",
)
"""Songs between two notes or signs; from one to the end of its sentence; and a sentence before a last note."""


def without_songs(text: Column) -> Column:
    """Return what is said in a turn beside what is sung; a turn of which nothing else is said stays.

    A song stands between two notes. One that none closes ends with its sentence.
    """
    rest = reduce(lambda sofar, pattern: F.regexp_replace(sofar, pattern, " "), _SUNG_PARTS, text)
    rest = F.trim(F.regexp_replace(rest, r"\s+", " "))
    noted = text.rlike(r"[♪♫♩♬]|(?:^|\s)#\s*[\p{L}\"'.]")
    return F.when(noted & without_bracketed_text(rest).rlike(r"\p{L}"), rest).otherwise(text)


_AFTER_END = r"(?<=\s[.!?\x{2026}\x{61f}\x{964};]{1,3})\s+(?!(?:TV|COM|NET|ORG|APP|INFO|ME|CO)\b)(?=\P{Ll})"


def without_credit_sentences(text: Column, words: CleaningWords) -> Column:
    """Return what stands in a turn before its first sentence that is a credit; a turn that begins with one stays.

    A credit follows the last words of a dialogue without a mark, so that the segmenter takes it for the same turn.
    This rule is ours.

    Args:
        text: one turn, tokenised.
        words: with the credits and patterns of the languages.
    """
    sentences = F.split(text, _AFTER_END)

    def credit(sentence: Column) -> Column:
        bare = without_bracketed_text(sentence)
        return is_credit(bare, words.credit_patterns) | opens_with(bare, words.credits)

    first = F.array_position(F.transform(sentences, credit), True).cast("int")
    before = F.array_join(F.slice(sentences, 1, F.greatest(first - 1, F.lit(0))), " ")
    return F.when(text.rlike(_AFTER_END) & (first > 1), before).otherwise(text)


def is_quotation(text: Column) -> Column:
    """Return whether a turn is a quotation from its beginning to its end: a text that is read, recited, sung or shown.

    Marks that close before the end quote a word or the words of others: ``" Never " , he said .`` Two quoted sentences
    are a quotation. This rule is ours.
    """
    marks = r"[\"\x{201c}\x{201d}\x{ab}\x{bb}\x{201e}]|''|``"
    inner = F.regexp_replace(
        text, rf"(?:{marks})[^\"\x{{201c}}\x{{201d}}\x{{ab}}\x{{bb}}\x{{201e}}]*(?:{marks}|$)", " "
    )
    return begins_with_quotation(text) & ~inner.rlike(r"[\p{L}\p{Nd}]")


def begins_with_quotation(text: Column) -> Column:
    """Return whether a turn begins with a quotation mark: a text that is read, recited, sung or shown.

    About 1 % of the turns in a sample of films begin so, but 7 of 63,816 released ones.
    """
    return text.rlike(r"^(?:[\"“”«„]|''|``)")


def names_second_speaker(text: Column, not_names: Sequence[str] = ()) -> Column:
    """Return whether a label after the end of a sentence names a second speaker: `I know . Mrs. Oliver : Sit down .`.

    Such a turn holds the words of two speakers. A label in capitals is a character name, which leaves the turn
    (``without_character_names``). This rule is ours.

    Args:
        text: one turn, tokenised, without bracketed text.
        not_names: lower-case words that no name contains.
    """
    label = name_pattern(CAPITALISED, not_names)
    opening = r"(?<=[^\s:]\s[.!?…]{1,3}\s)(?:[-–—\"]\s?)?(?=\S*\p{Ll})"
    return text.rlike(rf"{opening}{label}(?=[\"'\p{{Lu}}\p{{Nd}}]|\.\.)")


def profane_word(text: Column, entries: Sequence[str]) -> Column:
    """Return the first profane word of a text in lower case; null without one."""
    if not entries:
        return F.lit(None).cast("string")
    found = F.regexp_extract(text, word_pattern(entries), 0)
    return F.when(found != "", F.lower(found))


def endless(turn: Column) -> Column:
    """Return whether a turn is longer than any text that is said at once, so that no expression may read all of it."""
    return F.char_length(turn["text"]) > MOST_CHARACTERS


def is_recap(turn: Column, words: CleaningWords) -> Column:
    """Return whether a turn (text, spoken) starts as a recap does, before or after names have left it (EDOS 3.1).

    "Previously on Harbour Street : ..." looks like the name of a speaker.
    """
    recaps = [previously_on(text) | opens_with(text, words.recaps) for text in (turn["text"], turn["spoken"])]
    return recaps[0] | recaps[1]


def is_cue(turn: Column, rules: CleaningSettings, words: CleaningWords) -> Column:
    """Return whether a turn (text, spoken) has only a name or a sound, and is no recap (EDOS 3.1)."""
    silent = nothing_said(turn["text"], turn["spoken"]) & ~endless(turn)
    return silent & ~is_recap(turn, words) if rules.previously_on else silent


def _paper_faults(
    turn: Column, index: Column, comparable: Column, tokens: Column, rules: CleaningSettings, words: CleaningWords
) -> list[tuple[Column, str, Column]]:
    """Return (broken, reason, detail) of the paper's rules in its order, as the preset reads them."""
    text = turn["text"]
    spoken = turn["spoken"]
    recap = is_recap(turn, words)
    found: list[tuple[Column, str, Column]] = [(is_cue(turn, rules, words), "nothing_said", text)]
    if rules.repeated_turns != "off":
        # The first turn has no previous one: `slice` must return an empty array, not fail on position 0.
        previous = F.slice(comparable, F.greatest(index, F.lit(1)), F.when(index > 0, 1).otherwise(0))
        earlier = previous if rules.repeated_turns == "previous" else F.slice(comparable, 1, index)
        repeated = repeats(F.get(comparable, index), earlier)
        if rules.repeated_min_words > 1:
            repeated = repeated & (F.size(tokens) >= rules.repeated_min_words)
        found.append((repeated, "repeated_turn", spoken))
    if rules.previously_on:
        found.append((recap, "previously_on", F.when(spoken != "", spoken).otherwise(text)))
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
    if rules.min_local_distinct_share is not None:
        share = local_distinct_share(tokens)
        repetitive = (F.size(tokens) >= rules.repetitive_min_tokens) & (share < rules.min_local_distinct_share)
        evidence = _measured(share, "distinct words in ten", spoken)
        found.append((repetitive, "repetitive_tokens", evidence))
    if rules.repetitive_share is not None:
        evidence = _measured(most_frequent_share(tokens), "one word", spoken)
        repetitive = repetitive_tokens(tokens, rules.repetitive_share, rules.repetitive_min_tokens)
        found.append((repetitive, "repetitive_tokens", evidence))
    return found


def _our_faults(turn: Column, rules: CleaningSettings, words: CleaningWords) -> list[tuple[Column, str, Column]]:
    """Return (broken, reason, detail) of our rules."""
    spoken = turn["spoken"]
    bracketless = without_bracketed_text(turn["text"])
    credit = is_credit(bracketless, words.credit_patterns) | opens_with(bracketless, words.credits)
    quoted = is_quotation(spoken) if rules.quoted_match == "whole" else begins_with_quotation(spoken)
    rules_in_order = (
        (rules.drop_songs, is_song(spoken), "song"),
        (rules.drop_credits, credit, "credit"),
        (rules.drop_quoted, quoted, "quotation"),
        (rules.drop_inner_labels, names_second_speaker(bracketless, words.not_names), "second_speaker"),
    )
    return [(broken, reason, turn["text"]) for switched_on, broken, reason in rules_in_order if switched_on]


def turn_fault(
    turn: Column, index: Column, comparable: Column, tokens: Column, rules: CleaningSettings, words: CleaningWords
) -> Column:
    """Return struct(reason, detail) of the first rule that removes a turn, or null: the paper's rules, then ours."""
    verdict = F.lit(None).cast("struct<reason: string, detail: string>")
    found = [(endless(turn), "too_long", F.lit(f"more than {MOST_CHARACTERS} characters"))]
    found += _paper_faults(turn, index, comparable, tokens, rules, words) + _our_faults(turn, rules, words)
    for broken, reason, detail in reversed(found):
        verdict = F.when(broken, F.struct(F.lit(reason).alias("reason"), detail.alias("detail"))).otherwise(verdict)
    return verdict


def _measured(share: Column, of_what: str, spoken: Column) -> Column:
    return F.concat(F.format_number(share, 4), F.lit(f" {of_what}: "), spoken)
