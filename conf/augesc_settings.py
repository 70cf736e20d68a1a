"""Settings of the AugESC data set: sessions, queries, the eight requirements, statistics (AugESC 4 and 5)."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from conf.evaluation_settings import AugescEvaluation
from conf.section import Section


def _listed(value: Any) -> Any:
    """One path alone stands for a list of one."""
    return (value,) if isinstance(value, str) else value


Paths = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class SessionRules(Section):
    """Which sessions of people are read, and which of them a model is tuned on."""

    max_characters: int = Field(60_000, ge=1, description="ours: a longer session is no chat of two people")
    training: int = Field(100, ge=1, description="AugESC 4.1: sessions to tune on, even over the problem types")
    seed: int = Field(13, description="of the training draw, with each session's id")


class QueryRules(Section):
    """Which posts begin a conversation; the lists of words are in ``conf/augesc``."""

    min_tokens: int = Field(10, ge=1, description="AugESC 4.2: NLTK word tokens")
    max_tokens: int = Field(60, ge=1, description="AugESC 4.2: a longer query leads to longer utterances")
    emotions: tuple[str, ...] = Field(
        (), description="labels of EmpatheticDialogues; empty: the negative ones (conf/augesc/negative_emotions.txt)"
    )
    forums: tuple[str, ...] = Field(
        (), description="subreddits whose posts count; empty: all of the dump (the paper's 55 are not listed in it)"
    )


class UtteranceLengths(Section):
    """AugESC 4.3, Utterance Length, in NLTK word tokens."""

    least_average: int = Field(ge=0, description="a shorter utterance is a short one, too")
    most_average: int = Field(50, ge=1)
    most_short: float = Field(0.25, ge=0, le=1, description="share of short utterances")
    longest: int = Field(100, ge=1)


class FilterSettings(Section):
    """The eight requirements for generated texts (AugESC 4.3); the eighth, Format, has no threshold."""

    session_tokens: int = Field(1_450, ge=1, description="of the generator's, prompt included")
    least_utterances: int = Field(10, ge=0)
    most_utterances: int = Field(50, ge=1)
    continuous: int = Field(3, ge=1, description="of one speaker")
    balance: float = Field(2.5, ge=1, description="utterances of one speaker for each of the other's")
    role_words: tuple[str, ...] = Field(("Human", "AI"), description="as they are written")
    seeker: UtteranceLengths = UtteranceLengths(least_average=7)
    supporter: UtteranceLengths = UtteranceLengths(least_average=9)


class StatisticsSettings(Section):
    """What is counted in the conversations (AugESC 5)."""

    sampled: int = Field(10_000, ge=1, description="AugESC 5.3: conversations of each set whose words are compared")
    prior_words: float = Field(500, gt=0, description="ours: the sum of the priors of all words, for the log-odds")
    typical_words: int = Field(50, ge=10, description="ours: so many of each set and role are kept; Figure 4 shows 10")
    growth_points: int = Field(50, ge=1, description="ours: sizes at which different bigrams are counted")


class AugescPublishing(Section):
    """The conversations as files for others."""

    name: str = Field(
        "augesc", pattern=r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}", description="the data set's name and folder"
    )
    folder: str | None = Field(None, description="null: <lakehouse.root>/exports/<name>")
    formats: tuple[Literal["parquet", "jsonl"], ...] = Field(("jsonl", "parquet"), min_length=1)
    test_share: float = Field(0.1, gt=0, lt=0.5, description="ours, of the queries")
    validation_share: float = Field(0.1, gt=0, lt=0.5, description="ours, of the queries")
    conversations_per_file: int = Field(250_000, ge=1, description="a split of more is cut, by hash of the id")


class AugescSettings(Section):
    sessions: Paths = Field(
        (), description="ESConv: files of sessions (.json, .jsonl, .tsv, each also .gz), or folders of them"
    )
    contrast_sessions: Paths = Field(
        (), description="sessions that failed their makers' checks (FailedESConv): measured, never learned from"
    )
    queries: Paths = Field((), description="EmpatheticDialogues as CSV, and dumps of posts as JSON Lines")
    generated_texts: Paths = Field(
        (),
        description="texts generated elsewhere: JSON Lines of text_id, method, source, origin_id, sample, model, text",
    )
    session_rules: SessionRules = SessionRules()
    query_rules: QueryRules = QueryRules()
    filters: FilterSettings = FilterSettings()
    statistics: StatisticsSettings = StatisticsSettings()
    publishing: AugescPublishing = AugescPublishing()
    evaluation: AugescEvaluation = AugescEvaluation()
