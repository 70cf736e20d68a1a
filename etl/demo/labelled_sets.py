"""Labelled sets in the formats of the released ones: classifier sentences, worker votes and talks."""

import random
from collections.abc import Iterator, Mapping

from conf.taxonomy import edos_kinds, edos_labels
from etl.demo.corpus_folder import CorpusFolder, csv_bytes
from etl.demo.screenplay import cast_of, play
from etl.demo.templates import Frame, Scene, common_scenes, expand, material, scenes, statements
from udfs.opus.tokens import opus_tokens

TRAIN = 24
VALID = 8
SPOKEN = 10
VOTES = 23
TALKS = 8
"""Rows per class: training statements, validation statements, training film lines, worker votes, talks."""

VOTE_HEADER = (
    "Count",
    "Index",
    "DialogID",
    "Dialog",
    "Agreed emotion (2/3 vote)",
    "Worker 1 answer",
    "Worker 2 answer",
    "Worker 3 answer",
)


TALK_HEADER = ("context", "Dialog_ID", "Type", "Actor", "Text", "Label")


def write_labelled_sets(store: CorpusFolder, seed: int) -> dict[str, int]:
    """Write the two classifier files, the votes and the talks, and return the number of rows by file."""
    train, valid = classifier_sentences(seed)
    votes = list(crowd_votes(seed))
    talks = list(empathetic_conversations(seed))
    store.write_packed("labels/classifier_train.txt.gz", _lines(train))
    store.write_packed("labels/classifier_valid.txt", _lines(valid))
    store.write_packed("labels/crowd_votes.csv.gz", csv_bytes(VOTE_HEADER, votes))
    store.write_packed("talks/ed_annotated_all.csv.gz", csv_bytes(TALK_HEADER, talks))
    return {
        "labels/classifier_train.txt.gz": len(train),
        "labels/classifier_valid.txt": len(valid),
        "labels/crowd_votes.csv.gz": len(votes),
        "talks/ed_annotated_all.csv.gz": len(talks),
    }


def _lines(rows: list[tuple[int, str]]) -> bytes:
    return "".join(f"{label} <SEP> {text}\n" for label, text in rows).encode()


def _distinct(templates: list[str], count: int, taken: set[str], rng: random.Random) -> list[str]:
    """Return up to ``count`` sentences that are not in ``taken``, and add them to it."""
    found: list[str] = []
    for attempt in range(count * 40):
        if len(found) == count:
            break
        text = expand(templates[attempt % len(templates)], Frame(rng), rng)
        if text not in taken:
            taken.add(text)
            found.append(text)
    return found


def classifier_sentences(seed: int) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Return training and validation rows (label id, text); every fifth template is used only for validation."""
    rng = random.Random(f"{seed}|sentences")
    taken: set[str] = set()
    train: list[tuple[int, str]] = []
    valid: list[tuple[int, str]] = []
    spoken: dict[str, list[str]] = {}
    for line in (line for scene in common_scenes() for line in scene.lines):
        spoken.setdefault(line.label, []).append(line.template)
    for number, label in enumerate(edos_labels()):
        templates = list(statements()[label])
        valid += [(number, text) for text in _distinct(templates[4::5], VALID, taken, rng)]
        training = [template for index, template in enumerate(templates) if index % 5 != 4]
        train += [(number, text) for text in _distinct(training, TRAIN, taken, rng)]
        lines = rng.sample(spoken[label], len(spoken[label]))
        train += [(number, text) for text in _distinct(lines, SPOKEN, taken, rng)]
    rng.shuffle(train)
    rng.shuffle(valid)
    return train, valid


def _places() -> Mapping[str, list[tuple[Scene, int]]]:
    found: dict[str, list[tuple[Scene, int]]] = {}
    for scene in (*common_scenes(), *scenes("scenes_genres")):
        for index, line in enumerate(scene.lines):
            found.setdefault(line.label, []).append((scene, index))
    return found


def _answers(label: str, rng: random.Random) -> tuple[str, list[str]]:
    """Return the agreed emotion and three workers' answers: all equal, two equal, or all different (13%)."""
    words = material("labels")
    near, far = words["neighbours"][label]
    name = label.capitalize()
    draw = rng.random()
    if draw < 0.13:
        third = rng.choice(words["outside"]) if rng.random() < 0.4 else near
        answers = [name, third, far]
        rng.shuffle(answers)
        return "-", answers
    if draw < 0.55:
        return name, [name, name, name]
    answers = [name, name, rng.choice(words["outside"]) if rng.random() < 0.06 else rng.choice((near, far))]
    if rng.random() < 0.08:
        answers[rng.randrange(2)] = f"{name} (Other)"
    rng.shuffle(answers)
    return name, answers


def crowd_votes(seed: int) -> Iterator[tuple[object, ...]]:
    """Yield rows in the format of the released worker answers; the first two are cuts of one dialogue."""
    rng = random.Random(f"{seed}|votes")
    bands = material("labels")["bands"]
    count = 0
    taken = set()
    places = _places()
    for label in edos_labels():
        made = 0
        for attempt in range(VOTES * 8):
            if made == VOTES:
                break
            scene, index = places[label][attempt % len(places[label])]
            cast = cast_of(rng)
            spoken = [opus_tokens(turn.text) for turn in play(scene, rng, (cast[0], cast[1]))]
            first = max(0, index - 3) if rng.random() < 0.6 else max(0, index - rng.randint(0, 2))
            cuts = [index]
            if count == 0 and len(spoken) > index + 1:
                cuts.append(index + 1)
            number = rng.randint(1_000, 4_900_000)
            for cut in cuts:
                text = "\n".join(spoken[first : cut + 1])
                if text in taken:
                    continue
                taken.add(text)
                agreed, answers = _answers(scene.lines[cut].label, rng)
                count += 1
                made += 1
                item = f"{rng.choice(bands)}-{rng.randint(20, 999_999)}"
                yield (count, item, number, text, agreed, *answers)


def empathetic_conversations(seed: int) -> Iterator[tuple[str, ...]]:
    """Yield rows in the format of EmpatheticDialogues with classifier labels: a situation, then utterances.

    Each talk has one of the 32 emotions, and its utterances come from a scene with that emotion.
    """
    rng = random.Random(f"{seed}|talks")
    places = _places()
    taken = set[str]()
    number = 0
    for label, kind in edos_kinds().items():
        if kind != "emotion":
            continue
        for text in _distinct(list(statements()[label]), TALKS, taken, rng):
            number += 1
            talk = f"hit:{number}_conv:{2 * number}"
            yield (label, talk, "situation", "none", text, label)
            scene, first = rng.choice(places[label])
            cast = cast_of(rng)
            for number_in_talk, turn in enumerate(play(scene, rng, (cast[0], cast[1]))[first : first + 4]):
                actor = ("speaker", "listener")[number_in_talk % 2]
                yield (label, talk, "utterance", actor, turn.text, turn.label or "neutral")
