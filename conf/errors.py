"""Errors caused by bad input or settings."""

from conf.redaction import redacted


class InputError(ValueError):
    """An error in input or settings: a message of one line, in which secrets are hidden.

    Attributes:
        status: the exit status of a command that it ends.
    """

    status = 2

    def __str__(self) -> str:
        return redacted(super().__str__())


def message_line(error: object) -> str:
    """Return the message of an error of others in one line of at most 200 characters."""
    return " ".join(str(error).split())[:200]


def reason_of(error: object) -> str:
    """Return the first line of an error's message without secrets, at most 200 characters."""
    return redacted(str(error)).partition("\n")[0][:200]


class LossError(InputError):
    """An error that a stage would lose more rows than the settings allow; it has deleted none: exit status 3."""

    status = 3


class InUseError(InputError):
    """An error that another run holds the lock: exit status 4. The same command may succeed later."""

    status = 4
