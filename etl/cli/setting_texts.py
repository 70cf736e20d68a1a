"""Settings as text: keys, defaults and meanings, for help and for the reference."""

from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from conf.taxonomy import Taxonomy, load_taxonomy
from etl.pipeline.stages import setting


def leaves(settings: Any, key: str) -> Iterator[tuple[str, str, Any]]:
    """Yield (key, meaning, default) of a setting, or of those of a section and of the sections in it."""
    value = setting(settings, key)
    if isinstance(value, BaseModel) and not isinstance(value, Taxonomy):
        for name in type(value).model_fields:
            yield from leaves(settings, f"{key}.{name}")
        return
    section, _, last = key.rpartition(".")
    yield key, meaning(type(setting(settings, section)), last), value


def meaning(section: type[BaseModel], name: str) -> str:
    """Return a setting's description, its own or that of a class that its section extends, and its choices."""
    field = section.model_fields.get(name)
    if field is None:  # a property
        return ""
    described = [getattr(base, "model_fields", {}).get(name) for base in section.__mro__]
    text = next((one.description for one in described if one is not None and one.description), "")
    kinds = [field.annotation, *get_args(field.annotation)]
    choices = next((get_args(kind) for kind in kinds if str(get_origin(kind)) == "typing.Literal"), ())
    given = f"one of {', '.join(map(shown, choices))}" if choices else ""
    return "; ".join(part for part in (text, given) if part)


def shown(value: Any) -> str:
    """Return a setting's value as a page shows it, which ``--set`` can read."""
    if isinstance(value, Taxonomy):
        return "edos" if value == load_taxonomy("edos") else "another"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(shown, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value).replace("\n", "\\n")
