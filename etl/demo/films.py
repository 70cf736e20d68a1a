"""The demo's films and uploads, whose kinds, genres, years and oddities depend on their numbers."""

import random
from dataclasses import dataclass, replace

from etl.demo.cues import Style
from etl.demo.markup import Meta, Oddities
from etl.demo.screenplay import PLANTED_LAST, Act, Screenplay, dialogue, lyrics, narration, plant, recap, story, trailer
from etl.demo.templates import common_scenes, material

MIN_FILMS = 12
"""Minimum number of films with which every oddity occurs at least once."""

_RULE_OF_FILM = dict(zip((0, 1, 4, 6, 7, 8), PLANTED_LAST, strict=True))


@dataclass(frozen=True)
class Film:
    """A film, an episode, a documentary or a trailer."""

    number: int
    kind: str
    movie_id: str
    folder_year: str
    genres: tuple[str, ...]
    source: dict[str, str]  # the `<source>` of its files
    play: Screenplay
    uploads: int


def _kind(number: int) -> str:
    if number % 25 == 3:
        return "documentary"
    if number % 60 == 5:
        return "trailer"
    return "episode" if number % 12 == 2 else "film"


def _genres(number: int, kind: str, rng: random.Random) -> tuple[str, ...]:
    if kind == "documentary":
        return ("Documentary",) if number % 2 else ("Documentary", "History")
    if number % 25 == 6:
        return ()
    return tuple(rng.sample(material("extras")["genres"], rng.choice((1, 2, 2, 3, 3))))


def _stock(number: int, seed: int) -> Act:
    """Return a dialogue that several films share verbatim."""
    rng = random.Random(f"{seed}|stock|{number}")
    scene = common_scenes()[(number * 31) % len(common_scenes())]
    act = dialogue(scene, rng, ("Alma", "Victor"))
    act.turns = [replace(turn, planted=("shared",)) for turn in act.turns]
    return act


def _screenplay(number: int, kind: str, genres: tuple[str, ...], seed: int, rng: random.Random) -> Screenplay:
    extras = material("extras")
    sentences = rng.randint(45, 120)
    if kind == "documentary":
        return narration(rng, sentences // 2)
    if kind == "trailer":
        return trailer(rng, rng.choice(extras["shows"]))
    play = story(rng, genres, sentences)
    if kind == "episode":
        play.acts.insert(0, recap(rng, play.cast, rng.choice(extras["shows"])))
        return play
    rule = _RULE_OF_FILM.get(number % 12)
    if rule:
        plant(play.acts[len(play.acts) // 2], rule, rng)
    if number % 12 == 9:
        play.acts.insert(rng.randint(1, len(play.acts) - 1), lyrics(rng))
    if number % 12 in (10, 11):
        play.acts.insert(2, _stock(number // 12 % 8, seed))
    return play


def film_of(number: int, seed: int) -> Film:
    """Return the film with a number."""
    rng = random.Random(f"{seed}|film|{number}")
    kind = _kind(number)
    genres = _genres(number, kind, rng)
    year = str(min(2017, round(1934 + 84 * rng.random() ** 0.5)))
    folder = year
    meta_year = year
    if number % 75 in (8, 9, 10):
        folder = {8: "1191", 9: "666", 10: "0"}[number % 75]
        meta_year = year if folder == "1191" else folder
    minutes = str(rng.randint(22, 48) if kind == "episode" else rng.randint(74, 138))
    duration = {7: "N/A", 1: f"{minutes} min", 5: ""}.get(number % 10, minutes)
    source = {
        "genre": (", " if number % 8 == 4 else ",").join(genres),
        "year": "" if number % 27 == 11 else meta_year,
        "duration": duration,
        "country": rng.choice(material("extras")["countries"]) if number % 4 else "",
        "original": rng.choice(material("extras")["originals"]) if number % 4 else "",
    }
    uploads = 6 if number == 4 else 3 if number % 17 == 7 else 2 if number % 5 == 1 else 1
    play = _screenplay(number, kind, genres, seed, rng)
    movie_id = str(9_000_000 + number * 613 + rng.randint(0, 600))
    return Film(number, kind, movie_id, folder, genres, source, play, uploads)


def style_of(upload: int, copy: int, rng: random.Random) -> Style:
    """Return the style of the ``upload``-th file of the corpus, its film's ``copy``-th."""
    sdh = upload % 11 == 5
    dashes = "none" if sdh else rng.choices(("both", "second", "all", "none"), (0.76, 0.09, 0.04, 0.11))[0]
    if not copy:
        return Style(dashes, sdh)
    return Style(
        dashes,
        sdh,
        ocr_errors=rng.choice((0.0, 0.006, 0.012)),
        lines_left_out=rng.choice((0.0, 0.02)),
        merged_sentences=rng.choice((0.0, 0.1)),
        shift_ms=rng.randint(-4_000, 9_000),
        pace=rng.choice((1.0, 1.0, 25 / 23.976)),
    )


def oddities_of(upload: int, subtitle_id: str) -> Oddities:
    """Return the oddities of the ``upload``-th file of the corpus."""
    return Oddities(
        short_seconds=upload % 30 == 9,
        negative_start=upload % 120 == 12,
        document_id=subtitle_id + "91" if upload % 40 == 13 else None,
        advert_9999=upload % 45 == 14,
    )


def meta_of(film: Film, upload: int, rng: random.Random) -> Meta:
    """Return a file's `<meta>` without the counts."""
    date = f"{rng.randint(2005, 2017)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
    cds = rng.choice(("1/1", "1/1", "1/1", "1/2", "2/2"))
    subtitle = {"confidence": "1.0", "cds": cds, "date": date, "language": "English"}
    if upload % 33 == 15:
        subtitle["machine_translated"] = "1"
    encoding = "utf-8" if rng.random() < 0.7 else "windows-1252"
    return Meta(dict(film.source), subtitle, {"encoding": encoding, "ignored_blocks": str(upload % 2)})
