"""Characters out of answers as models give them, good and bad."""

import pytest

from conf.prompts import prompt
from etl.emo_pillars.steps.actors import parse_actors

TEMPLATE = prompt("emo_pillars/actors")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("1. Ada Voss (lighthouse keeper)\n2. Old Piet", ["Ada Voss (lighthouse keeper)", "Old Piet"]),
        ("1) Ada Voss\n2) Old Piet\n", ["Ada Voss", "Old Piet"]),
        ("(1) Ada\n(2) Piet", ["Ada", "Piet"]),
        ("- Ada Voss: keeps the lamp\n- Piet: her uncle", ["Ada Voss (keeps the lamp)", "Piet (her uncle)"]),
        ("* **Ada Voss** - a keeper\n* **Piet** – a sailor", ["Ada Voss (a keeper)", "Piet (a sailor)"]),
        ("Here are the characters:\n\n1. Ada\n2. Piet", ["Ada", "Piet"]),
        ("## Characters\n1. Ada\n2. The Mayor's wife", ["Ada", "The Mayor's wife"]),
        ("Ada Voss\nOld Piet\nThe villagers", ["Ada Voss", "Old Piet", "The villagers"]),
        ("Ada, Piet, the Mayor, and two sailors.", ["Ada", "Piet", "the Mayor", "two sailors"]),
        ("1. Ada, a lighthouse keeper\n2. Dr. E. Voss Jr.", ["Ada (a lighthouse keeper)", "Dr. E. Voss Jr"]),
        ('1. "Red" Mary-Ann\n2. X-17 (a robot)', ['"Red" Mary-Ann', "X-17 (a robot)"]),
        ("1. Ada\r\n2. Piet\r\n", ["Ada", "Piet"]),
        ("1. Ada (keeper", ["Ada (keeper)"]),
        ("1. Ada (WHO THEY ARE)\n2. Piet (NPC)", ["Ada", "Piet (NPC)"]),
        ("1. Ada (keeper (retired))", ["Ada (keeper (retired))"]),
        ("1. Ada (Jo Doe) - a keeper.\n2. Piet [Al Roe], sailor", ["Ada (Jo Doe, a keeper)", "Piet (Al Roe, sailor)"]),
        ("1. Ada (Voss) (a keeper)\n2. Piet (sailor) [Roe]", ["Ada (Voss, a keeper)", "Piet (sailor, Roe)"]),
        ("1. 母 (Ada's mother)", ["母 (Ada's mother)"]),
        ("１、Ada（keeper）\n２、Piet", ["Ada (keeper)", "Piet"]),
    ],
)
def test_well_formed_answers_are_read_whole(answer: str, expected: list[str]) -> None:
    parsed = parse_actors(answer, TEMPLATE)
    assert [actor.actor for actor in parsed.items] == expected
    assert parsed.rejected == []


@pytest.mark.parametrize(
    ("answer", "reasons"),
    [
        ("", []),
        ("   \n\n", []),
        ("I'm sorry, but as an AI language model I cannot read films.", ["refusal"]),
        ("I can't help with that.", ["refusal"]),
        ("Name every character who takes part in this story, minor ones included.", ["repeats_prompt"]),
        ("The story is about a woman who keeps a lighthouse on a far island.", ["no_name"]),
        ("I cannot continue this story. Instead:\n1. Breathe slowly.\n2. Call somebody.", ["refusal", "refusal"]),
        ("1. 12345\n2. ---", ["no_name", "no_name"]),
        ("1. None", ["no_name"]),
        ("1. NAME (WHO THEY ARE)\n2. Name (who they are)", ["repeats_prompt", "repeats_prompt"]),
        ("Ada Voss (Jo Doe) keeps a lamp." + " She keeps a lamp." * 20, ["endless_description"]),
        ("1. Ada: keeps" + " and keeps" * 40, ["endless_description"]),
        ("Characters:", []),
    ],
)
def test_malformed_answers_give_no_actor(answer: str, reasons: list[str]) -> None:
    parsed = parse_actors(answer, TEMPLATE)
    assert parsed.items == []
    assert [one.reason for one in parsed.rejected] == reasons


def test_repeats_and_what_follows_a_list_are_told() -> None:
    parsed = parse_actors(
        "1. Ada\n2. ADA (keeper)\n3. Piet\nThey all live happily on the far island ever after.", TEMPLATE
    )
    assert [actor.name for actor in parsed.items] == ["Ada", "Piet"]
    assert [one.reason for one in parsed.rejected] == ["no_list_item", "repeated"]


def test_a_last_line_that_was_cut_off_is_left_out() -> None:
    whole = "1. Ada (keeper)\n2. Piet (sailor)"
    cut = "1. Ada (keeper)\n2. Pi"
    assert len(parse_actors(whole, TEMPLATE, cut_off=True).items) == 2
    parsed = parse_actors(cut, TEMPLATE, cut_off=True)
    assert [actor.name for actor in parsed.items] == ["Ada"]
    assert [one.reason for one in parsed.rejected] == ["cut_off"]
