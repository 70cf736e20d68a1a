"""The presets of the cleaning rules, and where each rule comes from."""

from enum import StrEnum
from typing import Any, NamedTuple


class Mark(StrEnum):
    """Where a cleaning rule comes from.

    Attributes:
        PAPER: a sentence of EDOS.
        RELEASED: the rows that the authors of EDOS released show it, no sentence does.
        OURS: neither. It is off in the preset ``paper``.
    """

    PAPER = "paper"
    RELEASED = "released"
    OURS = "ours"


class _Same:
    """Stands for the value of the preset ``released``, the default of the setting itself."""


SAME = _Same()


class CleaningRule(NamedTuple):
    """A setting under ``subtitles.cleaning``: where its rule comes from, and its values in two presets.

    The value in the preset ``released`` is the default of the setting.
    """

    setting: str
    mark: Mark
    paper: Any = SAME
    trusted: Any = SAME


RULES = (
    CleaningRule("strip_names", Mark.PAPER),
    CleaningRule("strip_brackets", Mark.OURS, paper=False),
    CleaningRule("repair_scans", Mark.OURS, paper=False),
    CleaningRule("repeated_turns", Mark.PAPER),
    CleaningRule("repeated_match", Mark.PAPER, paper="words"),
    CleaningRule("repeated_min_words", Mark.OURS, paper=1, trusted=4),
    CleaningRule("previously_on", Mark.PAPER),
    CleaningRule("min_characters", Mark.PAPER, trusted=1),
    CleaningRule("max_characters", Mark.PAPER),
    CleaningRule("length_in", Mark.PAPER, paper="characters"),
    CleaningRule("min_alphabetic_share", Mark.PAPER),
    CleaningRule("letters_among", Mark.PAPER, paper="visible", trusted="visible"),
    CleaningRule("min_distinct_share", Mark.RELEASED, paper=None, trusted=None),
    CleaningRule("min_local_distinct_share", Mark.OURS, paper=None, trusted=0.5),
    CleaningRule("repetitive_share", Mark.PAPER, paper=0.5),
    CleaningRule("repetitive_min_tokens", Mark.PAPER),
    CleaningRule("cues_end_dialogue", Mark.PAPER, paper=True),
    CleaningRule("cues_bridge_silences", Mark.PAPER, trusted=False),
    CleaningRule("keep_after_removed", Mark.OURS, paper=False, trusted=True),
    CleaningRule("drop_songs", Mark.OURS, paper=False),
    CleaningRule("drop_credits", Mark.OURS, paper=False),
    CleaningRule("drop_quoted", Mark.RELEASED, paper=False),
    CleaningRule("drop_inner_labels", Mark.OURS, paper=False),
    CleaningRule("max_turn_frequency", Mark.RELEASED, paper=None, trusted=None),
    CleaningRule("min_turns", Mark.PAPER),
    CleaningRule("excluded_genres", Mark.PAPER),
    CleaningRule("drop_silent_films", Mark.OURS, paper=False),
    CleaningRule("min_address_share", Mark.OURS, paper=None),
    CleaningRule("drop_wrong_years", Mark.OURS, paper=False, trusted=True),
    CleaningRule("max_unknown_words", Mark.OURS, paper=None, trusted=0.1),
    CleaningRule("max_unended_turns", Mark.OURS, paper=None, trusted=0.5),
    CleaningRule("exact_duplicates", Mark.PAPER),
    CleaningRule("near_duplicates", Mark.OURS, paper=False),
    CleaningRule("near_duplicate_jaccard", Mark.OURS),
    CleaningRule("corpus_duplicates", Mark.OURS, paper=False),
    CleaningRule("min_certainty", Mark.OURS, paper=None),
    CleaningRule("certain_turns", Mark.OURS),
    CleaningRule("certain_opening", Mark.OURS),
    CleaningRule("drop_profane", Mark.OURS, paper=False),
)
"""All settings under ``subtitles.cleaning`` but the preset.

``near_duplicate_jaccard`` has no effect while ``near_duplicates`` and ``corpus_duplicates`` are off,
``certain_turns`` and ``certain_opening`` none without ``min_certainty``.
"""

PAPER_PRESET: dict[str, Any] = {rule.setting: rule.paper for rule in RULES if rule.paper is not SAME}
"""Values of the preset ``paper``, which reads the paper's words, where it names one of its own."""
TRUSTED_PRESET: dict[str, Any] = {rule.setting: rule.trusted for rule in RULES if rule.trusted is not SAME}
"""Values of the preset ``trusted``, for a data set to use rather than to compare, where they are not ``released``."""
PRESETS: dict[str, dict[str, Any]] = {"released": {}, "paper": PAPER_PRESET, "trusted": TRUSTED_PRESET}
