"""What an arbiter's answer says: the table of its forms, plain and ugly."""

import pytest

from etl.subtitles.arbiter_answers import CONTRADICTION, CUT_OFF, UNCLEAR, UNKNOWN, opened_by

ASKED = (2, 4, 5)


@pytest.mark.parametrize(
    ("answer", "opened"),
    [
        ("2, 4", [2, 4]),
        ("2,4", [2, 4]),
        (" 4 ", [4]),
        ("4.", [4]),
        ("2 4", [2, 4]),
        ("4, 2, 4", [2, 4]),
        ("2 and 4", [2, 4]),
        ("2 & 5", [2, 5]),
        ("[2, 4]", [2, 4]),
        ("(2, 4)", [2, 4]),
        ("{2, 5}", [2, 5]),
        ("**2, 4**", [2, 4]),
        ("`2, 4`", [2, 4]),
        ('"2, 4"', [2, 4]),
        ("$\\boxed{2, 4}$", [2, 4]),
        ("#2, #4", [2, 4]),
        ("4-5", [4, 5]),
        ("4 to 5", [4, 5]),
        ("4–5", [4, 5]),
        ("2\n4\n5", [2, 4, 5]),
        ("- 2\n- 4", [2, 4]),
        ("1. 2\n2. 4", [2, 4]),
        ("Sentences 2 and 4", [2, 4]),
        ("Sentence 2, sentence 4", [2, 4]),
        ("Sentence two and sentence four open a turn.", [2, 4]),
        ("Sentences 2 and 4 open turns.", [2, 4]),
        ("Answer: 2, 4", [2, 4]),
        ("The answer is: 2, 4.", [2, 4]),
        ("**Final answer:** 2, 4", [2, 4]),
        ("Sentence 2 asks something, and 4 answers it.\n\nAnswer: 4", [4]),
        ("2, 4\n\nExplanation: sentence 1 is a question, and 3 people are in the room.", [2, 4]),
        ("2, 4 because those are answers", [2, 4]),
        ("2: yes\n4: no\n5: yes", [2, 5]),
        ("2 - yes, 4 - no, 5 - no", [2]),
        ("2 (yes), 4 (no), 5 (no)", [2]),
        ("Sentence 2: different\nSentence 4: same\nSentence 5: same", [2]),
        ('2. "Where have you been ?"\n4. "At the sea for 3 days ."', [2, 4]),
        ('Another person says 4 ("I have 7 cats").', [4]),
        ("Sentences 2 and 5 open a turn; sentence 4 does not.", [2, 5]),
        ("Sentence 2 opens a turn, but 4 and 5 do not.", [2]),
        ("Sentence 2 is not said by the same person.", [2]),
        ("Sentence 4 is said by another person, not the same one.", [4]),
        ("Sentences 4 and 5 are said by the same person.", []),
        ("All except 4.", [2, 5]),
        ("All of them except 4 open a turn.", [2, 5]),
        ("All of them.", [2, 4, 5]),
        ("Each sentence is said by another person.", [2, 4, 5]),
        ("none", []),
        ("None.", []),
        ("**None**", []),
        ('"none"', []),
        ("None of them", []),
        ("None of the sentences", []),
        ("[]", []),
        ("N/A", []),
        ("No sentence opens a turn.", []),
        ("None of these sentences are spoken by another person.", []),
        ("Answer: none", []),
        ("None\n\nThe speaker of sentence 1 goes on until sentence 9.", []),
        ('{"sentences": [2, 4]}', [2, 4]),
        ('```json\n{"opens": [2], "same": [4, 5]}\n```', [2]),
        ('{"answer": "2, 4"}', [2, 4]),
        ('{"answer": "none"}', []),
        ('{"answer": null}', []),
        ('{"opens": []}', []),
        ('{"2": true, "4": false, "5": "no"}', [2]),
        ('{"2": "new speaker", "4": "same speaker", "5": "same"}', [2]),
        ('[{"sentence": 2, "opens": true}, {"sentence": 4, "opens": false}]', [2]),
        ('[{"number": 2}, {"number": "5"}]', [2, 5]),
        ('["2", "4"]', [2, 4]),
        ('["2. Where have you been ?", "4. At home ."]', None),
        ("٢", [2]),
    ],
)
def test_an_answer_names_sentences(answer: str, opened: list[int] | None) -> None:
    assert opened_by(answer, ASKED)[0] == opened


@pytest.mark.parametrize(
    ("answer", "opened"), [("Yes", [3]), ("No.", []), ("Yes, another person speaks.", [3]), ("3", [3]), ("3: no", [])]
)
def test_an_answer_about_one_sentence(answer: str, opened: list[int]) -> None:
    assert opened_by(answer, [3]) == (opened, None)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("3", UNKNOWN),
        ("2, 3", UNKNOWN),
        ("0", UNKNOWN),
        ("1-5", UNKNOWN),
        ("2, 4, 6, 8, 10, 12", UNKNOWN),
        ("Sentence 9 is said by the same person.", UNKNOWN),
        ('{"sentences": [2, 7]}', UNKNOWN),
        ("2 opens a turn, but 2 does not", CONTRADICTION),
        ("2: yes\n2: no", CONTRADICTION),
        ('{"opens": [2], "same": [2, 4]}', CONTRADICTION),
        ("Another person speaks.", UNCLEAR),
        ("I am sorry, but I cannot help with that.", UNCLEAR),
        ("It may be 2, or perhaps 4.", UNCLEAR),
        ("yes", UNCLEAR),
        ("2.4", UNCLEAR),
        ("80%", UNCLEAR),
        ("Hello ! How can I help you today ?", UNCLEAR),
        ('{"comment": "hard to say"}', UNCLEAR),
        ("…", UNCLEAR),
        ("", UNCLEAR),
        ("9" * 100_000, UNCLEAR),
        ("[" * 5_000, UNCLEAR),
    ],
)
def test_an_answer_that_decides_nothing_has_a_reason(answer: str, fault: str) -> None:
    assert opened_by(answer, ASKED) == (None, fault)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("2, 4", (None, CUT_OFF)),
        ("Sentence 2 is said by", (None, CUT_OFF)),
        ("2, 4\nThe reason is that the first", ([2, 4], None)),
        ("none\nBecause", ([], None)),
        ("2, 3\nBecause", (None, UNKNOWN)),
    ],
)
def test_an_answer_that_was_cut_off_counts_up_to_its_first_line(
    answer: str, said: tuple[list[int] | None, str | None]
) -> None:
    assert opened_by(answer, ASKED, cut_off=True) == said
