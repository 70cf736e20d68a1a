"""Transcripts of two invented shows for the turn segmenter, in the columns of MELD and EmoryNLP."""

import csv
import hashlib
import io
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from etl.demo.screenplay import play
from etl.demo.store import Store
from etl.demo.texts import Scene, common_scenes, material
from etl.subtitles.transcripts import split_sentences

DIALOGUES = {"train": 260, "dev": 60}
MELD_HEADER = (
    "Sr No.", "Utterance", "Speaker", "Emotion", "Sentiment", "Dialogue_ID", "Utterance_ID",
    "Season", "Episode", "StartTime", "EndTime",
)  # fmt: skip
EMORY_HEADER = (
    "Utterance", "Speaker", "Emotion", "Scene_ID", "Utterance_ID", "Season", "Episode",
    "Start_Time", "End_Time",
)  # fmt: skip


@dataclass(frozen=True)
class Utterance:
    """A stretch of speech; some turns are two of them by the same speaker."""

    text: str
    speaker: str
    emotion: str  # one of MELD's seven
    dialogue: int
    number: int
    start_ms: int
    end_ms: int


def write_transcripts(store: Store, seed: int) -> dict[str, int]:
    """Write training and development transcripts of both kinds; rows by file."""
    rows = {}
    for split in DIALOGUES:
        meld = list(_utterances("meld", split, seed))
        emory = list(_utterances("emorynlp", split, seed))
        files = {
            f"turns/meld/{split}_sent_emo.csv": _table(MELD_HEADER, map(_meld_row, meld), "\r\n"),
            f"turns/emorynlp/emorynlp_{split}_final.csv": _table(EMORY_HEADER, map(_emory_row, emory), "\n"),
        }
        for (name, content), utterances in zip(files.items(), (meld, emory), strict=True):
            store.write(name, content)
            rows[name] = len(utterances)
    return rows


def _table(header: Sequence[str], rows: Iterator[tuple[object, ...]], end: str) -> bytes:
    table = io.StringIO()
    writer = csv.writer(table, lineterminator=end)
    writer.writerow(header)
    writer.writerows(rows)
    return table.getvalue().encode()


def held_out(scene: Scene) -> bool:
    """Whether a scene is for development transcripts alone: no line of it is ever trained on."""
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
        clock, number = rng.randint(20_000, 1_300_000), 0
        for turn in play(scene, rng, (first.split()[0], second.split()[0])):
            speaker = first if turn.speaker == first.split()[0] else second
            sentences = split_sentences(turn.text)
            parts = sentences if len(sentences) > 1 and rng.random() < 0.2 else [turn.text]
            for part in parts:
                text = part.replace("'", "\u2019") if rng.random() < 0.1 else part
                end = clock + 500 + 60 * len(text)
                yield Utterance(text, speaker, _emotion(turn.label), dialogue, number, clock, end)
                clock, number = end + rng.randint(40, 1_600), number + 1


def _time(ms: int, mark: str) -> str:
    return f"{ms // 3_600_000:02d}:{ms // 60_000 % 60:02d}:{ms // 1000 % 60:02d}{mark}{ms % 1000:03d}"


def _meld_row(said: Utterance) -> tuple[object, ...]:
    place = (said.dialogue // 40 + 1, said.dialogue // 8 % 5 + 1)
    sentiment = material("labels")["sentiment"][said.emotion]
    times = (_time(said.start_ms, ","), _time(said.end_ms, ","))
    line = said.dialogue * 20 + said.number + 1
    numbers = (said.dialogue, said.number, *place)
    return (line, said.text, said.speaker, said.emotion, sentiment, *numbers, *times)


def _emory_row(said: Utterance) -> tuple[object, ...]:
    scene, episode = said.dialogue % 10 + 1, said.dialogue // 10 + 1
    emotion = material("labels")["emory"][said.emotion]
    times = (_time(said.start_ms, "."), _time(said.end_ms, "."))
    return (said.text, f"['{said.speaker}']", emotion, scene, said.number + 1, 1, episode, *times)
