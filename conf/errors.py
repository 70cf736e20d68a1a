"""What goes wrong because of what was given, not because of a fault of ours."""


class InputError(ValueError):
    """Bad input or settings: exit status 2, one line."""
