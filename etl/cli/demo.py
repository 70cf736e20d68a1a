"""The settings of ``make demo``: a generated corpus, small trainings, everything in ``demo/``."""

from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path

from conf.errors import InputError
from conf.settings import Settings, load_settings

FOLDER = Path("demo")
FILMS = 100


def demo_corpus() -> None:
    """Write the demo corpus under ``demo/``, unless it is there."""
    from etl.demo.corpus import write_demo
    from etl.demo.facts import DemoFacts

    truth = FOLDER / "corpus" / "truth.json"
    # Written anew, the files would be newer and the whole run would start again.
    facts = DemoFacts.read(truth) if truth.is_file() else write_demo(FOLDER / "corpus", FILMS)
    print(f"demo corpus: {facts} in {FOLDER / 'corpus'}")


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
