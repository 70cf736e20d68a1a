"""Lines that speak of danger are found however they are written, and everyday talk is left alone."""

import pytest

from conf.resources import stored
from conf.safety_settings import HOTLINES
from etl.safety.answers import chat_notice, danger_answer, state_answer, withheld_reply
from etl.safety.phrases import HARMFUL, PHRASES, danger, entries

DANGER = [
    "I want to die",
    "i just WANNA DIE",
    "I don't want to live anymore",
    "I don’t want to live",
    "I dont want to live.",
    "some days I think I should kill myself",
    "kill my self",
    "I'm going to end my own life tonight",
    "I wish I was dead",
    "I wish I had never been born",
    "everyone would be better off without me",
    "there is no reason for me to live",
    "i feel suicidal",
    "Suicide?",
    "s u i c i d e",
    "su1c1de",
    "$uicide",
    "suiiiicide",
    "su*cide",
    "su-cide",
    "s.u.i.c.i.d.e",
    "k*ll myself",
    "k1ll mys3lf",
    "killl myself",
    "kms",
    "k.m.s.",
    "unalived",
    "ѕuісіdе",
    "ｓｕｉｃｉｄｅ",
    "sui\u200bcide",
    "súicídé",
    "SUICIDE!!!",
    "I cut myself again",
    "cutting my arms and I cut my wrists",
    "I have been self-harming",
    "self harm",
    "I hurt  \t myself",
    "I have not eaten in four days",
    "My anorexia is back",
    "I'm struggling with an eating disorder, whenever I eat I vomit",
    "I make myself throw up",
    "I took too many pills",
    "I swallowed all the pills",
    "I overdosed last year",
    "he beats me",
    "my uncle molested me",
    "I was raped",
    "he threatened to kill us",
    "I am going to kill him",
    "I have a gun",
    "I hear strange voices",
    "my friend killed himself",
    "take my own life",
    "I see no way out",
    "No. " * 2000 + "I want to die",
    "ya no quiero vivir",
    "Quisiera morirme esta noche",
    "me quiero su1c1dar",
    "ich will nicht mehr leben",
    "Ich möchte sterben.",
    "ich bring mich um",
    "j'ai envie de mourir",
    "jveux plus vivre",
    "je vais me suicider",
    "voglio morire",
    "não quero mais viver",
    "ik wil dood",
    "chcę umrzeć",
    "vill inte leva",
    "хочу умереть",
    "我想死",
    "もう死にたい",
    "죽고 싶어",
]
EVERYDAY = [
    "",
    "   ",
    "!!!",
    "I lost my job and I feel so sad",
    "this traffic is killing me",
    "I died laughing",
    "I want to diet",
    "that cake is to die for",
    "I could dye my hair",
    "my phone died",
    "we killed time at the mall",
    "I cut my hair",
    "I grape",
    "the grapes were good",
    "I rapped on stage",
    "therapist",
    "my therapist is nice",
    "she is a skilled speaker",
    "he beat the record",
    "I hit the road",
    "a b c",
    "my exam is on the 13th of 10",
    "it was a **** day",
    "what the h*ll",
    "a-b testing",
    "I cannot go to the party",
    "I am tired of work",
    "my cat is sick",
    "I take pills for my allergy",
    "my life is good",
    "I have no way to get there",
    "we jumped in the pool",
    "I was so embarrassed I wanted to hide",
    "你好",
    "I nearly died laughing, I want to die of embarrassment",
    "that was career suicide",
    "we ran 10 kms",
    "me muero de hambre",
    "quiero morirme de risa",
    "mourir de rire",
    "ich sterbe vor Hunger",
    "ich will nach Hause",
    "je veux dormir",
    "хочу спать",
    "😀",
]


@pytest.mark.parametrize("line", DANGER, ids=range(len(DANGER)))
def test_danger_is_seen(line: str) -> None:
    assert danger(line) is not None, line[-60:]


@pytest.mark.parametrize("line", EVERYDAY, ids=range(len(EVERYDAY)))
def test_everyday_talk_is_left_alone(line: str) -> None:
    assert danger(line) is None


@pytest.mark.parametrize("phrases", [PHRASES, HARMFUL])
def test_every_phrase_of_a_list_is_found(phrases: tuple[str, ...]) -> None:
    for entry in (entry for name in phrases for entry in entries(name)):
        assert danger("well, " + entry.replace("..", "very").replace("*", "") + "!", phrases) is not None, entry


@pytest.mark.parametrize("country", [line.split(",", 1)[0] for line in stored(HOTLINES).splitlines()[1:]])
def test_each_countrys_texts_have_numbers(country: str) -> None:
    for told in (danger_answer(country), state_answer(country), withheld_reply(country)):
        assert "{" not in told
        assert sum(letter.isdigit() for letter in told) >= 6
    assert "{" not in chat_notice(country)


def test_a_very_long_line_is_read_whole_and_soon() -> None:
    assert danger("so " * 100_000 + "i want to die") == "want to die"
    assert danger("want to " * 50_000) is None


def test_the_fixed_answer_leads_to_people() -> None:
    answer = danger_answer()
    assert all(told in answer for told in ("112", "911", "988", "116 123", "findahelpline.com", "computer program"))
    assert "supervision" in chat_notice()
    assert "program" in chat_notice()
    assert danger("I called 112 and 988") is None
