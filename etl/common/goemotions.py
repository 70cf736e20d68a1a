"""Parse GoEmotions' comments, from which several data sets learn."""

from collections.abc import Iterable, Mapping, Sequence

from conf.taxonomy import goemotions_labels
from etl.common.hashes import content_place
from etl.common.line_files import cells_of
from etl.pipeline.outcome import LocalOutcome


def goemotions_comments(
    parts: Mapping[str, Iterable[str | None]], validation_share: float, names: Sequence[str] = ()
) -> LocalOutcome:
    """Parse GoEmotions' comments, rows of their table, from TSV lines of text, label ids and id (Emo Pillars 5.1.2).

    A first line that names ``text``, ``labels`` and ``id`` gives another order.

    The original splits are kept. Without a test part, dev becomes the test split, and a share of the training comments
    becomes the validation split, by their text's hash (ours).

    Args:
        parts: lines of ``train``, ``dev`` and optionally ``test``.
        validation_share: share of the training comments.
        names: of the labels in the order of their ids; none: as ``conf/taxonomies/goemotions.csv`` has them.
    """
    found = LocalOutcome()
    names = names or goemotions_labels()
    seen: set[str] = set()
    for part, lines in parts.items():
        for number, cells, line in cells_of(lines, ("text", "labels", "id")):
            place = f"{part}:{number}"
            text, labels, text_id = cells or ("", "", "")
            if not text or not text_id:
                found.drop("comment", place, "not_a_comment", line)
            elif (ids := _label_ids(labels, len(names))) is None:
                found.drop("comment", place, "unknown_label", line)
            elif text_id in seen:
                found.drop("comment", place, "repeated_id", line)
            else:
                seen.add(text_id)
                split = _split_of(part, "test" in parts, content_place(text) < validation_share)
                found.rows.append((text_id, text, [names[one] for one in ids], part, split))
    return found


def _split_of(part: str, has_test: bool, drawn: bool) -> str:
    if part == "train":
        return "validation" if drawn and not has_test else "train"
    return "validation" if part == "dev" and has_test else "test"


def _label_ids(cell: str, classes: int) -> list[int] | None:
    """Return comma-separated label ids; None if one is invalid."""
    found = [one.strip() for one in cell.split(",")]
    if not all(one.isascii() and one.isdigit() and len(one) < 4 and int(one) < classes for one in found):
        return None
    return sorted({int(one) for one in found})
