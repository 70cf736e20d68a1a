"""Subtitles of a screenplay: sentences, blocks, times, dashes and speaker labels."""

import random
import re
from dataclasses import dataclass, field
from itertools import pairwise

from etl.demo.screenplay import Act, Screenplay, Turn
from etl.demo.templates import material
from udfs.opus.tokens import opus_tokens, split_sentences

_SILENCES = (5_300, 6_100, 7_400, 9_000, 12_500, 18_000, 31_000, 64_000)
_OCR = (("rn", "m"), ("ll", "Il"), ("cl", "d"), ("vv", "w"), ("ri", "n"))


@dataclass
class Word:
    """A `<w>`: its text, its block, its attributes besides the id."""

    text: str
    block: int = 0
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass
class Cue:
    """An `<s>`: its words, whether it opens a turn, and the rules that it breaks."""

    words: list[Word]
    turn: int
    act: int
    speaker: str = ""
    opens_turn: bool = False
    emphasis: bool = False
    planted: tuple[str, ...] = ()
    block: int = 0  # of a sentence without words

    @property
    def first_block(self) -> int:
        return self.words[0].block if self.words else self.block

    @property
    def last_block(self) -> int:
        return self.words[-1].block if self.words else self.block


@dataclass(frozen=True)
class Style:
    """An uploader's habits and errors."""

    dashes: str = "none"  # none; second or both lines of a shared block; all that open a turn
    sdh: bool = False  # speaker labels and sounds, for the deaf and hard of hearing
    ocr_errors: float = 0.0
    lines_left_out: float = 0.0
    merged_sentences: float = 0.0
    shift_ms: int = 0
    pace: float = 1.0  # e.g. 25 / 23.976
    missing_tags: float = 0.003
    backwards: float = 0.002


def _misread(token: str, rng: random.Random) -> str:
    """Return a token with an OCR error."""
    for good, bad in rng.sample(_OCR, len(_OCR)):
        if good in token:
            return token.replace(good, bad, 1)
    return token


def _merged(sentences: list[list[str]]) -> list[list[str]]:
    """Join the first two sentences of a turn with a comma, as another uploader may punctuate them."""
    first = sentences[0]
    second = sentences[1]
    if first[-1] != "." or second[0] in ("I", "...") or not second[0][:1].isupper():
        return sentences
    return [[*first[:-1], ",", second[0].lower(), *second[1:]], *sentences[2:]]


def cues_of(film: Screenplay, style: Style, rng: random.Random) -> list[Cue]:
    """Return a film's sentences in one upload, without blocks and times."""
    cues: list[Cue] = []
    turn_number = 0
    for number, act in enumerate(film.acts):
        if style.sdh and rng.random() < 0.3:
            sound = ["[", *opus_tokens(rng.choice(material("extras")["sounds"])).split(), "]"]
            words = [Word(token) for token in sound]
            cues.append(Cue(words, turn_number, number, opens_turn=True, planted=("sound",)))
            turn_number += 1
        for turn in act.turns:
            cues += _turn_cues(turn, act, number, turn_number, style, rng)
            turn_number += 1
    return cues


def _turn_cues(turn: Turn, act: Act, act_number: int, turn_number: int, style: Style, rng: random.Random) -> list[Cue]:
    sentences = [opus_tokens(sentence).split() for sentence in split_sentences(turn.text)]
    if turn.tokenised:
        sentences = [turn.text.split()]
    if len(sentences) > 1 and rng.random() < style.merged_sentences:
        sentences = _merged(sentences)
    cues: list[Cue] = []
    for tokens in sentences:
        if not turn.planted and len(sentences) > 1 and rng.random() < style.lines_left_out:
            continue
        read = [_misread(token, rng) if rng.random() < style.ocr_errors else token for token in tokens]
        cue = Cue([Word(token) for token in read], turn_number, act_number, turn.speaker, planted=turn.planted)
        cue.emphasis = act.kind in ("lyrics", "narration") and rng.random() < 0.5
        cues.append(cue)
    if not cues:
        return []
    cues[0].opens_turn = True
    if style.sdh and act.kind == "dialogue" and not turn.planted and rng.random() < 0.8:
        cues[0].words[:0] = [Word(turn.speaker.upper()), Word(":")]
        cues[0].planted += ("speaker_label",)
    return cues


def assign_blocks(cues: list[Cue], style: Style, rng: random.Random) -> int:
    """Assign block numbers and return the number of blocks.

    Most blocks have one sentence, some have two or three, and some sentences span two blocks.
    """
    block = 0
    in_block = 0
    length = 0
    for index, cue in enumerate(cues):
        size = sum(len(word.text) + 1 for word in cue.words)
        before = cues[index - 1] if index else None
        fits = before is not None and length + size < 78 and before.act == cue.act
        share = fits and not cue.planted and rng.random() < {1: 0.42, 2: 0.22}.get(in_block, 0.0)
        if share and before is not None and not before.planted:
            in_block = in_block + 1
            length = length + size
        else:
            block = block + 1
            in_block = 1
            length = size
        cue.block = block
        for word in cue.words:
            word.block = block
        if len(cue.words) >= 9 and in_block == 1 and rng.random() < 0.35:
            middle = len(cue.words) // 2 + rng.randint(-1, 1)
            block = block + 1
            in_block = 1
            length = size // 2
            for word in cue.words[middle:]:
                word.block = block
    _dash(cues, style)
    return block


def _dash(cues: list[Cue], style: Style) -> None:
    """Insert dashes where two speakers share a block, or at all turns."""
    if style.dashes == "none":
        return
    if style.dashes == "all":
        for cue in cues:
            if cue.opens_turn and not cue.planted:
                cue.words.insert(0, Word("-", cue.first_block))
        return
    for before, cue in pairwise(cues):
        if cue.opens_turn and cue.words and before.words and before.last_block == cue.first_block:
            cue.words.insert(0, Word("-", cue.first_block))
            if style.dashes == "both" and before.opens_turn and before.words[0].text != "-":
                before.words.insert(0, Word("-", before.first_block))


def block_times(
    cues: list[Cue], blocks: int, style: Style, joined: set[int], rng: random.Random
) -> list[tuple[int, int]]:
    """Return (start, end) of each block in ms, with a median gap of about 110 ms and more than 5 s between acts."""
    letters = [0] * (blocks + 1)
    act_of = [0] * (blocks + 1)
    for cue in cues:
        for word in cue.words:
            letters[word.block] += len(word.text) + 1
            act_of[word.block] = cue.act
        if not cue.words:
            act_of[cue.block] = cue.act
    clock = rng.randint(12_000, 80_000)
    times = []
    for block in range(1, blocks + 1):
        if block > 1 and act_of[block] != act_of[block - 1] and act_of[block] not in joined:
            clock += rng.choice(_SILENCES) + rng.randint(0, 900)
        elif block > 1 and act_of[block] != act_of[block - 1]:
            clock += rng.randint(2_000, 4_600)
        elif block > 1:
            pause = rng.random()
            low, high = (0, 120) if pause < 0.66 else (120, 1_500 if pause < 0.95 else 4_500)
            clock += rng.randint(low, high)
        end = clock + 650 + 58 * letters[block] + rng.randint(-150, 350)
        times.append((clock, end))
        clock = end
    pace = style.pace
    shift = style.shift_ms
    return [(round(start * pace) + shift, round(end * pace) + shift) for start, end in times]


def shout(cue: Cue) -> None:
    """Convert a sentence to capitals, with the truecased words in attributes as in OPUS."""
    for word in cue.words:
        if re.search(r"[a-z]", word.text):
            word.attributes["alternative"] = word.text
            word.text = word.text.upper()
    cue.planted += ("shouted",)
