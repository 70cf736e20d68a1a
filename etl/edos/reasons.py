"""Words for the reasons of the ledger, in reports and on screens."""

REASONS = {
    "below_top_n": "less emotional than those chosen",
    "after_removed_turn": "after a turn that was removed",
    "no_majority": "no two workers agree",
    "no_turns_left": "no turn left",
    "one_turn_left": "only one turn left",
    "outside_taxonomy": "no label of the taxonomy",
    "previously_on": "recap of an earlier episode",
    "same_upload_again": "a second copy of an upload",
    "uncertain_turn": "speaker not certain enough",
    "too_few_letters": "too few letters",
    "repeated_turn": "repeats an earlier turn",
    "nothing_said": "only a name or a sound",
    "song_in_turn": "the sung part of a turn",
    "credit_in_turn": "a turn from its first credit on",
    "second_speaker": "names a second speaker",
}
"""Reasons of the ledger that do not say by themselves what they are."""
