"""``python -m jobs export-model NAME``: write a registered classifier as a folder for transformers."""

from pathlib import Path

from conf.errors import InputError
from conf.settings import Settings
from etl.pipeline.locations import model_at
from etl.publishing.model_export import export_model


def open_export(settings: Settings, name: str, out: str | None) -> int:
    """Export a model, print where it is and how it is opened, and return the exit status.

    Args:
        settings: of the lakehouse whose registry has the model.
        name: a key of ``models`` such as emotion_classifier, a registered model's name, or a URI.
        out: the folder to write; None: ``<lakehouse.root>/exports/models/<name>``.

    Raises:
        InputError: there is no such model, it cannot be exported, or the folder holds something.
    """
    uri = uri_of(settings, name)
    place = model_at(uri, settings).path
    folder = Path(out) if out else Path(settings.lakehouse.root, "exports", "models", _plain(uri))
    config = export_model(place, folder)
    print(f"{len(config['id2label'])} labels, {config['edos']['kind']}: {folder}")
    print(f'open it: transformers.pipeline("text-classification", model="{folder}", trust_remote_code=True)')
    return 0


def uri_of(settings: Settings, name: str) -> str:
    """Return the URI of a model by its key in ``models``, its registered name, or its URI."""
    if ":" in name:
        return name
    if name in type(settings.models).model_fields:
        uri = getattr(settings.models, name)
        if not isinstance(uri, str):
            raise InputError(f"models.{name} names no model: set it, or name another one")
        return uri
    return f"models:/{name}@champion"


def _plain(uri: str) -> str:
    return uri.split(":", 1)[1].strip("/").replace("/", "-").partition("@")[0] or "model"
