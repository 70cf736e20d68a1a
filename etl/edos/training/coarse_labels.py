"""Rows whose emotions people gave in other classes, for classifiers of EDOS's labels (ours).

The examples of the paper are told to a stranger, and have hardly a line without an emotion; the utterances of a series
are like a film's, and four in ten are neutral. Comments of GoEmotions have more classes. A class stands for a group of
labels; a row does not say for which.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from conf.taxonomy import Taxonomy
from etl.common.goemotions import goemotions_comments
from etl.common.hashes import text_share
from etl.common.line_files import read_lines
from etl.pipeline.outcome import DroppedRow, LocalOutcome
from etl.subtitles.transcript_files import emotion_utterances
from etl.training.data_inputs import rows_digest
from etl.training.held_out_classifiers import ClassifierTest, answers_to
from udfs.models.classifiers.classifier import Classifier
from udfs.opus.tokens import straight

SETTING = "edos.emotion_transcripts"
NEUTRAL = "neutral"
CHOICE_SHARE = 0.1
MOST_TURNS = 4
"""Utterances of a history, the labelled one among them."""

_ANGRY = ("angry", "annoyed", "furious", "jealous", "disgusted")
_SAD = ("sad", "lonely", "devastated", "disappointed", "guilty", "ashamed", "embarrassed", "nostalgic", "sentimental")
_AFRAID = ("afraid", "terrified", "anxious", "apprehensive")
_GLAD = ("joyful", "excited", "grateful", "proud", "content", "hopeful", "impressed", "anticipating")
GROUPS: Mapping[str, tuple[str, ...]] = {
    "anger": _ANGRY,
    "mad": _ANGRY,
    "disgust": ("disgusted", "annoyed"),
    "sadness": _SAD,
    "sad": _SAD,
    "fear": _AFRAID,
    "scared": _AFRAID,
    "joy": (*_GLAD, "trusting", "caring", "confident", "faithful", "prepared", "sentimental"),
    "joyful": _GLAD,
    "surprise": ("surprised", "impressed"),
    "powerful": ("proud", "confident", "hopeful", "prepared", "impressed"),
    "peaceful": ("content", "grateful", "caring", "trusting", "faithful", "sentimental"),
}
"""Classes of MELD and EmoryNLP to the emotions of EDOS that they stand for; neutral stands for all other labels."""
_NEUTRAL_TOO = (NEUTRAL, "acknowledging")
COMMENT_GROUPS: Mapping[str, tuple[str, ...]] = {
    "admiration": ("impressed", "proud", "encouraging"),
    "amusement": ("joyful", "excited"),
    "anger": _ANGRY,
    "annoyance": ("annoyed", "angry", "disgusted"),
    "approval": ("agreeing", "encouraging", "confident", *_NEUTRAL_TOO),
    "caring": ("caring", "consoling", "sympathizing", "encouraging", "wishing", "suggesting"),
    "confusion": ("questioning", "surprised", NEUTRAL),
    "curiosity": ("questioning",),
    "desire": ("hopeful", "anticipating", "wishing", "jealous"),
    "disappointment": ("disappointed", "sad"),
    "disapproval": ("annoyed", "disappointed", "angry", "disgusted", NEUTRAL),
    "disgust": ("disgusted", "annoyed"),
    "embarrassment": ("embarrassed", "ashamed", "guilty"),
    "excitement": ("excited", "joyful", "anticipating"),
    "fear": _AFRAID,
    "gratitude": ("grateful",),
    "grief": ("devastated", "sad", "lonely"),
    "joy": ("joyful", "excited", "content", "grateful", "proud"),
    "love": ("caring", "faithful", "sentimental", "trusting", "joyful", "impressed"),
    "nervousness": _AFRAID,
    "optimism": ("hopeful", "confident", "anticipating", "wishing", "encouraging"),
    "pride": ("proud", "confident"),
    "realization": ("surprised", *_NEUTRAL_TOO),
    "relief": ("content", "grateful", "joyful"),
    "remorse": ("guilty", "ashamed", "embarrassed", "sympathizing"),
    "sadness": ("sad", "lonely", "devastated", "disappointed", "nostalgic"),
    "surprise": ("surprised", "impressed"),
}
"""Classes of GoEmotions, in the order of their ids, to the labels of EDOS that they stand for. The last class, neutral,
stands for all that are no emotions."""
COMMENTS = ("train.tsv", "train.tsv.gz")
"""The part of GoEmotions that is learned from."""
PLACEHOLDERS = {"[NAME]": "John", "[RELIGION]": "Christian"}
"""Placeholders in comments of GoEmotions, and the word that replaces each."""


@dataclass(frozen=True)
class CoarseRows:
    """Utterances with their histories.

    Attributes:
        histories: utterances in order, the labelled one last.
        groups: ids of the labels that each one's class stands for.
        emotional: whether the class is an emotion.
    """

    histories: list[tuple[str, ...]]
    groups: list[tuple[int, ...]]
    emotional: list[bool]


class CoarseParts(NamedTuple):
    """The parts of `coarse_rows`.

    Attributes:
        dropped: rows of the ledger for lines that are in none; these count as no units.
    """

    learned: CoarseRows
    chosen_on: CoarseRows
    held_out: CoarseRows
    dropped: list[DroppedRow]


def groups_of(taxonomy: Taxonomy, classes: Mapping[str, tuple[str, ...]] = GROUPS) -> dict[str, tuple[int, ...]]:
    """Return the ids of the labels that each class stands for; a label of the class's own name is one.

    Classes that stand for no label are left out, and all where the taxonomy has no label for what is neutral: an
    utterance could not speak against an emotion then.
    """
    ids = {name: number for number, name in enumerate(taxonomy.names)}
    neutral = tuple(ids[name] for name, kind in taxonomy.kinds.items() if kind != "emotion")
    groups = {
        name: tuple(ids[label] for label in dict.fromkeys((name, *labels)) if label in ids)
        for name, labels in classes.items()
    }
    return {name: group for name, group in (groups | {NEUTRAL: neutral}).items() if group and neutral}


def coarse_rows(folders: Sequence[str], taxonomy: Taxonomy) -> CoarseParts:
    """Return the rows of transcripts and comments whose classes the taxonomy knows.

    A tenth of the scenes of the training parts is chosen on; the development parts are held out. Comments are learned
    from alone.

    Args:
        folders: of MELD, EmoryNLP and GoEmotions; dialogues without emotions are left out.

    Raises:
        InputError: a folder has no known files, or a file cannot be read.
    """
    groups = groups_of(taxonomy)
    comments = {folder: _comments(folder) for folder in folders}
    training, held_out = emotion_utterances([folder for folder, file in comments.items() if file is None], SETTING)
    learned: dict[str, pd.DataFrame] = {}
    chosen_on: dict[str, pd.DataFrame] = {}
    for name, utterances in training.items():
        apart = (name + ":" + utterances["scene"]).map(text_share) < CHOICE_SHARE
        learned[name], chosen_on[name] = utterances[~apart], utterances[apart]
    given = _rows(learned, groups)
    dropped: list[DroppedRow] = []
    for file in filter(None, comments.values()):
        dropped += _add_comments(given, file, groups_of(taxonomy, COMMENT_GROUPS))
    return CoarseParts(given, _rows(chosen_on, groups), _rows(held_out, groups), dropped)


def _comments(folder: str) -> Path | None:
    return next((file for name in COMMENTS if (file := Path(folder, name)).is_file()), None)


def _add_comments(found: CoarseRows, file: Path, groups: Mapping[str, tuple[int, ...]]) -> list[DroppedRow]:
    """Add the comments of GoEmotions; one with several classes may have any label that these stand for.

    Returns:
        The lines that are left out.
    """
    unread = LocalOutcome()
    lines = read_lines(file, "comment", unread, SETTING)
    read = goemotions_comments({"train": lines}, validation_share=0.0, names=(*COMMENT_GROUPS, NEUTRAL)).plus(unread)
    without = 0
    for _, text, classes, *_ in read.rows:
        labels = sorted({label for name in classes for label in groups.get(name, ())})
        if labels:
            for placeholder, name in PLACEHOLDERS.items():
                text = text.replace(placeholder, name)
            found.histories.append((" ".join(straight(text).split()),))
            found.groups.append(tuple(labels))
            found.emotional.append(classes != [NEUTRAL])
        else:
            without += 1
    if without:
        read.drop("comment", file.name, "class_without_labels", f"{without:,} comments")
    return [row._replace(units=0) for row in read.dropped]


def _rows(corpora: Mapping[str, pd.DataFrame], groups: Mapping[str, tuple[int, ...]]) -> CoarseRows:
    found = CoarseRows([], [], [])
    for utterances in corpora.values():
        scene, position, turns = "", 0, tuple[str, ...]()
        columns = [utterances[name] for name in ("scene", "position", "utterance", "emotion")]
        for here, at, text, emotion in zip(*columns, strict=True):
            said = " ".join(straight(text).split())
            before = turns if here == scene and at == position + 1 else ()
            turns = (*before, said)[-MOST_TURNS:] if said else before
            scene, position = here, at
            if said and emotion in groups:
                found.histories.append(turns)
                found.groups.append(groups[emotion])
                found.emotional.append(emotion != NEUTRAL)
    return found


def within_groups(probabilities: NDArray[Any], groups: Sequence[Sequence[int]]) -> NDArray[Any]:
    """Return probabilities (rows, labels) that are 0 outside each row's group, and add up to 1 in it."""
    # Where all are next to 0, no label of the group is more probable than the others.
    tiny = float(np.finfo(np.float32).tiny)
    inside = np.where(_members(groups, probabilities.shape[1]), probabilities.astype(float) + tiny, 0.0)
    return inside / inside.sum(axis=1, keepdims=True)


def _members(groups: Sequence[Sequence[int]], labels: int) -> NDArray[np.bool_]:
    """Return whether each label is in each row's group (rows, labels)."""
    member = np.zeros((len(groups), labels), bool)
    for row, group in enumerate(groups):
        member[row, list(group)] = True
    return member


def coarse_figures(probabilities: NDArray[Any], rows: CoarseRows, taxonomy: Taxonomy) -> dict[str, float]:
    """Return how well a classifier tells utterances with an emotion from others, and its class from other emotions.

    Args:
        probabilities: (rows, labels).

    Returns:
        ``emotional_auc``: the chance that one with an emotion has more probability in the emotions than one without;
        ``emotional_share``, the precision of a classifier that calls all so or any at random;
        ``emotional_precision`` and ``emotional_recall`` of the labels that are emotions;
        ``emotion_in_group``: share of these labels that belong to the class that people gave, and
        ``emotion_in_group_floor``, the largest share that a single label would reach of the same rows.
    """
    from sklearn.metrics import roc_auc_score

    kinds = [taxonomy.kinds[name] == "emotion" for name in taxonomy.names]
    labels = probabilities.argmax(axis=1)
    called = np.asarray(kinds)[labels]
    truth = np.asarray(rows.emotional)
    member = _members(rows.groups, probabilities.shape[1])
    figures = {"emotional_share": float(truth.mean())}
    if 0 < truth.sum() < len(truth):
        figures["emotional_auc"] = float(roc_auc_score(truth, probabilities[:, kinds].sum(axis=1)))
        figures["emotional_recall"] = float(called[truth].mean())
    if called.any():
        figures["emotional_precision"] = float(truth[called].mean())
        figures["emotion_in_group"] = float(member[np.arange(len(labels)), labels][called].mean())
        figures["emotion_in_group_floor"] = float(member[called][:, kinds].mean(axis=0).max())
    return figures


class TranscriptChoice(ClassifierTest):
    """The choice of a champion by the labels' metric on validation rows plus ``emotional_auc`` on transcripts.

    By the examples' metric alone a model that knows films would lose against one that knows the examples.

    Args:
        validation: the choice without transcripts.
        items: texts or histories of the utterances.
    """

    def __init__(self, validation: ClassifierTest, items: Sequence[Any], known: CoarseRows, taxonomy: Taxonomy) -> None:
        super().__init__(
            validation.model, validation.rows, validation.metric, validation.labels, device=validation.device
        )
        self.validation = validation
        self.metric = f"{validation.metric}_and_emotional_auc"
        self.items = items
        self.known = known
        self.taxonomy = taxonomy

    def digest(self) -> str:
        return rows_digest([*self.rows, *zip(self.items, self.known.groups, strict=True)])

    def score_of(self, model: Classifier[Any]) -> float:
        answers = answers_to(model, [(item, None) for item in self.items])
        figures = coarse_figures(answers, self.known, self.taxonomy)
        return self.validation.score_of(model) + figures.get("emotional_auc", 0.5)
