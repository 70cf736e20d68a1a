"""Errors caused by bad input or settings."""


class InputError(ValueError):
    """Bad input or settings: exit status 2, one line."""
