"""Files that hold two languages: cues or lines of both, classes of SAMI, styles of ASS (ours)."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from udfs.opus.cues import Cue, Fault
from udfs.opus.languages import are_alike, are_one_spoken, language_of, likelier

_LOOKED_AT = 60
_FEWEST_LETTERS = 20
_FEWEST_WIDE = 5
"""Letters of a line that tells its language: of an alphabet, and of a script with a sign a syllable or word."""
_SURE = 0.95
_SECOND = 0.3
"""The least share of a second language; where a film speaks two, its subtitles translate one of them."""
_FEWEST_ALIKE = 5
"""Lines of a second language that a line hardly tells from the first, so that it is noted, if most lines tell one."""
_PURE = 0.85
_TOGETHER_MS = 300
_Place = tuple[int, int]


def in_one_language(cues: list[Cue], wanted: Sequence[str]) -> tuple[list[Cue], list[Fault]]:
    """Return the cues with the lines of one language alone, and what is left out as faults ``other_language``.

    All lines of two languages that a line hardly tells apart, such as Spanish and Portuguese, stay; they are one fault
    ``alike_languages``.

    Args:
        cues: of a file, in the order of their times.
        wanted: the languages to choose from, the first one first; the commoner one where the file has none of them.
    """
    lines = [(place, at) for place, cue in enumerate(cues) for at in range(len(cue.lines))]
    long = [(place, at) for place, at in lines if _is_long_enough(cues[place].lines[at])]
    step = max(len(long) // _LOOKED_AT, 1)
    told = [
        (code, place)
        for place, at in long[::step]
        for code, share in [language_of(cues[place].lines[at])]
        if share >= _SURE and code
    ]
    sure = Counter(code for code, _ in told)
    if len(sure) < 2:
        return cues, []
    (one, first), (other, second) = sure.most_common(2)
    if second < max(_SECOND * (first + second), 2) or are_one_spoken(one, other):
        return cues, []
    if are_alike(one, other):
        cue = cues[next(place for code, place in told if code == other)]
        noted = Fault("alike_languages", cue.line, f"{one} and {other}: {' / '.join(cue.lines)}")
        return cues, [noted] if second >= _FEWEST_ALIKE and 2 * len(told) >= len(long[::step]) else []
    spoken = {line: likelier(cues[line[0]].lines[line[1]], one, other) for line in lines}
    for key in (_track(cues), _position(cues)):
        if (by_key := _by_key(spoken, set(long), key)) is not None:
            spoken = by_key
            break
    chosen = next((code for code in wanted if code in (one, other)), one)
    faults = []
    kept = []
    for place, cue in enumerate(cues):
        left = [line for at, line in enumerate(cue.lines) if spoken[place, at] == chosen]
        if len(left) < len(cue.lines):
            faults.append(Fault("other_language", cue.line, " / ".join(cue.lines), cue=not left))
        if left or not cue.lines:
            kept.append(cue)
        cue.lines = left
    return kept, faults


def _is_long_enough(line: str) -> bool:
    letters = [sign for sign in line if sign.isalpha()]
    return len(letters) >= (_FEWEST_WIDE if any(sign > "\u2e80" for sign in letters) else _FEWEST_LETTERS)


def _track(cues: Sequence[Cue]) -> Callable[[_Place], Hashable]:
    return lambda line: cues[line[0]].track


def _position(cues: Sequence[Cue]) -> Callable[[_Place], Hashable]:
    """Return a function that numbers the lines which are shown at the same time."""
    first: list[int] = []
    for place, cue in enumerate(cues):
        begins = place and abs(cue.start_ms - cues[first[-1]].start_ms) <= _TOGETHER_MS
        first.append(first[-1] if begins else place)
    before = [sum(len(cue.lines) for cue in cues[start:place]) for place, start in enumerate(first)]
    return lambda line: before[line[0]] + line[1]


def _by_key(
    spoken: dict[_Place, str], long: set[_Place], key: Callable[[_Place], Hashable]
) -> dict[_Place, str] | None:
    """Return the language of each line by a key, if nearly all long lines of each key are of one language."""
    counts: dict[Hashable, Counter[str]] = {}
    for line in long:
        counts.setdefault(key(line), Counter())[spoken[line]] += 1
    most = {one: found.most_common(1)[0] for one, found in counts.items()}
    fitting = sum(times for _, times in most.values())
    if len({code for code, _ in most.values()}) < 2 or fitting < _PURE * len(long):
        return None
    return {line: most[key(line)][0] if key(line) in most else code for line, code in spoken.items()}
