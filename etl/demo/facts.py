"""Facts about the demo corpus, so that tests can check that all of it arrives or is accounted for."""

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class FileFacts:
    """The expected result of reading one valid English file."""

    movie_id: str
    subtitle_id: str
    sentences: int
    tokens: int
    acts: int  # stretches between silences; lost time tags may join two
    turns: str  # one character per sentence: 1 opens a turn


@dataclass
class DemoFacts:
    """The contents of the demo corpus. Paths are relative to ``opus/``; a zip's members are `zip!member`."""

    films: int = 0
    files: dict[str, FileFacts] = field(default_factory=dict)
    quarantined: dict[str, str] = field(default_factory=dict)  # path to reason
    other_languages: dict[str, str] = field(default_factory=dict)  # path to language
    copies: dict[str, str] = field(default_factory=dict)  # a later copy's path to the first copy's
    uploads: dict[str, list[str]] = field(default_factory=dict)  # film to its files without copies
    documentaries: list[str] = field(default_factory=list)  # films
    planted: dict[str, int] = field(default_factory=dict)  # rule or oddity to its number of occurrences
    planted_in: dict[str, list[str]] = field(default_factory=dict)  # rule or oddity to its files
    rows: dict[str, int] = field(default_factory=dict)  # labelled sets: file to rows
    content_sha256: str = ""  # over every file's path and unpacked bytes

    def add(self, rule: str, path: str, count: int = 1) -> None:
        """Add ``count`` cases of a rule in the file at ``path``."""
        if count:
            self.planted[rule] = self.planted.get(rule, 0) + count
            paths = self.planted_in.setdefault(rule, [])
            if path not in paths:
                paths.append(path)

    @property
    def sentences(self) -> int:
        return sum(file.sentences for file in self.files.values())

    @property
    def tokens(self) -> int:
        return sum(file.tokens for file in self.files.values())

    def __str__(self) -> str:
        zipped = sum("!" in path for path in self.files)
        return (
            f"{self.films} films, {len(self.files)} English files ({zipped} in a zip), "
            f"{self.sentences:,} sentences, {len(self.other_languages)} files of other languages, "
            f"{len(self.copies)} second copies, {len(self.quarantined)} files broken on purpose"
        )

    def write(self, path: Path) -> None:
        """Write the facts as JSON."""
        content = json.dumps(dataclasses.asdict(self), indent=1, sort_keys=True)
        path.write_text(content + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "DemoFacts":
        """Read the facts that :meth:`write` wrote."""
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        content["files"] = {name: FileFacts(**values) for name, values in content["files"].items()}
        return cls(**content)
