"""Read transcripts with known speakers: MELD and EmoryNLP as CSV, DailyDialog as text or JSON."""

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import pandas as pd

from conf.errors import InputError
from etl.subtitles.dialogue_corpora import DAILYDIALOG, dialogue_utterances, turns_of_lines, turns_of_reccon
from etl.subtitles.known_speakers import KNOWN_SPEAKERS, Episode, episodes_of, has_known_speakers
from etl.subtitles.transcripts import parted_utterances

CORPORA = {
    "meld": ("train_sent_emo.csv", "dev_sent_emo.csv"),
    "emorynlp": ("emorynlp_train_final.csv", "emorynlp_dev_final.csv"),
}
DIALOGUES = (
    "dialogues_train.txt",
    "dialogues_valid.txt",
    "dialogues_test.txt",
    "dailydialog_train.json",
    "reccon_dailydialog_train.json.gz",
)
"""DailyDialog's text and RECCON's copy of its training part; all existing files are used for training."""
MOST_BYTES = 64 << 20


def example_frames(
    folders: Sequence[str], setting: str = "subtitles.turn_examples"
) -> tuple[dict[str, pd.DataFrame], ...]:
    """Return the transcripts of several folders, which a setting names.

    Returns:
        (training, held out, further), the arguments of ``transcripts.transcript_pairs``.

    Raises:
        InputError: a folder has no known transcripts, or a file cannot be read.
    """
    training: dict[str, pd.DataFrame] = {}
    held_out: dict[str, pd.DataFrame] = {}
    further: dict[str, pd.DataFrame] = {}
    for folder in folders:
        if has_known_speakers(Path(folder)):
            continue
        corpus = next((name for name, parts in CORPORA.items() if Path(folder, parts[0]).is_file()), None)
        dialogues = [path for path in (Path(folder, name) for name in DIALOGUES) if path.is_file()]
        if corpus is not None:
            training[corpus], held_out[corpus] = (_read(Path(folder, name)) for name in CORPORA[corpus])
        elif dialogues:
            further[DAILYDIALOG] = dialogue_utterances(chain.from_iterable(map(_dialogues, dialogues)))
        else:
            known = [parts[0] for parts in CORPORA.values()] + list(DIALOGUES) + KNOWN_SPEAKERS
            raise InputError(f"{setting}: {folder} has none of {', '.join(known)}")
    return training, held_out, further


def known_episodes(folders: Sequence[str]) -> Iterator[Episode]:
    """Yield the episodes of those folders whose subtitles have the speaker of every cue."""
    for folder in folders:
        if has_known_speakers(Path(folder)):
            yield from episodes_of(Path(folder))


def emotion_utterances(folders: Sequence[str], setting: str) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]:
    """Return the utterances of MELD and EmoryNLP with people's emotions, by corpus: training and development parts.

    Training scenes that a development scene repeats are left out, and so are corpora whose files have no emotions.

    Raises:
        InputError: a folder has no known transcripts, or a file cannot be read.
    """
    training, held_out, _ = example_frames(folders, setting)
    known = [name for name in training if "Emotion" in training[name] and "Emotion" in held_out[name]]
    return parted_utterances({name: training[name] for name in known}, {name: held_out[name] for name in known})


def _dialogues(path: Path) -> Iterator[list[tuple[str, str]]]:
    is_json = ".json" in path.suffixes
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES >> 20} MiB")
        text = content.decode("utf-8")
        dialogues = json.loads(text) if is_json else text.split("\n")
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{path} cannot be read as dialogues: {reason}") from None
    return turns_of_reccon(dialogues, path.name) if is_json else turns_of_lines(dialogues)


def _read(path: Path) -> pd.DataFrame:
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as CSV: {str(error).splitlines()[0]}") from None
