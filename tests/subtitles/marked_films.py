"""Films whose blocks have dashes, as rows of `subtitles.files`."""

import random

from etl.subtitles.tables import SENTENCE

FILES = (
    "source_path string, subtitle_id string, movie_id string, language string, genres array<string>, "
    f"subtitle_duration_ms int, sentence_count int, sentences array<{SENTENCE}>"
)


def turn_file(path: str, movie: str, rows: list, genres=("Drama",), minutes: int | None = 10) -> tuple:
    """A file from (text, block, start_ms, end_ms) rows."""
    sentences = [(i, b, b, start, end, text) for i, (text, b, start, end) in enumerate(rows)]
    return (path, path[:-4], movie, "en", list(genres), minutes and minutes * 60_000, len(rows), sentences)


def turn_small_talk(movie: str, blocks: int = 40, dashes: bool = True) -> list:
    """Questions answered by another speaker, and statements that go on; two sentences in a block."""
    choose = random.Random(movie)
    dash = "- " if dashes else ""
    rows = []
    for block in range(1, blocks + 1):
        thing = choose.choice(["boat", "tea", "train", "letter", "garden", "piano"])
        start = block * 4000
        if block % 2:
            rows.append((f"{dash}Where is the {thing} ?", block, start, None))
            rows.append((f"{dash}No idea , I lost the {thing} .", block, None, start + 3900))
        else:
            rows.append((f"The {thing} is late .", block, start, None))
            rows.append((f"And I am tired of the {thing} .", block, None, start + 3900))
    return rows
