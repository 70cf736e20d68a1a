"""Cleaning of dialogues by the rules of EDOS 3.1, with a ledger row for everything dropped."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.common.columns import with_columns_once
from etl.common.text_comparison import normalised
from etl.pipeline.outcome import Outcome, dropped_columns
from etl.pipeline.tables.ops import WORK_VERSION
from etl.subtitles import turn_rules as rule
from etl.subtitles.certain_spans import SPAN, certainty_of, with_spans
from etl.subtitles.cleaning_words import CleaningWords
from etl.subtitles.dialogue_cuts import cut_at_removed_turns
from etl.subtitles.dialogues import sentence_id
from etl.subtitles.film_rules import judge_films
from etl.subtitles.settings import CleaningSettings
from etl.subtitles.text_rules import MOST_CHARACTERS, spoken_text, without_label
from etl.subtitles.turn_frequency import judge_surplus_turns
from etl.subtitles.turn_rules import turn_fault

REMOVED = "array<struct<turn: int, reason: string, detail: string>>"

IN_TURN = "_in_turn"
"""The end of a reason for which only a part of a turn is removed."""

OF_TURNS = {
    "certainties": "array<float>",
    "borders": "array<string>",
    "border_certainties": "array<float>",
    "speakers": "array<string>",
}
"""Lists of ``subtitles.dialogues`` with one value for each turn; tables of older versions may lack them."""


def judge_turns(
    dialogues: DataFrame, rules: CleaningSettings, words: CleaningWords, silence_seconds: float = 5.0
) -> DataFrame:
    """Remove the turns that a rule rejects, and the turns after the first of them (EDOS 3.1). No shuffle.

    With ``keep_after_removed`` each run of turns between removed ones becomes a row.

    Args:
        dialogues: the columns of ``subtitles.dialogues``; certainties where ``min_certainty`` is set.
        rules: thresholds and switches.
        words: word lists of the languages.
        silence_seconds: longest silence within a dialogue, where sounds that were removed do not bridge it.

    Returns:
        dialogues with the kept turns (names stripped), places (of the kept turns among all), total (turns before),
        raw_dialogue_id, and removed: array<struct<turn, reason, detail>>, parts and turns without speech first.
    """
    turns = F.col("turns")
    comparable = F.col("comparable")
    tokens = F.col("tokens")
    labelled = rules.strip_names and "speakers" in dialogues.columns

    def said(turn: Column, i: Column) -> Column:
        text = spoken_text(turn["text"], rules, words, F.col("language"))
        text = without_label(text, F.get("speakers", i)) if labelled else text
        return turn.withField("spoken", text).withField("place", i)

    dialogues = with_columns_once(dialogues, turns=F.transform(turns, lambda turn: _without_songs(turn, rules)))
    dialogues = with_columns_once(
        dialogues, turns=F.transform(turns, lambda turn: _without_credits(turn, rules, words))
    )
    spoken = F.transform(turns, said)
    step = with_columns_once(
        dialogues, turns=spoken, total=F.size("turns"), raw_dialogue_id=F.col("dialogue_id"), parts=_parts(turns)
    )
    step = (
        step.withColumn("cues", F.array().cast(REMOVED))
        if rules.cues_end_dialogue
        else _without_cues(step, rules, words)
    )
    step = with_columns_once(step, plain=F.transform(turns, lambda turn: normalised(turn["spoken"])))
    repeatable = turns["spoken"]
    if rules.repeated_match == "words":
        repeatable = F.transform("plain", lambda plain, i: rule.comparable(plain, F.get(turns, i)["spoken"]))
    step = with_columns_once(
        step,
        comparable=repeatable,
        tokens=F.transform("plain", lambda plain: F.filter(F.split(plain, " "), lambda word: word != "")),
    )
    verdicts = F.transform(turns, lambda turn, i: turn_fault(turn, i, comparable, F.get(tokens, i), rules, words))
    step = with_columns_once(step, verdicts=verdicts)
    clean = F.transform(
        turns,
        lambda turn: F.struct(
            turn["spoken"].alias("text"),
            *(turn[name] for name in ("start_ms", "end_ms", "sentence_first", "sentence_last")),
        ),
    )
    step = with_columns_once(step, turns=clean, places=turns["place"], removed=F.concat("parts", "cues"))
    step = step.drop("plain", "comparable", "tokens", "cues", "parts")
    silence = None if rules.cues_bridge_silences else silence_seconds
    return cut_at_removed_turns(step, keep_after=rules.keep_after_removed, silence_seconds=silence)


def _without_songs(turn: Column, rules: CleaningSettings) -> Column:
    """Return a turn with ``whole``, its text up to a limit, and its text without songs."""
    text = F.left(turn["text"], F.lit(MOST_CHARACTERS + 1))
    spoken = F.when(rule.endless(turn), text).otherwise(rule.without_songs(text)) if rules.drop_songs else text
    return turn.withField("whole", text).withField("text", spoken)


def _without_credits(turn: Column, rules: CleaningSettings, words: CleaningWords) -> Column:
    """Return a turn of ``_without_songs`` with that text as ``unsung``, and its text without credits."""
    text = turn["text"]
    left = rule.without_credit_sentences(text, words)
    spoken = F.when(rule.endless(turn), text).otherwise(left) if rules.drop_credits else text
    return turn.withField("unsung", text).withField("text", spoken)


def _parts(turns: Column) -> Column:
    """Return the removed parts of turns, with the whole turn each."""
    sung = F.transform(turns, lambda turn, i: _part(i, "song", turn["whole"], turn["unsung"], turn))
    credited = F.transform(turns, lambda turn, i: _part(i, "credit", turn["unsung"], turn["text"], turn))
    return F.filter(F.concat(sung, credited), lambda part: part.isNotNull())


def _part(index: Column, rule_name: str, before: Column, after: Column, turn: Column) -> Column:
    reason = F.lit(f"{rule_name}{IN_TURN}").alias("reason")
    return F.when(before != after, F.struct(index.alias("turn"), reason, turn["whole"].alias("detail")))


def _without_cues(spoken: DataFrame, rules: CleaningSettings, words: CleaningWords) -> DataFrame:
    """Move turns without speech (a bare name, a bracketed sound, a song) into column ``cues``."""
    turns = F.col("turns")

    def sung(turn: Column) -> Column:
        return rule.is_song(turn["spoken"]) & ~rule.endless(turn) if rules.drop_songs else F.lit(False)

    cues = F.transform(
        F.filter(turns, lambda turn: rule.is_cue(turn, rules, words) | sung(turn)),
        lambda turn: F.struct(
            turn["place"].alias("turn"),
            F.when(rule.is_cue(turn, rules, words), "nothing_said").otherwise("song").alias("reason"),
            turn["text"].alias("detail"),
        ),
    )
    others = F.filter(turns, lambda turn: ~(rule.is_cue(turn, rules, words) | sung(turn)))
    return with_columns_once(spoken, turns=others, cues=cues)


def cut_into_spans(judged: DataFrame, rules: CleaningSettings, words: CleaningWords) -> DataFrame:
    """Replace each dialogue by the spans that are worth most, each a dialogue of its own (``certain_spans``).

    Args:
        judged: from :func:`judge_turns`; certainties and border_certainties are those of the raw turns.
        rules: with ``min_certainty`` and ``min_turns``.
        words: the function words among them.

    Returns:
        the same columns, one row a span: ``dialogue_id`` is ``<subtitle_id>-<first sentence of the span>``. The first
        row of a dialogue has the dialogue's removed turns, now with those of no span, as ``uncertain_turn``. A dialogue
        without a span is one row without turns.
    """
    assert rules.min_certainty is not None
    columns = judged.columns
    found = with_spans(judged, rules.min_certainty, rules.min_turns, frozenset(words.function_words))
    spans = F.col("spans")
    outside = F.filter(
        F.sequence(F.lit(0), F.size("turns") - 1),
        lambda i: ~F.exists(spans, lambda span: (i >= span["first"]) & (i < span["first"] + span["size"])),
    )
    detail = F.lit(f"in none of the spans that are worth most with a certainty of {rules.min_certainty:g} or more: ")
    uncertain = F.transform(
        F.when(F.size("turns") > 0, outside).otherwise(F.array().cast("array<int>")),
        lambda i: F.struct(
            F.get("places", i).alias("turn"),
            F.lit("uncertain_turn").alias("reason"),
            F.concat(detail, F.get("turns", i)["text"]).alias("detail"),
        ),
    )
    removed = F.concat("removed", uncertain.cast(REMOVED))
    none = F.array(F.struct(F.lit(0).alias("first"), F.lit(0).alias("size"), F.lit(None).alias("certainty")))
    some = F.when(F.size(spans) > 0, spans).otherwise(none.cast(f"array<{SPAN}>"))
    each = with_columns_once(found, removed=removed).select(*columns, F.posexplode(some).alias("number", "span"))
    span = F.col("span")
    cut = {name: F.slice(name, span["first"] + 1, span["size"]) for name in ("turns", "places")}
    first_only = F.when(F.col("number") == 0, F.col("removed")).otherwise(F.array().cast(REMOVED))
    each = with_columns_once(each, **cut, removed=first_only)
    own_id = sentence_id(F.get("turns", F.lit(0))["sentence_first"])
    named = F.when(F.size("turns") > 0, own_id).otherwise(F.col("dialogue_id"))
    return with_columns_once(each, dialogue_id=named).select(*columns)


def judge_dialogues(judged: DataFrame, rules: CleaningSettings, words: CleaningWords) -> DataFrame:
    """Add profane (boolean), reason and detail; reason is null for a dialogue that is kept so far (EDOS 3.1)."""
    word = rule.profane_word(F.array_join(F.col("turns")["text"], "\n"), words.profanity)
    kept = F.size("turns")
    profane = F.col("profane_word").isNotNull()
    left = F.concat(kept.cast("string"), F.lit(" of "), F.col("total").cast("string"), F.lit(" turns left"))
    reason = F.when(kept == 0, "no_turns_left").when(
        kept < rules.min_turns, "one_turn_left" if rules.min_turns == 2 else "too_few_turns_left"
    )
    detail = F.when(kept < max(rules.min_turns, 1), left)
    if rules.drop_profane:
        reason = reason.when(profane, "profanity")
        detail = detail.when(profane, F.col("profane_word"))
    step = with_columns_once(judged, profane_word=word)
    return with_columns_once(step, profane=profane, reason=reason, detail=detail).drop("profane_word")


def filter_dialogues(
    dialogues: DataFrame,
    rules: CleaningSettings,
    words: CleaningWords,
    silence_seconds: float = 5.0,
    persist: Callable[[DataFrame], DataFrame] = lambda frame: frame,
) -> Outcome:
    """Clean dialogues by every rule of EDOS 3.1 but duplicates, and record why each turn and dialogue is removed.

    The rules apply in this order: films (genres, silent films, narration); character names; the turn rules in the
    paper's order (only a name, repeated, "previously on", length, letters, repetitive tokens), then ours (songs,
    credits, quotations, second speakers, uncertain turns); frequent turns; ``min_turns``; profanity. All turns after a
    removed one are removed with it, or, with ``keep_after_removed``, each run of turns between removed ones is judged
    as a dialogue of its own. With ``min_certainty``, the spans of what is left that are worth most become dialogues
    before ``min_turns`` is asked.

    Args:
        dialogues: the columns of ``subtitles.dialogues``.
        rules: thresholds and switches.
        words: word lists of the languages.
        silence_seconds: longest silence within a dialogue.
        persist: called on the frames that are read several times.

    Returns:
        Outcome of ``subtitles.filtered_dialogues``. Ledger: unit ``turn`` (id ``<dialogue_id>/<index>``, units 1)
        and unit ``dialogue`` (units: its remaining turns); unit ``part`` (what is cut from a turn that stays, id
        ``<dialogue_id>/<index>#<reason>``) is a note without units. Turns in = turns out + units; dialogues in, with
        those that removed turns and spans cut, = dialogues out + rows of unit ``dialogue``.
    """
    dialogues = dialogues.drop(WORK_VERSION)
    known = dialogues.columns
    none = {name: F.lit(None).cast(kind) for name, kind in OF_TURNS.items() if name not in known}
    dialogues = dialogues.withColumns(none) if none else dialogues
    films = judge_films(dialogues, rules, words)
    turns_judged = judge_turns(
        films.filter(F.col("film_reason").isNull()).select(*dialogues.columns), rules, words, silence_seconds
    )
    if rules.max_turn_frequency is not None:
        surplus = judge_surplus_turns(persist(turns_judged), rules.max_turn_frequency)
        turns_judged = cut_at_removed_turns(surplus, keep_after=rules.keep_after_removed)
    if rules.min_certainty is not None:
        turns_judged = persist(cut_into_spans(turns_judged, rules, words))
    of_kept_turns = {name: _of_places(name) for name in OF_TURNS}
    turns_judged = with_columns_once(turns_judged, certainty=certainty_of(F.col("places")))
    turns_judged = with_columns_once(turns_judged, **of_kept_turns)
    judged = persist(judge_dialogues(turns_judged, rules, words))
    turn_id = F.concat_ws("/", "raw_dialogue_id", F.col("turn").cast("string"))
    turns = judged.select("source_path", "raw_dialogue_id", F.inline("removed"))
    excluded = films.filter(F.col("film_reason").isNotNull())
    part = F.endswith(F.col("reason"), F.lit(IN_TURN))
    unit, name = F.when(part, "part").otherwise("turn"), F.when(part, F.concat(F.lit("#"), "reason")).otherwise("")
    row = dropped_columns(unit, F.concat(turn_id, name), F.col("reason"), F.when(part, 0).otherwise(1), F.col("detail"))
    excluded_row = dropped_columns(
        "dialogue", "dialogue_id", F.col("film_reason"), F.size("turns"), F.col("film_detail")
    )
    rejected = judged.filter(F.col("reason").isNotNull())
    rejected_row = dropped_columns("dialogue", "dialogue_id", F.col("reason"), F.size("turns"), F.col("detail"))
    work_key = F.col("source_path").alias("work_key")
    dropped = (
        turns.select(*row, work_key)
        .unionByName(excluded.select(*excluded_row, work_key))
        .unionByName(rejected.select(*rejected_row, work_key))
    )
    rows = judged.filter(F.col("reason").isNull())
    return Outcome(rows=rows.select(*dialogues.columns, "profane", "raw_dialogue_id", "certainty"), dropped=dropped)


def _of_places(name: str) -> Column:
    return F.transform("places", lambda place: F.get(name, place))
