"""Sentence pairs from transcripts with known speakers, MELD and EmoryNLP (ground truth of turns, EDOS 3.1).

Two adjacent sentences belong to one turn if they are in one utterance, or in neighbouring utterances of the same
speaker. Pairs never cross a dialogue or scene.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from conf.errors import InputError
from udfs.opus.tokens import opus_tokens, split_sentences, straight

MELD = "meld"
EMORYNLP = "emorynlp"
_COLUMNS = {
    MELD: ("Utterance", "Speaker", "Dialogue_ID", "Utterance_ID"),
    EMORYNLP: ("Utterance", "Speaker", "Season", "Episode", "Scene_ID", "Utterance_ID"),
}
_SCENE = {MELD: ("Dialogue_ID",), EMORYNLP: ("Season", "Episode", "Scene_ID")}
PAIR_COLUMNS = ("source", "split_group", "left_text", "right_text", "label", "place")


def _speakers(value: str) -> str:
    """Return the speakers in sorted order; EmoryNLP lists them (``['A', 'B']``), MELD names one."""
    return "|".join(sorted(part.strip(" '\"[]").casefold() for part in re.split(r"',|\",", value)))


def transcript_utterances(frame: pd.DataFrame, corpus: str, name: str) -> pd.DataFrame:
    """Return the utterances of a MELD or EmoryNLP CSV, in order.

    Args:
        frame: the CSV's rows, every column as text.
        corpus: ``meld`` or ``emorynlp``.

    Returns:
        scene (text, unique within the file), position (int), speaker, utterance, emotion (in small letters, empty
        where the file has none).

    Raises:
        InputError: A column is missing, or an utterance's number is not numeric.
    """
    if corpus not in _COLUMNS:
        raise InputError(f"transcript {name}: unknown corpus {corpus!r}; known are {', '.join(_COLUMNS)}")
    columns = _COLUMNS[corpus]
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise InputError(f"transcript {name}: no column {', '.join(missing)}; {corpus} has {', '.join(columns)}")
    position = pd.to_numeric(frame["Utterance_ID"], errors="coerce")
    bad = ~np.isfinite(position) | (position % 1 != 0)
    if bad.any():
        line = int(bad.to_numpy().argmax()) + 2
        raise InputError(f"transcript {name}: Utterance_ID in row {line} is not a whole number")
    scenes = zip(*(frame[column].astype(str) for column in _SCENE[corpus]), strict=True)
    table = pd.DataFrame(
        {
            "scene": ["-".join(scene) for scene in scenes],
            "position": position.astype(int),
            "speaker": frame["Speaker"].fillna("").astype(str).map(_speakers),
            "utterance": frame["Utterance"].fillna("").astype(str),
            "emotion": frame["Emotion"].fillna("").astype(str).map(str.strip).map(str.lower)
            if "Emotion" in frame
            else "",
        }
    )
    return table.sort_values(["scene", "position"], kind="stable", ignore_index=True)


def normalised(text: str) -> str:
    """Return an utterance's lower-case words, to find it in another transcript."""
    return " ".join(re.findall(r"[a-z0-9]+", straight(text).replace("'", "").lower()))


def scene_utterances(utterances: pd.DataFrame) -> dict[str, set[str]]:
    """Return each scene's normalised utterances of at least 4 words."""
    words = utterances["utterance"].map(normalised)
    long = words.str.count(" ") >= 3
    return {str(scene): set(group) for scene, group in words[long].groupby(utterances["scene"])}


def without_repeats(utterances: pd.DataFrame, held_out: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Drop the training scenes that share two or more utterances of at least 4 words with one held-out scene.

    MELD and EmoryNLP cut the same episodes differently.
    """
    unseen = [texts for frame in held_out for texts in scene_utterances(frame).values()]
    scenes = scene_utterances(utterances).items()
    repeated = [scene for scene, texts in scenes if any(len(texts & others) > 1 for others in unseen)]
    return utterances[~utterances["scene"].isin(repeated)].reset_index(drop=True)


def sentence_pairs(utterances: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return the pairs of adjacent sentences of a transcript with their labels.

    Utterances whose numbers are not consecutive form no pair, because one between them is missing.

    Args:
        utterances: from :func:`transcript_utterances`.
        source: name of the pairs' source.

    Returns:
        source, split_group (source and scene), left_text, right_text (OPUS tokens), label (1: a new turn), place
        (number of the right sentence).
    """
    rows: list[tuple[str, str, str, str, int, int]] = []
    place = 0
    last_scene = ""
    last_position = 0
    last_speaker = ""
    last_sentence = ""
    columns: Sequence[pd.Series] = [utterances[name] for name in ("scene", "position", "speaker", "utterance")]
    for scene, position, speaker, utterance in zip(*columns, strict=True):
        sentences = [tokens for tokens in map(opus_tokens, split_sentences(utterance)) if tokens]
        for index, sentence in enumerate(sentences):
            group = f"{source}:{scene}"
            place += 1
            if index:
                rows.append((source, group, sentences[index - 1], sentence, 0, place))
            elif last_sentence and scene == last_scene and position == last_position + 1:
                rows.append((source, group, last_sentence, sentence, int(speaker != last_speaker), place))
        last_scene = scene
        last_position = position
        last_speaker = speaker
        last_sentence = sentences[-1] if sentences else ""
    return pd.DataFrame(rows, columns=list(PAIR_COLUMNS))


def parted_utterances(
    training: Mapping[str, pd.DataFrame],
    held_out: Mapping[str, pd.DataFrame],
    further: Mapping[str, pd.DataFrame] | None = None,
) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]:
    """Return the utterances to learn from and the held-out ones, without training scenes that a held-out one repeats.

    Arguments and errors are those of :func:`transcript_pairs`.
    """
    unseen = {name: transcript_utterances(frame, name, f"{name} dev") for name, frame in held_out.items()}
    seen = {name: transcript_utterances(frame, name, f"{name} train") for name, frame in training.items()}
    seen |= further or {}
    return {name: without_repeats(utterances, unseen.values()) for name, utterances in seen.items()}, unseen


def transcript_pairs(
    training: Mapping[str, pd.DataFrame],
    held_out: Mapping[str, pd.DataFrame],
    further: Mapping[str, pd.DataFrame] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (training, held-out) pairs of the corpora, without the training scenes that a held-out scene repeats.

    Args:
        training: corpus (``meld``, ``emorynlp``) to the rows of its training CSV, every column as text.
        held_out: the same for its dev CSV.
        further: source to more training utterances (scene, position, speaker, utterance).

    Raises:
        InputError: see :func:`transcript_utterances`.
    """
    seen, unseen = parted_utterances(training, held_out, further)
    train = [sentence_pairs(utterances, name) for name, utterances in seen.items()]
    dev = [sentence_pairs(utterances, name) for name, utterances in unseen.items()]
    none = pd.DataFrame(columns=list(PAIR_COLUMNS))
    return (
        pd.concat(train, ignore_index=True) if train else none,
        pd.concat(dev, ignore_index=True) if dev else none,
    )
