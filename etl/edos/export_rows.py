"""The rows of EDOS's export, with texts or with references to OPUS (ours).

OPUS publishes the subtitles, but a data set may not have the right to distribute their texts. A reference is the
subtitle file and the numbers of a turn's sentences in it. :func:`restored` restores the texts from a copy of the same
OPUS release.
"""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.common.spelling import detokenised
from etl.pipeline.outcome import Outcome

SOURCE = ("release", "language", "subtitle_id")
"""Key of a subtitle file: OPUS's release, the language, the file's number."""
CHECK_LENGTH = 12


def text_check(text: Column) -> Column:
    """Return the first digits of a text's sha256, which verify a restored text."""
    return F.substring(F.sha2(text, 256), 1, CHECK_LENGTH)


FACTS = ("year", "genres", "certainty")
"""What is known about a dialogue's film, and the probability that all its borders are right."""
DETAILS = ("label_accepted", "start_ms", "end_ms", "certainty", "border", "border_certainty", "speaker")
"""Fields of a published turn beside its text and label: whether the label is accepted, its times, the
probability that it is one whole turn of one speaker, what decided that it opens, how certain that is, and the name of
the speaker label that it opens with."""


def published_rows(
    dialogues: DataFrame,
    clean: DataFrame,
    films: DataFrame,
    *,
    references: bool,
    spelling: str = "tokens",
) -> DataFrame:
    """Return one row a dialogue for publication, split by film; films that share their turns count as one.

    Args:
        dialogues: ``edos.dialogues``; ``accepted`` may be missing.
        clean: ``subtitles.clean_dialogues``, with the same turns in the same order.
        films: movie_id, split: rows of ``films_by_split``.
        references: whether turns have sentence numbers instead of texts.
        spelling: ``plain`` for detokenised texts, ``tokens`` for texts as they are stored.

    Returns:
        dialogue_id, movie_id, language, :data:`FACTS`, split, and turns: array of struct(text, label, confidence,
        :data:`DETAILS`), confidences with 4 decimals. With references: also release, subtitle_id, source_path, and in
        each turn sentence_first and sentence_last (from 0, both inclusive) and text_check in place of text.
    """
    split = with_accepted(dialogues).join(F.broadcast(films.select("movie_id", "split")), "movie_id")
    known = set(clean.columns)
    lists = ("certainties", "borders", "border_certainties", "speakers")
    given = [name if name in known else F.lit(None).alias(name) for name in (*lists, "certainty")]
    own = ("dialogue_id", *SOURCE, "source_path", "year", "genres", F.col("turns").alias("clean_turns"), *given)
    joined = split.join(clean.select(*own), "dialogue_id", "inner" if references else "left")

    turns = F.transform(
        "turns",
        lambda turn, i: F.struct(
            F.get("clean_turns", i)["sentence_first"].alias("sentence_first"),
            F.get("clean_turns", i)["sentence_last"].alias("sentence_last"),
            text_check(turn["text"]).alias("text_check"),
            turn["text"].alias("text"),
            turn["label"].alias("label"),
            turn["confidence"].alias("confidence"),
            F.get("accepted", i).alias("label_accepted"),
            F.get("clean_turns", i)["start_ms"].alias("start_ms"),
            F.get("clean_turns", i)["end_ms"].alias("end_ms"),
            F.get("certainties", i).cast("float").alias("certainty"),
            F.get("borders", i).cast("string").alias("border"),
            F.get("border_certainties", i).cast("float").alias("border_certainty"),
            F.get("speakers", i).cast("string").alias("speaker"),
        ),
    )
    joined = joined.withColumns({"turns": turns, "certainty": F.col("certainty").cast("float")})
    if references:
        labelled = _labelled("turns", "sentence_first", "sentence_last", "text_check").alias("turns")
        return joined.select("dialogue_id", "movie_id", *SOURCE, "source_path", *FACTS, "split", labelled)
    spelled = _spelled(_labelled("turns", "text"), spelling)
    return joined.select("dialogue_id", "movie_id", "language", *FACTS, "split", spelled)


def with_accepted(dialogues: DataFrame) -> DataFrame:
    """Return rows of ``edos.dialogues`` with ``accepted``, which tables of older versions lack; null where they do."""
    unknown = F.lit(None).cast("array<boolean>").alias("accepted")
    return dialogues if "accepted" in dialogues.columns else dialogues.select("*", unknown)


def _labelled(turns: str, *names: str) -> Column:
    """Return turns with the named fields, label, rounded confidence and ``DETAILS``."""
    return F.transform(
        turns,
        lambda turn: F.struct(
            *(turn[name].alias(name) for name in names),
            turn["label"].alias("label"),
            F.round(turn["confidence"].cast("double"), 4).cast("float").alias("confidence"),
            *(turn[name].alias(name) for name in DETAILS),
        ),
    )


def _spelled(turns: Column, spelling: str) -> Column:
    """Return column ``turns`` with texts in the spelling."""
    if spelling == "tokens":
        return turns.alias("turns")
    return F.transform(turns, lambda turn: turn.withField("text", detokenised(turn["text"]))).alias("turns")


def restored(
    referred: DataFrame, files: DataFrame, said: Callable[[DataFrame], DataFrame], spelling: str = "tokens"
) -> Outcome:
    """Return dialogues with texts instead of references, from a copy of OPUS.

    A turn's text is made as in cleaning. Its ``text_check`` must match.

    Args:
        referred: rows of :func:`published_rows` with references.
        files: ``subtitles.files`` of the copy, read with the same ``subtitles.truecase``.
        said: from rows whose ``spoken`` has each turn's sentences to rows in which it has each turn's text.
        spelling: of the returned texts; see :func:`published_rows`.

    Returns:
        Outcome of the rows of :func:`published_rows` with texts. Dialogues whose file is missing or has another text
        are dropped. The unit is the dialogue.
    """
    texts = files.select(*SOURCE, F.col("sentences")["text"].alias("sentences"))
    found = referred.drop("source_path").join(texts, list(SOURCE), "left")
    spoken = F.transform(
        "turns",
        lambda turn: F.when(
            (turn["sentence_first"] >= 0) & (turn["sentence_last"] >= turn["sentence_first"]),
            F.slice("sentences", turn["sentence_first"] + 1, turn["sentence_last"] - turn["sentence_first"] + 1),
        ),
    )
    known = F.col("sentences").isNotNull()
    facts = ("language", *FACTS)
    joined = said(
        found.where(known).select("dialogue_id", "movie_id", *facts, "split", "turns", spoken.alias("spoken"))
    )
    turns = F.zip_with(
        "turns",
        "spoken",
        lambda turn, spoken: F.struct(
            spoken.alias("text"),
            turn["label"].alias("label"),
            turn["confidence"].alias("confidence"),
            turn["text_check"].alias("text_check"),
            *(turn[name].alias(name) for name in DETAILS),
        ),
    )
    texted = joined.withColumn("turns", turns)
    same = F.forall("turns", lambda turn: text_check(turn["text"]) == turn["text_check"])
    turns = _spelled(_labelled("turns", "text"), spelling)
    rows = texted.where(same).select("dialogue_id", "movie_id", *facts, "split", turns)
    other = texted.where(~same).select(
        "dialogue_id", F.lit("other_text").alias("reason"), F.lit("the file there says something else").alias("detail")
    )
    missing = found.where(~known).select(
        "dialogue_id", F.lit("no_such_file").alias("reason"), F.concat_ws("/", *SOURCE).alias("detail")
    )
    dropped = other.unionByName(missing).select(
        F.lit("dialogue").alias("unit"),
        F.col("dialogue_id").alias("id"),
        "reason",
        "detail",
        F.lit(1).cast("bigint").alias("units"),
    )
    return Outcome(rows, dropped)
