"""Borders between adjacent sentences: whether a turn opens, what decides it, and how certain that is (EDOS 3.1).

`udfs.opus.speaker_changes` has split sentences in which the speaker changes when their file was read; all other rules
about borders are here. `subtitles.dialogues.borders` is the decision, by the settings of the run;
`subtitles.turn_scores.sources` is what would decide by the default rules.
"""

from dataclasses import dataclass

import numpy as np

from etl.subtitles.settings import TurnCertainty
from etl.subtitles.turn_marks import NEW_TURN, SAME_TURN, UNMARKED, Spoken, spoken
from etl.subtitles.turn_sentences import Sentences

OPENING_DASH_MARGIN = -0.2
"""Ours, chosen on one film: right for 70% of these dashes in the others, where a turn at each is right for 58%."""
START = "start"
SILENCE = "silence"
MARK = "mark"
OTHER_UPLOAD = "carried"
MODEL = "model"
"""What decides a border: the film's start, a silence, the upload's own mark, one of another upload, the segmenter."""


@dataclass(frozen=True)
class Borders:
    """The borders of the sentences of several files, by marks and the segmenter.

    Attributes:
        own: the decision before each spoken sentence by the file's own marks: NEW_TURN, SAME_TURN or UNMARKED.
        marked: the same by own marks or marks from other uploads.
        margin: how far the segmenter's score is above its limit.
        silence_ends_turn_ms: a longer silence ends a turn (ours); None disables that rule.
    """

    sentences: Sentences
    lines: Spoken
    own: np.ndarray
    marked: np.ndarray
    margin: np.ndarray
    silence_ends_turn_ms: int | None = None

    @classmethod
    def of(
        cls,
        sentences: Sentences,
        scores: np.ndarray,
        carried: np.ndarray | None = None,
        *,
        lines: Spoken | None = None,
        explicit_marks: bool = True,
        silence_ends_turn_ms: int | None = None,
        opening_dash_margin: float = OPENING_DASH_MARGIN,
    ) -> "Borders":
        """Return the borders of files.

        Args:
            scores: the segmenter's score before each sentence; ignored for a file's first sentence.
            carried: the marks of other uploads before each sentence, NEW_TURN, SAME_TURN or UNMARKED; they decide
                where the file's own marks do not (``Spoken.certain``).
            lines: ``spoken(sentences)`` where it is known.
            explicit_marks: whether a dash or speaker label overrides the segmenter.
            silence_ends_turn_ms: see the attribute.
            opening_dash_margin: where nothing else decides, a score above it opens a turn at a
                ``Spoken.opening_dash``.
        """
        lines = spoken(sentences) if lines is None else lines
        own = lines.certain if explicit_marks else np.full(len(lines.file), UNMARKED, dtype=np.int8)
        marked = own if carried is None else np.where(own == UNMARKED, carried[lines.opens_at], own)
        score = scores[lines.opens_at]
        limit = np.where(explicit_marks & lines.opening_dash, opening_dash_margin, 0.0)
        return cls(sentences, lines, own, marked, score - limit, silence_ends_turn_ms)

    @property
    def starts(self) -> np.ndarray:
        """Whether each sentence opens a turn."""
        by_margin = (self.margin > 0) & self.lines.pairable
        starts = self.silent | self.sentences.first
        starts[self.lines.opens_at] |= (self.marked == NEW_TURN) | ((self.marked != SAME_TURN) & by_margin)
        return starts

    @property
    def silent(self) -> np.ndarray:
        """Whether a silence before each sentence ends a turn."""
        if self.silence_ends_turn_ms is None:
            return np.zeros(len(self.sentences), dtype=bool)
        return self.sentences.silence_ms > self.silence_ends_turn_ms

    @property
    def deciders(self) -> np.ndarray:
        """Which of ``mark``, ``carried``, ``model`` decides before each sentence; "" if none."""
        by = np.select([self.own != UNMARKED, self.marked != UNMARKED], [MARK, OTHER_UPLOAD], MODEL)
        found = np.full(len(self.sentences), "", dtype=object)
        found[self.lines.opens_at] = np.where(self.lines.pairable | (self.marked != UNMARKED), by, "")
        return found

    @property
    def sources(self) -> np.ndarray:
        """What decides before each sentence: ``start``, ``silence``, or one of :attr:`deciders`.

        A silence ends a turn by itself; where a mark or another upload opens one there too, that says more.
        """
        found = self.deciders
        found[self.silent & np.isin(found, ("", MODEL))] = SILENCE
        found[self.sentences.first] = START
        return found

    def certainty(self, rates: TurnCertainty) -> np.ndarray:
        """Return the probability that the decision before each sentence is right; 1 where there is nothing to decide.

        Nothing is decided at a film's start, at a silence that ends a turn, and beside a sentence without words.

        Args:
            rates: how often each kind of decision is right.
        """
        model = model_certainty(self.margin, rates)
        marks = np.where(self.own != UNMARKED, rates.mark, rates.carried)
        found = np.ones(len(self.sentences))
        found[self.lines.opens_at] = np.where(self.marked != UNMARKED, marks, model)
        found[self.lines.opens_at[~self.lines.pairable]] = 1.0
        found[self.silent] = 1.0
        return found


def model_certainty(margin: np.ndarray, rates: TurnCertainty) -> np.ndarray:
    """Return the probability that the segmenter's decision is right, from how far its score is from its limit."""
    a, b = rates.model
    return 1 / (1 + np.exp(-(a + b * np.abs(margin))))
