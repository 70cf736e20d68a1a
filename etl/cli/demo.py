"""The settings of ``make demo``: a generated corpus, small trainings, everything in ``demo/``."""

from collections.abc import Iterable, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from conf.errors import InputError
from conf.settings import Settings, load_settings

if TYPE_CHECKING:
    from etl.pipeline.stages import Stage

FOLDER = Path("demo")
FILMS = 100
NAMED = (
    "emo_pillars_read_plots",
    "emo_pillars_ask_actors",
    "emo_pillars_actors",
    "emo_pillars_ask_utterances",
    "emo_pillars_utterances",
    "emo_pillars_distinct_utterances",
    "emo_pillars_ask_soft_labels",
    "emo_pillars_soft_labels",
    "emo_pillars_examples",
    "emo_pillars_ask_contexts",
    "emo_pillars_contexts",
    "emo_pillars_ask_clean_contexts",
    "emo_pillars_clean_contexts",
    "emo_pillars_ask_rewrites",
    "emo_pillars_rewrites",
    "emo_pillars_contextual_examples",
    "emo_pillars_find_markers",
    "augesc_read_sessions",
    "augesc_collect_queries",
    "augesc_ask_augmenter",
    "augesc_ask_untuned",
    "augesc_measure_texts",
    "augesc_check_texts",
    "augesc_keep_conversations",
    "augesc_describe_conversations",
    "augesc_grow_bigrams",
    "augesc_compare_words",
)
"""Stages of Emo Pillars and AugESC that the demo runs beside those that always run: none that needs a network."""
LAST = "describe_dataset"
"""The stage that prints what the others made."""


def demo_corpus() -> None:
    """Write the demo corpus under ``demo/``, unless it is there."""
    from etl.demo.corpus import write_demo
    from etl.demo.facts import DemoFacts
    from etl.demo.recorded_answers import PLOTS, SESSIONS

    truth = FOLDER / "corpus" / "truth.json"
    # Written anew, the files would be newer and the whole run would start again.
    facts = DemoFacts.read(truth) if truth.is_file() else None
    if facts is None or any(not (FOLDER / "corpus" / name).is_file() for name in (PLOTS, SESSIONS)):
        facts = write_demo(FOLDER / "corpus", FILMS)
    print(f"demo corpus: {facts} in {FOLDER / 'corpus'}")


def demo_stages(stages: Sequence["Stage"]) -> list["Stage"]:
    """Return the stages that the demo runs: those that always run and `NAMED`, the summary last."""
    chosen = [stage for stage in stages if not stage.manual or stage.name in NAMED]
    return sorted(chosen, key=lambda stage: stage.name == LAST)


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
