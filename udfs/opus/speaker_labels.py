"""Who speaks, by what a file of cues writes: labels in all their forms, names in brackets, colours (ours).

All become marks that the later rules know: ``NAME: `` at the start of a line, or ``>>`` where only the change is known.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise

from udfs.opus.cue_markup import COLOUR
from udfs.opus.cues import Cue
from udfs.opus.normal_form import marks
from udfs.vocabulary import english_words

_OPEN, _CLOSE = r"[\[(\u3010\uff08\uff3b\u3014\u300a\uff1c]", r"[\])\u3011\uff09\uff3d\u3015\u300b\uff1e]"
_CONTENT = rf"([^\W\d_][^\[\](){_OPEN[3:-1]}{_CLOSE[3:-1]}:\uff1a\n]{{0,40}})"
_DASH = r"(?:(?<![^\s])[-\u2010-\u2015\u2212]\s?)?"
_WITH_COLON = re.compile(rf"(?:(?<!\s)\s++)?({_DASH}){_OPEN}\s?{_CONTENT}\s?{_CLOSE}\s?[:\uff1a]\s*")
_BRACKETED = re.compile(
    rf"((?:^|(?<=[.?!\u3002\uff01\uff1f\])]\s)|(?<=[.?!\u3002\uff01\uff1f])){_DASH}){_OPEN}\s?{_CONTENT}\s?{_CLOSE}\s?(?=[^\s:])"
)
_ALONE = re.compile(rf"({_DASH}){_OPEN}\s?{_CONTENT}\s?{_CLOSE}")
_NAME_AND_MANNER = re.compile(r"(.{2,}?)(?:,\s.*|\s(?:on|over|in|through|from|off|v\.\s?o)\b.*)", re.IGNORECASE)
"""``Sarah, whispering`` and ``Sarah on phone``."""
_WIDE = str.maketrans("\uff08\uff09\uff3b\uff3d\u3010\u3011\u3014\u3015\u3016\u3017\uff5b\uff5d", "()[][][][]{}")
_WIDE_SIGN = re.compile(r"[\uff08\uff09\uff3b\uff3d\u3010\u3011\u3014-\u3017\uff5b\uff5d\u300c-\u300f\uff1a]")
_WIDE_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CORNERS = re.compile(r"[\u300c\u300e]([^\u300c-\u300f\n]{0,200})[\u300d\u300f]")
_CORNERS_OF_SOUND = re.compile(
    rf"((?:^|(?<=[.?!]\s)|(?<=[.?!])){_DASH})[\u300c\u300e]([^\u300c-\u300f\n.?!,]{{1,40}})[\u300d\u300f]"
    r"(?=\s*(?:$|[^\W\d_a-z]|:))"
)
"""Corners around a name or a sound; in other places they are quotation marks."""
_GUILLEMET = re.compile(r"(?<!\S)\u00bb(?=\s?[^\s\u00bb])")
_CLOSES_QUOTE = re.compile(r"\S\u00bb")
_AFTER_COLON = re.compile(r"(?<=\w):(?=[^\W\d_])")
_OF_TOOL = re.compile(r"^([A-Z]{2,20}_[0-9]{1,3}):\s*")
_WIDE_COLON = re.compile(r"^([^\W\d_a-zA-Z][\w\u30fb\u00b7]{0,11})\uff1a\s*(?=\S)")
_WORD = rf"'?[^\W\d_a-z][\w{marks()}.'\u2019&-]*"
_SMALL = (
    r"and|of|on|in|over|at|the|voice-over|'s|&|,|(?:[#\u2116]|no\.)\s?[0-9]{1,3}|[0-9]{1,3}[A-Z]?"
    r"|\([^()]{0,40}\)|\[[^\[\]]{0,40}\]"
)
_LABEL = re.compile(
    rf"\s*((?:[-\u2010-\u2015\u2212\u2500_/]|>\s?>(?:\s?>)?)\s*)?(?:[\[(][^\[\]()]{{0,60}}[\])]\s?)?(?:[\[(]\s)?"
    rf"((?:[0-9]{{1,2}}(?:(?i:st|nd|rd|th)|\s?-\s?[^\W\d_]{{1,2}})\s)?{_WORD}(?:(?:\s|(?=,)|(?=#))(?:{_WORD}|(?:{_SMALL})(?!\w))){{0,5}})"
    r"(?:\s[\])])?\s?:(?:(?<![0-9]:)(?<![0-9]\s:)|(?!\s?[0-9]))(?=\s|$)"
)
"""A name before a colon, in a line or among tokens: capitalised words, an ordinal, a number, how one is heard."""
_MANNER = re.compile(r"\s?(?:\([^()]*\)|\[[^\[\]]*\])")
_PREFIX = re.compile(r"(?<![^\W\d_])(?:Ma?c|De|Di|Du|La|Le|Van|Von|Fitz)(?=[^\W\d_a-z]{2})")
"""Prefixes with small letters, in names that are otherwise in capitals: ``McTAVISH``."""
MIN_LABELS = 10
"""A file with fewer labelled sentences does not label its speakers, if they are less than a quarter of all."""
_PERSON = re.compile(
    r"(?i)(?:(?:the|young|old|little|male|female|first|second|third|other|another|1st|2nd|3rd)\s)*"
    r"(?:man|men|woman|women|boys?|girls?|guys?|lady|ladies|voices?|narrator|speaker|person|child|kid|guard|officer|cop|doctor"
    r"|nurse|teacher|student|reporter|soldier|driver|waiter|waitress|clerk|host|announcer|interviewer|crowd|all|both|everyone"
    r"|guest|caller|agent|customer|passenger|prisoner|player|worker|operator|pilot)"
    r"(?:\s?(?:#|\u2116|no\.?)?\s?([0-9]{1,3}[A-Z]?))?"
)
_NUMBER = re.compile(r"(?:#|\u2116|no\.)?\s?(?<![0-9])[0-9]++[A-Z]?$", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"[\[(][^\[\]()]{0,100}[\])]")
_ACTION = re.compile(r"(?i)(?:ing|s|ed|ly)$")
"""Ends of what a person does, in ``Clears Throat`` and ``Crowd Laughing``."""
_INFLECTED = ("ing", "es", "s", "ed", "ly")
_MADE_FROM = re.compile(r"(?:ing|(?:(?<=[sxzoi])|(?<=[cs]h))es|(?<!s)s|ed|ly|less|ful|ous|able|ible|ical)$")
_TITLE = re.compile(
    r"(?i)(?:(mrs?|ms|miss|dr|prof|sir|capt|sgt|lt|col|gen|rev)|doctor|professor|lady|lord|captain|sergeant|lieutenant|major"
    r"|colonel|general|private|officer|agent|detective|inspector|chief|judge|president|senator|king|queen|prince|princess"
    r"|father|mother|brother|sister|uncle|aunt|grandpa|grandma|old|young|little|reverend|rabbi|pastor|coach|nurse)\.?"
)
_NUMERAL = re.compile(
    "number|first|second|third|fourth|fifth|one|two|three|four|five|six|seven|eight|nine|ten|next|other|another|[0-9]+"
)
_BEGINNING = re.compile(
    "a|about|advantage|advice|after|again|alert|also|always|am|an|answer|are|as|at|attention|be|because|before"
    "|beware|bonus|but|by|can|caution|chapter|cheeks|clue|complaint|compromise|conclusion|condition|conditions"
    "|confession|congratulations|consider|correction|could|danger|date|deal|dear|decision|declares|definition"
    "|depth|diagnosis|did|disclaimer|do|does|either|else|episode|even|evidence|exactly|example|exhibit|fact|facts"
    "|finally|flashback|for|forget|friday|from|fyi|goal|guess|headline|headlines|hello|hence|her|here|hers|hey"
    "|hint|his|homework|honestly|how|however|i|idea|if|imagine|important|ingredients|instead|is|issue|it|item"
    "|joke|just|last|lastly|lesson|let|like|line|listen|location|look|made|maybe|me|meaning|meanwhile|message"
    "|monday|moral|my|myth|namely|never|newsflash|no|not|note|nothing|now|objective|occupation|offer|oh|ok|okay"
    r"|once|only|option|options|or|order|otherwise|our|pps|paragraph|part|perhaps|phase|plan|please"
    "|plus|point|prediction|problem|profession|promise|proof|proposal|pros|proverb|ps|purpose|question|questions"
    "|quote|re|reason|remember|reminder|repeat|report|request|result|results|rule|rules|saturday|say|scene"
    "|secondly|see|seriously|she|should|simple|skin|so|solution|someone|something|spoiler|status|step|steps|still"
    "|stop|story|subject|subtitle|subtitled|subtitles|suggestion|summary|sunday|sure|swear|tell|that|their|then"
    "|therefore|these|they|thing|things|think|this|those|thursday|thus|time|tip|title|to|today|tomorrow|tonight"
    "|topic|total|translation|trust|truth|tuesday|understand|unless|until|update|urgent|verdict|version|very|vow|wanted"
    "|warning|was|we|wednesday|well|were|what|when|where|which|who|why|with|would|yes|yesterday|yet|you|your"
)
"""Words that no label has: ``conf/not_names.txt`` without numerals and names. Tasks may not read that file."""
_HEADING = re.compile(
    "bulletin|caption|card|diary|email|forecast|letter|menu|news|newspaper|poster|recipe|sign|special|text|weather"
)
"""Last words of what is read or shown and of nobody who speaks: ``Breaking News``."""
_PLACE = re.compile(
    "africa|america|amsterdam|athens|baghdad|barcelona|beijing|beirut|berlin|boston|brussels|cairo|california|chicago"
    "|city|copenhagen|dublin|egypt|england|europe|france|geneva|germany|greece|hollywood|india|ireland|istanbul|italy"
    "|japan|jerusalem|kabul|las|lisbon|london|los|angeles|madrid|manhattan|mexico|miami|moscow|mumbai|munich|new|york"
    "|oslo|paris|poland|prague|rome|russia|saigon|san|francisco|scotland|seoul|shanghai|spain|stockholm|texas|tokyo"
    "|vegas|vienna|vietnam|warsaw|washington|zurich|[0-9]+|,"
)
"""Words of places, which are headings unless they come back."""
_SOUND = re.compile(
    "accent|action|alarm|alone|ambulance|american|angry|announcement|applause|arabic|audience|audio|babble"
    "|background|bang|bark|beat|beatbox|beep|bell|blast|bleep|blip|boom|breath|british|burp|buzz|buzzer|cackle"
    "|calm|camera|car|caw|chant|chatter|cheer|chime|chinese|chirp|choir|chorus|chuckle|clang|clank|clap|clatter"
    "|click|clink|clock|commercial|conversation|cough|crack|crackle|crash|creak|crosstalk|crowd|crunch|cry"
    "|deadpan|deep|dialogue|ding|distance|distant|dog|dong|door|doorbell|dramatic|drum|drunk|dutch|earlier|echo"
    "|electronic|end|engine|english|evening|explosion|faint|fanfare|fart|fast|foreign|frantic|french|gasp|german"
    "|gibberish|giggle|groan|growl|grunt|guffaw|guitar|gulp|gun|gunfire|gunshot|happy|heavy|helicopter|hiccup"
    "|high|hindi|hiss|hoarse|honk|hoot|horn|howl|hubbub|hum|in|inaudible|indistinct|instrumental|intercom|intro"
    "|italian|japanese|jingle|kiss|knock|korean|language|later|latin|laugh|laughter|line|loud|low|lyrics|machine"
    "|mandarin|melody|meow|message|mixed|moan|monotone|moo|morning|mumble|murmur|music|mutter|narration|neigh"
    "|news|night|no|noise|normal|off|offscreen|on|outro|over|overlap|pant|pause|phone|piano|ping|poem|pop"
    "|portuguese|prayer|quack|quiet|radio|rain|rap|rattle|recorder|ring|ringtone|rip|roar|rock|romantic|rumble"
    "|russian|rustle|sad|sarcastic|scene|scoff|scream|screech|shot|shout|shriek|shutter|sigh|silence|silent"
    "|sincere|singer|siren|sizzle|slam|slow|smack|snap|sneeze|snicker|sniff|sniffle|snore|snort|sob|soft|song"
    "|sound|spanish|speech|spit|splash|squeak|squeal|squelch|stammer|static|stutter|subtitle|suspense|swedish"
    "|tape|telephone|television|tense|theme|thought|throat|thud|thump|thunder|thwack|tick|titter|tone|toot|train"
    "|translation|trumpet|turkish|tv|tweet|unison|upbeat|uproar|video|vietnamese|violin|voice-over|voiceover"
    "|volume|wail|whimper|whip|whir|whisper|whistle|whoop|whoosh|wind|woof|yawn|yell|yelp|zip"
)
"""Words of sounds and manners that do not end as those made from verbs and adjectives do (``_MADE_FROM``)."""
_SPOKEN_NAME = re.compile(r"(?:(?<=[a-z,] )|^(?=\w{1,20},\s))[A-Z][a-z]+", re.MULTILINE)
_FEWEST = 2
_SECOND_COLOUR = 0.05
_MOST_WITHIN = 0.25
"""The least share of the second colour, and the largest of changes within a sentence, which stress words."""


@cache
def begins_sentence(name: str) -> bool:
    """Return whether an English phrase before a colon is a beginning or a heading: ``Note``, ``Breaking News``."""
    said = [word.replace(".", "").removesuffix("'s") for word in re.split(r"[^\w.'-]+", name.lower()) if word]
    said = said[:-1] if said[-1:] == ["a"] else said  # GIRL A
    return bool(said) and (
        any(map(_BEGINNING.fullmatch, said)) or all(map(_NUMERAL.fullmatch, said)) or bool(_HEADING.fullmatch(said[-1]))
    )


def label_of(text: str) -> tuple[str, bool] | None:
    """Return the name before a colon at the start of a line or sentence, and whether it is a label by itself.

    It is where it follows ``>>``, is a person with a number, or stands in capitals before other words.
    """
    match = _LABEL.match(text) if ":" in text else None
    if match is None or match[2][0].islower():
        return None
    name = _PREFIX.sub(lambda prefix: prefix[0].upper(), _MANNER.sub("", match[2]).replace(" '", "'"))
    person = _PERSON.fullmatch(name)
    alone = is_shouted(name, text[match.end() :]) or (person is not None and person[1] is not None)
    return name, alone or (match[1] or "").startswith(">")


def is_shouted(name: str, others: Iterable[str]) -> bool:
    """Return whether a name is in capitals and other words, or letters, are not."""
    return name.isupper() and sum(map(str.isalpha, name)) > 1 and any(map(str.islower, others))


def labels_among(found: Sequence[tuple[str, bool]], lines: int) -> set[str]:
    """Return which names before a colon are speakers' labels, in capitals.

    A name is a label if it comes back, whatever its number, or is one by itself and no place or manner. In a file that
    labels its speakers every name is one; if all those labels are in capitals, every name in capitals.
    What begins a sentence is no label.

    Args:
        found: what :func:`label_of` found in a file.
        lines: how many lines or sentences the file has.
    """
    names = [(name, alone) for name, alone in found if not begins_sentence(name)]
    times = Counter(_without_number(name.upper()) for name, _ in names)
    single = [
        (name, alone)
        for name, alone in names
        if not (is_place(name) or _is_manner(name.lower()) or ("," in name and not name.isupper()))  # Come in, Tom
    ]
    labels = {name.upper() for name, _ in names if times[_without_number(name.upper())] >= _FEWEST}
    labels.update(name.upper() for name, alone in single if alone)
    labelled = [name for name, _ in found if name.upper() in labels]
    if len(labelled) >= MIN_LABELS or 4 * len(labelled) >= lines:
        shouted = all(map(str.isupper, labelled))
        labels.update(name.upper() for name, _ in single if name.isupper() or not shouted)
    return labels


def is_place(name: str) -> bool:
    """Return whether all words of a name are those of places: ``LONDON``, ``New York City``, ``PARIS , 1944``."""
    return all(map(_PLACE.fullmatch, name.lower().replace(",", " , ").split()))


def _without_number(name: str) -> str:
    return _NUMBER.sub("", name).strip()


def _narrow(line: str) -> str:
    """Return a line of another script than those of East Asia with narrow brackets and colons."""
    if line.isascii() or not _WIDE_SIGN.search(line) or _WIDE_SCRIPT.search(line):
        return line
    wide = "\uff1a" in line
    line = line.replace("\uff1a", ":")
    line = _CORNERS.sub(r'"\1"', _CORNERS_OF_SOUND.sub(r"\1[\2]", line.translate(_WIDE)))
    return _AFTER_COLON.sub(": ", line) if wide else line


def mark_speakers(cues: list[Cue], language: str | None) -> None:
    """Rewrite the labels, names and colours of a file's lines."""
    _colours(cues)
    quotes = any("\u00ab" in line or _CLOSES_QUOTE.search(line) for cue in cues for line in cue.lines)
    for cue in cues:
        lines = []
        for line in cue.lines:
            line = _narrow(line).replace("\u226b", ">>").replace("\uff1e\uff1e", ">>")
            line = line if quotes else _GUILLEMET.sub(">>", line)
            line = _OF_TOOL.sub(lambda match: f"{match[1].replace('_', ' ')}: ", _WIDE_COLON.sub(r"\1: ", line))
            lines += _WITH_COLON.sub(_with_colon, line).strip("\n").split("\n")
        cue.lines = lines
    names = _bracketed_names(cues, language)
    if names:
        for cue in cues:
            lines = [
                _BRACKETED.sub(lambda match: _named(match, names), one) for one in _joined_labels(cue.lines, names)
            ]
            if lines and (alone := _ALONE.fullmatch(lines[-1])) is not None and alone[2].strip() in names:
                lines[-1] = _label(alone)
            cue.lines = [part for line in lines for part in line.strip("\n").split("\n")]
    _own_lines(cues)


def _with_colon(match: re.Match[str]) -> str:
    before = match.string[: match.start()].rsplit(maxsplit=1)[-1:]
    # TOM (ON RADIO): the brackets are a part of the label
    return match[0] if before and before[0][:1].isupper() and before[0][-1].isalnum() else _label(match)


def _label(match: re.Match[str]) -> str:
    return f"\n{match[1]}{match[2].strip().replace('_', ' ').upper()}: "


def _named(match: re.Match[str], names: set[str]) -> str:
    if match[2] in names:
        return _label(match)
    manner = _NAME_AND_MANNER.fullmatch(match[2])
    return f"\n{match[1]}{manner[1].upper()}: " if manner is not None and manner[1] in names else match[0]


def _joined_labels(lines: list[str], names: set[str] | None) -> list[str]:
    """Return lines in which a text alone in brackets, of these names or of any, stands before the next line's words."""
    joined: list[str] = []
    for line in lines:
        alone = _ALONE.fullmatch(joined[-1]) if joined else None
        if alone is not None and (names is None or alone[2] in names) and not _ALONE.match(line):
            dash = re.match(_DASH, line)
            joined[-1] = (
                f"{alone[1] or (dash[0] if dash else '')}[{alone[2].strip()}] {line[dash.end() if dash else 0 :]}"
            )
        else:
            joined.append(line)
    return joined


def _bracketed_names(cues: list[Cue], language: str | None) -> set[str]:
    lines = [line for cue in cues for line in cue.lines]
    before = [line for cue in cues for line in _joined_labels(cue.lines, None)]
    found = Counter(match[2].strip() for line in before for match in _BRACKETED.finditer(line))
    said = [cue.lines for cue in cues if cue.lines]
    for cue, following in pairwise(said):
        alone = _ALONE.fullmatch(cue[-1])
        if alone is not None and alone[2].strip() in found and not _ALONE.match(following[0]):
            found[alone[2].strip()] += 1
    return names_among(found, lines, language) if found else set()


def names_among(found: Counter[str], lines: Sequence[str], language: str | None) -> set[str]:
    """Return what is a name among the texts in brackets that stand before words, and is no sound and no manner.

    A person is one, also with a number or behind a title, and what is a label with a colon. Others must come back or
    have a manner (``Anna, softly``); capitalised words are a name if the film speaks of it, and then once is enough
    beside two other names. In English they also are if a dictionary lacks one of them in small letters, and a single
    one that is no word of a sound.

    Args:
        found: the texts, with how often each stands before words.
        lines: all that the film says.
        language: its language; only English has the dictionary.
    """
    text = _IN_BRACKETS.sub(" ", "\n".join(lines))
    spoken = {name.upper() for name in _SPOKEN_NAME.findall(text)}
    labels = {name.upper() for name, _ in filter(None, map(label_of, text.split("\n")))}
    known = spoken | labels
    times = Counter({name.replace("_", " "): n for name, n in found.items()})
    for name, n in found.items():
        if (manner := _NAME_AND_MANNER.fullmatch(name)) is not None:
            times[manner[1]] += _FEWEST * n if name[len(manner[1])] == "," else n
    names = {name for name, n in times.items() if _is_name(name, n, labels, known, language)}
    if len(names) >= _FEWEST:
        once = {name: max(_FEWEST, n) for name, n in times.items() if _is_known(name, known)}
        names.update(name for name, n in once.items() if _is_name(name, n, labels, known, language))
    return names | {name for name in found if name.replace("_", " ") in names}


def _is_name(name: str, times: int, labels: set[str], known: set[str], language: str | None) -> bool:
    if begins_sentence(name):
        return False
    person = _PERSON.fullmatch(name)
    if name.upper().replace(" '", "'") in labels or person is not None:
        return True
    words = _NUMBER.sub("", name.replace(" '", "'")).split()
    if len(words) > 3 or any(word[:1].islower() or not word[:1].isalpha() for word in words):
        return False
    title = _TITLE.fullmatch(words[0]) if len(words) > 1 else None
    if title is not None:
        return not any(map(_is_sound, words[2 if title[1] else 1 :]))
    if _is_known(name, known):
        return times >= _FEWEST and not any(_ACTION.search(word) and word.upper() not in known for word in words)
    return times >= _FEWEST and _is_unknown_name(words, language)


def _is_known(name: str, known: set[str]) -> bool:
    words = name.split()
    return name.upper() in known or any(word.upper() in known and not _ACTION.search(word) for word in words)


def _is_unknown_name(words: Sequence[str], language: str | None) -> bool:
    """Return whether capitalised words are a name that the film does not speak of."""
    if not words[0][:1].isupper():  # a script without capitals
        return len(words) == 1
    if language != "en" or any(map(_is_sound, words)):
        return False
    return len(words) == 1 or any(word.lower().removesuffix("'s") not in english_words() for word in words)


def _is_sound(word: str) -> bool:
    return _SOUND.fullmatch(word.lower().strip(".,")) is not None or _is_action(word.lower())


def _is_manner(word: str) -> bool:
    return word.endswith(("ing", "ly")) and _is_action(word)


def _is_action(word: str) -> bool:
    """Return whether a word is made from one of the dictionary as those of actions and manners are: ``laughs``."""
    end = _MADE_FROM.search(word)
    if end is None:
        return False
    stem = word[: end.start()]
    stems = {stem, f"{stem[:-1]}y", *([f"{stem}le"] if end[0] == "ly" else [])}
    if end[0] in ("ing", "ed"):
        stems |= {f"{stem}e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem}
    return end[0] not in _INFLECTED or any(len(one) > 2 and one in english_words() for one in stems)


def _own_lines(cues: list[Cue]) -> None:
    """Put a label on a line of its own before the words of the next line.

    Names that come back are labels, and where at least two lines of a file are names alone before a colon, those of two
    and more words.
    """
    pairs = [
        (cue, at, match[2])
        for cue in cues
        for at, line in enumerate(cue.lines[:-1])
        if (match := _LABEL.fullmatch(line))
    ]
    names = [(name, len(pairs) >= _FEWEST and " " in name) for _, _, name in pairs]
    labels = labels_among(names, sum(len(cue.lines) for cue in cues))
    for cue, at, name in reversed(pairs):
        if name.upper() in labels:
            cue.lines[at : at + 2] = [f"{cue.lines[at].upper()} {cue.lines[at + 1]}"]


def _colours(cues: list[Cue]) -> None:
    """Replace the colours of spans: where they tell speakers apart, a change of colour is ``>>``."""
    if not any(COLOUR in line for cue in cues for line in cue.lines):
        return
    spans = [_spans(cue.lines) for cue in cues]
    times = Counter(colour for parts in spans for colour, _, _ in parts)
    pairs = [pair for parts in spans for pair in pairwise(parts) if pair[0][0] != pair[1][0]]
    within = sum(one[1][-1].isalnum() and other[2] for one, other in pairs)
    second = times.most_common(2)[-1][1] if len(times) > 1 else 0
    told = second >= max(_FEWEST, _SECOND_COLOUR * times.total()) and within <= max(1, _MOST_WITHIN * len(pairs))
    last: str | None = None
    for cue, parts in zip(cues, spans, strict=True):
        if not told:
            bare = (" ".join("".join(line.split(COLOUR)[::2]).split()) for line in cue.lines)
            cue.lines = [line for line in bare if line]
            continue
        cue.lines = []
        for colour, text, _ in parts:
            changed = last is not None and colour != last and not text.startswith((">>", "-"))
            cue.lines.append(f">> {text}" if changed else text)
            last = colour


def _spans(lines: list[str]) -> list[tuple[str, str, bool]]:
    """Return colour and text of a cue's spans, and whether each begins within a line; lines share colours."""
    found = []
    colour = ""
    for line in lines:
        first, *rest = line.split(COLOUR)
        begun = False
        for one, text in [(colour, first), *zip(rest[::2], rest[1::2], strict=True)]:
            colour = one
            if text.strip():
                found.append((colour, text.strip(), begun))
                begun = True
    return found
