"""Validate the models that stages will use before Spark starts: they exist, and their files are complete."""

from collections.abc import Iterator, Mapping, Sequence

from conf.errors import InputError
from conf.section import Counts
from conf.settings import Settings
from etl.pipeline.locations import model_at
from etl.pipeline.model_loader import is_installed, is_uri
from etl.pipeline.outside_files import paths_of
from etl.pipeline.planner import given_model, is_off
from etl.pipeline.signatures import setting
from etl.pipeline.stages import Model, Stage

_SECTION = "models."
_LISTS = (".encoders", ".mean_of")
"""The ends of the keys of settings outside ``models`` that list URIs of models."""


def check_models(stages: Sequence[Stage], settings: Settings) -> None:
    """Raise an InputError where a model of a stage is not there, or its files are damaged or lack weights.

    Left out are models that one of the stages trains, those of a server, and what a training would download to start
    from: a finished training needs none.

    Raises:
        InputError: it names the setting, the model, the file and the cure.
    """
    faults = model_faults(stages, settings)
    if faults:
        raise InputError("; ".join(dict.fromkeys(faults.values())))


def model_faults(stages: Sequence[Stage], settings: Settings, *, on_disk: bool = False) -> Mapping[str, str]:
    """Return what is wrong with a model of a stage, by the stage's name, as of `check_models`.

    Args:
        on_disk: whether only models in folders and packages are looked at, and no registry or hub is asked.
    """
    trained = {stage.writes.name for stage in stages if isinstance(stage.writes, Model)}
    known: dict[str, str | None] = {}
    faults: dict[str, str] = {}
    for stage in stages:
        if given_model(stage, settings) is not None or is_off(stage, settings):
            continue
        for key, uri in _uris(stage, settings, on_disk):
            if uri.startswith("models:") and key.removeprefix(_SECTION) in trained:
                continue
            if uri not in known:
                known[uri] = _fault(uri, settings)
            if (fault := known[uri]) is not None:
                faults.setdefault(stage.name, f"{key}: {fault}")
    return faults


def _fault(uri: str, settings: Settings) -> str | None:
    try:
        model_at(uri, settings, settings.models.share)
    except InputError as error:
        return str(error)
    except Exception:
        if is_installed(uri):
            raise
        return None  # a fault of the registry or its store, which the run tells with its stage
    return None


def _uris(stage: Stage, settings: Settings, on_disk: bool) -> Iterator[tuple[str, str]]:
    """Yield key and URI of each model that a stage uses, and of those that it starts from if they are on the disk."""
    uses = [f"{_SECTION}{model.name}" for model in stage.models]
    received = stage.keys(Counts.VALUE, Counts.NOTHING, settings=settings)
    starts = [key for key in received if key.startswith(_SECTION) or key.endswith(_LISTS)]
    for key in dict.fromkeys((*uses, *starts)):
        value = setting(settings, key)
        uris = paths_of(value) if isinstance(value, str | list | tuple) else []
        for uri in uris:
            if (is_uri(uri) and is_installed(uri)) or (key in uses and not on_disk):
                yield key, uri
