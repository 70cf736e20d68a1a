"""Find regular expressions that take squared time on their own characters, repeated."""

import ast
import contextlib
import importlib
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
FUNCTIONS = ("compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")
USED = re.compile(rf"\bre\.(?:{'|'.join(FUNCTIONS)})\(")
FEW, SOME, MANY = 1_000, 4_000, 16_000
MOST_SECONDS, MOST_GROWTH = 0.1, 8
"""Of ``MANY`` characters, and from ``SOME`` to ``MANY``: 4 is linear, and 16 squared."""
CATEGORIES = {
    _constants.CATEGORY_SPACE: " ",
    _constants.CATEGORY_DIGIT: "1",
    _constants.CATEGORY_WORD: "a",
    _constants.CATEGORY_NOT_SPACE: "a",
    _constants.CATEGORY_NOT_DIGIT: "a",
    _constants.CATEGORY_NOT_WORD: "-",
}


def literals(tree: Any) -> Iterator[str]:
    """Yield the characters of a parsed expression, those that stand side by side as one text, too."""
    run = ""
    for part in tree:
        if isinstance(part, tuple) and part[0] is _constants.LITERAL:
            run += chr(part[1])
            yield run[-1]
            continue
        yield from [run] if len(run) > 1 else []
        run = ""
        if not isinstance(part, tuple):
            yield from literals(part) if isinstance(part, list | _parser.SubPattern) else []
        elif part[0] is _constants.RANGE:
            yield chr(part[1][0])
        elif part[0] is _constants.CATEGORY:
            yield CATEGORIES[part[1]]
        elif isinstance(part[1], tuple | list | _parser.SubPattern):
            yield from literals(part[1])
    yield from [run] if len(run) > 1 else []


def units(expression: re.Pattern[str]) -> Iterable[str]:
    """Return characters, pairs of them and texts of an expression, to repeat."""
    found = list(dict.fromkeys(literals(_parser.parse(expression.pattern, expression.flags))))
    signs = [*dict.fromkeys([*(one for one in found if len(one) == 1), " ", "a"])][:12]
    runs = [one[:20] for one in found if len(one) > 1][:8]
    pairs = [one + other for one in signs[:5] for other in signs[:5] if one != other]
    return dict.fromkeys([*signs, *runs, *(f"{run} " for run in runs), *pairs])


def seconds(expression: re.Pattern[str], text: str, at_start: bool) -> float:
    began = time.process_time()
    if at_start:
        expression.match(text)
    else:
        for _ in expression.finditer(text):
            pass
    return time.process_time() - began


def slow_unit(expression: re.Pattern[str], at_start: bool = False) -> str | None:
    """Return what an expression takes squared time on when it is repeated; None where there is nothing."""
    for unit in units(expression):
        for end in ("", "\x01"):

            def taken(size: int, unit: str = unit, end: str = end) -> float:
                # A busy machine may take long once.
                text = unit * (size // len(unit)) + end
                return min(seconds(expression, text, at_start) for _ in range(2))

            if any(taken(size) > MOST_SECONDS for size in range(20, 60, 4)):
                return f"{unit!r} and {end!r}: exponential"
            if (few := taken(FEW)) < MOST_SECONDS / 400 or (some := taken(SOME)) < MOST_GROWTH * few:
                continue
            if (many := taken(MANY)) > max(MOST_SECONDS, MOST_GROWTH * some):
                return f"{unit!r} and {end!r}: {some:.3f} s, {many:.3f} s"
    return None


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str | None]]:
    """Yield the calls of ``re`` with an expression, each with the name that it is given."""
    given = [
        (node.targets[0] if isinstance(node, ast.Assign) else node.target, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign)
    ]
    named = {id(value): name.id for name, value in given if isinstance(name, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and USED.fullmatch(ast.unparse(node.func) + "("):
            yield node, named.get(id(node))


def values_of(nodes: list[ast.expr], module: str) -> list[Any]:
    """Return the values of expressions, which may name those of a module; none where they name a local variable."""
    for names in (lambda: {"re": re}, lambda: vars(importlib.import_module(module))):
        with contextlib.suppress(NameError):
            return [eval(compile(ast.Expression(node), "", "eval"), names()) for node in nodes]
    return []


def python_expressions() -> Iterator[tuple[str, re.Pattern[str], bool]]:
    """Yield place, expression, and whether it is only matched at a text's start; without those made of arguments."""
    paths = sorted(path for part in ("etl", "udfs", "jobs") for path in (REPOSITORY / part).rglob("*.py"))
    sources = {path: path.read_text("utf-8") for path in paths if "extras" not in path.parts}
    everything = "\n".join(sources.values())
    for path, source in sources.items():
        if not USED.search(source):
            continue
        name = ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")
        for node, given in calls(ast.parse(source)):
            flags = [word.value for word in node.keywords if word.arg == "flags"]
            flags += node.args[1:2] if node.func.attr == "compile" else []  # type: ignore[attr-defined]
            values = values_of([node.args[0], *flags], name)
            if not values or not isinstance(values[0], str):
                continue
            given = given if node.func.attr == "compile" else None  # type: ignore[attr-defined]
            where = source if (given or "_")[0] == "_" else everything
            uses = (
                set(re.findall(rf"(?<!import )(?<![\w\"]){given}\b(?!(?:: \w+)? =)(?:\.(\w+))?", where))
                if given
                else set()
            )
            if "" in uses and (called := re.findall(r"\bpattern\.(\w+)\(", source)):
                uses = (uses - {""}) | set(called)  # a row of them, each called so
            uses |= {node.func.attr} - {"compile"}  # type: ignore[attr-defined]
            at_start = bool(uses) and uses <= {"match", "fullmatch"}
            yield f"{path.relative_to(REPOSITORY)}:{node.lineno}", re.compile(*values[:2]), at_start
