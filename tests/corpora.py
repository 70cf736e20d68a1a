"""The corpora that tests run on."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from etl.cli.demo import write_corpus

DATA = Path(__file__).resolve().parent / "data"


@dataclass(frozen=True)
class Facts:
    """What is in a corpus.

    Attributes:
        files: by subtitle_id, the sentences and tokens of a file that can be read.
        quarantined: by path, the reason why a file cannot be read.
    """

    files: Mapping[str, tuple[int, int]]
    quarantined: Mapping[str, str]


def write_small_corpus(folder: Path) -> Facts:
    """Write the demo's labelled sets with its first 12 films alone, and its broken files."""
    write_corpus(folder, DATA / "opus_12_films.tar.xz")
    told = json.loads((DATA / "opus_12_films.json").read_text("utf-8"))
    return Facts({name: (one[0], one[1]) for name, one in told["files"].items()}, told["quarantined"])
