"""Read labelled sentences for the weak labeler, in the released `<id> <SEP> text` format (EDOS 3.1)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from conf.errors import InputError
from etl.pipeline.outcome import DroppedRow
from udfs.labelled_files import texts_of
from udfs.text_files import Row

SEPARATOR = "<SEP>"


@dataclass(frozen=True)
class WeakExamples:
    """Sentences with label ids in the file's order, and the dropped lines and files by place."""

    rows: tuple[tuple[str, int], ...]
    dropped: tuple[DroppedRow, ...]

    def reasons(self) -> dict[str, int]:
        """Return the number of dropped lines and files by reason."""
        return dict(Counter(line.reason for line in self.dropped))


def parse_example(line: str, classes: int) -> tuple[str, int] | str:
    """Return (text, label id) of a `<id> <SEP> text` line, or the reason why the line is invalid."""
    head, separator, text = line.partition(SEPARATOR)
    if not separator:
        return "no_separator"
    digits = head.strip()
    if not (digits.isascii() and digits.isdigit()):
        return "bad_label_id"
    if len(digits) > 9 or int(digits) >= classes:
        return "label_id_outside_taxonomy"
    text = text.strip()
    return (text, int(digits)) if text else "no_text"


def read_weak_examples(path: Path, labels: Sequence[str]) -> WeakExamples:
    """Read a `.txt` or `.txt.gz` file of `<id> <SEP> text` lines. An id is an index into `labels`.

    Blank lines are ignored. Lines that are invalid or no UTF-8 are returned with the reason, and so is a file that ends
    early.

    Raises:
        InputError: the file is missing, or has no valid line.
    """
    try:
        with path.open("rb") as stream:
            examples = examples_of(texts_of(path.name, stream), labels, path.name)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file: check edos.weak_label_examples") from None
    if not examples.rows:
        first = next((f"; {line.id}: {line.reason}: {line.detail}" for line in examples.dropped), "")
        span = f"0..{len(labels) - 1}"
        raise InputError(f"{path}: no line is `<label id> {SEPARATOR} text` with an id in {span}{first}")
    return examples


def examples_of(lines: Iterable[Row], labels: Sequence[str], source: str) -> WeakExamples:
    """Parse lines into examples. `source` names the file of dropped lines."""
    rows: list[tuple[str, int]] = []
    dropped: list[DroppedRow] = []
    for line in lines:
        if line.fault is not None:
            unit, place, units = ("sentence", f"{source}:{line.line}", 1) if line.line else ("file", source, 0)
            dropped.append(DroppedRow(unit, place, line.fault, line.detail, units))
        elif line.value.strip():
            example = parse_example(line.value, len(labels))
            if isinstance(example, str):
                dropped.append(DroppedRow("sentence", f"{source}:{line.line}", example, line.value.strip()[:120], 1))
            else:
                rows.append(example)
    return WeakExamples(tuple(rows), tuple(dropped))
