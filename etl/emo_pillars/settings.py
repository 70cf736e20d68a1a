"""Settings of Emo Pillars, which turns stories into labelled utterances and of the models that learn from them."""

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar

from pydantic import Field, create_model, field_validator

from conf.form_settings import FormSettings
from conf.llm_settings import DecodingSettings
from conf.prompts import replaced_prompts, templates_of
from conf.section import Part, Section, added, fixed, outside
from conf.taxonomy import GOEMOTIONS_NAME, EmotionTaxonomy, load_emotion_taxonomy
from conf.training_options import ClassifierOptions

Kind = TypeVar("Kind", bound=Section)


def _of_steps(steps: Iterable[str], kind: Any, default: Callable[[], Any]) -> Callable[[type[Kind]], type[Kind]]:
    """Return a decorator that adds to a section a field for each step that it does not name."""

    def completed(section: type[Kind]) -> type[Kind]:
        fields: dict[str, Any] = {name: (kind, default()) for name in steps if name not in section.model_fields}
        return create_model(
            section.__name__, __base__=section, __doc__=section.__doc__, __module__=section.__module__, **fields
        )

    return completed


def _step(tokens: int = 300) -> DecodingSettings:
    """Emo Pillars B: greedy, a repetition penalty of 1.03, most new tokens by step."""
    return DecodingSettings(max_new_tokens=tokens, repetition_penalty=1.03)


@_of_steps(templates_of("emo_pillars"), DecodingSettings, _step)
class StepSettings(Section):
    """The decoding of each step's answers (Emo Pillars B).

    The steps are the templates under ``conf/prompts/emo_pillars``. Answers of a step without a field have 300 tokens.
    """

    actors: DecodingSettings = _step()
    utterances: DecodingSettings = _step(500)
    soft_labels: DecodingSettings = _step(100)
    contexts: DecodingSettings = _step()
    clean_contexts: DecodingSettings = _step()
    rewrites: DecodingSettings = _step()
    topic_names: DecodingSettings = fixed(_step(40))
    topic_categories: DecodingSettings = fixed(_step(500))


def _replaced() -> Any:
    return added({}, description="the user's files of this step, by name; set `emo_pillars.prompts` to their folder")


@_of_steps(StepSettings.model_fields, dict[str, str], _replaced)
class PromptSettings(Section):
    """Prompts in place of ours, by step and file name (``conf/prompts/emo_pillars``).

    ``emo_pillars.prompts`` is set to a folder, whose files are read here. A step without files has ours.
    """


Fault = Literal[
    "other_language",
    "list_of_labels",
    "names_emotion",
    "repeats_itself",
    "same_across_emotions",
    "too_few_words",
    "too_many_words",
    "other_person",
    "same_as_original",
    "few_labels",
    "equal_levels",
]


class QualitySettings(Section):
    """Faults of answers that parse well, all ours. Each is a word in the column ``faults``."""

    reject: tuple[Fault, ...] = Field(
        ("other_language", "list_of_labels", "repeats_itself"),
        description="faults that drop an item, with their name as the reason",
    )


class TransferSettings(Section):
    """Tuning of the synthetic-data models on human-labelled sets (Emo Pillars 5)."""

    seeds: tuple[int, ...] = Field((13, 14, 15), min_length=1, description="5.1.2: three runs on GoEmotions")
    folds: int = Field(5, ge=2, description="5.1.3: of ISEAR's reports, by their text's hash")
    folds_run: int | None = Field(None, ge=1, description="ours: run only this many folds; null: all")
    fold_seeds: int = Field(
        1, ge=1, description="ours: how many of the seeds, from the first, run on each fold of ISEAR"
    )
    training_share: float = Field(
        1.0, gt=0, le=1, description="ours: of a task's training rows that are used, by content hash; of all models"
    )
    validation_share: float = Field(
        0.1, gt=0, lt=0.5, description="ours: of the training rows that choose the threshold, where no part is for it"
    )
    held_out_share: float = fixed(0.1, gt=0, lt=0.5, description="ours: of EmoContext where dev.txt is not there")
    plain: bool = fixed(True, description="ours: also start from the encoder itself, for the gain")
    models: tuple[str, ...] = added(
        (),
        description="Tables 2, 3: URIs of further context-less models of the synthetic data, such as one trained from "
        "BERT; each as it is and tuned",
    )
    encoders: tuple[str, ...] = Field(
        (),
        description="Tables 1, 2: URIs of further encoders, each trained beside models.emo_pillars_encoder; the "
        "paper's are bert-large-uncased and paraphrase-distilroberta",
    )
    least_probability: float = fixed(
        0.3, ge=0, le=1, description="5.2.2: a relabelled turn whose strongest label is under it is neutral"
    )


class Samples(Part):
    """The sizes of the samples whose texts are compared."""

    utterances: int = Field(10_000, ge=2, description="Emo Pillars 7: compared with each other; of a class, too (G)")
    pairs: int = Field(10_000, ge=1, description="Emo Pillars 7: original and changed, neutral ones of one actor")
    plots: int = Field(1_000, ge=1, description="Emo Pillars 7: whose contexts are compared")


class TopicSample(Part):
    """The sample whose topics are found."""

    topic_emotion: str = Field("joy", description="Emo Pillars 7, H: the emotion whose topics are looked for")
    topic_utterances: int = fixed(3_000, ge=2, description="Emo Pillars 7, H")


class MarkerRules(Part):
    """The rules by which adverbs are markers."""

    removed_share: float = fixed(0.6, ge=0, le=1, description="Emo Pillars G: of a marker's occurrences, at least")
    marker_share: float = fixed(
        0.05, ge=0, le=1, description="Emo Pillars G: of a marker's occurrences with an emotion"
    )
    marker_count: int = Field(5, ge=1, description="ours: fewest occurrences of a marker")


class TopicQuery(Part):
    """The query that stands for a topic."""

    topic_query: str = fixed(
        "The band played my favourite song and the whole hall sang along with the music.",
        description="our wording of the paper's topic, music performances, whose emotions are counted",
    )


class AnalysisSettings(TopicQuery, MarkerRules, TopicSample, Samples):
    """The samples of the analysis, all drawn by hash (Emo Pillars 7, G, H)."""

    topic_similarity: float = fixed(0.6, ge=0, le=1, description="Emo Pillars 7: cosine of an edge, above it")
    large_topic: int = Field(
        20, ge=1, description="ours: fewest utterances of a topic that gets a name; Emo Pillars H has 20"
    )
    topic_examples: int = fixed(200, ge=1, description="Emo Pillars 7: examples nearest to the query")
    comment: str = fixed(
        "Am I the only one here who has goose pimples all over?", description="Figure 6, in our words: a short comment"
    )
    comment_context: str = fixed(
        "Somebody has watched a recording of a concert on the web, and writes a comment with their opinion of it.",
        description="Figure 6, in our words: its context",
    )
    marker_overlap: float = fixed(
        0.1, gt=0, le=1, description="ours: Jaccard of two emotions' markers from which they may be of one group"
    )
    seed: int = fixed(13, description="of Louvain's order")
    report_folder: str | None = Field(None, description="where emo_pillars.html goes; null: <lakehouse.root>/reports")


class LabelDraw(Part):
    """The draw of the examples that raters see, and how they are shown."""

    examples: int = Field(200, ge=1, description="Emo Pillars I.1: of the training split")
    items_per_hit: int = fixed(200, ge=1, description="ours: examples of one task; Emo Pillars' raters had all in one")
    neutral_alone: float = fixed(0.11, ge=0, le=1, description="Emo Pillars I.1: share of examples with no other label")
    neutral_beside: float = fixed(0.18, ge=0, le=1, description="Emo Pillars I.1: share with neutral among others")
    ranked_share: float = fixed(0.2, ge=0, le=1, description="Emo Pillars I.1: the first keep their labels' rank order")
    rewritten_share: float = fixed(0.5, ge=0, le=1, description="ours: examples shown rewritten; the rest as they were")


class LabelFormSettings(LabelDraw, FormSettings):
    """The questionnaire on labels of examples (Emo Pillars 8, I)."""

    raters: int = Field(3, ge=2, description="Emo Pillars 8: people for each example")


class PlotRules(Part):
    """The plots to take, and the length of their texts."""

    plot_limit: int | None = Field(2_000, ge=1, description="Emo Pillars 4: plots taken, by content hash; null: all")
    plot_words: int = Field(3_000, ge=50, description="ours: words and marks of a plot in a prompt; the rest is cut")
    english_share: float = fixed(0.5, ge=0, le=1, description="ours: least share of a plot's words that are English")


class UtterancePrompt(Part):
    """The request of a prompt for utterances."""

    emotional: int = Field(8, ge=1, description="Emo Pillars 3.2, B: utterances of various emotions for each actor")
    neutral: int = Field(2, ge=0, description="Emo Pillars 3.2, B: neutral ones after them")


class ExampleRules(Part):
    """The labels and utterances of the data set, and its splits."""

    least_level: float = Field(0.3, ge=0, le=1, description="Emo Pillars 4: lowest level of a label that is kept")
    split_by: Literal["plot", "utterance"] = Field(
        "plot",
        description="ours: utterance where fewer plots than some fifty leave a split empty; Tables 1 and 5 "
        "refuse it, since their models would be tested on plots that they have seen",
    )
    context_share: float = Field(1 / 3, ge=0, le=1, description="Emo Pillars 4: examples that get a context, by hash")


class EmoPillarsPublishing(Section):
    """The examples as files for others."""

    name: str = Field(
        "emo-pillars", pattern=r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}", description="the data set's name and folder"
    )
    folder: str | None = Field(None, description="null: <lakehouse.root>/exports/<name>")
    formats: tuple[Literal["parquet", "jsonl"], ...] = Field(("parquet", "jsonl"), min_length=1)
    licence: str = Field(
        "other",
        pattern=r"[A-Za-z0-9][A-Za-z0-9.+-]*",
        description="SPDX identifier, or other: that of the plots and the model's terms decide what may be given",
    )
    examples_per_file: int = fixed(250_000, ge=1, description="a split of more is cut, by hash of the id")


PRESETS: dict[str, dict[str, Any]] = {
    "ours": {},
    "paper": {"emo_pillars": {"near_duplicate": None, "quality": {"reject": []}}},
}
"""Settings of each named set that differ from the defaults, which are those of ``ours``."""


class EmoPillarsSettings(ExampleRules, UtterancePrompt, PlotRules):
    preset: Literal["ours", "paper"] = Field(
        "ours",
        description="named set of values, which other settings override; paper keeps near-duplicates and "
        "every answer that can be read, endless ones aside",
    )
    taxonomy: EmotionTaxonomy = added(
        load_emotion_taxonomy(GOEMOTIONS_NAME),
        description="of the labels: goemotions (the paper's 28), or a path of a YAML file with labels, definitions, "
        "polarities, groups and a map of outside names; docs/emo_pillars.md has an example",
    )
    prompts: PromptSettings = added(PromptSettings())
    plots: str | None = outside(
        None,
        description="CSV with a column plot (.gz too), WikiPlots' file `plots` with `titles` beside it, or a folder",
    )
    top_labels: int = Field(5, ge=1, le=28, description="Emo Pillars B: soft labels of an utterance")
    near_duplicate: float | None = Field(
        0.8,
        gt=0,
        le=1,
        description="ours: of two utterances with this Jaccard similarity or more, one goes; null: both stay",
    )
    prompt_order: Literal["plain", "shared"] = Field(
        "plain",
        description="ours: shared puts what all prompts for utterances or labels have in common before what differs, "
        "so that llama.cpp computes it once",
    )
    rewrite_prompt: Literal["plain", "example"] = Field(
        "plain", description="ours: example shows two rewritten utterances first, for models of few parameters"
    )
    steps: StepSettings = StepSettings()
    quality: QualitySettings = QualitySettings()
    goemotions: str | None = outside(None, description="folder with train.tsv and dev.tsv (.gz too), test.tsv if there")
    isear: str | None = outside(None, description="isear.csv (.gz too), cells apart by |, or its folder")
    emocontext: str | None = outside(None, description="folder with train.txt (.gz too), dev.txt if there")
    transfer: TransferSettings = TransferSettings()
    analysis: AnalysisSettings = AnalysisSettings()
    evaluation: LabelFormSettings = LabelFormSettings()
    publishing: EmoPillarsPublishing = EmoPillarsPublishing()

    @field_validator("taxonomy", mode="before")
    @classmethod
    def from_its_file(cls, taxonomy: Any) -> Any:
        """Read the taxonomy that a name or a path stands for."""
        return load_emotion_taxonomy(taxonomy) if isinstance(taxonomy, str) else taxonomy

    @field_validator("prompts", mode="before")
    @classmethod
    def from_their_folder(cls, prompts: Any) -> Any:
        """Read the prompts of a folder."""
        return replaced_prompts(prompts, "emo_pillars") if isinstance(prompts, str) else prompts


class MultiLabelSettings(ClassifierOptions):
    """Emo Pillars 5.1.1: AdamW as transformers has it, no early stopping."""

    epochs: int = Field(10, ge=1)
    batch_size: int = Field(64, ge=1, description="rows per step on one device")
    effective_batch: int = Field(64, ge=1, description="rows per update, by accumulation")
    max_tokens: int = Field(128, ge=8)
    warmup_share: float = Field(0.0, ge=0, le=1)
    beta2: float = fixed(0.999, description="AdamW as transformers has it")
    epsilon: float = fixed(1e-8, description="AdamW as transformers has it")
    keep: Literal["best", "last"] = fixed("last", description="Emo Pillars 5: the last checkpoint")
    pooling: Literal["cls", "mean"] = Field("cls", description="the first token's state, or the mean of all")


class NamedMultiLabelSettings(MultiLabelSettings):
    """Settings of a model that is registered."""

    name: str


class ContextlessSettings(NamedMultiLabelSettings):
    name: str = "emo-pillars-contextless"


class ContextlessRewrittenSettings(NamedMultiLabelSettings):
    name: str = "emo-pillars-contextless-rewritten"


class ContextualSettings(NamedMultiLabelSettings):
    """Emo Pillars 5.2.1."""

    name: str = "emo-pillars-contextual"
    max_tokens: int = Field(512, ge=8)
    batch_size: int = Field(32, ge=1, description="rows per step on one device")
    effective_batch: int = Field(32, ge=1, description="rows per update, by accumulation")


class ContextualRewrittenSettings(ContextualSettings):
    name: str = "emo-pillars-contextual-rewritten"


class GoemotionsSettings(MultiLabelSettings):
    """Emo Pillars 5.1.2."""

    epochs: int = Field(3, ge=1)
    batch_size: int = Field(16, ge=1, description="rows per step on one device")
    effective_batch: int = Field(16, ge=1, description="rows per update, by accumulation")


class IsearSettings(MultiLabelSettings):
    """Emo Pillars 5.1.3."""

    epochs: int = Field(8, ge=1)
    batch_size: int = Field(4, ge=1, description="rows per step on one device")
    effective_batch: int = Field(4, ge=1, description="rows per update, by accumulation")
    max_tokens: int = Field(512, ge=8)


class EmocontextSettings(MultiLabelSettings):
    """Emo Pillars 5.2.2."""

    epochs: int = Field(3, ge=1)
    max_tokens: int = Field(512, ge=8)
    batch_size: int = Field(32, ge=1, description="rows per step on one device")
    effective_batch: int = Field(32, ge=1, description="rows per update, by accumulation")


class TunedEmocontextSettings(EmocontextSettings, NamedMultiLabelSettings):
    """Emo Pillars 6: the tuned model of Figure 6."""

    name: str = "emo-pillars-emocontext"
