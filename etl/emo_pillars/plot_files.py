"""Read stories from files: CSV or JSON with a column of plots, or WikiPlots' pair of files."""

from collections.abc import Iterator
from pathlib import Path

from conf.errors import InputError
from etl.common.labelled_files import ROWS
from etl.emo_pillars.plots import Story
from udfs.labelled_files import rows_of, texts_of
from udfs.text_files import Row

END = "<EOS>"
PLOTS = ("plots", "plots.gz")
TITLES = ("titles", "titles.gz")
_SETTING = "emo_pillars.plots"


def read_stories(path: str) -> Iterator[Story]:
    """Yield the stories of a file, or of all files with stories in a folder, in order of name.

    Files are streamed on the driver. The paper's whole corpus is some 600 MB. A row or file that cannot be read is a
    story with a fault, and so is a file of another kind.

    Raises:
        InputError: the path is missing, or no file has stories.
    """
    place = Path(path)
    if not place.exists():
        raise InputError(f"{_SETTING}: {path} does not exist")
    found = 0
    fault = ""
    for file in [place] if place.is_file() else sorted(item for item in place.iterdir() if item.is_file()):
        for story in _stories(file):
            found += story.fault is None
            fault = fault or (f"; {story.source}: {story.fault}: {story.text}" if story.fault else "")
            yield story
    if not found:
        raise InputError(f"{_SETTING}: {path} holds no file with a column plot, and no WikiPlots file `plots`{fault}")


def _stories(file: Path) -> Iterator[Story]:
    if file.name.lower().endswith(ROWS):
        return _from_rows(file)
    if file.name in PLOTS:
        return _from_wikiplots(file)
    unknown = Story(file.name, "", f"read are {', '.join((*ROWS, *PLOTS))}", "unknown_format", 0)
    return iter(() if file.name in TITLES else (unknown,))


def _from_rows(file: Path) -> Iterator[Story]:
    """Yield the rows of a file with columns ``plot`` and optionally ``title``, in any case."""
    number = 0
    with file.open("rb") as content:
        for row in rows_of(file.name, content):
            number += row.line > 0
            if row.fault is not None:
                yield _unreadable(file, row, number)
                continue
            cells = {name.lower(): cell for name, cell in row.value.items()}
            if "plot" in cells:
                yield Story(f"{file.name}:{number}", cells.get("title", "").strip(), cells["plot"])
            elif file.name.lower().removesuffix(".gz").endswith(".csv"):
                yield Story(file.name, "", "plot", "no_column", 0)
                return
            else:
                yield Story(f"{file.name}:{number}", "", "plot", "no_column")


def _from_wikiplots(file: Path) -> Iterator[Story]:
    """Yield the stories of a file with one sentence per line and ``<EOS>`` after each, with titles of another file."""
    titles = next((other for name in TITLES if (other := file.with_name(name)).is_file()), None)
    if titles is None:
        yield Story(file.name, "", "no file `titles` beside it", "no_titles", 0)
        return
    with titles.open("rb") as names:
        listed = [(row.value or "").strip() for row in texts_of(titles.name, names)]
    while listed and not listed[-1]:
        listed.pop()
    with file.open("rb") as lines:
        plots = 0
        last = END
        for row in texts_of(file.name, lines):
            text = (row.value or "").strip()
            plots += text == END
            last = text or last
    plots += last != END
    # A damaged mark joins two plots, and all later titles would belong to others.
    title = iter(listed if len(listed) == plots else ())
    with file.open("rb") as lines:
        sentences: list[str] = []
        number = 0
        bad = None
        for row in texts_of(file.name, lines):
            if row.line == 0:
                yield _unreadable(file, row, number)
            elif row.fault is not None:
                bad = bad or row
            elif row.value.strip() != END:
                sentences.append(row.value)
            else:
                number += 1
                name = next(title, "")
                whole = Story(f"{file.name}:{number}", name, "\n".join(sentences))
                yield whole if bad is None else _unreadable(file, bad, number)
                sentences = []
                bad = None
        if bad is not None or any(sentence.strip() for sentence in sentences):
            whole = Story(f"{file.name}:{number + 1}", next(title, ""), "\n".join(sentences))
            yield whole if bad is None else _unreadable(file, bad, number + 1)


def _unreadable(file: Path, row: Row, number: int) -> Story:
    """Return the story that stands for a row or file that cannot be read."""
    source = f"{file.name}:{number}" if row.line else file.name
    return Story(source, "", row.detail, row.fault, int(row.line > 0))
