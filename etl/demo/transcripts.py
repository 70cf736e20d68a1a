"""Transcripts of two invented shows for the turn segmenter, with the columns of MELD and EmoryNLP."""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass

from etl.demo.corpus_folder import CorpusFolder, csv_bytes
from etl.demo.screenplay import play
from etl.demo.templates import Scene, common_scenes, material
from udfs.opus.tokens import split_sentences

DIALOGUES = {"train": 260, "dev": 60}
MELD_HEADER = (
    "Sr No.",
    "Utterance",
    "Speaker",
    "Emotion",
    "Sentiment",
    "Dialogue_ID",
    "Utterance_ID",
    "Season",
    "Episode",
    "StartTime",
    "EndTime",
)
EMORY_HEADER = (
    "Utterance",
    "Speaker",
    "Emotion",
    "Scene_ID",
    "Utterance_ID",
    "Season",
    "Episode",
    "Start_Time",
    "End_Time",
)


@dataclass(frozen=True)
class Utterance:
    """An utterance; some turns are split into several utterances of the same speaker."""

    text: str
    speaker: str
    emotion: str  # one of MELD's seven
    dialogue: int
    number: int
    start_ms: int
    end_ms: int


def write_transcripts(store: CorpusFolder, seed: int) -> dict[str, int]:
    """Write training and development transcripts of both kinds, and return the number of rows by file."""
    counts: dict[str, int] = {}
    for split in DIALOGUES:
        meld = [_meld_row(utterance) for utterance in _utterances("meld", split, seed)]
        emory = [_emory_row(utterance) for utterance in _utterances("emorynlp", split, seed)]
        meld_name = f"turns/meld/{split}_sent_emo.csv"
        emory_name = f"turns/emorynlp/emorynlp_{split}_final.csv"
        store.write(meld_name, csv_bytes(MELD_HEADER, meld, "\r\n"))
        store.write(emory_name, csv_bytes(EMORY_HEADER, emory))
        counts |= {meld_name: len(meld), emory_name: len(emory)}
    return counts


def held_out(scene: Scene) -> bool:
    """Return whether a scene is used only in development transcripts."""
    return hashlib.sha256(scene.key.encode()).digest()[0] < 52


def _emotion(label: str | None) -> str:
    sevens = material("labels")["seven"].items()
    return next((emotion for emotion, labels in sevens if label in labels), "neutral")


def _utterances(corpus: str, split: str, seed: int) -> Iterator[Utterance]:
    rng = random.Random(f"{seed}|{corpus}|{split}")
    cast = material("labels")["casts"][corpus]
    chosen = [scene for scene in common_scenes() if held_out(scene) == (split == "dev")]
    for dialogue in range(DIALOGUES[split]):
        scene = chosen[dialogue % len(chosen)]
        first, second = rng.sample(cast, 2)
        clock = rng.randint(20_000, 1_300_000)
        number = 0
        for turn in play(scene, rng, (first.split()[0], second.split()[0])):
            speaker = first if turn.speaker == first.split()[0] else second
            sentences = split_sentences(turn.text)
            parts = sentences if len(sentences) > 1 and rng.random() < 0.2 else [turn.text]
            for part in parts:
                text = part.replace("'", "\u2019") if rng.random() < 0.1 else part
                end = clock + 500 + 60 * len(text)
                yield Utterance(text, speaker, _emotion(turn.label), dialogue, number, clock, end)
                clock = end + rng.randint(40, 1_600)
                number = number + 1


def _time(ms: int, mark: str) -> str:
    return f"{ms // 3_600_000:02d}:{ms // 60_000 % 60:02d}:{ms // 1000 % 60:02d}{mark}{ms % 1000:03d}"


def _meld_row(line: Utterance) -> tuple[object, ...]:
    season = line.dialogue // 40 + 1
    episode = line.dialogue // 8 % 5 + 1
    sentiment = material("labels")["sentiment"][line.emotion]
    times = (_time(line.start_ms, ","), _time(line.end_ms, ","))
    row = (line.dialogue * 20 + line.number + 1, line.text, line.speaker, line.emotion, sentiment)
    return (*row, line.dialogue, line.number, season, episode, *times)


def _emory_row(line: Utterance) -> tuple[object, ...]:
    scene = line.dialogue % 10 + 1
    episode = line.dialogue // 10 + 1
    emotion = material("labels")["emory"][line.emotion]
    times = (_time(line.start_ms, "."), _time(line.end_ms, "."))
    return (line.text, f"['{line.speaker}']", emotion, scene, line.number + 1, 1, episode, *times)
