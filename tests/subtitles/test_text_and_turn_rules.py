"""Credits, songs, quotations and scanning errors, each on a table of cases."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from etl.subtitles import turn_rules as rule
from etl.subtitles.cleaning_words import cleaning_words
from etl.subtitles.settings import CleaningSettings
from etl.subtitles.text_rules import spoken_text, without_label, without_scan_errors
from tests.subtitles.cleaning_cases import cleaning_values

CREDITS = {
    "Subtitles : Ana Roca": True,
    "subtitles by ana for QX": True,
    "English Subtitles by R. Roca": True,
    "Let it be . Subtitles by Ana": True,
    "Subtitles downloaded from example": True,
    "English subtitles Harbour 2001 Ana Roca": True,
    "Subtitled by Ana": True,
    ". : ENGsub by Ana : .": True,
    "Captioning made possible by Harbour Films": True,
    "Captioned by Harbour": True,
    "Sponsored by": True,
    "SPECIAL THANKS TO :": True,
    "Special thanks to my mother .": False,
    "Translated by Ana for QX .": True,
    "Translation : Ana": True,
    "Sync and corrections by Ana": True,
    "Resync : Ana": True,
    "Ripped by Ana": True,
    "Timed and encoded by Ana": True,
    "www . example . com": True,
    "Visit https : / / example": True,
    "Best watched using Open-Subtitles player": True,
    "Copyright ( C ) 1999 Harbour": True,
    "All rights reserved": True,
    "Season 2 , Episode 13": True,
    "Season Two Episode Three The Harbour": True,
    "Episode 4 : The Harbour": True,
    "EPISODE 4": True,
    "S02E13": True,
    "The End": True,
    "THE END .": True,
    "To be continued ...": True,
    "Directed by Ana Roca": True,
    "Screenplay by Ana Roca": True,
    "Music : Ana Roca": True,
    "Starring": True,
    # spoken lines with the same words
    "I can 't read the subtitles .": False,
    "Are there English subtitles ?": False,
    "Who wrote the subtitles for it ?": False,
    "That is the end of it .": False,
    "It was translated by my sister .": False,
    "Translated by whom ?": False,
    "Corrected by the teacher , it was fine .": False,
    "We lost the whole season .": False,
    "Episode four was the best .": False,
    "I was directed by her .": False,
    "Music by the sea is nice .": False,
    "The end justifies nothing .": False,
    "You captioned my picture .": False,
    "He copyrighted the song .": False,
    "FÃ © lix , come here .": False,
}


def test_credits_adverts_and_titles(spark: SparkSession) -> None:
    assert cleaning_values(spark, list(CREDITS), rule.is_credit(F.col("text"))) == CREDITS


SONGS = {
    "♪ la la": True,
    "# la la #": True,
    "# La la la": True,
    "# .. a red rose blowing": True,
    "Look at me . # My lucky rose # # My lucky rose #": True,
    "* La la *": True,
    "* Where the river goes": True,
    "Where the river goes *": True,
    "Ba ra la la la la": True,
    "Na na na na , hey": True,
    "We 're # 1 .": False,
    "# 1 in town": False,
    "La la": False,
    "Oh , sh * * .": False,
    "He / she left / stayed .": False,
    "# 39 ; s": False,
}


SPOKEN_BESIDE_SONGS = {
    "Play it . ♪ Over the sea ♪ Lovely tune .": "Play it . Lovely tune .",
    "♪ Over the sea ♪ ♪ and far ♪ Lovely .": "Lovely .",
    "Play it . # Over the sea # Lovely .": "Play it . Lovely .",
    "# Over the sea # # and far # Lovely .": "Lovely .",
    "Play it . ♪ Over the sea": "Play it .",
    "Play it . # Over the sea": "Play it .",
    "♪ Over the sea . Lovely .": "Lovely .",
    "Lovely . Over the sea ♪": "Lovely .",
    "♪ ♪ Lovely . ♪ ♪": "Lovely .",
    # nothing else is said
    "♪ Over the sea ♪": "♪ Over the sea ♪",
    "[ Sylvia ] ♪ Over the sea ♪": "[ Sylvia ] ♪ Over the sea ♪",
    "# Over the sea #": "# Over the sea #",
    # no song
    "MAN # 2 : Run ! MAN # 3 : No .": "MAN # 2 : Run ! MAN # 3 : No .",
    "We 're # 1 and they 're # 2 .": "We 're # 1 and they 're # 2 .",
    "Lovely .": "Lovely .",
}


def test_a_song_takes_nothing_that_is_spoken(spark: SparkSession) -> None:
    assert cleaning_values(spark, list(SPOKEN_BESIDE_SONGS), rule.without_songs(F.col("text"))) == SPOKEN_BESIDE_SONGS


def test_a_label_that_the_speaker_is_known_by_leaves_the_text(spark: SparkSession) -> None:
    cases = {
        "WILL : Come in . WILL : Sit down .": "Come in . Sit down .",
        "First officer : Come in .": "Come in .",
        "WILL : Come in . Will : Sit down .": "Come in . Sit down .",
        "O 'NEIL : Come in . O 'Neil : Sit down .": "Come in . Sit down .",
        "I told O 'Neil : sit down .": "I told O 'Neil : sit down .",
        "\u041b\u0435\u0432 : Come in . \u041b\u0415\u0412 : Sit .": "Come in . Sit .",
        r"B\E( : Come in .": "Come in .",
        "Note : the door is open .": "Note : the door is open .",
    }
    speaker = (
        F.when(F.col("text").startswith("WILL"), "WILL")
        .when(F.col("text").startswith("First"), "FIRST OFFICER")
        .when(F.col("text").contains("O '"), "O'NEIL")
        .when(F.col("text").startswith("\u041b"), "\u041b\u0415\u0412")
        .when(F.col("text").startswith("B"), r"B\E(")
    )
    found = without_label(spoken_text(F.col("text"), CleaningSettings(), cleaning_words()), speaker)
    assert cleaning_values(spark, list(cases), found) == cases


def test_songs(spark: SparkSession) -> None:
    assert cleaning_values(spark, list(SONGS), rule.is_song(F.col("text"))) == SONGS


def test_quotations(spark: SparkSession) -> None:
    cases = {
        '" I come at noon .': True,
        "“ I come at noon . ”": True,
        "'' I come at noon": True,
        "« Bonjour . »": True,
        '" Harbour " ? Never .': True,
        "'Cause I come .": False,
        'He said " no . "': False,
        "": False,
    }
    assert cleaning_values(spark, list(cases), rule.begins_with_quotation(F.col("text"))) == cases


SCANS = {
    "l 'm here . lt 's late . ls it ?": "I 'm here . It 's late . Is it ?",
    "l'm here": "I'm here",
    "Lt 'll do , Lt 's fine": "It 'll do , It 's fine",
    "lf so , ln that case": "If so , In that case",
    "lmagine , an ldiot": "Imagine , an Idiot",
    "sub-lnspector": "sub-Inspector",
    "THE DlCE , GlRLS": "THE DICE , GIRLS",
    "an 8-year-oId couId": "an 8-year-old could",
    "I Iike it , we aII wiII": "I like it , we all will",
    "we 'II go , I 'Il go , she 'lI go": "we 'll go , I 'll go , she 'll go",
    "Iook at Ieast": "look at least",
    "a Iot of it": "a lot of it",
    "Lf we do . Lf.": "If we do . Lf.",
    "l-l-I think": "I-I-I think",
    "L-l was": "L-I was",
    "I am , l- -": "I am , I- -",
    "all thatIhave": "all that I have",
    "Iwas there , Idon 't know": "I was there , I don 't know",
    "I thlnk thls glrl went wlth her wlfe": "I think this girl went with her wife",
    "Mlss Rlght mlght shlft whlch ?": "Miss Right might shift which ?",
    "Oo you know ? I Oon 't . Ooesn 't he ?": "Do you know ? I Don 't . Doesn 't he ?",
    "Oid you ? Oidn 't you ? Oefinitely .": "Did you ? Didn 't you ? Definitely .",
    # what only looks like it
    "Sunset Blvd. , Mlle Dupont , Vltava and Plzen": "Sunset Blvd. , Mlle Dupont , Vltava and Plzen",
    "Oo-la-la ! Oops , Ooh , Oida": "Oo-la-la ! Oops , Ooh , Oida",
    "block , clown , fly , glow , sly , slow": "block , clown , fly , glow , sly , slow",
    "McIntyre and MacInnes": "McIntyre and MacInnes",
    "5 l of milk": "5 l of milk",
    "l 'amour": "l 'amour",
    "K-y-l-9": "K-y-l-9",
    "Elizabeth II and World War II .": "Elizabeth II and World War II .",
    "Ian lost Iowa to Iago": "Ian lost Iowa to Iago",
    "two lbs of llama , Ltd.": "two lbs of llama , Ltd.",
    "lying lads and lovely Lloyd": "lying lads and lovely Lloyd",
    "Level I . III": "Level I . III",
    "Lt. Ames , Lt Ames": "Lt. Ames , Lt Ames",
    "Iota , an IOT , IoT": "Iota , an IOT , IoT",
    "It is . In it . If . Is . Ill": "It is . In it . If . Is . Ill",
}


def test_scanning_errors(spark: SparkSession) -> None:
    assert cleaning_values(spark, list(SCANS), without_scan_errors(F.col("text"))) == SCANS


def test_scanning_errors_of_other_languages_and_by_setting(spark: SparkSession) -> None:
    on = CleaningSettings()
    off = CleaningSettings(repair_scans=False)
    lists = cleaning_words()
    text = "lt lwow"
    assert cleaning_values(spark, [text], spoken_text(F.col("text"), on, lists, F.lit("en"))) == {text: "It Iwow"}
    assert cleaning_values(spark, [text], spoken_text(F.col("text"), on, lists, F.lit("pl"))) == {text: text}
    assert cleaning_values(spark, [text], spoken_text(F.col("text"), off, lists)) == {text: text}
