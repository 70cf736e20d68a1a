"""Write an export as a ConvoKit corpus: ``python -m etl.extras.convokit EXPORT CORPUS``."""

import sys
from collections.abc import Sequence
from pathlib import Path

from conf.errors import InputError
from etl.extras.convokit import write_convokit


def main(arguments: Sequence[str]) -> int:
    """Write the corpus, print its size, and return the exit status."""
    if len(arguments) != 2:
        print("usage: python -m etl.extras.convokit EXPORT CORPUS", file=sys.stderr)
        return 2
    try:
        conversations, utterances = write_convokit(Path(arguments[0]), Path(arguments[1]))
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{conversations:,} conversations with {utterances:,} utterances in {arguments[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
