"""Uploads of films, with the oddities of real files."""

import random
import re
from collections import Counter
from dataclasses import dataclass

from etl.demo.cues import Cue, Word, assign_blocks, block_times, cues_of, shout
from etl.demo.films import Film, meta_of, oddities_of, style_of
from etl.demo.markup import TimeTags, clock, document
from etl.demo.templates import material


@dataclass(frozen=True)
class Upload:
    """A subtitle file and facts about it."""

    subtitle_id: str
    content: bytes
    sentences: int
    tokens: int
    acts: int
    turns: str
    planted: dict[str, int]


def _mark_words(cues: list[Cue], name: str, rng: random.Random) -> None:
    """Add the attribute ``initial`` (raw OCR) or ``emphasis`` to a few words."""
    words = [word for cue in cues if not cue.planted for word in cue.words if not word.attributes]
    if name == "initial":
        words = [word for word in words if re.search(r"I|ll|rn", word.text)]
    for word in rng.sample(words, min(4, len(words))):
        raw = word.text.replace("I", "l").replace("ll", "Il", 1).replace("rn", "m", 1)
        word.attributes[name] = raw if name == "initial" else "true"


def _with_oddities(cues: list[Cue], upload: int, rng: random.Random) -> list[Cue]:
    if upload % 14 == 3:
        at = next(i for i, cue in enumerate(cues) if i > len(cues) // 2 and cue.opens_turn)
        last = cues[at - 1]
        cues.insert(at, Cue([], last.turn, last.act, planted=("no_words",)))
    if upload % 6 == 2:
        plain = sorted({cue.turn for cue in cues if cue.words and not cue.planted})
        shouted = rng.sample(plain, min(2, len(plain)))
        for cue in cues:
            if cue.turn in shouted:
                shout(cue)
    if upload % 7 == 4:
        _mark_words(cues, "initial", rng)
    if upload % 9 == 6:
        _mark_words(cues, "emphasis", rng)
    if upload % 45 == 14 or upload % 20 == 16:
        words = material("extras")["adverts"][upload % 3].split()
        last = cues[-1]
        advert = Cue([Word(word) for word in words], last.turn + 1, last.act, planted=("advert",))
        advert.opens_turn = advert.emphasis = True
        cues.append(advert)
    return cues


def _count(cues: list[Cue], odd_times: dict[str, int]) -> dict[str, int]:
    found = Counter(odd_times)
    turns: dict[str, set[int]] = {}
    for cue in cues:
        for rule in cue.planted:
            turns.setdefault(rule, set()).add(cue.turn)
        found["emphasised_sentence"] += cue.emphasis
        found["over_two_blocks"] += len({word.block for word in cue.words}) > 1
        found["dash"] += bool(cue.words) and cue.words[0].text == "-"
        found["emphasised_word"] += sum("emphasis" in word.attributes for word in cue.words)
        found["alternative"] += sum("alternative" in word.attributes for word in cue.words)
        found["initial"] += sum("initial" in word.attributes for word in cue.words)
    found.update({rule: len(numbers) for rule, numbers in turns.items()})
    return {name: count for name, count in found.items() if count}


def upload_of(film: Film, upload: int, copy: int, seed: int) -> Upload:
    """Return the ``upload``-th file of the corpus, its film's ``copy``-th."""
    rng = random.Random(f"{seed}|upload|{upload}")
    subtitle_id = str(6_000_000 + upload * 37 + rng.randint(0, 30))
    style = style_of(upload, copy, rng)
    odd = oddities_of(upload, subtitle_id)
    meta = meta_of(film, upload, rng)
    cues = _with_oddities(cues_of(film.play, style, rng), upload, rng)
    joined = {number for number, act in enumerate(film.play.acts) if act.joined}
    blocks = assign_blocks(cues, style, rng)
    times = block_times(cues, blocks, style, joined, rng)
    tokens = sum(len(cue.words) for cue in cues)
    meta.subtitle["blocks"] = "9999" if odd.advert_9999 else str(blocks)
    meta.subtitle["duration"] = "00:00:2,00" if odd.advert_9999 else clock(times[-1][1], odd.short_seconds)
    meta.conversion |= {"sentences": str(len(cues)), "tokens": str(tokens)}
    tags = TimeTags(times, style, odd, rng)
    text = document(cues, tags, odd.document_id or subtitle_id, meta, odd.advert_9999)
    oddities = {
        "document_id_differs": odd.document_id is not None,
        "advert_9999": odd.advert_9999,
        "genre_missing": not film.genres,
        "genre_with_blanks": ", " in film.source["genre"],
        "duration_in_words": "min" in film.source["duration"],
        "duration_not_known": film.source["duration"] == "N/A",
        "odd_year": film.folder_year in ("0", "666", "1191"),
        "year_missing": not film.source["year"],
        "sdh": style.sdh,
        "machine_translated": "machine_translated" in meta.subtitle,
    }
    planted = _count(cues, tags.counts) | {name: 1 for name, is_present in oddities.items() if is_present}
    turns = "".join("1" if cue.opens_turn else "0" for cue in cues)
    acts = len(film.play.acts) - len(joined)
    return Upload(subtitle_id, text.encode(), len(cues), tokens, acts, turns, planted)
