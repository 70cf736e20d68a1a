"""The two parsers on one document."""

from typing import Any

from udfs.opus.files import UnreadableError
from udfs.opus.parser import parse_by_tree, parse_subtitles


def outcome_of(parse: Any, data: bytes, truecase: bool) -> object:
    """Return all that a parser says of a document: its columns, or the reason why it refused."""
    try:
        file = parse(data, truecase)
    except UnreadableError as error:
        return error.reason
    sentences = {name: column.to_pylist() for name, column in vars(file.sentences).items()}
    return {**vars(file), "sentences": sentences}


def differences(data: bytes, truecase: bool = True) -> list[str]:
    """Return in what the parser that chooses and the tree parser differ; nothing if they agree."""
    quick, tree = (outcome_of(parse, data, truecase) for parse in (parse_subtitles, parse_by_tree))
    if isinstance(quick, dict) and isinstance(tree, dict):
        return [f"{name}: {quick[name]} and {tree[name]}" for name in tree if quick[name] != tree[name]]
    return [] if quick == tree else [f"{quick} and {tree}"[:300]]
