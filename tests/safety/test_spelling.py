"""Disguised and abbreviated words are written out; other words, numbers and points stay."""

import pytest

from etl.safety.spelling import written_out


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("wanna d1e so bad rn", "want to die so bad right now"),
        ("su1c1de", "suicide"),
        ("su!c!de.", "suicide."),
        ("k!ll!ng mys3lf", "killing myself"),
        ("su*cide", "suicide"),
        ("k-ll", "kill"),
        ("s u i c i d e", "suicide"),
        ("ѕuісіdе", "suicide"),
        ("ｓｕｉｃｉｄｅ", "suicide"),
        ("sui\u200bcide", "suicide"),
        ("KMS", "kill myself"),
        ("unaliving", "killing"),
        ("I ran 10 kms", "I ran 10 kilometres"),
        ("I ran 10kms", "I ran 10 kilometres"),
        ("at 3am on the 13th", "at 3am on the 13th"),
        ("an mp3 of U2", "an mp3 of U2"),
        ("Hi! We met in 2019.", "Hi! We met in 2019."),
        ("Ça va, Zoë?", "Ça va, Zoë?"),
        ("хочу спать", "хочу спать"),
        ("well-known a-b testing", "well-known a-b testing"),
        ("", ""),
    ],
)
def test_words_are_written_out(text: str, written: str) -> None:
    assert written_out(text) == written
