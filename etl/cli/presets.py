"""The presets of EDOS side by side, and what the profile ``local`` makes smaller than the papers have it."""

from collections.abc import Iterable
from functools import cache

from conf.section import Counts
from conf.settings import PROFILES, Settings, load_settings
from etl.cli.setting_texts import leaves, meaning, shown
from etl.edos.presets import PROMISES, by_preset, preset_keys
from etl.pipeline.stages import Stage, setting

LOCAL = PROFILES[0]
SIZES = ("edos", "emo_pillars", "replies", "models", "training")
"""Sections whose values are the papers', and smaller in the profile ``local``."""
FIRST = ("models.encoder", "emotion_classifier.epochs", "emotion_classifier.effective_batch", ".epochs")
"""Parts of the keys that a line of the log names first."""
NAMED = 4


def smaller_rows() -> list[tuple[str, ...]]:
    """Return a row for each section, or sections with the same values: what the papers have, and the profile."""
    sections: dict[str, list[tuple[str, str, str]]] = {}
    for key, (paper, local) in smaller().items():
        section, _, name = key.rpartition(".")
        sections.setdefault(section, []).append((name, paper, local))
    alike: dict[tuple[tuple[str, str, str], ...], list[str]] = {}
    for section, values in sections.items():
        alike.setdefault(tuple(values), []).append(f"`{section}`")
    return [
        (", ".join(names), *("; ".join(f"`{value[0]}` {value[place]}" for value in values) for place in (1, 2)))
        for values, names in alike.items()
    ]


@cache
def smaller() -> dict[str, tuple[str, str]]:
    """Return the settings to which the profile ``local`` gives other values, as (the papers', local), by key."""
    local = load_settings(LOCAL)
    found = {}
    for section in SIZES:
        for key, _, value in leaves(Settings(), section):
            own = setting(local, key)
            if own != value:
                found[key] = (shown(value), shown(own))
    return found


def smaller_line(settings: Settings, stages: Iterable[Stage]) -> str | None:
    """Return what of these stages' settings is smaller than the papers', in one line; None: nothing is."""
    asked: set[str] = set()
    for stage in stages:
        asked |= {*stage.keys(Counts.VALUE, settings=settings), *(f"models.{model.name}" for model in stage.models)}
    expected = by_preset()[settings.edos.preset]
    found = {}
    for key in smaller():
        paper, own = shown(setting(expected, key)), shown(setting(settings, key))
        if paper != own and any(f"{key}.".startswith(f"{one}.") for one in asked):
            found[key] = f"{key} {own} for {paper}"
    if not found:
        return None
    first = sorted(found, key=lambda key: next((place for place, part in enumerate(FIRST) if part in key), len(FIRST)))
    others = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return (
        f"smaller than the papers have it: {', '.join(found[key] for key in first[:NAMED])}{others} (docs/presets.md)"
    )


def preset_rows() -> list[tuple[str, ...]]:
    """Return a row for each setting that a preset sets: its key, its value in each preset, its meaning.

    Where the profile ``local`` has another value, the cell has that one, too. A setting that has the same value in all
    presets and the profile has no row.
    """
    plain = by_preset()
    local = {name: load_settings(LOCAL, [], [f"edos.preset={name}"]) for name in PROMISES}
    rows = []
    for key in preset_keys():
        cells = []
        for name in PROMISES:
            value, own = shown(setting(plain[name], key)), shown(setting(local[name], key))
            cells.append(f"`{value}`" if own == value else f"`{value}`; {LOCAL}: `{own}`")
        section, _, last = key.rpartition(".")
        if len(set(cells)) > 1:
            rows.append((f"`{key}`", *cells, meaning(type(setting(Settings(), section)), last)))
    return rows
