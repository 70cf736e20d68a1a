"""Stories and support talks of the demo, with what a language model would answer about them, for ``recorded:`` models.

All of it is written for the demo: it shows what the stages do, and says nothing about any model.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from conf.taxonomy import goemotions_polarities
from etl.demo.corpus_folder import CorpusFolder, csv_bytes
from etl.demo.templates import Frame, expand, material

PLOTS = "stories/plots.csv"
UTTERED = "stories/recorded_answers.jsonl"
SESSIONS = "support/sessions.json"
TALKS = "support/first_posts.csv"
POSTS = "support/forum_posts.jsonl"
CONTINUED = "support/recorded_answers.jsonl"
UNTUNED = "support/recorded_untuned_answers.jsonl"

EMOTIONAL = 8
NEUTRAL = 2
LEVELS = (
    (0.9, 0.3, 0.2, 0.1, 0.1),
    (0.9, 0.5, 0.2, 0.1, 0.1),
    (0.8, 0.6, 0.3, 0.2, 0.1),
    (0.9, 0.6, 0.4, 0.3, 0.1),
    (1.0, 0.7, 0.5, 0.4, 0.3),
)
"""Of the five labels of an utterance, of which those from 0.3 on count."""
NEAR = {
    "positive": ("joy", "excitement", "approval", "optimism", "love", "admiration", "gratitude", "relief"),
    "negative": ("sadness", "disappointment", "annoyance", "nervousness", "fear", "disapproval", "anger", "remorse"),
    "ambiguous": ("surprise", "realization", "curiosity", "confusion", "excitement", "nervousness"),
    "neutral": ("approval", "realization", "curiosity", "annoyance", "optimism"),
}
"""Labels beside the primary one, by its polarity."""
FEELINGS = {
    "positive": "By then {name} was full of {label} and could not hide it.",
    "negative": "By then {name} was full of {label} and hardly slept.",
    "ambiguous": "By then {name} was taken by {label} and asked everybody.",
}
SESSIONS_MADE = 24
FIRST_POSTS = 36
FORUM_POSTS = 12
SAMPLES = 2
"""Recorded talks for each first post."""

Entry = dict[str, list[str]]


def list_of(name: str) -> Sequence[Mapping[str, Any]]:
    """Return the entries of a file of ``conf/demo`` that is a list."""
    return list(cast("Sequence[Mapping[str, Any]]", material(name)))


def write_stories(store: CorpusFolder, seed: int) -> dict[str, int]:
    """Write plots and recorded answers for each step of Emo Pillars; return the number of rows by file."""
    stories = list_of("stories")
    plots = [(story["title"], " ".join(story["plot"].split())) for story in stories]
    # One comes twice and one is in another language, so that something is dropped.
    plots += [plots[0], ("De bakker", "De bakker van het dorp heeft zijn brood verloren en zoekt het in de hele stad.")]
    entries = list(_entries(stories, seed))
    store.write(PLOTS, csv_bytes(("title", "plot"), plots))
    store.write(UTTERED, _json_lines(entries))
    return {PLOTS: len(plots), UTTERED: len(entries)}


def _entries(stories: Sequence[Mapping[str, Any]], seed: int) -> Iterator[Entry]:
    rng = random.Random(f"{seed}|stories")
    emotions = [label for label in _spoken() if label != "neutral"]
    rng.shuffle(emotions)
    spoken_so_far = 0
    for number, story in enumerate(stories):
        actors = story["actors"]
        opening = " ".join(story["plot"].split())[:60]
        yield _entry(["Name every character", opening], _listed(actors, as_json=number % 4 == 1))
        left = {label: rng.sample(lines, len(lines)) for label, lines in _lines_by_label().items()}
        for place, actor in enumerate(actors):
            other = actors[(place + 1) % len(actors)]["name"].split()[0]
            # Emotions take turns, so that all occur about equally often, and each line at most once in a story.
            labels = [emotions[(spoken_so_far + step) % len(emotions)] for step in range(EMOTIONAL)]
            spoken_so_far += EMOTIONAL
            said = [(label, *_filled(left[label].pop(), story, other)) for label in [*labels, *["neutral"] * NEUTRAL]]
            asked = [f"Take the part of this character of the story: {actor['name']}"]
            if actor is stories[-1]["actors"][-1]:
                yield _entry(asked, "I am sorry, but I cannot take the part of this character.")
                continue
            yield _entry(asked, _numbered(said))
            yield _entry(["Take out such clauses", actor["before"]], actor["before"])
            for label, text, hidden in said:
                yield from _about(text, hidden, label, actor, rng)


def _listed(actors: Sequence[Mapping[str, str]], as_json: bool) -> str:
    """Return the characters as a list, or as JSON as some models answer."""
    if as_json:
        return json.dumps([{"name": actor["name"], "role": actor["about"]} for actor in actors])
    return "\n".join(f"{number}. {actor['name']} ({actor['about']})" for number, actor in enumerate(actors, 1))


def _about(text: str, hidden: str, label: str, actor: Mapping[str, str], rng: random.Random) -> Iterator[Entry]:
    """Yield the answers on one utterance: labels with levels, context, rewritten words."""
    polarity = goemotions_polarities()[label]
    levels = rng.choice(LEVELS)
    beside = rng.sample([one for one in NEAR[polarity] if one != label], len(levels) - 1)
    lines = [f"{place}. {one} ({level})" for place, (one, level) in enumerate(zip(beside, levels[1:], strict=True), 2)]
    yield _entry([f'Somebody says this: "{text}"'], "\n".join([f" ({levels[0]})", *lines]))
    feeling = FEELINGS.get(polarity, "").format(name=actor["name"], label=label)
    yield _entry(["Tell, in plain prose", f'"{text}"'], f"{actor['before']} {feeling}".strip())
    yield _entry(["Say it in other words", f'"{text}"'], f'"{hidden}"')


def _numbered(said: Sequence[tuple[str, str, str]]) -> str:
    """Return utterances as the prompt asks for them: emotional ones, then neutral ones under their heading."""
    emotional = [f'({label}) "{text}"' for label, text, _ in said if label != "neutral"]
    neutral = [f'"{text}"' for label, text, _ in said if label == "neutral"]
    numbered = ["\n".join(f"{place}. {line}" for place, line in enumerate(some, 1)) for some in (emotional, neutral)]
    return "\n\nNeutral:\n".join(numbered)


def _filled(line: Sequence[str], story: Mapping[str, Any], other: str) -> tuple[str, str]:
    """Return the words that name an emotion and those that hide it, with the story's things in their slots."""
    slots = {name: story[name] for name in ("thing", "place", "event")} | {"other": other}
    texts = []
    for text in line:
        for name, filler in slots.items():
            text = text.replace(f"<{name}>", filler).replace(f"<{name.capitalize()}>", filler[:1].upper() + filler[1:])
        texts.append(text[:1].upper() + text[1:])
    return texts[0], texts[1]


def _lines_by_label() -> dict[str, list[list[str]]]:
    """Return (words that name the emotion, words that hide it) by label."""
    return {label: [line.split(" | ") for line in text.strip().splitlines()] for label, text in _spoken().items()}


def _spoken() -> Mapping[str, str]:
    spoken: Mapping[str, str] = material("recorded_utterances")
    return spoken


def write_support(store: CorpusFolder, seed: int) -> dict[str, int]:
    """Write sessions, first posts and recorded talks for AugESC; return the number of rows by file."""
    rng = random.Random(f"{seed}|support")
    topics = material("support")["topics"]
    sessions = [_session(topics[number % len(topics)], rng) for number in range(SESSIONS_MADE)]
    talks = []
    posts = []
    continued: list[Entry] = []
    untuned: list[Entry] = []
    taken = set[str]()
    for number in range(FIRST_POSTS + FORUM_POSTS):
        topic = topics[number % len(topics)]
        of_forum = number >= FIRST_POSTS
        text = _opening(topic, "post" if of_forum else "opening", taken, rng)
        if of_forum:
            posts.append({"id": f"p{number}", "subreddit": "talk", "title": "", "selftext": text})
        else:
            talks.append((topic["emotion"], f"talk:{number}", "utterance", "speaker", text, topic["emotion"]))
        continued.append(
            _entry([f"Human: {text}\n"], *(_continued(topic, number + 7 * n, rng) for n in range(SAMPLES)))
        )
        untuned.append(_entry([f"Human: {text}\n"], _untuned(topic, number, rng)))
    store.write(SESSIONS, json.dumps(sessions, indent=1).encode() + b"\n")
    store.write(TALKS, csv_bytes(("context", "Dialog_ID", "Type", "Actor", "Text", "Label"), talks))
    store.write(POSTS, _json_lines(posts))
    store.write(CONTINUED, _json_lines(continued))
    store.write(UNTUNED, _json_lines(untuned))
    return {
        SESSIONS: len(sessions),
        TALKS: len(talks),
        POSTS: len(posts),
        CONTINUED: len(continued),
        UNTUNED: len(untuned),
    }


def _opening(topic: Mapping[str, str], kind: str, taken: set[str], rng: random.Random) -> str:
    """Return a first post that is not in ``taken``, and add it."""
    templates = topic[kind].strip().splitlines()
    text = expand(rng.choice(templates), Frame(rng), rng)
    for _ in range(40):
        if text not in taken:
            break
        text = expand(rng.choice(templates), Frame(rng), rng)
    taken.add(text)
    return text


def _turns(topic: Mapping[str, str], pairs: int, rng: random.Random) -> list[tuple[str, str]]:
    """Return a talk from the supporter's first turn on: so many pairs of turns, then thanks and a farewell."""
    frame = Frame(rng)
    common = material("support")["common"]
    said: dict[str, list[str]] = {}
    for role in ("seeker", "supporter"):
        own = topic[role].strip().splitlines()
        shared = common[role].strip().splitlines()
        drawn = zip(rng.sample(own, len(own)), rng.sample(shared, len(own)), strict=True)
        said[role] = [line for both in drawn for line in both]
    turns = []
    for number in range(pairs):
        turns.append(("supporter", said["supporter"][number % len(said["supporter"])]))
        turns.append(("seeker", said["seeker"][number % len(said["seeker"])]))
    turns[-1] = ("seeker", rng.choice(common["thanks"].strip().splitlines()))
    turns.append(("supporter", rng.choice(common["farewell"].strip().splitlines())))
    return [(role, expand(line, frame, rng)) for role, line in turns]


def _session(topic: Mapping[str, str], rng: random.Random) -> dict[str, Any]:
    """Return a session between people in the form of ESConv."""
    opening = expand(rng.choice(topic["opening"].strip().splitlines()), Frame(rng), rng)
    turns = [("supporter", "Hello, how are you today?"), ("seeker", opening), *_turns(topic, rng.randint(5, 9), rng)]
    return {
        "problem_type": topic["problem"],
        "emotion_type": topic["emotion"],
        "situation": opening,
        "dialog": [{"speaker": role, "content": f"{text}\n"} for role, text in turns],
    }


FAULTS = ("short", "role_word", "no_speaker", "in_a_row", "few_words")
"""What is wrong with some recorded talks, so that requirements are seen to be violated."""


def _continued(topic: Mapping[str, str], number: int, rng: random.Random) -> str:
    """Return what a tuned model would go on with; every third talk violates a requirement."""
    turns = _turns(topic, rng.randint(5, 10), rng)
    fault = FAULTS[number // 3 % len(FAULTS)] if number % 3 == 0 else None
    if fault == "short":
        turns = turns[:3]
    if fault == "role_word":
        turns[2] = ("supporter", "I am only an AI, but I can try to listen to you as well as I can.")
    if fault == "in_a_row":
        turns[1:1] = [("supporter", "Please tell me a little more about what happened.")] * 4
    if fault == "few_words":
        turns = [(role, "Yes, I know." if role == "seeker" else text) for role, text in turns]
    lines = _lines(turns)
    if fault == "no_speaker":
        lines.insert(2, "(They are silent for a while.)")
    return _after_the_name(lines)


def _untuned(topic: Mapping[str, str], number: int, rng: random.Random) -> str:
    """Return what an untuned model would go on with: mostly short, and often no talk."""
    turns = _turns(topic, rng.randint(2, 6), rng)
    if number % 3 == 0:
        return f" {turns[0][1]}\n\nThis is the end of the talk.\nIt was written by two people."
    return _after_the_name(_lines(turns if number % 5 == 1 else turns[:4]))


def _lines(turns: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{'AI' if role == 'supporter' else 'Human'}: {text}" for role, text in turns]


def _after_the_name(lines: Sequence[str]) -> str:
    """Return lines without the first speaker's name, with which the prompt ends."""
    return "\n".join(lines).removeprefix("AI:")


def _entry(contains: Sequence[str], *answers: str) -> Entry:
    return {"contains": list(contains), "answers": list(answers)}


def _json_lines(rows: Sequence[Any]) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()
