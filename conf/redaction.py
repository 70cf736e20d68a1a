"""Remove secrets from texts that leave the process: messages, logs, error and source columns, run parameters, commits.

The patterns are written in the common part of Python's and Java's regular expressions, because Spark applies them too.
"""

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

HIDDEN: Final = "***"
_NAME = (
    r"[\w.-]*(?:passwords?|passwd|passphrase|secrets?|credentials?|(?<![A-Za-z])token|signature"
    r"|(?:api|access|account|auth|batch|client|encryption|private|secret|shared|signing|storage)[._ -]?(?:key|token)"
    r"(?:[._-]?id)?)"
)
USER_INFO: Final = (
    # A key of AWS may have slashes in its secret part.
    (r"(?i)(\b[a-z][a-z0-9+.-]{1,20}://)[A-Z0-9]{16,40}:[^\s@]{1,200}(?=@)", 1),
    (r"(?i)(\b[a-z][a-z0-9+.-]{1,20}://)[^\s/?#@'\"]{1,4000}(?=@)", 1),
    (rf"(?i)([?&;](?:{_NAME}|sig|key|auth|code|X-Amz-Credential)=)[^\s&;'\"<>]+", 1),
)
"""(pattern, number of its group that stays): the secrets in an address."""

PATTERNS: Final = (
    *USER_INFO,
    (r"(?i)(\b(?:set-)?cookie[\\\"']{0,2}\s*[:=,]\s*[\\\"'\[(]{0,4})[^\r\n\"'\\)\]}]+", 1),
    (r"(?i)\b(basic\s+)(?=[A-Za-z+/]{0,200}[0-9=])[A-Za-z0-9+/]{8,}={0,2}", 1),
    (
        r"(?i)((?:authorization|cookie|api-key)[\\\"']{0,2}\s*[:=,]\s*[\\\"'\[(]{0,4}(?:b[\\\"']{1,2})?"
        r"(?:(?:bearer|basic|digest|token|negotiate|apikey)\s+)?)[^\s\"',;)\]}\\]+",
        1,
    ),
    (r"(?i)\b(bearer\s+)(?=[^\s]*[0-9]|[^\s]{16})[A-Za-z0-9._~+/=:-]{6,}", 1),
    (rf"(?i)((?<![\w.-]){_NAME}[\"']{{0,2}}\s*[=:]\s*[\"']?)[^\s\"',;&)\]}}]{{4,}}", 1),
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?", 0),
    (r"\b(?:sk|rk)[-_][A-Za-z0-9_-]{12,}", 0),
    (
        r"\b(?:hf_|gh[pousr]_|github_pat_|glpat-|dapi|xox[abprs]-|npm_|pypi-)"
        r"(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{16,}",
        0,
    ),
    (r"\b(?:AKIA|ASIA|AIza)[A-Za-z0-9_-]{16,}", 0),
    (r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?", 0),
)
"""(pattern, number of its group that stays, or 0): what is hidden in a message."""

SUSPECT: Final = (
    r"(?i)://|[?&;]sig=|basic\s|key|token|secret|passw|passphrase|credential|authorization|cookie|bearer|signature|[sr]k[-_]|hf_|gh[pousr]_"
    r"|github_pat|glpat|dapi|xox|npm_|pypi|akia|asia|aiza|eyj"
)
"""Matches every text that a pattern may match, faster than the patterns do."""

_SECRET_VARIABLE = re.compile(
    r"(?i)(?:(?:api|access|account|auth|client|private|secret|signing|storage)_?key|token|secret|passw(?:or)?d)$"
)
_LEAST = 8
"""Least length of an environment variable's value that is searched for."""


def redacted(text: str, *secrets: str | None) -> str:
    """Return a text without secrets: known forms of keys and tokens, user-info of addresses, named values.

    Args:
        secrets: values that must not be shown, beside those of environment variables such as ``OPENAI_API_KEY``.
    """
    for secret in sorted({*filter(None, secrets), *_environment()}, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    for pattern, kept in _compiled() if re.search(SUSPECT, text) else ():
        text = pattern.sub(rf"\{kept}{HIDDEN}" if kept else HIDDEN, text)
    return text


def without_secrets_of_the_run(text: str, *secrets: str | None) -> str:
    """Return a text without named values and those of secret environment variables; other text stays as it is."""
    for secret in sorted({*filter(None, secrets), *_environment()}, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


def without_user_info(address: str) -> str:
    """Return an address without user name, password and secret parameters; paths stay as they are."""
    for pattern, kept in USER_INFO:
        address = re.sub(pattern, rf"\{kept}{HIDDEN}" if kept else HIDDEN, address)
    return address


@lru_cache(maxsize=1)
def _compiled() -> tuple[tuple[re.Pattern[str], int], ...]:
    return tuple((re.compile(pattern), kept) for pattern, kept in PATTERNS)


def _environment() -> Iterator[str]:
    for name, value in os.environ.items():
        if _SECRET_VARIABLE.search(name) and len(value) >= _LEAST:
            yield value
