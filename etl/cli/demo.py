"""The settings of ``make demo``: a packaged corpus, small trainings, everything in ``demo/``."""

import tarfile
from collections.abc import Iterable
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path

from conf.errors import InputError
from conf.settings import Settings, load_settings

FOLDER = Path("demo")
PARTS = ("opus", "labels", "talks", "turns", "stories", "support")
HOLDS = (
    "100 films, 136 English files (41 in a zip), 10,910 sentences, 9 files of other languages, 3 second copies, 16 "
    "files broken on purpose"
)


def demo_corpus() -> None:
    """Write the demo corpus under ``demo/``, unless it is there."""
    corpus = FOLDER / "corpus"
    # Written anew, the files would be newer and the whole run would start again.
    if not all((corpus / name).exists() for name in PARTS):
        write_corpus(corpus)
    print(f"demo corpus: {HOLDS} in {corpus}")


def write_corpus(folder: Path, films: Path | None = None) -> None:
    """Write the packaged corpus: invented films in the layout of OPUS, and small labelled sets.

    Args:
        films: an archive of other films; None: those of the demo.
    """
    packaged = files("conf").joinpath("demo", "corpus")
    _copy(packaged, folder)
    with as_file(packaged.joinpath("opus.tar.xz")) as own, tarfile.open(films or own) as opened:
        opened.extractall(folder, filter="data")


def _copy(source: Traversable, target: Path) -> None:
    """Copy the files of a packaged folder, which may be in a zip."""
    target.mkdir(parents=True, exist_ok=True)
    for one in source.iterdir():
        if one.is_dir():
            _copy(one, target / one.name)
        elif not one.name.endswith(".tar.xz"):
            (target / one.name).write_bytes(one.read_bytes())


def demo_settings(profile: str, config_files: Iterable[str], overrides: Iterable[str]) -> Settings:
    """Return the demo's settings, which the option ``--demo`` of each command stands for.

    Further files and overrides are laid over the demo's, as over any profile.

    Raises:
        InputError: the demo has not run in this folder, or a setting is wrong.
    """
    if not (FOLDER / "corpus").is_dir():
        raise InputError(
            f"there is no demo in {Path.cwd()}: run `make demo` first, or change to the folder that has it"
        )
    with as_file(files("conf").joinpath("demo", "settings.yaml")) as own:
        return load_settings(profile, [str(own), *config_files], list(overrides))
