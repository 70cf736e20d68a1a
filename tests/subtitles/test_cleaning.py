"""Each cleaning rule of EDOS 3.1 on a table of cases, then all of them with their ledger."""

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from etl.pipeline.outcome import Outcome
from etl.pipeline.spark_api import cached
from etl.pipeline.tables.ops import WORK_VERSION
from etl.subtitles import turn_rules as rule
from etl.subtitles.cleaning import OF_TURNS, cut_into_spans, judge_turns
from etl.subtitles.cleaning_words import cleaning_words
from etl.subtitles.film_rules import judge_films
from etl.subtitles.settings import CleaningSettings
from etl.subtitles.tables import CLEAN_DIALOGUES, DIALOGUES
from etl.subtitles.text_rules import spoken_text
from tests.frames import outcome_computed
from tests.subtitles.cleaned import clean_dialogues
from tests.subtitles.cleaning_cases import cleaning_values
from tests.subtitles.counts import count_turns

RULES = CleaningSettings(
    preset="paper",
    strip_brackets=True,
    cues_end_dialogue=False,
    drop_songs=True,
    drop_credits=True,
    drop_inner_labels=True,
    near_duplicates=True,
)
WORDS = cleaning_words()


def raw_schema() -> StructType:
    """The columns of a raw dialogue, without the framework's."""
    return StructType(DIALOGUES.schema.fields[:-4])


SPOKEN = {
    # a name goes, the turn stays
    "GRACIE : Come in .": "Come in .",
    "GRACIE: Come in .": "Come in .",
    "Gracie : Come in .": "Come in .",
    "[ GRACIE ] Come in .": "Come in .",
    "[ GRACIE ] : Come in .": "Come in .",
    "( Bob ) Come in .": "Come in .",
    "[ Man On Radio ] Come in .": "Come in .",
    "MAN # 2 : Come in .": "Come in .",
    "MAN #2 : Come in .": "Come in .",
    "Officer 2 : Come in .": "Come in .",
    "1ST OFFICER : Come in .": "Come in .",
    "DR. SMITH : Come in .": "Come in .",
    "Mr. O'Hara : Come in .": "Come in .",
    "LeBEAU : Come in .": "Come in .",
    "SHAUN 'S MUM : Come in .": "Come in .",
    "ANNE AND PAUL : Come in .": "Come in .",
    "Man on police radio : Come in .": "Come in .",
    "Paul , voice-over : Come in .": "Come in .",
    "- GRACIE : Come in .": "Come in .",
    ">> GRACIE : Come in .": "Come in .",
    "STONE [ ON recording ] : Come in .": "Come in .",
    "( Laughter ) STONE : Come in .": "Come in .",
    "ÉMILE : Entrez .": "Entrez .",
    "Come in . PAUL : Thank you .": "Come in . Thank you .",
    "woman : Come in .": "Come in .",
    "fauscheim : ' Come in ' .": "' Come in ' .",
    # what only looks like a name stays
    "note : Come in .": "note : Come in .",
    "woman : come in .": "woman : come in .",
    "so she told me this : Come in .": "so she told me this : Come in .",
    "o : Come in .": "o : Come in .",
    "Note : the door is open .": "Note : the door is open .",
    "One : the door is open .": "One : the door is open .",
    "NOTE : THE DOOR IS OPEN .": "NOTE : THE DOOR IS OPEN .",
    "YOU KNOW THE PENALTY : DEATH .": "YOU KNOW THE PENALTY : DEATH .",
    "But remember this : it is late .": "But remember this : it is late .",
    "He said : it is late .": "He said : it is late .",
    "At 11 : 30 .": "At 11 : 30 .",
    "Gate 11 : 30 .": "Gate 11 : 30 .",
    "5 : 00 in the morning .": "5 : 00 in the morning .",
    "Come in . Paul : Thank you .": "Come in . Paul : Thank you .",
    "Paul , come in .": "Paul , come in .",
    # sounds and manners go, speech stays
    "[ DOOR SLAMS ]": "",
    "ごめん 電車が遅れて （ ドアが閉まる音 ）": "ごめん 電車が遅れて",
    "［ 戸 ］": "",
    "( sighs ) I know .": "I know .",
    "I ( sighs ) know .": "I know .",
    "{ \\an8 } I know .": "I know .",
    "[ GRACIE ]": "",
    "GRACIE :": "",
    "- - I know .": "I know .",
    "I know ( unclosed .": "I know ( unclosed .",
    "  I   know .  ": "I know .",
    "": "",
}


def test_names_and_descriptions_are_stripped_and_the_turn_stays(spark: SparkSession) -> None:
    assert cleaning_values(spark, list(SPOKEN), spoken_text(F.col("text"), RULES, WORDS)) == SPOKEN
    only_names = CleaningSettings(strip_brackets=False)
    off = CleaningSettings(strip_names=False, strip_brackets=False)
    text = "GRACIE : ( sighs ) I know ."
    assert cleaning_values(spark, [text], spoken_text(F.col("text"), only_names, WORDS)) == {text: "( sighs ) I know ."}
    assert cleaning_values(spark, [text], spoken_text(F.col("text"), off, WORDS)) == {text: text}


def test_previously_on(spark: SparkSession) -> None:
    cases = {
        "Previously on our show ...": True,
        "PREVIOUS ON OUR SHOW": True,
        '" Previously , on our show': True,
        "Previously I was happy .": False,
        "As I said previously on the phone": False,
        "Previous one was better .": False,
    }
    assert cleaning_values(spark, list(cases), rule.previously_on(F.col("text"))) == cases


def test_length_is_in_characters_and_the_alphabetic_share_of_what_is_not_blank(spark: SparkSession) -> None:
    lengths = {"I": 1, "No": 2, "é !": 3, "x" * 101: 101}
    assert cleaning_values(spark, list(lengths), rule.length_of(F.col("text"))) == lengths
    assert cleaning_values(spark, ["I am ."], rule.length_of(F.col("text"), "tokens")) == {"I am .": 3}
    shares = {"abc 12": 0.6, "ab 12": 0.5, "Здравствуй !": 10 / 11, "... !": 0.0, "Äé": 1.0, " ": None}
    assert cleaning_values(spark, list(shares), rule.alphabetic_share(F.col("text"))) == pytest.approx(shares)
    of_all = {"abc 12": 0.5, "ab 12": 0.4, "Äé": 1.0, "": None}
    assert cleaning_values(spark, list(of_all), rule.alphabetic_share(F.col("text"), "all")) == pytest.approx(of_all)


def test_distinct_tokens_differ_in_case_too(spark: SparkSession) -> None:
    shares = {
        "Gone , gone , gone .": 0.6667,
        "No no no": 0.6667,
        "no no no": 0.3333,
        "a b c d": 1.0,
        "a a a b": 0.5,
    }
    assert cleaning_values(spark, list(shares), rule.distinct_share(F.col("text"))) == shares


LABELS = {
    "I saw her . Mrs. Oliver : Sit down .": True,
    "I saw her ! Man on radio : Sit down .": True,
    "Are you there ? Ada : ... I am .": True,
    "- I saw her . - Ada : Sit down .": True,
    "Ada : Sit down .": False,  # one speaker
    "I saw her . ADA : Sit down .": False,  # a name in capitals leaves the turn
    "Dear Dr. Ames : Sit down .": False,
    "I tell you . Note : The door is open .": False,
    "Come at once . At 11 : 30 .": False,
    "He came . Ada : the one I love .": False,  # goes on in small letters
}


def test_a_label_within_a_turn_names_a_second_speaker(spark: SparkSession) -> None:
    found = rule.names_second_speaker(F.col("text"), WORDS.not_names)
    assert cleaning_values(spark, list(LABELS), found) == LABELS


def test_repetitive_tokens(spark: SparkSession) -> None:
    plain = spark.createDataFrame(
        [
            ("no no no no", False),  # shorter than five tokens
            ("no no no no no", True),
            ("go go go come on", True),  # 3 of 5
            ("so so good so good but", False),  # 3 of 6 is not more than half
            ("a rose is a rose is a rose", False),
            ("one two three four five six", False),
        ],
        "text string, repetitive boolean",
    ).withColumn("words", F.split("text", " "))
    wrong = plain.filter(rule.repetitive_tokens(F.col("words"), 0.5, 5) != F.col("repetitive"))
    assert wrong.collect() == []
    looser = rule.repetitive_tokens(F.col("words"), 0.4, 4)
    assert {row["text"] for row in plain.filter(looser).collect()} == {
        "no no no no",
        "no no no no no",
        "go go go come on",
        "so so good so good but",
    }


def test_profanity(spark: SparkSession) -> None:
    profane = {
        "What the fucking hell": "fucking",
        "SHIT !": "shit",
        "You son of a bitch .": "son of a bitch",
        "Scunthorpe and Dickens passed the class .": None,
        "An assassin in Essex": None,
        "Good .": None,
    }
    assert cleaning_values(spark, list(profane), rule.profane_word(F.col("text"), WORDS.profanity)) == profane
    assert cleaning_values(spark, ["shit"], rule.profane_word(F.col("text"), ())) == {"shit": None}


def dialogues_of(spark: SparkSession, texts: dict[str, list[str]], genres: dict[str, list[str]]) -> DataFrame:
    rows = [
        (
            name,
            f"xml/{name}.xml",
            name.rsplit("-", 1)[0],
            "film",
            "v2018",
            "en",
            2001,
            genres.get(name, ["Drama"]),
            [(text, i * 1000, i * 1000 + 900, i, i) for i, text in enumerate(turns)],
            CERTAINTIES[: len(turns)],
        )
        for name, turns in texts.items()
    ]
    return spark.createDataFrame(rows, raw_schema())


CERTAINTIES = [1.0, 0.75, 0.5, 1.0, 1.0]


DIALOGUES_IN = {
    "names-0": ["GRACIE : I lost the key .", "( Bob ) Look under the mat ."],
    "sound-0": ["Who is there ?", "It is me .", "[ DOOR SLAMS ]", "Well .", "Sit down ."],
    "repeated-0": ["I waited all day .", "So did we .", "So did we !", "Then let us eat ."],
    "echo-0": ["Friday at noon ?", "Friday at noon .", "I will be there ."],
    "again-0": ["Is she ill ?", "Yes .", "Very ill ?", "Yes .", "Poor thing ."],
    "recap-0": ["Previously on Harbour Street ...", "Where is my boat ?", "It sank ."],
    "short-0": ["Was it you ?", "We met once .", "I", "Speak up ."],
    "long-0": ["Tell me a story .", "Which one ?", "y" * 101, "That was long ."],
    "limits-0": ["No", "x" * 100],
    "letters-0": ["Ring me up .", "What number ?", "555 0199", "Thanks a lot ."],
    "tokens-0": ["Shall we leave ?", "In a minute .", "Now , now , now , now , now !", "Fine by me ."],
    "song-0": [
        "Play it for us .",
        "As you wish . ♪ Over the sea ♪ Now hush .",
        "♪ Over the harbour ♪",
        "Lovely tune .",
    ],
    "one-0": ["Nobody answered him ."],
    "reef-0": ["The reef is home to many .", "Some of them glow ."],
    "rude-0": ["Where is that bastard ?", "He left for the coast ."],
}


def ledger(outcome: Outcome) -> dict[tuple[str, str], tuple[str, int]]:
    assert outcome.dropped is not None
    rows = outcome.dropped.collect()
    found = {(row["unit"], row["id"]): (row["reason"], row["units"]) for row in rows}
    assert len(found) == len(rows), "a ledger key is there twice"
    assert all(row["detail"] for row in rows)
    return found


def test_all_rules_and_a_ledger_that_adds_up(spark: SparkSession) -> None:
    dialogues = dialogues_of(spark, DIALOGUES_IN, {"reef-0": ["Short", " documentary"]})
    outcome = outcome_computed(clean_dialogues(dialogues, RULES, WORDS, persist=cached))
    assert [*outcome.rows.columns, WORK_VERSION] == CLEAN_DIALOGUES.columns
    rows = {row["dialogue_id"]: row for row in outcome.rows.collect()}
    kept = {name: [turn["text"] for turn in row["turns"]] for name, row in rows.items()}
    assert kept == {
        "names-0": ["I lost the key .", "Look under the mat ."],
        "sound-0": ["Who is there ?", "It is me .", "Well .", "Sit down ."],
        "repeated-0": DIALOGUES_IN["repeated-0"][:2],
        "echo-0": DIALOGUES_IN["echo-0"],
        "again-0": DIALOGUES_IN["again-0"],
        "short-0": DIALOGUES_IN["short-0"][:2],
        "long-0": DIALOGUES_IN["long-0"][:2],
        "limits-0": DIALOGUES_IN["limits-0"],
        "letters-0": DIALOGUES_IN["letters-0"][:2],
        "tokens-0": DIALOGUES_IN["tokens-0"][:2],
        "song-0": ["Play it for us .", "As you wish . Now hush .", "Lovely tune ."],
        "rude-0": DIALOGUES_IN["rude-0"],
    }
    assert {name for name, row in rows.items() if row["profane"]} == {"rude-0"}
    assert rows["names-0"]["turns"][1]["start_ms"] == 1000
    dropped = ledger(outcome)
    assert dropped == {
        ("turn", "sound-0/2"): ("nothing_said", 1),
        ("turn", "repeated-0/2"): ("repeated_turn", 1),
        ("turn", "repeated-0/3"): ("after_removed_turn", 1),
        ("turn", "recap-0/0"): ("previously_on", 1),
        ("turn", "recap-0/1"): ("after_removed_turn", 1),
        ("turn", "recap-0/2"): ("after_removed_turn", 1),
        ("dialogue", "recap-0"): ("no_turns_left", 0),
        ("turn", "short-0/2"): ("too_short", 1),
        ("turn", "short-0/3"): ("after_removed_turn", 1),
        ("turn", "long-0/2"): ("too_long", 1),
        ("turn", "long-0/3"): ("after_removed_turn", 1),
        ("turn", "letters-0/2"): ("too_few_letters", 1),
        ("turn", "letters-0/3"): ("after_removed_turn", 1),
        ("turn", "tokens-0/2"): ("repetitive_tokens", 1),
        ("turn", "tokens-0/3"): ("after_removed_turn", 1),
        ("part", "song-0/1#song_in_turn"): ("song_in_turn", 0),
        ("turn", "song-0/2"): ("song", 1),
        ("dialogue", "one-0"): ("one_turn_left", 1),
        ("dialogue", "reef-0"): ("documentary", 2),
    }
    units = sum(units for _, units in dropped.values())
    assert count_turns(dialogues) == count_turns(outcome.rows) + units
    assert len(DIALOGUES_IN) == len(rows) + sum(unit == "dialogue" for unit, _ in dropped)


def test_an_endless_turn_is_too_long_whatever_the_limit(spark: SparkSession) -> None:
    rules = RULES.model_copy(update={"max_characters": None, "min_alphabetic_share": None})
    dialogues = dialogues_of(spark, {"rule-0": ["Tell me .", "Which one ?", "- " * 8_000, "[" + "a" * 9_000 + "]"]}, {})
    (row,) = judge_turns(dialogues, rules, WORDS).collect()
    assert [turn["text"] for turn in row["turns"]] == ["Tell me .", "Which one ?"]
    assert [(one["turn"], one["reason"]) for one in row["removed"]] == [(2, "too_long"), (3, "after_removed_turn")]


def test_an_excluded_genre_is_named(spark: SparkSession) -> None:
    texts = {name: ["Who is there ?", f"It is {name} ."] for name in ("news-0", "reef-0", "play-0")}
    genres = {"news-0": ["Drama", " News "], "reef-0": ["documentary"]}
    rules = CleaningSettings(preset="paper", excluded_genres=("Documentary", "News"))
    films = judge_films(dialogues_of(spark, texts, genres), rules, WORDS).collect()
    assert {row["dialogue_id"]: (row["film_reason"], row["film_detail"]) for row in films} == {
        "news-0": ("news", "Drama,  News "),
        "reef-0": ("documentary", "documentary"),
        "play-0": (None, None),
    }


def test_each_rule_can_be_switched(spark: SparkSession) -> None:
    dialogues = dialogues_of(spark, DIALOGUES_IN, {"reef-0": ["Documentary"]})
    off = CleaningSettings(
        strip_names=False,
        strip_brackets=False,
        repeated_turns="off",
        previously_on=False,
        min_characters=None,
        max_characters=None,
        min_alphabetic_share=None,
        repetitive_share=None,
        drop_songs=False,
        min_turns=1,
        excluded_genres=(),
        exact_duplicates=False,
        near_duplicates=False,
        min_distinct_share=None,
        drop_credits=False,
        drop_quoted=False,
        drop_inner_labels=False,
        repair_scans=False,
        max_turn_frequency=None,
        drop_silent_films=False,
        min_address_share=None,
    )
    unchanged = clean_dialogues(dialogues, off, WORDS, persist=cached)
    assert ledger(unchanged) == {}
    rows = {row["dialogue_id"]: [turn["text"] for turn in row["turns"]] for row in unchanged.rows.collect()}
    assert rows == DIALOGUES_IN
    strict = CleaningSettings(
        preset="paper",
        strip_brackets=True,
        repeated_turns="dialogue",
        drop_profane=True,
        max_characters=None,
        length_in="tokens",
        near_duplicates=False,
        exact_duplicates=False,
        cues_end_dialogue=True,
    )
    dropped = ledger(clean_dialogues(dialogues, strict, WORDS, persist=cached))
    assert dropped[("turn", "again-0/3")] == ("repeated_turn", 1)
    assert dropped[("turn", "sound-0/2")] == ("nothing_said", 1)
    assert dropped[("turn", "sound-0/4")] == ("after_removed_turn", 1)
    assert dropped[("dialogue", "rude-0")] == ("profanity", 2)
    assert ("turn", "limits-0/0") in dropped
    assert dropped[("turn", "limits-0/0")] == ("too_short", 1)


def test_without_certainties_no_turn_is_uncertain(spark: SparkSession) -> None:
    dialogues = dialogues_of(spark, {"names-0": DIALOGUES_IN["names-0"]}, {})
    older = dialogues.withColumns({name: F.lit(None).cast(kind) for name, kind in OF_TURNS.items()})
    rules = RULES.model_copy(update={"min_certainty": 1.0})
    (row,) = cut_into_spans(judge_turns(older, rules, WORDS), rules, WORDS).collect()
    assert [turn["text"] for turn in row["turns"]] == ["I lost the key .", "Look under the mat ."]
    assert row["removed"] == []


def test_unknown_choices_are_refused() -> None:
    with pytest.raises(ValueError, match="repeated_turns"):
        CleaningSettings(repeated_turns="always")
    with pytest.raises(ValueError, match="length_in"):
        CleaningSettings(length_in="bytes")


@pytest.mark.parametrize(
    ("of", "cases"),
    [
        (
            lambda text: rule.without_credit_sentences(text, WORDS),
            {
                "I will wait . Sync and corrections by greenowl": "I will wait .",
                "Go . Subtitles by Mr. Smith . Timing by X .": "Go .",
                "Watch it in high quality @ BOX . TV": "Watch it in high quality @ BOX . TV",
                "Subtitles by Mr. Smith": "Subtitles by Mr. Smith",
                "Are they subtitled ? No .": "Are they subtitled ? No .",
                "She said : Go . Now .": "She said : Go . Now .",
            },
        ),
        (
            rule.is_quotation,
            {
                '" It was so . "': True,
                '" One . " " Two . "': True,
                '" Open to the end': True,
                "\u00ab Oui . \u00bb": True,
                '" Never " , he said .': False,
                'Say " no " .': False,
                "'Cause I know .": False,
                "": False,
            },
        ),
        (
            lambda text: rule.alphabetic_share(text, "words"),
            {"No ...": 1.0, "Hi .": 1.0, "\u0928\u0939\u0940\u0902 \u0964": 1.0, "$ 5 , 0": 0.0, "... ?": None},
        ),
        (
            rule.alphabetic_share,
            {"No ...": 0.4, "\u0928\u0939\u0940\u0902 .": 0.8, "": None},
        ),
    ],
    ids=["credits", "quotations", "letters of words", "letters of visible characters"],
)
def test_rules_of_trusted_sets(spark: SparkSession, of: Callable[[Column], Column], cases: dict[str, Any]) -> None:
    frame = spark.createDataFrame([(text,) for text in cases], "text string")
    found = frame.select("text", of(F.col("text")).alias("value")).collect()
    assert {row["text"]: row["value"] for row in found} == cases
