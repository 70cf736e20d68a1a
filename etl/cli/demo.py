"""The settings of ``make demo``: a generated corpus, small trainings, everything in ``demo/``."""

from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path

from conf.settings import Settings, load_settings

FOLDER = Path("demo")
FILMS = 100


def demo_settings(profile: str, config_files: Iterable[str], overrides: Iterable[str]) -> Settings:
    """Write the demo corpus under ``demo/`` and name it in the settings.

    Further files and overrides are laid over the demo's, as over any profile.
    """
    from etl.demo.corpus import write_demo
    from etl.demo.facts import DemoFacts

    truth = FOLDER / "corpus" / "truth.json"
    # Written anew, the files would be newer and the whole run would start again.
    facts = DemoFacts.read(truth) if truth.is_file() else write_demo(FOLDER / "corpus", FILMS)
    print(f"demo corpus: {facts} in {FOLDER / 'corpus'}")
    with as_file(files("conf").joinpath("demo", "settings.yaml")) as own:
        return load_settings(profile, [str(own), *config_files], list(overrides))
