"""The gate of a conversation between a person and a model: what is answered without the model (AugESC 7.4, ethics).

A line of danger puts the conversation into a safe state, which lasts to its end: no later line reaches the model.
Danger is looked for by lists of phrases and by a classifier, in each line and in lines read together, and the model's
own lines are screened as well.
"""

from collections.abc import Callable, Sequence

from etl.safety.answers import danger_answer, state_answer, withheld_reply
from etl.safety.phrases import HARMFUL, danger

Scores = Callable[[Sequence[str]], Sequence[float]]
"""From texts to the classifier's scores of danger."""
JOINED_WORDS = 200
"""Words of the conversation, up to the newest line, that the phrases are looked for in."""
WINDOW_WORDS = 30
"""Words that the classifier reads at once: of earlier lines with the newest, or of a part of a long line."""
STEP_WORDS = 20


class SafeConversation:
    """The state of one conversation.

    Args:
        scores: the danger classifier; None for the lists alone.
        threshold: of the classifier, in 0..1.
        country: whose help the fixed answers name; None for any.
        notice: what a person is told about the gate before the conversation.

    Attributes:
        alarm: why the conversation is in the safe state; None while it is not.
    """

    def __init__(
        self,
        scores: Scores | None = None,
        threshold: float = 0.5,
        country: str | None = None,
        notice: str = "",
    ) -> None:
        self.scores = scores
        self.threshold = threshold
        self.country = country
        self.notice = notice
        self.alarm: str | None = None
        self._said: list[str] = []

    def answer_to(self, line: str) -> str | None:
        """Return the fixed answer to a person's line; None where the model may answer."""
        self._said.append(line)
        if self.alarm is not None:
            return state_answer(self.country)
        # Only the newest words: what came before was looked through when it was said.
        joined = " ".join(" ".join(self._said[:-1]).split()[-JOINED_WORDS:])
        self.alarm = danger(line) or danger(f"{joined} {line}") or self._classified(windows(self._said))
        return None if self.alarm is None else danger_answer(self.country)

    def screened(self, reply: str) -> tuple[str, str | None]:
        """Return a model's reply, or what is said in its place, and why it is withheld; None where it is not."""
        why = danger(reply, HARMFUL) or danger(reply) or self._classified(windows([reply]))
        return (reply, None) if why is None else (withheld_reply(self.country), why)

    def _classified(self, texts: Sequence[str]) -> str | None:
        if self.scores is None or not texts:
            return None
        score, text = max(zip(self.scores(texts), texts, strict=True))
        return f"classifier {score:.3f}: {text}"[:200] if score >= self.threshold else None


def windows(said: Sequence[str]) -> list[str]:
    """Return the texts to classify: the newest line, in parts where it is long, and with the lines before it."""
    words = said[-1].split()
    starts = range(0, max(1, len(words) - WINDOW_WORDS + STEP_WORDS), STEP_WORDS)
    found = [" ".join(words[start : start + WINDOW_WORDS]) for start in starts]
    together = words
    for line in reversed(said[:-1]):
        if len(together) + len(line.split()) > WINDOW_WORDS:
            break
        together = [*line.split(), *together]
    found.append(" ".join(together[-WINDOW_WORDS:]))
    return [text for text in dict.fromkeys(found) if text.strip()]
