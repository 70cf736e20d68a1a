"""Labelled sets that are small enough to train on in a test."""

LABELS = ("sad", "glad", "neutral", "afraid")


TRAIN = [
    (["i lost my dog .", "that is so sad ."], 0),
    (["he cried alone .", "very sad ."], 0),
    (["i cry at night ."], 0),
    (["what joy !"], 1),
    (["are you happy ?", "yes , so glad !"], 1),
    (["great game !", "we are so happy !"], 1),
    (["it is a home ."], 2),
    (["he went home .", "it is work ."], 2),
    (["dark night .", "i am afraid of the ghost ."], 3),
    (["a ghost !"], 3),
]


VALID = [
    (["so sad , i cry ."], 0),
    (["i am glad !"], 1),
    (["it is a home ."], 2),
    (["afraid , a dark ghost ."], 3),
]
