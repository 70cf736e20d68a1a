"""``recorded:FILE``: no model, but answers that were written or recorded before, for demos and trials.

FILE has JSON Lines: ``contains`` is a list of texts, ``answers`` a list of answers. A prompt gets the answers of the
first line whose texts all occur in it, the sample's number choosing one. A prompt without a line has an error.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from conf.errors import InputError
from conf.llm_settings import DecodingSettings
from udfs.llm_kinds import SERVED_PER_MINUTE, Kind, ModelSource
from udfs.llm_requests import Answer, Request

PREFIX = "recorded:"
MISSING = "no recorded answer fits the prompt"


class RecordedAnswers:
    """The answers of a file.

    Args:
        entries: (texts that a prompt contains, answers), in the order of the file.
    """

    def __init__(self, entries: Sequence[tuple[tuple[str, ...], tuple[str, ...]]]) -> None:
        self.entries = entries

    @classmethod
    def read(cls, file: Path) -> "RecordedAnswers":
        """Read a file.

        Raises:
            InputError: a line of it is none of recorded answers.
        """
        entries = []
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
                texts, answers = tuple(entry["contains"]), tuple(entry["answers"])
                usable = bool(texts) and bool(answers) and all(isinstance(one, str) for one in (*texts, *answers))
            except (ValueError, TypeError, KeyError, RecursionError):
                usable = False
            if not usable:
                wanted = "a JSON object with contains and answers, two lists of texts"
                raise InputError(f"model {PREFIX}{file}: line {number} is not {wanted}")
            entries.append((texts, answers))
        return cls(entries)

    def answers(self, requests: Sequence[Request], decoding: DecodingSettings) -> list[Answer]:
        """Return the answer to each request; tokens are counted as words."""
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Answer:
        fitting = (answers for texts, answers in self.entries if all(text in request.prompt for text in texts))
        answers = next(fitting, None)
        if answers is None:
            return Answer(None, error=MISSING)
        text = answers[request.sample % len(answers)]
        return Answer(text, "stop", len(request.prompt.split()), len(text.split()), 0.0)


def load(source: ModelSource) -> RecordedAnswers:
    """Return the answers of the file that was resolved."""
    return RecordedAnswers.read(Path(source.model_path))


def locate(name: str) -> tuple[Path, str]:
    """Return the file that a URI names, and an identity with the digest of its content.

    Raises:
        InputError: the file does not exist, or has no recorded answers.
    """
    file = Path(name).resolve()
    if not file.is_file():
        raise InputError(f"model {PREFIX}{name}: no file {file}: check the path")
    RecordedAnswers.read(file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return file, f"{PREFIX}{file.name}#sha256:{digest[:16]}"


KIND = Kind(PREFIX, load, in_files=False, locate=locate, prompts_per_minute=SERVED_PER_MINUTE)
