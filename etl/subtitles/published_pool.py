"""The pool of cleaned dialogues that the authors of EDOS published, as clean dialogues (EDOS, footnote 1)."""

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StructType

from etl.common.turn_rows import TURN, own_film, read_dialogues
from etl.pipeline.outcome import Outcome
from etl.subtitles.tables import CLEAN_DIALOGUES
from etl.subtitles.turn_rules import profane_word

SETTING = "subtitles.published_dialogues"


def published_pool(spark: SparkSession, paths: Sequence[str], profanity: Sequence[str]) -> Outcome:
    """Read the published pool as an outcome of ``subtitles.clean_dialogues``. The unit is the turn.

    Args:
        paths: files with columns dialogue_id and text, one row for each turn.
    """
    read = read_dialogues(spark, paths, TURN, SETTING)
    return Outcome(clean_rows(read.rows, profanity), read.dropped, rows_in=read.rows_in)


def clean_rows(read: DataFrame, profanity: Sequence[str]) -> DataFrame:
    """Return the rows of ``subtitles.clean_dialogues`` of published dialogues.

    The paper's dialogues are English, of OpenSubtitles 2018 (EDOS 3.1, 7). Files, films, times, and who decided a
    border are not published, and null; each dialogue is a film of its own.

    Args:
        read: dialogue_id, texts.
    """
    turns = CLEAN_DIALOGUES.schema["turns"].dataType
    assert isinstance(turns, ArrayType)
    assert isinstance(turns.elementType, StructType)
    known = turns.elementType.fields

    def as_turn(text: Column) -> Column:
        cells = [text if one.name == "text" else F.lit(None).cast(one.dataType) for one in known]
        return F.struct(*(cell.alias(one.name) for cell, one in zip(cells, known, strict=True)))

    given: Mapping[str, Column] = {
        "dialogue_id": F.col("dialogue_id"),
        "movie_id": own_film(),
        "release": F.lit("v2018"),
        "language": F.lit("en"),
        "turns": F.transform("texts", as_turn),
        "profane": profane_word(F.array_join("texts", "\n"), profanity).isNotNull(),
    }
    columns = [
        given.get(field.name, F.lit(None)).cast(field.dataType).alias(field.name) for field in CLEAN_DIALOGUES.schema
    ]
    return read.select(*columns)
