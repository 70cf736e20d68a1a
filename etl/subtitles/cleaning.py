"""Clean dialogues: the rules of EDOS 3.1 put together, and a ledger row for all that goes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.common.columns import computed_once
from etl.common.near_duplicates import NearDuplicates, duplicates
from etl.common.texts import normalised
from etl.subtitles import cleaning_rules as rule
from etl.tables.outcome import Outcome

LEDGER = ("unit", "id", "reason", "detail", "units")


REMOVED = "array<struct<turn: int, reason: string, detail: string>>"


@dataclass(frozen=True)
class CleaningRules:
    """Which rules of EDOS 3.1 apply, and their thresholds; None or False switches a rule off.

    Attributes:
        strip_names: remove character names from turns; the turn stays.
        strip_brackets: remove bracketed names, sounds and manners from turns; the turn stays.
        not_names: words that no character's name holds (conf/not_names.txt).
        repeated_turns: a turn goes when it repeats the ``previous`` turn, any earlier turn of the ``dialogue``,
            or never (``off``). The paper does not say; two people who say "yes" twice in ten turns repeat nothing.
        previously_on: turns that start with "previous(ly) on" go.
        min_characters, max_characters: lengths that stay, both inclusive (the paper: 2 and 100).
        length_in: ``characters`` as the paper says, or ``tokens`` as its released turns look (2 to exactly 100).
        min_alphabetic_share: letters among non-blank characters (the paper: 0.6).
        repetitive_share, repetitive_min_tokens: one word above this share of at least so many words (ours).
        cues_end_dialogue: a turn in which nobody speaks, a bare name or a bracketed sound, takes what follows with
            it; by default it goes alone, for it interrupts nothing (the paper strips names and keeps the turn).
        drop_songs: sung turns go (ours).
        min_turns: dialogues left with fewer turns go (the paper: those with one).
        excluded_genres: films whose dialogues go (the paper: Documentary).
        exact_duplicates: equal dialogues across films go but the first.
        near: how near-duplicates within a film are found; None keeps them.
        profanity: the words that mark a dialogue profane (conf/profanity.txt).
        drop_profane: profane dialogues go.
    """

    strip_names: bool = True
    strip_brackets: bool = True
    not_names: tuple[str, ...] = ()
    repeated_turns: str = "previous"
    previously_on: bool = True
    min_characters: int | None = 2
    max_characters: int | None = 100
    length_in: str = "characters"
    min_alphabetic_share: float | None = 0.6
    repetitive_share: float | None = 0.5
    repetitive_min_tokens: int = 5
    cues_end_dialogue: bool = False
    drop_songs: bool = True
    min_turns: int = 2
    excluded_genres: tuple[str, ...] = ("Documentary",)
    exact_duplicates: bool = True
    near: NearDuplicates | None = field(default_factory=NearDuplicates)
    profanity: tuple[str, ...] = ()
    drop_profane: bool = False

    def __post_init__(self) -> None:
        if self.repeated_turns not in ("previous", "dialogue", "off"):
            raise ValueError(f"repeated_turns {self.repeated_turns!r}: choose previous, dialogue or off")
        if self.length_in not in ("characters", "tokens"):
            raise ValueError(f"length_in {self.length_in!r}: choose characters or tokens")


def spoken_text(text: Column, rules: CleaningRules) -> Column:
    """What is said in a turn: its text without names and descriptions (EDOS 3.1)."""
    spoken = F.trim(F.coalesce(text, F.lit("")))
    if rules.strip_brackets:
        spoken = rule.without_bracketed_text(spoken)
    return rule.without_character_names(spoken, rules.not_names) if rules.strip_names else spoken


def _verdict(turn: Column, index: Column, said: Column, words: Column, rules: CleaningRules) -> Column:
    """The first rule, in the paper's order, that removes a turn: struct(reason, detail), or null."""
    text, spoken = turn["text"], turn["spoken"]
    found: list[tuple[Column, str, Column]] = [(rule.nothing_said(text, spoken), "nothing_said", text)]
    if rules.repeated_turns != "off":
        # Turns from the first: an index before it is an empty slice, not an error.
        previous = F.slice(said, F.greatest(index, F.lit(1)), F.when(index > 0, 1).otherwise(0))
        earlier = previous if rules.repeated_turns == "previous" else F.slice(said, 1, index)
        found.append((rule.repeats(F.get(said, index), earlier), "repeated_turn", spoken))
    if rules.previously_on:
        found.append((rule.previously_on(spoken), "previously_on", spoken))
    length = rule.length_of(spoken, rules.length_in)
    measured = F.concat(length.cast("string"), F.lit(f" {rules.length_in}: "), spoken)
    if rules.min_characters is not None:
        found.append((length < rules.min_characters, "too_short", measured))
    if rules.max_characters is not None:
        found.append((length > rules.max_characters, "too_long", measured))
    if rules.min_alphabetic_share is not None:
        share = F.coalesce(rule.alphabetic_share(spoken), F.lit(0.0))
        evidence = F.concat(F.format_number(share, 4), F.lit(" letters: "), spoken)
        found.append((share < rules.min_alphabetic_share, "too_few_letters", evidence))
    if rules.repetitive_share is not None:
        evidence = F.concat(F.format_number(rule.most_frequent_share(words), 4), F.lit(" one word: "), spoken)
        repetitive = rule.repetitive_tokens(words, rules.repetitive_share, rules.repetitive_min_tokens)
        found.append((repetitive, "repetitive_tokens", evidence))
    if rules.drop_songs:
        found.append((rule.is_song(spoken), "song", spoken))
    verdict = F.lit(None).cast("struct<reason: string, detail: string>")
    for broken, reason, detail in reversed(found):
        verdict = F.when(broken, F.struct(F.lit(reason).alias("reason"), detail.alias("detail"))).otherwise(verdict)
    return verdict


def judge_turns(dialogues: DataFrame, rules: CleaningRules) -> DataFrame:
    """Judge every turn; what follows a removed turn is removed with it (EDOS 3.1). No shuffle.

    Args:
        dialogues: the columns of ``subtitles.dialogues``.

    Returns:
        dialogues with turns cut to the kept ones (names stripped), total (turns before), and removed:
        array<struct<turn, reason, detail>> of the rest, those in which nobody speaks first.
    """
    turns = F.col("turns")
    spoken = F.transform(
        turns,
        lambda turn, i: turn.withField("spoken", spoken_text(turn["text"], rules)).withField("place", i),
    )
    step = computed_once(dialogues, turns=spoken, total=F.size("turns"))
    step = step.withColumn("cues", F.array().cast(REMOVED)) if rules.cues_end_dialogue else _without_cues(step)
    step = computed_once(step, plain=F.transform(turns, lambda turn: normalised(turn["spoken"])))
    step = computed_once(
        step,
        said=F.transform("plain", lambda plain, i: rule.comparable(plain, F.get(turns, i)["spoken"])),
        words=F.transform("plain", lambda plain: F.filter(F.split(plain, " "), lambda word: word != "")),
    )
    step = computed_once(
        step,
        verdicts=F.transform(turns, lambda turn, i: _verdict(turn, i, F.col("said"), F.get(F.col("words"), i), rules)),
    )
    size = F.size("turns")
    first = F.array_position(F.transform("verdicts", lambda verdict: verdict.isNotNull()), True)
    step = computed_once(step, kept=F.when(first == 0, size).otherwise(first.cast("int") - 1))
    culprit = F.get("verdicts", F.col("kept"))["reason"]
    culprit_place = F.get("turns", F.col("kept"))["place"].cast("string")
    removed = F.transform(
        F.slice("verdicts", F.col("kept") + 1, size - F.col("kept")),
        lambda verdict, i: F.struct(
            F.get("turns", F.col("kept") + i)["place"].alias("turn"),
            F.when(i == 0, verdict["reason"]).otherwise("after_removed_turn").alias("reason"),
            F.when(i == 0, verdict["detail"])
            .otherwise(F.concat(F.lit("turn "), culprit_place, F.lit(" went: "), culprit))
            .alias("detail"),
        ),
    )
    clean = F.transform(
        F.slice("turns", 1, F.col("kept")),
        lambda turn: F.struct(
            turn["spoken"].alias("text"),
            *(turn[name] for name in ("start_ms", "end_ms", "sentence_first", "sentence_last")),
        ),
    )
    return computed_once(step, turns=clean, removed=F.concat("cues", removed)).drop(
        "plain", "said", "words", "verdicts", "kept", "cues"
    )


def _without_cues(spoken: DataFrame) -> DataFrame:
    """Turns in which nobody speaks (a bare name, a bracketed sound) stand apart, in ``cues``."""
    turns = F.col("turns")
    cues = F.transform(
        F.filter(turns, lambda turn: rule.nothing_said(turn["text"], turn["spoken"])),
        lambda turn: F.struct(
            turn["place"].alias("turn"), F.lit("nothing_said").alias("reason"), turn["text"].alias("detail")
        ),
    )
    said = F.filter(turns, lambda turn: ~rule.nothing_said(turn["text"], turn["spoken"]))
    return computed_once(spoken, turns=said, cues=cues)


def judge_dialogues(judged: DataFrame, rules: CleaningRules) -> DataFrame:
    """Say of each judged dialogue why it goes, duplicates aside (EDOS 3.1).

    Returns:
        judged with profane boolean, reason (null: it stays so far) and detail.
    """
    word = rule.profane_word(F.array_join(F.col("turns")["text"], "\n"), rules.profanity)
    kept = F.size("turns")
    left = F.concat(kept.cast("string"), F.lit(" of "), F.col("total").cast("string"), F.lit(" turns left"))
    reason = F.when(kept == 0, "no_turns_left").when(
        kept < rules.min_turns, "one_turn_left" if rules.min_turns == 2 else "too_few_turns_left"
    )
    detail = F.when(kept < max(rules.min_turns, 1), left)
    if rules.drop_profane:
        reason = reason.when(F.col("profane_word").isNotNull(), "profanity")
        detail = detail.when(F.col("profane_word").isNotNull(), F.col("profane_word"))
    step = computed_once(judged, profane_word=word)
    return computed_once(step, profane=F.col("profane_word").isNotNull(), reason=reason, detail=detail).drop(
        "profane_word"
    )


def clean_dialogues(
    dialogues: DataFrame,
    rules: CleaningRules,
    hold: Callable[[DataFrame], DataFrame] = lambda frame: frame,
) -> Outcome:
    """Clean dialogues by every rule of EDOS 3.1, each removed turn and dialogue with its reason.

    The order: films of excluded genres; names stripped; turns judged in the paper's order (a name alone,
    repeated, "previously on", length, letters, repetitive tokens; then songs), all after a removed one going too;
    dialogues left with fewer than ``min_turns``; profanity; duplicates, then near-duplicates.

    Args:
        dialogues: the columns of ``subtitles.dialogues``.
        rules: thresholds and switches.
        hold: called on the frames that are read several times; the caller may persist them.

    Returns:
        Outcome of ``subtitles.clean_dialogues``. Ledger: unit ``turn`` (id ``<dialogue_id>/<index>``, units 1)
        and unit ``dialogue`` (units: the turns it still had). Turns in = turns out + units; dialogues in =
        dialogues out + rows of unit ``dialogue``.
    """
    excluded = rule.from_genre(F.col("genres"), rules.excluded_genres) if rules.excluded_genres else F.lit(False)
    films = dialogues.filter(~excluded)
    judged = hold(judge_dialogues(judge_turns(films, rules), rules))
    standing = judged.filter(F.col("reason").isNull())
    dropped = _turn_rows(judged).unionByName(_genre_rows(dialogues.filter(excluded), rules.excluded_genres))
    rows = standing
    if rules.exact_duplicates or rules.near is not None:
        texts = standing.select("dialogue_id", "movie_id", F.col("turns")["text"].alias("texts"))
        copies = hold(duplicates(texts, rules.exact_duplicates, rules.near, hold))
        rows = standing.join(copies, "dialogue_id", "left_anti")
        sizes = standing.select("dialogue_id", F.size("turns").alias("left"))
        dropped = dropped.unionByName(_dialogue_rows(copies.join(sizes, "dialogue_id")))
    goes = judged.filter(F.col("reason").isNotNull()).withColumn("left", F.size("turns"))
    return Outcome(rows=rows.select(*dialogues.columns, "profane"), dropped=dropped.unionByName(_dialogue_rows(goes)))


def count_turns(dialogues: DataFrame) -> int:
    """The turns of all dialogues: the stage's units."""
    return dialogues.agg(F.coalesce(F.sum(F.size("turns").cast("bigint")), F.lit(0))).head()[0]  # type: ignore[index]


def _turn_rows(judged: DataFrame) -> DataFrame:
    return judged.select("dialogue_id", F.inline("removed")).select(
        F.lit("turn").alias("unit"),
        F.concat_ws("/", "dialogue_id", F.col("turn").cast("string")).alias("id"),
        "reason",
        "detail",
        F.lit(1).cast("bigint").alias("units"),
    )


def _dialogue_rows(goes: DataFrame) -> DataFrame:
    units = F.col("left").cast("bigint").alias("units")
    return goes.select(F.lit("dialogue").alias("unit"), F.col("dialogue_id").alias("id"), "reason", "detail", units)


def _genre_rows(excluded: DataFrame, genres: Sequence[str]) -> DataFrame:
    return excluded.select(
        F.lit("dialogue").alias("unit"),
        F.col("dialogue_id").alias("id"),
        rule.excluded_genre(F.col("genres"), genres).alias("reason"),
        F.array_join("genres", ", ").alias("detail"),
        F.size("turns").cast("bigint").alias("units"),
    )
