"""The named sets of EDOS's settings (`edos.preset`): what each promises, which settings it has, how it chooses."""

from collections.abc import Iterator, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

from conf.settings import Settings
from etl.edos.settings import PRESETS, ChoiceRules, EdosSettings
from etl.pipeline.stages import setting
from etl.subtitles.settings import CleaningSettings, SubtitleSettings, rules_of

PROMISES = {
    "paper": "the paper's words, as far as switches and the profile allow",
    "released": "the paper's method, read as the rows show that its authors released",
    "trusted": "a set for use, by rules of ours",
}
"""What each preset is, to end a sentence."""
HOW = {
    "max": "the highest confidence among their turns' weak labels",
    "mean": "the mean confidence of their turns' weak labels",
    "min": "the lowest confidence among their turns' weak labels",
    "first": "the confidence of their first turn's weak label",
    "last": "the confidence of their last turn's weak label",
}
"""Values of `edos.dialogue_confidence` in words."""
WORTH = {
    "emotion": "",
    "certainty": "how certain their borders are",
    "content": "how much they say",
    "exchange": "how many turns take up the turn before",
    "variety": "how few turns are formulas",
    "accepted": "how many turns have an accepted weak label, of an emotion above all",
}
"""Parts of `edos.worth` in words; emotion is as `edos.dialogue_confidence` says."""


@cache
def by_preset() -> dict[str, Settings]:
    """Return the settings of each preset, without a profile."""
    return {name: Settings.model_validate({"edos": {"preset": name}}) for name in PROMISES}


@cache
def preset_keys() -> tuple[str, ...]:
    """Return the keys of all settings that some preset sets."""
    cleaning = [f"subtitles.cleaning.{one.setting}" for one in rules_of(CleaningSettings) if one.values]
    own = [key for values in PRESETS.values() for key in _keys(values)]
    return tuple(dict.fromkeys([*own, *cleaning]))


def _keys(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _keys(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def changed(subtitles: SubtitleSettings, edos: EdosSettings) -> list[str]:
    """Return the settings of these sections that have another value than their preset gives, by key."""
    expected = by_preset()[edos.preset]
    found = SimpleNamespace(subtitles=subtitles, edos=edos)
    keys = [key for key in preset_keys() if key.startswith(("subtitles.", "edos."))]
    return [key for key in keys if setting(found, key) != setting(expected, key)]


def preset_in_words(subtitles: SubtitleSettings, edos: EdosSettings) -> str:
    """Return the name of the preset, with the settings that have other values."""
    others = changed(subtitles, edos)
    return f"{edos.preset}, with other values of {', '.join(others)}" if others else edos.preset


def choice_in_words(rules: ChoiceRules, clean: int, chosen: int) -> str:
    """Return sentences that say which clean dialogues were chosen, and what label shares are therefore shares of.

    Args:
        clean: the number of clean dialogues; 0: not known.
    """
    if clean and clean == chosen:
        return (
            f"All {clean:,} clean dialogues were taken: none was chosen for its emotions. The label shares are those of"
            " these films, not how often people show an emotion."
        )
    zero = ", ".join(rules.not_emotions)
    counted = f"{zero} count as 0" if zero else "all labels count alike, intents and neutral too"
    by = f"{HOW[rules.dialogue_confidence]} (given by a first, weaker classifier of single turns; {counted})"
    if rules.choice == "worth":
        parts = {**WORTH, "emotion": by}
        by = f"what they are worth: {', '.join(text for name, text in parts.items() if getattr(rules.worth, name))}"
    which = f"The highest {chosen:,} of {clean:,} clean dialogues were chosen" if clean else "Dialogues were chosen"
    return f"{which} by {by}. The label shares describe this selection, not how often people or films show an emotion."
