"""Settings of the AugESC data set: sessions, queries, requirements, statistics, evaluation, trainings (AugESC 4-7)."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from conf.form_settings import FormSettings
from conf.llm_settings import DecodingSettings
from conf.prompts import replaced_instruction
from conf.section import Part, Section, added, fixed, outside
from conf.training_options import TrainingOptions


def _listed(value: Any) -> Any:
    """Return a single path as a list."""
    return (value,) if isinstance(value, str) else value


Paths = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Reading = Literal["lenient", "paper"]
"""How a generated text is read as a conversation (AugESC 4.3, Format)."""


class TrainingDraw(Part):
    """The draw of the sessions that a model is tuned on."""

    training: int = Field(100, ge=1, description="AugESC 4.1: sessions to tune on, even over the problem types")
    seed: int = fixed(13, description="of the training draw, with each session's id")


class SessionRules(TrainingDraw):
    """The recorded sessions to read, and the draw of those that a model is tuned on."""

    max_characters: int = fixed(60_000, ge=1, description="ours: a longer session is no chat of two people")


class QueryRules(Section):
    """Filters of the posts that begin a conversation; the lists of words are in ``conf/augesc``."""

    min_tokens: int = fixed(10, ge=1, description="AugESC 4.2: NLTK word tokens")
    max_tokens: int = fixed(60, ge=1, description="AugESC 4.2: a longer query leads to longer utterances")
    emotions: tuple[str, ...] = Field(
        (), description="labels of EmpatheticDialogues; empty: the negative ones (conf/augesc/negative_emotions.txt)"
    )
    judges: tuple[Literal["emotions", "goemotions", "toxicity"], ...] = Field(
        ("emotions", "goemotions", "toxicity"),
        description="AugESC A: what posts of forums are judged by; neutral, positive and toxic ones are left out. "
        "Where models names no classifier for one, the sentence encoder with our examples stands in",
    )
    toxic: float = fixed(
        0.5, ge=0, le=1, description="ours: probability from which a classifier's toxic post is left out"
    )
    forums: tuple[str, ...] = Field(
        (), description="subreddits whose posts count; empty: all of the dump (the paper's 55 are not listed in it)"
    )


class SamplesPerQuery(Section):
    """Conversations generated per query, by the query's source (ours, from AugESC 4.2, 4.3 and Table 2)."""

    ed: int = Field(12, ge=0)
    reddit: int = Field(4, ge=0)


class AugmenterDecoding(DecodingSettings):
    """Decoding of the augmenter (AugESC 4.2); its 1,500 tokens are prompt and text together."""

    max_new_tokens: int = Field(1_500, ge=1, le=100_000)
    max_total_tokens: int | None = Field(1_500, ge=2)
    temperature: float = Field(0.9, ge=0, le=5)
    top_p: float = Field(0.9, gt=0, le=1)
    repetition_penalty: float = Field(1.05, ge=1, le=5)
    chat: bool = False


class UntunedDecoding(AugmenterDecoding):
    """Decoding of the untuned model (AugESC Table 1: longer texts lose coherence); the limit is on new tokens."""

    max_new_tokens: int = Field(400, ge=1, le=100_000)
    max_total_tokens: int | None = Field(None, ge=2)


class DialogueDecoding(AugmenterDecoding):
    """Decoding of one utterance of a role model (AugESC 6.1: top-p and temperature)."""

    max_new_tokens: int = Field(128, ge=1, le=100_000)
    repetition_penalty: float = Field(1.0, ge=1, le=5)
    stop: tuple[str, ...] = fixed(("\n",))


class Queries(Part):
    """Limits on the queries that begin conversations."""

    queries: int | None = Field(None, ge=1, description="of each source, chosen by hash; null: all")


class Augmenting(Queries):
    """Settings of the conversations that the tuned model writes."""

    decoding: AugmenterDecoding = AugmenterDecoding()


class Baselines(Queries):
    """Number of queries that the compared methods continue."""

    baseline_queries: int = Field(
        2_000, ge=1, description="AugESC 4.3: of EmpatheticDialogues, for the methods that are compared, one text each"
    )


class Untuned(Baselines):
    """Settings of the conversations that the untuned model writes."""

    untuned_decoding: UntunedDecoding = UntunedDecoding()


class RolePlaying(Baselines):
    """Settings of the conversations between two models."""

    role_decoding: DialogueDecoding = DialogueDecoding()
    role_utterances: int = Field(
        30, ge=2, description="AugESC 6.1: most utterances of two models' talk, which also ends at a bye"
    )


class GenerationSettings(RolePlaying, Untuned, Augmenting):
    """Settings of the models that generate conversations (AugESC 4.2, 4.3, 6.1)."""

    methods: tuple[Literal["augmenter", "untuned", "role_models"], ...] = Field(
        ("augmenter", "untuned"),
        description="the tuned model, and what it is compared with; none for texts from elsewhere alone. role_models "
        "(AugESC 6.1, Table 3) trains two further models and is off by default",
    )

    @property
    def augments(self) -> bool:
        return "augmenter" in self.methods

    @property
    def compares_untuned(self) -> bool:
        return "untuned" in self.methods

    @property
    def plays_roles(self) -> bool:
        return "role_models" in self.methods


class UtteranceLengths(Section):
    """Limits on the lengths of utterances (AugESC 4.3), in NLTK word tokens."""

    least_average: int = Field(
        ge=0, description="fewest tokens of an utterance on average; a shorter utterance counts as short"
    )
    most_average: int = fixed(50, ge=1)
    most_short: float = fixed(0.25, ge=0, le=1, description="share of short utterances")
    longest: int = fixed(100, ge=1)


class FilterSettings(Section):
    """The eight requirements for generated texts (AugESC 4.3); the eighth, Format, has no threshold."""

    session_tokens: int = Field(1_450, ge=1, description="of the generator's, prompt included")
    least_utterances: int = Field(10, ge=0)
    most_utterances: int = Field(50, ge=1)
    continuous: int = fixed(3, ge=1, description="of one speaker")
    balance: float = fixed(2.5, ge=1, description="utterances of one speaker for each of the other's")
    role_words: tuple[str, ...] = fixed(("Human", "AI"), description="as they are written")
    seeker: UtteranceLengths = UtteranceLengths(least_average=7)
    supporter: UtteranceLengths = UtteranceLengths(least_average=9)


class ChatSettings(Section):
    """The interactive support chatbot (AugESC 7.2)."""

    decoding: DialogueDecoding = DialogueDecoding()
    most_turns: int = fixed(40, ge=2, description="ours: the last so many utterances are what a reply is to")


class WordStatistics(Part):
    """The roles whose typical words are counted, and their number."""

    sampled: int = Field(10_000, ge=1, description="AugESC 5.3: conversations of each set whose words are compared")
    prior_words: float = fixed(500, gt=0, description="ours: the sum of the priors of all words, for the log-odds")
    typical_words: int = fixed(50, ge=10, description="ours: so many of each set and role are kept; Figure 4 shows 10")


class StatisticsSettings(WordStatistics):
    """Settings of the statistics of conversations (AugESC 5)."""

    growth_points: int = Field(50, ge=1, description="ours: sizes at which different bigrams are counted")


class FaultSample(Part):
    """The sample of texts in which faults are measured."""

    sampled: int = Field(2_000, ge=1, description="texts of each method and source to examine, by hash")


class Utterances(FaultSample):
    """The utterances of these texts that are compared with others."""

    least_tokens: int = fixed(8, ge=1, description="a shorter utterance is about nothing that its embedding tells")


class StatementPairs(Utterances):
    """The pairs of statements that the entailment model judges."""

    related: float = fixed(0.5, ge=-1, le=1, description="cosine from which two statements are asked about")
    pairs: int = fixed(5, ge=0, description="pairs of statements of a speaker that are asked about, at most")


class FaultLimits(FaultSample):
    """The least scores from which an utterance has a fault."""

    near: float = Field(
        0.12,
        ge=-1,
        le=1,
        description="cosine below which an utterance leaves the topic; belongs to the sentence encoder: with MiniLM "
        "2 % of ESConv's utterances do, and 17 % would in another session",
    )
    toxic: float = fixed(0.5, ge=0, le=1, description="score from which an utterance is toxic")
    contradicts: float = fixed(0.9, ge=0, le=1, description="score from which two statements contradict each other")


class FaultSettings(FaultLimits, StatementPairs):
    """Settings for measuring faults of conversations (AugESC 6.4); all ours, the paper found them by reading."""


class RatingDraw(Part):
    """The draw of the conversations that are rated."""

    per_set: int = Field(60, ge=1, description="AugESC 6.3: conversations of each set")
    sessions_per_hit: int = fixed(5, ge=1, description="ours: conversations that one rater gets at a time")


class RatingTest(Part):
    """The statistical test of the ratings of two sets."""

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


class AugescEvaluation(Section):
    ratings: RatingSettings = RatingSettings()
    comparisons: ComparisonFormSettings = ComparisonFormSettings()


class AugescPublishing(Section):
    """The conversations as files for others."""

    name: str = Field(
        "augesc", pattern=r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}", description="the data set's name and folder"
    )
    folder: str | None = Field(None, description="null: <lakehouse.root>/exports/<name>")
    formats: tuple[Literal["parquet", "jsonl"], ...] = Field(("jsonl", "parquet"), min_length=1)
    test_share: float = fixed(0.1, gt=0, lt=0.5, description="ours, of the queries")
    validation_share: float = fixed(0.1, gt=0, lt=0.5, description="ours, of the queries")
    conversations_per_file: int = fixed(250_000, ge=1, description="a split of more is cut, by hash of the id")


class InstructionSettings(Section):
    """The words before each conversation that a model continues or learns (AugESC 4.1)."""

    text: str = added(
        "", description="in place of ours, `conf/prompts/augesc.txt`; set `augesc.prompt` to the path of a text file"
    )


class AugescSettings(Section):
    sessions: Paths = outside(
        (), description="ESConv: files of sessions (.json, .jsonl, .tsv, each also .gz), or folders of them"
    )
    contrast_sessions: Paths = outside(
        (), description="sessions that failed their makers' checks (FailedESConv): measured, never learned from"
    )
    queries: Paths = outside((), description="EmpatheticDialogues as CSV, and dumps of posts as JSON Lines")
    generated_texts: Paths = outside(
        (),
        description="texts generated elsewhere: JSON Lines of text_id, method, source, origin_id, sample, model, text",
    )
    session_rules: SessionRules = SessionRules()
    query_rules: QueryRules = QueryRules()
    samples_per_query: SamplesPerQuery = SamplesPerQuery()
    prompt: InstructionSettings = added(InstructionSettings())
    generation: GenerationSettings = GenerationSettings()
    reading: Reading = added(
        "lenient",
        description="of generated texts. paper (AugESC 4.3): each line is one utterance and begins with a name. "
        "lenient (ours) also reads JSON, several speakers on one line, thoughts and strategies in brackets",
    )
    filters: FilterSettings = FilterSettings()
    statistics: StatisticsSettings = StatisticsSettings()
    chat: ChatSettings = ChatSettings()
    publishing: AugescPublishing = AugescPublishing()
    faults: FaultSettings = FaultSettings()
    report_folder: str | None = Field(None, description="where augesc.html goes; null: <lakehouse.root>/reports")
    evaluation: AugescEvaluation = AugescEvaluation()

    @field_validator("prompt", mode="before")
    @classmethod
    def from_its_file(cls, prompt: Any) -> Any:
        """Read the instruction of a path."""
        return {"text": replaced_instruction(prompt)} if isinstance(prompt, str) else prompt


class LanguageTrainingSettings(TrainingOptions):
    """Settings for tuning a language model on conversations: AugESC's (4.1), and for AdamW those of transformers."""

    name: str = Field(description="in the MLflow registry")
    epochs: int = Field(1, ge=1, description="AugESC 4.1")
    batch_size: int = Field(2, ge=1, description="rows per step on one device")
    effective_batch: int = Field(2, ge=1, description="AugESC 4.1: rows per update, by accumulation")
    learning_rate: float = Field(6e-5, gt=0, description="AugESC 4.1: AdamW's, falling linearly to 0")
    warmup_steps: int = fixed(5, description="AugESC 4.1: updates over which the rate rises from 0")
    keep: Literal["best", "last"] = fixed("last", description="AugESC 4.1")
    max_tokens: int = Field(1_500, ge=8, description="AugESC 4.1: a longer session is cut at its end")
    gradient_checkpointing: bool = Field(True, description="AugESC 4.1: slower, in less memory; the result is the same")
    held_out: int = Field(
        50, ge=1, description="ours: sessions, chosen by hash of those not tuned on, that perplexity is measured on"
    )


class AugmenterSettings(LanguageTrainingSettings):
    """AugESC 4.1: the model that completes a conversation from a query."""

    name: str = "augesc-augmenter"


class DialogueModelSettings(LanguageTrainingSettings):
    """A model of one speaker's utterances (AugESC 6.1, 7.1); the paper does not say how its Blender is tuned."""

    epochs: int = Field(2, ge=1, description="ours")
    batch_size: int = Field(2, ge=1, description="ours: sessions a step on one device")
    effective_batch: int = Field(8, ge=1, description="ours: sessions an update")


class SeekerSettings(DialogueModelSettings):
    """AugESC 6.1: the model of the seeker."""

    name: str = "augesc-seeker"


class SupporterSettings(DialogueModelSettings):
    """AugESC 6.1: the model of the supporter."""

    name: str = "augesc-supporter"


class ChatbotSettings(DialogueModelSettings):
    """AugESC 7.1: the chatbot tuned on ESConv."""

    name: str = "augesc-chatbot"


class AugmentedChatbotSettings(DialogueModelSettings):
    """AugESC 7.1: that chatbot, tuned further on AugESC."""

    name: str = "augesc-augmented-chatbot"
    epochs: int = Field(1, ge=1, description="ours")
