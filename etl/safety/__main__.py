"""Measure the gate of the chats: ``python -m etl.safety FILE ...``.

Prints the recall of danger and the false alarms on the lines that are held out, by kind and language, and the false
alarms on each file of everyday talk, one utterance a line.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from conf.safety_settings import SafetySettings
from etl.common.intervals import wilson
from etl.pipeline.model_loader import resolve
from etl.safety.classifier import HELD_OUT, OLDER, THRESHOLD, DangerClassifier, danger_lines
from etl.safety.conversation import Scores, windows
from etl.safety.phrases import danger


def alarms(talks: Sequence[Sequence[str]], scores: Scores | None) -> list[bool]:
    """Return whether the gate raises an alarm in each of some conversations, given as their lines."""
    asked = [[text for end in range(len(said)) for text in windows(said[: end + 1])] for said in talks]
    found = iter(scores([text for some in asked for text in some]) if scores else ())
    highest = [max((next(found) for _ in some), default=0) if scores else 0 for some in asked]
    return [
        score >= THRESHOLD or danger(" ".join(said)) is not None for said, score in zip(talks, highest, strict=True)
    ]


def rate(rung: Sequence[bool]) -> str:
    """Return the share of alarms with Wilson's interval at 95 %."""
    low, high = wilson(sum(rung), len(rung))
    return f"{sum(rung) / max(1, len(rung)):.3f} [{low:.3f}, {high:.3f}] ({sum(rung)}/{len(rung)})"


def figures(half: str, scores: Scores | None) -> list[str]:
    """Return rows of a table: recall and false alarms of a half's lines, of all and by kind and language."""
    lines = danger_lines(half)
    rung = dict(zip(lines, alarms([line.lines for line in lines], scores), strict=True))
    groups = {half: lines}
    for line in lines:
        groups.setdefault(line.kind, []).append(line)
        groups.setdefault(line.language, []).append(line)
    return [
        " | ".join([name, *(rate([rung[line] for line in some if line.danger is truth]) for truth in (True, False))])
        for name, some in groups.items()
    ]


def main(files: Sequence[str]) -> None:
    """Print the figures of the phrases alone, and of the gate."""
    classifier = DangerClassifier.load(resolve(SafetySettings().encoder or "", Path(tempfile.gettempdir())).path)
    for name, scores in (("phrases", None), ("phrases and classifier", classifier.scores)):
        print(name, *figures(HELD_OUT, scores), *figures(OLDER, scores), sep="\n")
        for file in files:
            talks = [[line] for line in Path(file).read_text("utf-8").splitlines()]
            print(file, rate(alarms(talks, scores)), sep=" | ", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
