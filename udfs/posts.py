"""Reader of dumps of posts such as Reddit's, one JSON object per line; input is untrusted."""

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import pyarrow as pa

from udfs.labelled_files import documents_of

MAX_TEXT: Final = 20_000
TEXTS: Final = ("selftext", "body", "text", "title")
"""Fields for a post's text; the first that is not empty counts. Posts of pictures and links have only a title."""
GONE: Final = frozenset({"[deleted]", "[removed]", "[deleted by user]"})
HTML: Final = (("&lt;", "<"), ("&gt;", ">"), ("&#39;", "'"), ("&quot;", '"'), ("&amp;", "&"))

SCHEMA: Final = pa.schema(
    [(name, pa.string()) for name in ("post_id", "forum", "text")]
    + [("media", pa.bool_()), ("fault", pa.string()), ("detail", pa.string())]
)
DDL: Final = "post_id string, forum string, text string, media boolean, fault string, detail string"

Row = dict[str, Any]


def posts_in(name: str, stream: BinaryIO) -> Iterator[Row]:
    """Yield a row of ``SCHEMA`` for each post of a file; one that cannot be read has fault and detail."""
    for row in documents_of(name, stream):
        yield post_of(row.value) if row.fault is None else _fault("not_readable", f"{row.fault}: {row.detail}")


def post_of(post: Any) -> Row:
    """Return a row of ``SCHEMA`` for a post, which may be no post at all."""
    if not isinstance(post, dict):
        return _fault("not_readable", f"no post: {str(post)[:300]}")
    text = next((text for name in TEXTS if (text := _text(post.get(name)))), "")
    post_id = _text(post.get("id")) or _text(post.get("name"))
    row = {"post_id": post_id[:100], "forum": _text(post.get("subreddit"))[:100] or None, "media": _has_media(post)}
    if text in GONE or not text:
        return {**row, **_fault("no_text", text)}
    return {**row, "text": text}


def _text(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return ""
    for entity, letter in HTML:
        value = value.replace(entity, letter)
    plain = "".join(letter if letter.isprintable() else " " for letter in value[:MAX_TEXT])
    return " ".join(plain.split())


def _has_media(post: dict[str, Any]) -> bool:
    """Return whether the post is a picture, a video or a link by its Reddit fields (AugESC A)."""
    hint = post.get("post_hint")
    return bool(
        post.get("is_video") is True
        or post.get("is_self") is False
        or post.get("media")
        or post.get("is_gallery") is True
        or (isinstance(hint, str) and hint not in ("", "self"))
    )


def _fault(reason: str, detail: str) -> Row:
    return {"fault": reason, "detail": " ".join(detail[:300].split())}
