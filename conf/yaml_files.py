"""Read YAML from outside: bounded, without doubled keys, aliases that grow, and encodings other than UTF-8."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from conf.errors import InputError, message_line

MOST_BYTES = 4 << 20
MOST_NODES = 100_000
"""Most nodes of a file with its aliases expanded: a few hundred bytes of aliases may stand for billions."""
MOST_DEPTH = 100


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, which refuses a key that occurs twice: it would keep the last value without a word."""

    def fetch_flow_collection_start(self, TokenClass: Any) -> None:  # noqa: N803 - PyYAML's name
        """Stop at too many open brackets, for which PyYAML's time grows with their square."""
        if self.flow_level > MOST_DEPTH:
            raise RecursionError
        super().fetch_flow_collection_start(TokenClass)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: dict[Any, int] = {}
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                continue
            line = key.start_mark.line + 1
            name = (key.tag, key.value) if isinstance(key.value, str) else None
            if name is not None and name in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key.value[:100]!r} of line {seen[name]} occurs again in line {line}"
                )
            seen[name] = line
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file in UTF-8; None where it is empty.

    Raises:
        InputError: the file cannot be read, is too large, is in another encoding, or is no YAML.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}): check its permissions") from None
    if len(data) > MOST_BYTES:
        raise InputError(f"{path} has more than {MOST_BYTES >> 20} MiB: it is not a settings file")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data[:4]:
        raise InputError(f"{path} is in UTF-16 or UTF-32: save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(f"{path} is not in UTF-8 (line {line}; Latin-1?): save it as UTF-8") from None
    return parsed_yaml(text, str(path))


def parsed_yaml(text: str, place: str) -> Any:
    """Return the content of a YAML text.

    Raises:
        InputError: it is no YAML, has a key twice, refers to itself, or is too large or too deep.
    """
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            _size(node, {}, (), place)
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" in line {mark.line + 1}" if mark is not None else ""
        problem = message_line(error.problem or error.context or "unreadable")
        raise InputError(f"{place} is not YAML{where}: {problem}") from None
    except yaml.YAMLError as error:
        raise InputError(f"{place} is not YAML: {message_line(error)}") from None
    except RecursionError:
        raise InputError(f"{place} has more than {MOST_DEPTH} levels: it is not a settings file") from None
    except (ValueError, OverflowError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{place} has a value that cannot be read ({message_line(error)})") from None


def _size(node: yaml.Node, known: dict[int, int], above: tuple[int, ...], place: str) -> int:
    """Return the number of nodes with aliases expanded, each node counted once."""
    mine = id(node)
    if mine in above:
        raise InputError(f"{place}: the alias in line {node.start_mark.line + 1} refers to itself")
    if len(above) > MOST_DEPTH:
        raise InputError(f"{place} has more than {MOST_DEPTH} levels: it is not a settings file")
    if mine not in known:
        inner: list[yaml.Node] = []
        if isinstance(node, yaml.MappingNode):
            inner = [one for pair in node.value for one in pair]
        elif isinstance(node, yaml.SequenceNode):
            inner = list(node.value)
        known[mine] = 1 + sum(_size(one, known, (*above, mine), place) for one in inner)
        if known[mine] > MOST_NODES:
            raise InputError(f"{place} has more than {MOST_NODES} values with its aliases: it is not a settings file")
    return known[mine]
