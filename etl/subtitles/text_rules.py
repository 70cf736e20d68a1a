"""Text rules: what is stripped from a turn or repaired inside it; the turn stays (EDOS 3.1)."""

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from etl.subtitles.cleaning_words import CleaningWords
from etl.subtitles.settings import CleaningSettings

MOST_CHARACTERS = 4_000
"""A turn of more is ``too_long`` before any expression reads it (ours): the longest sentence of 267 films has 344."""
_BRACKETED = (
    r"\[[^\[\]]{0,300}\]|\([^()]{0,300}\)|\{[^{}]{0,300}\}"
    r"|\x{ff08}[^\x{ff08}\x{ff09}]{0,300}\x{ff09}|\x{ff3b}[^\x{ff3b}\x{ff3d}]{0,300}\x{ff3d}"
)
"""Also as wide signs, as Japanese and Chinese subtitles have them."""
_OPENING = r"(?:[-–—>:][-–—>:\s]*)?"
CAPITALISED = r"\p{Lu}[\p{L}\p{Nd}.'’\-]*"
_SHOUTED = r"(?:Mc|Mac|Le|De|La)?\p{Lu}[\p{Lu}\p{Nd}l.'’\-]*"
_FIRST = r"(?:\d{1,2}(?:[sS][tT]|[nN][dD]|[rR][dD]|[tT][hH])\s+)?"
_SMALL = (
    r"[#№]\s?\d{1,2}|\d{1,2}|&|,|['’][sS]|and|of|on|in|over|at|the|tv|radio|phone|police|intercom|loudspeaker"
    r"|man|woman|boy|girl|voice|voice-over|speaker"
)
_TIME_OR_RATIO = r"(?!(?<=\d\s?:)\s?\d)"


def _without_words(not_names: Sequence[str]) -> str:
    words = "|".join(f"\\Q{entry}\\E" for entry in not_names)
    return rf"(?!(?i:(?:[^\s:]+\s+){{0,5}}(?:{words})[\s:,]))" if words else ""


def name_pattern(word: str, not_names: Sequence[str]) -> str:
    """Return a Java pattern of a speaker's label that begins with the given word: a name, a rank or number, a colon."""
    # Most turns have no colon, and the word list is slow: check for the colon first.
    further = rf"(?:\s?(?:{_SMALL}|[#№])(?=[\s:])|\s['’]?{word}){{0,4}}"
    return rf"(?=[^:]{{1,80}}:){_without_words(not_names)}{_FIRST}{word}{further}\s?:{_TIME_OR_RATIO}(?:\s+|$)"


def without_bracketed_text(text: Column) -> Column:
    """Return the text without anything in square, round or curly brackets, wide ones too.

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
    named = F.regexp_replace(start, rf"^{name_pattern(CAPITALISED, not_names)}{_OPENING}", "")
    small = rf"^(?=\p{{Ll}}{{2,}}\s?:){_without_words(not_names)}\p{{Ll}}+\s?:\s+(?=[\"'\p{{Lu}}])"
    named = F.regexp_replace(named, small, "")
    shouted = name_pattern(rf"(?=[^\s:]*\p{{Lu}}(?:\s['’])?[^\s:]*\p{{Lu}}){_SHOUTED}", not_names)
    inside = F.regexp_replace(named, rf"(?<=[.!?…]\s){shouted}", "")
    return F.trim(F.regexp_replace(inside, r"\s+", " "))


_AFTER_I = (
    r"(?:am|was|wasn|have|haven|had|hadn|do|don|did|didn|can|could|couldn|will|would|wouldn|must|may|should|shouldn|shall"
    r"|want|know|think|saw|see|heard|ever|never|came|need|just|said)(?!\p{L})"
)
# A consonant, l and a consonant open no English word but "blvd".
_L_FOR_I = r"(?<!\p{L})((?:[BbCcDdFfGgHhKkMmNnRrSsTtWw](?=l\p{Ll}{2})|[TtSsWw]h)(?!lvd))l(?=[bcdfghjkmnpqrstvwxz])"
_O_FOR_D = (
    r"(?<!\p{L})O(?=o(?:n\s?['’]|es(?:n|\P{L}|$)|ing(?!\p{L})|\s(?:you|we|they|I|it|not)(?!\p{L}))"
    r"|id(?:n|\P{L}|$)|amn|efin|addy|ead(?!\p{L}))"
)
_SUSPECT = (
    rf"{_L_FOR_I}|{_O_FOR_D}|"
    r"(?<!\p{L})l(?![aeiouyhl]\p{L})|(?<!\p{L})L(?:t\s?['’]|f(?!\p{L}))|\p{Lu}l\p{Lu}|\p{Ll}I|['’]I[lI]"
    r"|(?<!\p{L})I(?:[eiu]\p{Ll}|[ao])"
    rf"|(?<!\p{{L}})I{_AFTER_I}"
)
_REPAIRS = (
    # stammers: l-l-I
    (r"(?<![\p{L}\p{Nd}'’-])l(?=(?:-[lI]){1,6}(?![\p{L}\p{Nd}]|-\p{L}))", "I"),
    (r"(?<=(?<![\p{L}\p{Nd}'’-])[LI]-(?:[lI]-){0,5})l(?![\p{L}\p{Nd}]|-[\p{L}&&[^lI]])", "I"),
    # a word of its own, but neither a unit after a number nor a French article
    (r"(?<![\p{L}\p{Nd}'’.-]|\p{Nd}\s)l(?![\p{L}\p{Nd}.]|['’]\p{L}|-\p{L}|\s['’](?!m\b|ll\b|ve\b|d\b|II?\b))", "I"),
    (r"(?<![\p{L}\p{Nd}'’.-])l(?=['’](?:m|ll|ve|d)\b)", "I"),
    # before consonants that follow no l at the start of an English word
    (r"(?<![\p{L}\p{Nd}'’])l(?=(?:[cdfgjkmnpqrstvwxz]\p{L}|[fnst](?![\p{L}\p{Nd}])))", "I"),
    (r"(?<![\p{L}\p{Nd}'’])L(?=t\s?['’](?:s|ll|d)(?!\p{L})|f(?![\p{L}\p{Nd}.]))", "I"),
    # within words in capitals
    (r"(?<=\p{Lu})l(?=\p{Lu})", "I"),
    # blanks that were lost around I
    (rf"(?<=\p{{Ll}}\p{{Ll}})I(?={_AFTER_I}|(?:be|ask|go|tell|wish|hope|feel|like|love|mean|must)\b)", " I "),
    (rf"(?<!\p{{L}})I(?={_AFTER_I})(?!I(?:am|may|can|see|said)\b)", "I "),
    # I for l: at the end of 'll, within and at the end of words in small letters, and at their start
    (r"(?<=\s['’])I(?=[lI](?!\p{L}))", "l"),
    (r"(?<=\p{Ll})(?<!\b(?:[Mm]c|[Mm]ac|De|La|Di|Fitz))I(?=\p{Ll}|I?(?![\p{L}\p{Nd}])|I\p{Ll})", "l"),
    (r"(?<=[\p{Ll}'’]l)I(?![\p{Lu}\p{Nd}])", "l"),
    (_L_FOR_I, "$1i"),
    (_O_FOR_D, "D"),
    (r"(?<![\p{L}\p{Nd}])(?!Ieyasu|Iago|Iain|Ioannis|Iosif|Iou|Iola)I(?=(?:[eiu]|o[aosuv]|a[suy])\p{Ll}|ot\b)", "l"),
)


def without_scan_errors(text: Column) -> Column:
    """Return an English text as its writers had it, where a scanner took `I` or `i` for `l`, `l` for `I`, `D` for `O`.

    Only forms are changed that English does not have: `l 'm`, `lt`, `DlCE`, `oId`, `wiII`, `Iook`, `thls`, `Oon 't`.
    Names such as McIntyre and numbers with a unit stay.
    """
    repaired = reduce(lambda sofar, pair: F.regexp_replace(sofar, *pair), _REPAIRS, text)
    return F.when(text.rlike(_SUSPECT), repaired).otherwise(text)


ONE_LABEL = r"(?iu)(?<!\S)(?<![\p{L}\p{Nd}]\s)\Q%s\E\s:(?:\s+|$)"
"""The label of a speaker, by the name."""


def without_label(text: Column, speaker: Column) -> Column:
    """Return a turn's text without the labels of its speaker (EDOS 3.1).

    It also takes those that ``without_character_names`` leaves since they look like other words before a colon: names
    in a script without capitals, names such as Will and First Officer, and labels with which the speaker goes on.

    Args:
        text: one turn.
        speaker: the name of its label in capitals, null without one.
    """
    name = F.replace(speaker, F.lit("\\"), F.lit(r"\E\\\Q"))
    name = F.replace(name, F.lit("'"), F.lit(r"\E\s?'\Q"))
    label = F.format_string(ONE_LABEL, name)
    return F.when(speaker.isNull(), text).otherwise(F.trim(F.regexp_replace(text, label, F.lit(""))))


def spoken_text(text: Column, rules: CleaningSettings, words: CleaningWords, language: Column | None = None) -> Column:
    """Return a turn's text without character names and bracketed descriptions (EDOS 3.1).

    Args:
        text: the turn's sentences, joined by blanks.
        rules: which parts leave the text.
        words: with the words that no name contains.
        language: the film's; scanning errors are repaired in English films. None: English.
    """
    spoken = F.trim(F.coalesce(text, F.lit("")))
    if rules.repair_scans:
        repaired = without_scan_errors(spoken)
        spoken = repaired if language is None else F.when(language == "en", repaired).otherwise(spoken)
    if rules.strip_brackets:
        spoken = without_bracketed_text(spoken)
    return without_character_names(spoken, words.not_names) if rules.strip_names else spoken
