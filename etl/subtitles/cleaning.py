"""Cleaning of dialogues by the rules of EDOS 3.1, with a ledger row for everything dropped."""

from collections.abc import Callable
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.subtitle_settings import CleaningSettings
from conf.wordlists import words
from etl.common.columns import computed_once, left_out
from etl.common.near_duplicates import NearDuplicates, duplicates
from etl.common.texts import normalised
from etl.subtitles import cleaning_rules as rule
from etl.tables.outcome import Outcome

REMOVED = "array<struct<turn: int, reason: string, detail: string>>"


@dataclass(frozen=True)
class CleaningRules:
    """The rules of EDOS 3.1 that apply, with their thresholds; None or False disables a rule.

    Attributes:
        strip_names: remove character names from turns.
        strip_brackets: remove bracketed names, sounds and manners from turns.
        not_names: words that no character name contains (conf/not_names.txt).
        repeated_turns: drop a turn that repeats the ``previous`` turn, or any earlier turn of the ``dialogue``;
            ``off`` keeps it. The paper gives no scope. "Yes" twice in ten turns is no repetition.
        previously_on: drop turns that start with "previous(ly) on".
        min_characters, max_characters: inclusive limits of a turn's length (the paper: 2 and 100).
        length_in: ``characters`` as in the paper, or ``tokens`` as in its released turns (2 to exactly 100).
        min_alphabetic_share: minimum share of letters among non-blank characters (the paper: 0.6).
        repetitive_share, repetitive_min_tokens: maximum share of one word, in turns of at least this many words (ours).
        cues_end_dialogue: a turn with only a name or a bracketed sound also removes the turns after it. By default
            only the turn is removed (the paper strips names and keeps the turn).
        drop_songs: drop sung turns (ours).
        min_turns: drop dialogues left with fewer turns (the paper: those with one).
        excluded_genres: genres of films whose dialogues are dropped (the paper: Documentary).
        exact_duplicates: keep only the first of equal dialogues across films.
        near: parameters of the near-duplicate search within a film; None keeps near-duplicates.
        profanity: words that make a dialogue profane (conf/profanity.txt).
        drop_profane: drop profane dialogues.
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


def rules_of(settings: CleaningSettings) -> CleaningRules:
    """Return the rules of settings ``subtitles.cleaning``, with the word lists of ``conf/``."""
    near = NearDuplicates(jaccard=settings.near_duplicate_jaccard) if settings.near_duplicates else None
    switches = settings.model_dump(exclude={"near_duplicates", "near_duplicate_jaccard"})
    return CleaningRules(**switches, near=near, not_names=words("not_names"), profanity=words("profanity"))


def spoken_text(text: Column, rules: CleaningRules) -> Column:
    """Return a turn's text without character names and bracketed descriptions (EDOS 3.1)."""
    spoken = F.trim(F.coalesce(text, F.lit("")))
    if rules.strip_brackets:
        spoken = rule.without_bracketed_text(spoken)
    return rule.without_character_names(spoken, rules.not_names) if rules.strip_names else spoken


def _verdict(turn: Column, index: Column, comparable: Column, tokens: Column, rules: CleaningRules) -> Column:
    """Return struct(reason, detail) of the first rule, in the paper's order, that removes a turn, or null."""
    text, spoken = turn["text"], turn["spoken"]
    found: list[tuple[Column, str, Column]] = [(rule.nothing_said(text, spoken), "nothing_said", text)]
    if rules.repeated_turns != "off":
        # The first turn has no previous one: `slice` must return an empty array, not fail on position 0.
        previous = F.slice(comparable, F.greatest(index, F.lit(1)), F.when(index > 0, 1).otherwise(0))
        earlier = previous if rules.repeated_turns == "previous" else F.slice(comparable, 1, index)
        found.append((rule.repeats(F.get(comparable, index), earlier), "repeated_turn", spoken))
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
        evidence = F.concat(F.format_number(rule.most_frequent_share(tokens), 4), F.lit(" one word: "), spoken)
        repetitive = rule.repetitive_tokens(tokens, rules.repetitive_share, rules.repetitive_min_tokens)
        found.append((repetitive, "repetitive_tokens", evidence))
    if rules.drop_songs:
        found.append((rule.is_song(spoken), "song", spoken))
    verdict = F.lit(None).cast("struct<reason: string, detail: string>")
    for broken, reason, detail in reversed(found):
        verdict = F.when(broken, F.struct(F.lit(reason).alias("reason"), detail.alias("detail"))).otherwise(verdict)
    return verdict


def judge_turns(dialogues: DataFrame, rules: CleaningRules) -> DataFrame:
    """Remove the turns that a rule rejects, and the turns after the first of them (EDOS 3.1). No shuffle.

    Args:
        dialogues: the columns of ``subtitles.dialogues``.

    Returns:
        dialogues with the kept turns (names stripped), total (turns before), and removed:
        array<struct<turn, reason, detail>>, turns without speech first.
    """
    turns, comparable, tokens = F.col("turns"), F.col("comparable"), F.col("tokens")
    spoken = F.transform(
        turns, lambda turn, i: turn.withField("spoken", spoken_text(turn["text"], rules)).withField("place", i)
    )
    step = computed_once(dialogues, turns=spoken, total=F.size("turns"))
    step = step.withColumn("cues", F.array().cast(REMOVED)) if rules.cues_end_dialogue else _without_cues(step)
    step = computed_once(step, plain=F.transform(turns, lambda turn: normalised(turn["spoken"])))
    step = computed_once(
        step,
        comparable=F.transform("plain", lambda plain, i: rule.comparable(plain, F.get(turns, i)["spoken"])),
        tokens=F.transform("plain", lambda plain: F.filter(F.split(plain, " "), lambda word: word != "")),
    )
    verdicts = F.transform(turns, lambda turn, i: _verdict(turn, i, comparable, F.get(tokens, i), rules))
    step = computed_once(step, verdicts=verdicts)
    size = F.size("turns")
    first = F.array_position(F.transform("verdicts", lambda verdict: verdict.isNotNull()), True)
    step = computed_once(step, kept=F.when(first == 0, size).otherwise(first.cast("int") - 1))
    kept = F.col("kept")
    first_place = F.get("turns", kept)["place"].cast("string")
    because = F.concat(F.lit("turn "), first_place, F.lit(" went: "), F.get("verdicts", kept)["reason"])
    removed = F.transform(
        F.slice("verdicts", kept + 1, size - kept),
        lambda verdict, i: F.struct(
            F.get("turns", kept + i)["place"].alias("turn"),
            F.when(i == 0, verdict["reason"]).otherwise("after_removed_turn").alias("reason"),
            F.when(i == 0, verdict["detail"]).otherwise(because).alias("detail"),
        ),
    )
    clean = F.transform(
        F.slice("turns", 1, kept),
        lambda turn: F.struct(
            turn["spoken"].alias("text"),
            *(turn[name] for name in ("start_ms", "end_ms", "sentence_first", "sentence_last")),
        ),
    )
    return computed_once(step, turns=clean, removed=F.concat("cues", removed)).drop(
        "plain", "comparable", "tokens", "verdicts", "kept", "cues"
    )


def _without_cues(spoken: DataFrame) -> DataFrame:
    """Move turns without speech (a bare name, a bracketed sound) into column ``cues``."""
    turns = F.col("turns")
    cues = F.transform(
        F.filter(turns, lambda turn: rule.nothing_said(turn["text"], turn["spoken"])),
        lambda turn: F.struct(
            turn["place"].alias("turn"), F.lit("nothing_said").alias("reason"), turn["text"].alias("detail")
        ),
    )
    others = F.filter(turns, lambda turn: ~rule.nothing_said(turn["text"], turn["spoken"]))
    return computed_once(spoken, turns=others, cues=cues)


def judge_dialogues(judged: DataFrame, rules: CleaningRules) -> DataFrame:
    """Add profane (boolean), reason and detail; reason is null for a dialogue that is kept so far (EDOS 3.1)."""
    word = rule.profane_word(F.array_join(F.col("turns")["text"], "\n"), rules.profanity)
    kept, profane = F.size("turns"), F.col("profane_word").isNotNull()
    left = F.concat(kept.cast("string"), F.lit(" of "), F.col("total").cast("string"), F.lit(" turns left"))
    reason = F.when(kept == 0, "no_turns_left").when(
        kept < rules.min_turns, "one_turn_left" if rules.min_turns == 2 else "too_few_turns_left"
    )
    detail = F.when(kept < max(rules.min_turns, 1), left)
    if rules.drop_profane:
        reason = reason.when(profane, "profanity")
        detail = detail.when(profane, F.col("profane_word"))
    step = computed_once(judged, profane_word=word)
    return computed_once(step, profane=profane, reason=reason, detail=detail).drop("profane_word")


def clean_dialogues(
    dialogues: DataFrame, rules: CleaningRules, persist: Callable[[DataFrame], DataFrame] = lambda frame: frame
) -> Outcome:
    """Clean dialogues by every rule of EDOS 3.1 and record why each turn and dialogue is removed.

    The rules apply in this order: excluded genres; character names; the turn rules in the paper's order (only a name,
    repeated, "previously on", length, letters, repetitive tokens), then songs; ``min_turns``; profanity; duplicates;
    near-duplicates. All turns after a removed one are removed with it.

    Args:
        dialogues: the columns of ``subtitles.dialogues``.
        rules: thresholds and switches.
        persist: called on the frames that are read several times.

    Returns:
        Outcome of ``subtitles.clean_dialogues``. Ledger: unit ``turn`` (id ``<dialogue_id>/<index>``, units 1)
        and unit ``dialogue`` (units: its remaining turns). Turns in = turns out + units; dialogues in =
        dialogues out + rows of unit ``dialogue``.
    """
    genre = rule.excluded_genre(F.col("genres"), rules.excluded_genres)
    judged = persist(judge_dialogues(judge_turns(dialogues.filter(genre.isNull()), rules), rules))
    rows = judged.filter(F.col("reason").isNull())
    turn_id = F.concat_ws("/", "dialogue_id", F.col("turn").cast("string"))
    turns = judged.select("dialogue_id", F.inline("removed"))
    excluded = dialogues.filter(genre.isNotNull())
    dropped = turns.select(*left_out("turn", turn_id, F.col("reason"), 1, F.col("detail"))).unionByName(
        excluded.select(*left_out("dialogue", "dialogue_id", genre, F.size("turns"), F.array_join("genres", ", ")))
    )
    if rules.exact_duplicates or rules.near is not None:
        texts = rows.select("dialogue_id", "movie_id", F.col("turns")["text"].alias("texts"))
        copies = persist(duplicates(texts, rules.exact_duplicates, rules.near, persist))
        sizes = rows.select("dialogue_id", F.size("turns").alias("size"))
        dropped = dropped.unionByName(_dropped_dialogues(copies.join(sizes, "dialogue_id")))
        rows = rows.join(copies, "dialogue_id", "left_anti")
    rejected = judged.filter(F.col("reason").isNotNull()).withColumn("size", F.size("turns"))
    dropped = dropped.unionByName(_dropped_dialogues(rejected))
    return Outcome(rows=rows.select(*dialogues.columns, "profane"), dropped=dropped)


def _dropped_dialogues(rows: DataFrame) -> DataFrame:
    return rows.select(*left_out("dialogue", "dialogue_id", F.col("reason"), F.col("size"), F.col("detail")))


def count_turns(dialogues: DataFrame) -> int:
    """Return the number of turns in all dialogues, the stage's units."""
    return dialogues.agg(F.coalesce(F.sum(F.size("turns").cast("bigint")), F.lit(0))).head()[0]  # type: ignore[index]
