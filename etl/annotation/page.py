"""Write the annotation page: one HTML file with a whole batch, which needs no network."""

import base64
import hashlib
import html
import re
from functools import cache
from importlib.resources import files
from urllib.parse import urlsplit

from etl.annotation.batch import Batch

SCRIPTS = ("dom.js", "memory.js", "questions.js", "answers.js", "page.js")


@cache
def _asset(name: str) -> str:
    return files("etl").joinpath("annotation", "page", name).read_text(encoding="utf-8")


def page_of(batch: Batch) -> str:
    """Return the page as HTML.

    Texts cannot become markup: they are JSON with escaped ``<``, ``>`` and ``&``, and the script inserts them as text.
    The content security policy allows only the page's script and style, and connections to ``post_to``.
    """
    script = "(() => {\n'use strict';\n" + "\n".join(map(_asset, SCRIPTS)) + "\n})();\n"
    style = _asset("page.css")
    values = {
        "policy": html.escape(_policy(script, style, batch.post_to)),
        "title": html.escape(batch.title),
        "style": style,
        "batch": safe_json(batch.model_dump_json(exclude_none=True)),
        "script": script,
    }
    # A single pass does not replace markers within values.
    return re.sub(r"\{\{(\w+)\}\}", lambda marker: values[marker[1]], _asset("page.html"))


def safe_json(text: str) -> str:
    """Return JSON that is safe within a script element."""
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _policy(script: str, style: str, post_to: str | None) -> str:
    sources = {"default-src": "'none'", "script-src": _digest(script), "style-src": _digest(style)}
    sources |= {"base-uri": "'none'", "form-action": "'none'"}
    if post_to is not None:
        parts = urlsplit(post_to)
        sources["connect-src"] = f"{parts.scheme}://{parts.netloc}"
    return "; ".join(f"{name} {value}" for name, value in sources.items())


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
