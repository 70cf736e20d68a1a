"""Errors caused by bad input or settings."""

from conf.redaction import redacted


class InputError(ValueError):
    """Bad input or settings: exit status 2, one line, in which secrets are hidden."""

    def __str__(self) -> str:
        return redacted(super().__str__())
