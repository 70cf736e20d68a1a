"""Screenplays: a film's scenes and speakers."""

import random
import re
from dataclasses import dataclass, field

from etl.demo.templates import Frame, Scene, common_scenes, expand, material, scenes

# Rules of EDOS 3.1 that a planted turn breaks.
PLANTED_LAST = ("too_long", "number_only", "repetitive", "profane", "too_short", "repeated_turn")


@dataclass(frozen=True)
class Turn:
    """A speaker's turn, in plain English or in OPUS tokens (``tokenised``)."""

    speaker: str
    text: str
    label: str | None = None
    tokenised: bool = False
    planted: tuple[str, ...] = ()


@dataclass
class Act:
    """Turns between two silences; ``kind`` is dialogue, narration, lyrics, recap or trailer."""

    turns: list[Turn]
    kind: str = "dialogue"
    joined: bool = False  # no silence separates it from the act before
    key: str = ""


@dataclass
class Screenplay:
    """A film's cast and acts."""

    cast: tuple[str, ...]
    acts: list[Act] = field(default_factory=list)


def play(scene: Scene, rng: random.Random, speakers: tuple[str, str], turns: int | None = None) -> list[Turn]:
    """Return the first ``turns`` turns of a scene, or all, spoken by two people."""
    frame = Frame(rng, {"a": speakers[0], "b": speakers[1]})
    spoken = []
    for index, line in enumerate(scene.lines[:turns]):
        text = expand(line.template, frame, rng)
        if rng.random() < 0.2:
            text = _with_aside(text, speakers[(index + 1) % 2], line.label, rng)
        spoken.append(Turn(speakers[index % 2], text, line.label))
    return spoken


def _with_aside(text: str, listener: str, label: str, rng: random.Random) -> str:
    """Return a turn with a few words to the listener before it, if it is suitable."""
    asides = material("extras")["asides"]
    kind = "question" if label == "questioning" else "sharp" if "!" in text else "calm"
    aside: str = rng.choice(asides[kind]).replace("<b>", listener)
    unfit = not 25 <= len(text) <= 88 - len(aside) or listener in text or len(re.findall(r"[.!]", text)) > 2
    return text if unfit else f"{aside} {text}"


def dialogue(scene: Scene, rng: random.Random, speakers: tuple[str, str]) -> Act:
    """Return a scene as an act of 2 to 7 turns: sometimes cut short, sometimes with two closing lines."""
    cut = rng.randint(2, len(scene.lines)) if rng.random() < 0.25 else len(scene.lines)
    turns = play(scene, rng, speakers, cut)
    if rng.random() < 0.45:
        turns += play(rng.choice(scenes("closers")), rng, (turns[-2].speaker, turns[-1].speaker))
    return Act(turns, key=scene.key)


def cast_of(rng: random.Random) -> tuple[str, ...]:
    """Return the names of three women and three men."""
    slots = material("slots")
    people = rng.sample(slots["women"], 3) + rng.sample(slots["men"], 3)
    rng.shuffle(people)
    return tuple(people)


def story(rng: random.Random, genres: tuple[str, ...], sentences: int) -> Screenplay:
    """Return a film of about ``sentences`` sentences, with distinct scenes of its genres and common ones."""
    film = Screenplay(cast_of(rng))
    of_genres = [scene for scene in scenes("scenes_genres") if scene.topic in genres]
    common = list(common_scenes())
    rng.shuffle(of_genres)
    rng.shuffle(common)
    chosen = (of_genres[:3] + common)[: max(4, round(sentences / 7.8))]
    rng.shuffle(chosen)
    for scene in chosen:
        first, second = rng.sample(film.cast, 2)
        act = dialogue(scene, rng, (first, second))
        act.joined = bool(film.acts) and rng.random() < 0.1
        film.acts.append(act)
    return film


def narration(rng: random.Random, lines: int) -> Screenplay:
    """Return a documentary with one speaker."""
    film = Screenplay(("Narrator",))
    templates = material("extras")["documentary"]
    for _ in range(max(3, lines // 4)):
        frame = Frame(rng, {"year": str(rng.randint(1500, 1950))})
        spoken = [expand(template, frame, rng) for template in rng.sample(templates, 4)]
        film.acts.append(Act([Turn("Narrator", text) for text in spoken], "narration"))
    return film


def lyrics(rng: random.Random) -> Act:
    """Return a song's lines between note signs."""
    frame = Frame(rng)
    lines = rng.sample(material("extras")["lyrics"], 3)
    return Act([Turn("", f"♪ {expand(line, frame, rng)} ♪", planted=("lyrics",)) for line in lines], "lyrics")


def recap(rng: random.Random, cast: tuple[str, ...], show: str) -> Act:
    """Return the recap of a TV episode: `Previously on ...` and two turns of a scene."""
    opening = rng.choice(material("extras")["previously"]).replace("<show>", show)
    turns = play(rng.choice(common_scenes()), rng, (cast[0], cast[1]), 2)
    return Act([Turn("Narrator", opening, tokenised=True, planted=("previously_on",)), *turns], "recap")


def trailer(rng: random.Random, show: str) -> Screenplay:
    """Return a trailer of a few lines."""
    lines = [line.replace("<show>", show) for line in material("extras")["trailer"]]
    scene = rng.choice(common_scenes())
    cast = cast_of(rng)
    opening = Act([Turn("Narrator", line, tokenised=True) for line in lines], "trailer")
    return Screenplay(cast, [opening, dialogue(scene, rng, (cast[0], cast[1]))])


def plant(act: Act, rule: str, rng: random.Random) -> None:
    """Add a turn that breaks a cleaning rule of EDOS 3.1, and a reply, to a dialogue."""
    turns = act.turns
    speakers = (turns[-2].speaker, turns[-1].speaker)
    if rule == "repeated_turn":
        added = Turn(speakers[0], turns[-1].text, turns[-1].label, planted=(rule,))
    else:
        frame = Frame(rng, {"a": speakers[1], "b": speakers[0], "number": str(rng.randint(11, 98))})
        text = rng.choice(material("extras")[rule])
        added = Turn(speakers[0], expand(text, frame, rng), tokenised=rule != "too_long", planted=(rule,))
    reply = rng.choice(("All right, let's go.", "Come on, we're late.", "Give me a minute."))
    act.turns = [*turns, added, Turn(speakers[1], reply)]
