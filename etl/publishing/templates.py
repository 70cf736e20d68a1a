"""HTML and SVG from the templates under ``conf/reports``: texts are escaped, parts made by templates are not."""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from conf import resources

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def part(file: str, macro: str, *values: Any) -> "Markup":
    """Return a part of a page: the result of a macro of ``conf/reports/<file>``, which is not escaped again."""
    return getattr(_environment().get_template(f"reports/{file}").module, macro)(*values)


def rendered(file: str, **values: Any) -> str:
    """Return a page from ``conf/reports/<file>``."""
    return _environment().get_template(f"reports/{file}").render(values)


def joined(parts: Iterable[str]) -> "Markup":
    """Return parts one after another; texts among them are escaped."""
    from markupsafe import Markup

    return Markup("").join(parts)


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(resources.text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
