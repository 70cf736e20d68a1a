"""Settings of the way from subtitle files to clean dialogues, and of the turn segmenter's training (EDOS 3.1)."""

from enum import StrEnum
from typing import Any, Literal, NamedTuple

from pydantic import Field, field_validator, model_validator

from conf.section import Part, Section, added, outside, speed
from conf.training_options import ClassifierOptions


class Provenance(StrEnum):
    """The provenance of a cleaning rule.

    Attributes:
        PAPER: a sentence of EDOS.
        RELEASED: the rows that the authors of EDOS released show it, no sentence does.
        OURS: neither. It is off in the preset ``paper``.
    """

    PAPER = "paper"
    RELEASED = "released"
    OURS = "ours"


PRESETS = ("paper", "trusted")
"""The presets beside ``released``: the paper's words; and a data set to use rather than to compare."""


class CleaningRule(NamedTuple):
    """A setting under ``subtitles.cleaning``: where its rule comes from, and its values in presets."""

    setting: str
    provenance: Provenance
    values: dict[str, Any]


def rule(default: Any, provenance: Provenance, *, reason: str = "", added: bool = False, **about: Any) -> Any:
    """Return the field of a setting of the cleaning rules.

    Args:
        default: its value in the preset ``released``.
        provenance: where the rule comes from.
        reason: of the ledger's rows, where it removes turns or dialogues; its description ends with it.
        added: whether a later version added the rule, off by default (`conf.section.added`).
        about: ``paper`` and ``trusted``, its values in those presets where they differ; description and limits.
    """
    values = {name: about.pop(name) for name in PRESETS if name in about}
    extra: dict[str, Any] = {"provenance": provenance, "presets": values, "added": added}
    if reason:
        about["description"] = f"{about['description']} (reason: {reason})"
    return Field(default, json_schema_extra=extra, **about)


def rules_of(section: type[Section]) -> list[CleaningRule]:
    """Return the rules of a section."""
    extras: dict[str, Any] = {name: field.json_schema_extra for name, field in section.model_fields.items()}
    rules = {name: extra for name, extra in extras.items() if isinstance(extra, dict) and "provenance" in extra}
    return [CleaningRule(name, Provenance(extra["provenance"]), extra["presets"]) for name, extra in rules.items()]


def preset_of(section: type[Section], preset: str) -> dict[str, Any]:
    """Return the values of a preset where they differ from the defaults."""
    return {one.setting: one.values[preset] for one in rules_of(section) if preset in one.values}


class CleaningSettings(Section):
    """The rules of EDOS 3.1 and ours. Each says where it comes from, and its values in presets.

    Defaults are those of ``released``.

    ``released`` reads the rules as the rows do that the authors released, ``paper`` as the paper's words do, and
    ``trusted`` so that the fewest good dialogues are lost.
    """

    preset: Literal["released", "paper", "trusted"] = Field(
        "released", description="sets the defaults below: the authors' released rows, the paper's words, or ours"
    )
    strip_names: bool = rule(
        True, Provenance.PAPER, description="EDOS 3.1: character names are removed, the rest of the turn stays"
    )
    strip_brackets: bool = rule(
        True,
        Provenance.OURS,
        paper=False,
        description="ours: bracketed sounds and manners are removed; paper: false",
    )
    repair_scans: bool = rule(
        True,
        Provenance.OURS,
        paper=False,
        description="ours: I read as l, l as I, D as O (scanned subtitles), English only",
    )
    repeated_turns: Literal["previous", "dialogue", "off"] = rule(
        "previous",
        Provenance.PAPER,
        reason="repeated_turn",
        description="a turn that says again what the previous (or any earlier) turn said",
    )
    repeated_match: Literal["exact", "words"] = rule(
        "exact",
        Provenance.PAPER,
        paper="words",
        description="released rows: the same string; paper: words, apart from case and punctuation",
    )
    repeated_min_words: int = rule(
        1, Provenance.OURS, paper=1, trusted=4, ge=1, description="ours: shorter turns may repeat; trusted: 4"
    )
    previously_on: bool = rule(
        True, Provenance.PAPER, reason="previously_on", description="EDOS 3.1: turns that start with previous(ly) on go"
    )
    min_characters: int | None = rule(
        2,
        Provenance.PAPER,
        reason="too_short",
        trusted=1,
        description="EDOS 3.1: shortest turn, in the unit that length_in names; null: no limit",
    )
    max_characters: int | None = rule(
        100,
        Provenance.PAPER,
        reason="too_long",
        description="EDOS 3.1: longest turn, in the unit that length_in names; null: no limit",
    )
    length_in: Literal["characters", "tokens"] = rule(
        "tokens",
        Provenance.PAPER,
        paper="characters",
        description="unit of the lengths; released rows: tokens; paper: characters",
    )
    min_alphabetic_share: float | None = rule(
        0.6, Provenance.PAPER, reason="too_few_letters", ge=0, le=1, description="EDOS 3.1"
    )
    letters_among: Literal["all", "visible", "words"] = rule(
        "all",
        Provenance.PAPER,
        paper="visible",
        trusted="words",
        description="what letters are a share of; released rows: all characters; paper: those but blanks; trusted: "
        "neither blanks nor punctuation",
    )
    min_distinct_share: float | None = rule(
        0.6667,
        Provenance.RELEASED,
        reason="repetitive_tokens",
        paper=None,
        trusted=None,
        ge=0,
        le=1,
        description="least share of distinct tokens; released rows: two thirds; paper: null",
    )
    min_local_distinct_share: float | None = rule(
        None,
        Provenance.OURS,
        reason="repetitive_tokens",
        paper=None,
        trusted=0.5,
        ge=0,
        le=1,
        description="ours: mean share of distinct words in each ten successive ones; trusted: 0.5",
    )
    repetitive_min_tokens: int = rule(
        5, Provenance.PAPER, ge=1, description="shorter turns may repeat a word (EDOS 3.1 has no number)"
    )
    repetitive_share: float | None = rule(
        None,
        Provenance.PAPER,
        reason="repetitive_tokens",
        paper=0.5,
        ge=0,
        le=1,
        description="most that one word may make up (EDOS 3.1 has no number); paper: 0.5",
    )
    cues_end_dialogue: bool = rule(
        False,
        Provenance.PAPER,
        reason="nothing_said",
        paper=True,
        description="paper: true, EDOS 3.1 to the letter; false: only a bare name or sound goes",
    )
    cues_bridge_silences: bool = rule(
        True,
        Provenance.PAPER,
        trusted=False,
        description="a bare name or sound that goes joins the dialogues around it over a silence; ours, trusted: false",
    )
    keep_after_removed: bool = rule(
        False,
        Provenance.OURS,
        paper=False,
        trusted=True,
        description="ours: the turns after a removed one become a separate dialogue; trusted: true",
    )
    drop_songs: bool = rule(True, Provenance.OURS, reason="song", paper=False, description="ours: sung turns go")
    drop_credits: bool = rule(
        True,
        Provenance.OURS,
        reason="credit",
        paper=False,
        description="ours: credits, adverts, notes of uploaders, episode titles go",
    )
    drop_quoted: bool = rule(
        True,
        Provenance.RELEASED,
        reason="quotation",
        paper=False,
        description="turns that begin with a quotation mark go: read or sung; paper: false",
    )
    quoted_match: Literal["opening", "whole"] = rule(
        "opening",
        Provenance.OURS,
        added=True,
        trusted="whole",
        description="ours: drop_quoted takes turns that open with a mark; trusted: those quoted to their end",
    )
    drop_inner_labels: bool = rule(
        True,
        Provenance.OURS,
        reason="second_speaker",
        paper=False,
        description="ours: turns in which a label names a second speaker go",
    )
    max_turn_frequency: int | None = rule(
        100,
        Provenance.RELEASED,
        reason="frequent_turn",
        paper=None,
        trusted=None,
        ge=1,
        description="occurrences of one text that stay (their file is named reduce_freq); paper: null",
    )
    min_turns: int = rule(
        2,
        Provenance.PAPER,
        reason="no_turns_left, one_turn_left",
        ge=1,
        description="EDOS 3.1: dialogues left with one turn go",
    )
    excluded_genres: tuple[str, ...] = rule(
        ("Documentary",), Provenance.PAPER, reason="documentary and the like", description="EDOS 3.1"
    )
    drop_silent_films: bool = rule(
        True,
        Provenance.OURS,
        reason="silent_film",
        paper=False,
        description="ours: silent films go: before 1930, fewer than two turns a dialogue",
    )
    min_address_share: float | None = rule(
        0.03,
        Provenance.OURS,
        reason="narration",
        paper=None,
        ge=0,
        le=1,
        description="ours: least share of I, you and the like among the tokens of a film without genre; null: off",
    )
    drop_wrong_years: bool = rule(
        False,
        Provenance.OURS,
        reason="wrong_year",
        paper=False,
        trusted=True,
        description="ours: films with sound dated before 1927 go; trusted: true",
    )
    max_unknown_words: float | None = rule(
        None,
        Provenance.OURS,
        reason="broken_words",
        paper=None,
        trusted=0.07,
        ge=0,
        le=1,
        description="ours: English films with a larger share of unknown words go; trusted: 0.07",
    )
    max_unended_turns: float | None = rule(
        None,
        Provenance.OURS,
        reason="no_end_marks",
        paper=None,
        trusted=0.5,
        ge=0,
        le=1,
        description="ours: English films with more turns without an end mark go; trusted: 0.5",
    )
    exact_duplicates: bool = rule(
        True, Provenance.PAPER, reason="duplicate", description="EDOS 3.1: the first copy across films stays"
    )
    near_duplicates: bool = rule(
        True,
        Provenance.OURS,
        reason="near_duplicate",
        paper=False,
        description="ours: between uploads of one film; paper: false",
    )
    near_duplicate_jaccard: float = rule(0.8, Provenance.OURS, ge=0, le=1, description="ours: on word shingles")
    corpus_duplicates: bool = rule(
        False,
        Provenance.OURS,
        reason="near_duplicate_in_corpus",
        paper=False,
        description="ours: of dialogues of any films with that Jaccard similarity the first by id stays",
    )
    min_certainty: float | None = rule(
        None,
        Provenance.OURS,
        reason="uncertain_turn",
        paper=None,
        trusted=0.3,
        ge=0,
        le=1,
        description="ours: of each dialogue stay the spans that are worth most, by what they say, whether their turns"
        " take each other up and how certain they are, whose borders are right with this probability at least"
        " (docs/edos.md); null: all turns stay",
    )
    drop_profane: bool = rule(
        False,
        Provenance.OURS,
        reason="profanity",
        paper=False,
        description="ours: dialogues with a word of conf/profanity.txt go",
    )

    @model_validator(mode="before")
    @classmethod
    def from_preset(cls, given: Any) -> Any:
        """Lay the given settings over those of their preset."""
        return {**preset_of(cls, str(given.get("preset"))), **given} if isinstance(given, dict) else given


class TurnCertainty(Section):
    """Rates at which decisions about two adjacent sentences are right, by what decides (ours, docs/segmentation.md).

    The segmenter is right with probability 1 / (1 + exp(-(a + b * distance))), the distance being that of its score
    from its limit.
    """

    mark: float = Field(0.99, gt=0, le=1, description="dashes and labels of the upload itself")
    carried: float = Field(0.98, gt=0, le=1, description="marks of the film's other uploads")
    model: tuple[float, float] = Field(
        (0.08, 1.45), description="a and b, fitted to the SVM, whose scale other kinds have, too"
    )


class Listing(Part):
    """The subtitle files to read."""

    sources: tuple[str, ...] = Field((), description="folders of .xml/.xml.gz, OPUS zips; paths or URIs")
    languages: tuple[str, ...] = ("en",)
    release: str = Field("v2018", description="OPUS release of sources whose path names none")
    sample: float = Field(
        1.0,
        gt=0,
        le=1,
        description="share of the films, by the hash of movie_id; a larger sample contains the smaller ones",
    )
    years: tuple[int, int] | None = added(
        None, description="first and last year folder whose films are read, such as [1990, 1999]; null: all"
    )

    @field_validator("languages", mode="before")
    @classmethod
    def as_in_opus(cls, languages: Any) -> Any:
        """Return ``pt_br`` for ``pt-BR``, and ``no`` for the false that YAML reads from it."""
        if not isinstance(languages, list | tuple):
            return languages
        codes = ["no" if code is False else code for code in languages]
        return [code.lower().replace("-", "_") if isinstance(code, str) else code for code in codes]

    @field_validator("years")
    @classmethod
    def first_year_first(cls, years: tuple[int, int] | None) -> tuple[int, int] | None:
        """Refuse a span that ends before it begins."""
        if years is not None and years[0] > years[1]:
            raise ValueError(f"{list(years)} ends before it begins: name the first year first")
        return years


class ReadingRules(Part):
    """Rules for reading subtitle files, and limits beyond which they are quarantined."""

    truecase: bool = Field(True, description="use OPUS's truecased form of shouted words")
    max_file_megabytes: int = Field(64, ge=1, description="a file that unpacks to more is quarantined")
    max_ratio: int = Field(
        200, ge=2, description="a file that unpacks to more than this many times its size is quarantined"
    )
    max_file_seconds: int = Field(60, ge=1, description="a file that takes longer to read and parse is quarantined")
    task_megabytes: int = speed(64, ge=1, description="stored bytes read by one task")


class Lemmas(Part):
    """Settings of the lemmatisation."""

    lemma_language: str = Field("en", description="language of the lemma dictionary, in simplemma's codes")
    lemmatizer: Literal["spark-nlp", "simplemma"] = speed("spark-nlp")


class TurnRules(Part):
    """Rules for the ends of turns and dialogues (EDOS 3.1)."""

    explicit_marks: bool = Field(
        True, description="dashes and speaker labels decide, and the segmenter decides the rest"
    )
    carried_marks: bool = Field(
        True, description="ours: dashes and labels of a film's other uploads decide, where the chosen one has none"
    )
    opening_dash_margin: float = Field(
        -0.2, description="ours: a score above it opens a turn at a dash that opens a block of several; 0 elsewhere"
    )
    certainty: TurnCertainty = TurnCertainty()
    silence_seconds: float = Field(5.0, gt=0, description="EDOS 3.1: a longer silence ends a dialogue")
    silence_ends_turn: bool = Field(True, description="ours: such a silence also ends a turn (the paper does not say)")

    @property
    def silence_ends_turn_ms(self) -> int | None:
        """More silence than this ends a turn; None: none does."""
        return round(self.silence_seconds * 1000) if self.silence_ends_turn else None


class SubtitleSettings(TurnRules, Lemmas, ReadingRules, Listing):
    uploads_per_film: int = Field(1, ge=0, description="0 keeps all")
    max_shrink_share: float = speed(
        0.1,
        ge=0,
        le=1,
        description="share of the files that may be gone when the sources are looked at again; above it the run is"
        " refused before anything is deleted (exit status 3)",
    )
    turn_examples: tuple[str, ...] = outside(
        (),
        description="for the turn segmenter: folders of TV4Dialog, of other subtitles with the speaker of every cue, or"
        " of MELD, EmoryNLP and DailyDialog transcripts",
    )
    published_dialogues: tuple[str, ...] = outside(
        (),
        description="files of the cleaned dialogues that the authors of EDOS published (dialogue_id and text, a row a"
        " turn): subtitles.clean_dialogues of a set of its own (lakehouse.set), in place of one's own films",
    )
    cleaning: CleaningSettings = CleaningSettings()


class SegmenterOptions(Part):
    """The kind of segmenter to train, and the size of its training set."""

    name: str = Field("edos-turn-segmenter", description="in the MLflow registry")
    kind: Literal["linear", "svm", "encoder", "both"] = Field(
        "linear",
        description="EDOS 3.1: svm. Ours: linear reads words, marks and times, and goes on from the packaged segmenter;"
        " encoder reads a window of sentences; both: the weighed sum of linear and encoder",
    )
    subtitle_pairs: int = Field(20_000, ge=0, description="pairs of each kind of mark, at most")
    films: int = Field(2_000, ge=0, description="films whose marks are read for training, by content hash")
    min_pairs: int = added(
        1_600,
        ge=0,
        description="ours: with fewer training pairs, or only one answer among them, the packaged segmenter decides"
        " (docs/segmentation.md)",
    )
    held_out: tuple[str, ...] = added(
        (),
        description="ours: series with known speakers that are held out whole, to judge on, or a part of one by the"
        " beginning of its episodes' names (house, friends/Friends.S10); (): one episode in ten of each",
    )


class TurnSegmenterSettings(SegmenterOptions):
    lengths: bool = Field(True, description="ours: sentence lengths and repeated lemmas as features of the SVM")


class TurnPairSettings(ClassifierOptions):
    """The training of the encoder kind of turn segmenter."""

    epochs: int = Field(2, ge=1)
    batch_size: int = Field(16, ge=1, description="windows of 16 sentences per step on one device")
    effective_batch: int = Field(16, ge=1, description="windows per update; gradients of several steps are added up")
    max_tokens: int = Field(384, ge=8, description="of a window; a sentence loses its middle")
    subtitle_pairs: int = Field(200_000, ge=0, description="pairs of each kind of mark that the encoder learns from")
    films: int = Field(20_000, ge=0, description="films whose marks it learns from, by content hash")
