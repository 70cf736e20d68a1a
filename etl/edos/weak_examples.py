"""Read labelled sentences for the weak labeler, in the released `<id> <SEP> text` format (EDOS 3.1)."""

import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from conf.errors import InputError

SEPARATOR = "<SEP>"
MAX_BYTES = 1 << 30


@dataclass(frozen=True)
class LeftOut:
    """A skipped line: file and line number, reason, and the line's beginning."""

    place: str
    reason: str
    detail: str


@dataclass(frozen=True)
class WeakExamples:
    """Sentences with label ids in the file's order, and the skipped lines."""

    rows: tuple[tuple[str, int], ...]
    left_out: tuple[LeftOut, ...]

    def reasons(self) -> dict[str, int]:
        """Return the number of skipped lines by reason."""
        return dict(Counter(line.reason for line in self.left_out))


def parse_example(line: str, classes: int) -> tuple[str, int] | str:
    """Return (text, label id) of a `<id> <SEP> text` line, or the reason why the line is invalid."""
    head, separator, text = line.partition(SEPARATOR)
    if not separator:
        return "no separator"
    digits = head.strip()
    if not (digits.isascii() and digits.isdigit()):
        return "label id is not a number"
    if len(digits) > 9 or int(digits) >= classes:
        return "label id outside the taxonomy"
    text = text.strip()
    return (text, int(digits)) if text else "no text"


def read_weak_examples(path: Path, labels: Sequence[str]) -> WeakExamples:
    """Read a `.txt` or `.txt.gz` file of `<id> <SEP> text` lines. An id is an index into `labels`.

    Blank lines are ignored. Invalid lines are returned with the reason.

    Raises:
        InputError: the file is missing, unreadable, too large, or has no valid line.
    """
    examples = examples_of(_lines(path), labels, path.name)
    if not examples.rows:
        raise InputError(f"{path}: no line is `<label id> {SEPARATOR} text` with an id in 0..{len(labels) - 1}")
    return examples


def examples_of(lines: Iterable[str], labels: Sequence[str], source: str) -> WeakExamples:
    """Parse lines into examples. `source` names the file of skipped lines."""
    rows: list[tuple[str, int]] = []
    left_out: list[LeftOut] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        example = parse_example(line, len(labels))
        if isinstance(example, str):
            left_out.append(LeftOut(f"{source}:{number}", example, line.strip()[:120]))
        else:
            rows.append(example)
    return WeakExamples(tuple(rows), tuple(left_out))


def _lines(path: Path) -> list[str]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file: check edos.weak_label_examples") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read ({error}): is it a whole .txt or .txt.gz file?") from None
    if len(content) > MAX_BYTES:
        raise InputError(f"{path}: more than {MAX_BYTES >> 20} MiB unpacked: split it")
    return content.decode("utf-8", errors="replace").lstrip("\ufeff").split("\n")
