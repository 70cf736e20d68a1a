"""Settings of the human evaluations: AugESC 6.3 and 7.2, Emo Pillars 8 and I."""

from pydantic import Field

from conf.section import Part, Section, fixed, outside


class FormPosting(Part):
    """Where a questionnaire is written."""

    folder: str | None = Field(None, description="of the exported files; null: annotation/ beside the tables")
    post_to: str | None = Field(None, description="URL that the page sends answers to; null: it offers a download")


class FormAnswers(Part):
    """Which answers to a questionnaire count."""

    batches: tuple[str, ...] = outside((), description="key files of the batches that went out, or folders of them")
    answers: tuple[str, ...] = outside((), description="the page's answer files (.json, .jsonl, .csv), or folders")
    known_raters: tuple[str, ...] = Field((), description="whose answers count; empty: everybody's")
    keep_half_done: bool = Field(False, description="answers of tasks that were not done to their end count, too")


class FormSettings(FormAnswers, FormPosting):
    """A questionnaire on the annotation page: where it is written and which answers count."""

    seed: int = fixed(13, description="of what is drawn, and of its order")


class RatingDraw(Part):
    """Which conversations are rated."""

    per_set: int = Field(60, ge=1, description="AugESC 6.3: conversations of each set")
    sessions_per_hit: int = fixed(5, ge=1, description="ours: conversations that one rater gets at a time")


class RatingTest(Part):
    """How the ratings of two sets are compared."""

    significance: float = Field(0.01, gt=0, lt=1, description="AugESC Table 3: Student's t-test")


class RatingSettings(RatingTest, RatingDraw, FormSettings):
    """The questionnaire on the quality of conversations (AugESC 6)."""

    raters: int = Field(3, ge=2, description="AugESC 6.3: different people for each conversation")


class ComparisonFormSettings(FormSettings):
    """The questionnaire that compares two chatbots (AugESC 7.2)."""

    chats: tuple[str, ...] = outside(
        (), description="JSON Lines of pair_id, bot (esconv or augesc), turns of role and text: talks of participants"
    )
    least_utterances: int = Field(8, ge=1, description="AugESC 7.2: of the user and of the bot, in each talk")


class LabelDraw(Part):
    """Which examples are asked about, and how they are shown."""

    examples: int = Field(200, ge=1, description="Emo Pillars I.1: of the training split")
    items_per_hit: int = fixed(200, ge=1, description="ours: examples of one task; Emo Pillars' raters had all in one")
    neutral_alone: float = fixed(0.11, ge=0, le=1, description="Emo Pillars I.1: share of examples with no other label")
    neutral_beside: float = fixed(0.18, ge=0, le=1, description="Emo Pillars I.1: share with neutral among others")
    ranked_share: float = fixed(0.2, ge=0, le=1, description="Emo Pillars I.1: the first keep their labels' rank order")
    rewritten_share: float = fixed(0.5, ge=0, le=1, description="ours: examples shown rewritten; the rest as they were")


class LabelFormSettings(LabelDraw, FormSettings):
    """The questionnaire on labels of examples (Emo Pillars 8, I)."""

    raters: int = Field(3, ge=2, description="Emo Pillars 8: people for each example")


class AugescEvaluation(Section):
    ratings: RatingSettings = RatingSettings()
    comparisons: ComparisonFormSettings = ComparisonFormSettings()
