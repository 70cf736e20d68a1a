"""Detokenisation: on cases, as a column, and as the way back from tokens on texts that were never tokenised."""

import csv
import gzip
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from etl.common.spelling import detokenised, detokenised_text
from udfs.opus.tokens import opus_tokens

CASES = {
    "I don 't know .": "I don't know.",
    "She 's here , isn 't she ?": "She's here, isn't she?",
    "DON 'T ! I 'LL GO !": "DON'T! I'LL GO!",
    "You ' re late , it ' s ten .": "You're late, it's ten.",
    "Don\u2019t , he \u2019s ill": "Don\u2019t, he\u2019s ill",
    "Wait ... what ? ! Who 's there ..": "Wait... what?! Who's there..",
    "... and then": "...and then",
    'He said : " No . "': 'He said: "No."',
    '" Harbour " ? " Never . "': '"Harbour"? "Never."',
    'a " b': 'a " b',
    "He said : ' stay ' .": "He said: 'stay'.",
    "' Come here , ' she said": "'Come here,' she said",
    "Goin ' home to the boys ' room": "Goin' home to the boys' room",
    "Get 'em , 'cause I said so": "Get 'em, 'cause I said so",
    "Let 's get ' em . ' Tis late": "Let's get 'em. 'Tis late",
    "I met ' Em ' , wait ' til noon": "I met 'Em', wait 'til noon",
    "Give \u2019em 5 , 30 !": "Give \u2019em 5, 30!",
    "Mr. O 'Hara , it 's 10 : 30 .": "Mr. O'Hara, it's 10:30.",
    "Yes , ma 'am , c 'mon , y 'all , five o 'clock": "Yes, ma'am, c'mon, y'all, five o'clock",
    "I gave $ 500 ( cash ) , 50 % , 1 / 2 , # 1 .": "I gave $500 (cash), 50%, 1/2, #1.",
    "There is a way to be- - No .": "There is a way to be-- No.",
    "I 'm gon na go , got ta run": "I'm gonna go, gotta run",
    "l 'amour , d 'Or": "l'amour, d'Or",
    "Émile 's café .": "Émile's café.",
    "up , doc ? - Nothing .": "up, doc? - Nothing.",
    "already fine, isn't it? :) Yes :(": "already fine, isn't it? :) Yes :(",
    "  a \t b \n": "a b",
    "": "",
}


@pytest.mark.parametrize("tokens", CASES)
def test_tokens_are_joined_as_people_write(tokens: str) -> None:
    assert detokenised_text(tokens) == CASES[tokens]
    assert detokenised_text(CASES[tokens]) == CASES[tokens], "plain text changes"


def test_the_column_is_the_function(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(text,) for text in [*CASES, None]], "text string")
    found = {
        row["text"]: row["plain"] for row in frame.select("text", detokenised(F.col("text")).alias("plain")).collect()
    }
    assert found == {**CASES, None: None}


def test_tokenised_and_detokenised_again(shared_data: Path) -> None:
    """Of plain utterances 95.7 % come back as they were; 11 % are the same with their tokens apart.

    The others lack a blank that tokens cannot tell (``late.He``), or have one that people do not write (``late ?``).
    """
    path = shared_data / "empathetic_dialogues" / "ed_annotated_all.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        texts = [" ".join(row["Text"].split()) for row in csv.DictReader(file) if row["Type"] == "utterance"][::50]
    assert len(texts) > 2_000
    back = [detokenised_text(opus_tokens(text)) for text in texts]
    assert sum(text == again for text, again in zip(texts, back, strict=True)) > 0.95 * len(texts)
    assert sum(opus_tokens(text) == text for text in texts) < 0.15 * len(texts)
    assert sum(detokenised_text(text) == text for text in texts) > 0.98 * len(texts)
    assert all(detokenised_text(text) == text for text in back), "a second time changes more"
