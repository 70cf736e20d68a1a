"""Settings of models and their trainings."""

from typing import Literal

from pydantic import Field

from conf.language_settings import (
    AugmentedChatbotSettings,
    AugmenterSettings,
    ChatbotSettings,
    SeekerSettings,
    SupporterSettings,
)
from conf.reply_settings import (
    CausalReplyTraining,
    EdosReplyTraining,
    EmpatheticReplyTraining,
    ReplyTraining,
    SteeredReplyTraining,
)
from conf.section import Part, Section, added, fixed, speed
from conf.training_options import ClassifierOptions


class SegmenterOptions(Part):
    """Which kind of segmenter is trained, and on how much."""

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
        description="ours: series with known speakers that are held out whole, to judge on; (): one episode in ten of"
        " each",
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


class WeakLabelerSettings(ClassifierOptions):
    name: str = "edos-weak-labeler"
    label_smoothing: float = Field(0.0, ge=0, lt=1, description="share of the target spread over all labels")
    calibrated: bool = Field(
        True,
        description="ours: confidences are divided by a temperature that is fitted on validation sentences; no label"
        " changes",
    )


class DialogueClassifierSettings(ClassifierOptions):
    """The recipe of the authors' public script, which trains 10 epochs at a constant rate (EDOS C)."""

    name: str
    epochs: int = Field(10, ge=1)
    warmup_share: float = Field(0.0, ge=0, le=1)
    decay: Literal["linear", "none"] = Field("none", description="of the rate after the warm-up: to 0, or none")
    label_smoothing: float = Field(0.0, ge=0, lt=1, description="share of the target spread over all labels")
    effective_batch: int = Field(256, description="EDOS C")
    start_token: bool = Field(
        True, description="the encoder's start token (<s>, [CLS]) in place of the first separator, as in the script"
    )
    weighted: bool = Field(True, description="decreasing weights on token embeddings (EDOS 3.3.1)")
    crowd_epochs: int = Field(
        0, ge=0, description="ours: so many epochs at the end go over the crowd's rows alone, after all rows' epochs"
    )
    start_from_weak_labeler: bool = Field(
        False, description="ours: start from the weak labeler's encoder, not from the plain one"
    )

    @property
    def last_epochs(self) -> int:
        return self.crowd_epochs


class WeakStudentSettings(WeakLabelerSettings):
    """The small weak labeler that learns from the weak labeler; ours."""

    name: str = "edos-weak-student"
    unlabelled: int = Field(100_000, ge=0, description="distinct turns that the teacher labels, at most")


class EmotionClassifierSettings(DialogueClassifierSettings):
    name: str = "edos-emotion-classifier"
    calibrated: bool = Field(
        True,
        description="ours: confidences are made by a temperature and a logistic regression, fitted on validation rows;"
        " no label changes; paper: false",
    )


class ComparisonSettings(Section):
    seeds: tuple[int, ...] = Field((13, 14, 15), min_length=1, description="one training each, of every arm")
    weightings: tuple[bool, ...] = Field((True, False), min_length=1, description="EDOS C: with weights and without")
    origins: tuple[Literal["crowd", "similar", "self", "similar_self"], ...] = Field(
        ("crowd", "similar", "self", "similar_self"), min_length=1, description="added one after the other (EDOS 3.3)"
    )


class SelfLabelerSettings(DialogueClassifierSettings):
    name: str = "edos-self-labeler"


class EmotionStudentSettings(EmotionClassifierSettings):
    """The small classifier that learns from the dialogue classifier; ours."""

    name: str = "edos-emotion-student"
    unlabelled: int = Field(100_000, ge=0, description="turns with their history that the teacher labels, at most")


CLASSIFIERS = ("toxicity", "contradiction", "query_emotions", "query_goemotions")
LANGUAGE_MODELS = ("generator", "augmenter_base", "dialogue_base", "reply_base", "topic_namer")
"""Keys of `ModelSettings` whose folders hold a sequence classifier, or a causal language model."""


LabelPrecision = Literal["fp32", "bf16", "fp16"]


class ModelSettings(Section):
    weak_encoder: str = Field("hf:bert-base-uncased", description="what the weak labeler starts from")
    encoder: str = Field("hf:roberta-base", description="what the dialogue classifier starts from")
    turn_encoder: str = Field("hf:roberta-base", description="what the segmenter of kind encoder starts from")
    sentence_encoder: str = Field(
        "hf:sentence-transformers/roberta-base-nli-stsb-mean-tokens", description="EDOS 3.3: embeds turns"
    )
    analysis_encoder: str = Field(
        "hf:sentence-transformers/all-mpnet-base-v2", description="Emo Pillars 7: embeds what the analysis compares"
    )
    topic_namer: str | None = Field(
        None, description="Emo Pillars H: a language model that names topics; null: keywords stand for names"
    )
    toxicity: str | None = Field(
        None, description="a classifier with a label toxic or toxicity; null: a list of profane words stands in"
    )
    query_emotions: str | None = Field(
        None, description="AugESC A: a classifier of Ekman's emotions and neutral; null: the sentence encoder stands in"
    )
    query_goemotions: str | None = Field(
        None, description="AugESC A: a classifier of GoEmotions' labels; null: the sentence encoder stands in"
    )
    contradiction: str | None = Field(
        None, description="a classifier of pairs with a label contradiction; null: rules alone look for contradictions"
    )
    turn_segmenter: str = "models:/edos-turn-segmenter@champion"
    weak_labeler: str = "models:/edos-weak-labeler@champion"
    self_labeler: str | None = Field(
        "models:/edos-self-labeler@champion", description="null: no model labels dialogues for its successor"
    )
    emotion_classifier: str = "models:/edos-emotion-classifier@champion"
    student_encoder: str = Field("hf:distilroberta-base", description="ours: what the student starts from")
    weak_student: str = Field(
        "models:/edos-weak-student@champion", description="ours: a small copy of weak_labeler, its teacher"
    )
    weak_student_encoder: str = Field("hf:distilroberta-base", description="ours: what that student starts from")
    emotion_student: str = Field(
        "models:/edos-emotion-student@champion", description="ours: a small copy of emotion_classifier, its teacher"
    )
    emo_pillars_encoder: str = Field(
        "hf:FacebookAI/roberta-large", description="Emo Pillars 5.1.1: models start from it"
    )
    emo_pillars_contextless: str | None = Field(
        "models:/emo-pillars-contextless@champion", description="learned from utterances; null: none is compared"
    )
    emo_pillars_contextless_rewritten: str | None = Field(
        "models:/emo-pillars-contextless-rewritten@champion", description="learned from rewritten ones; null: none"
    )
    emo_pillars_contextual: str | None = Field(
        "models:/emo-pillars-contextual@champion", description="learned from utterances in context; null: none"
    )
    emo_pillars_contextual_rewritten: str | None = Field(
        "models:/emo-pillars-contextual-rewritten@champion", description="from rewritten ones in context; null: none"
    )
    emo_pillars_emocontext: str | None = Field(
        "models:/emo-pillars-emocontext@champion", description="in context, tuned on EmoContext; null: not compared"
    )
    reply_pretrained: str = "models:/edos-reply-pretrained@champion"
    reply_edos: str = "models:/edos-reply-edos@champion"
    reply_empathetic: str = "models:/edos-reply-empathetic@champion"
    reply_base: str = Field(
        "hf:HuggingFaceTB/SmolLM2-135M", description="ours: the causal language model that reply_causal is tuned from"
    )
    reply_causal: str | None = Field(
        None,
        description="ours: models:/edos-reply-causal@champion compares a tuned causal model with the paper's "
        "generators, and steering starts from it; null: the paper's alone",
    )
    reply_steered: str = "models:/edos-reply-steered@champion"
    generator: str = Field(
        "hf:mistralai/Mistral-7B-Instruct-v0.2",
        description="Emo Pillars 4: the language model; openai:NAME on a server, gguf:URI in llama.cpp",
    )
    augmenter_base: str | None = Field(
        "hf:EleutherAI/gpt-j-6b",
        description="AugESC 4.1: what the augmenter is tuned from, and the untuned one it is compared with",
    )
    augmenter: str | None = Field(
        "models:/augesc-augmenter@champion", description="AugESC 4: goes on from queries; null: none is trained"
    )
    dialogue_base: str = Field(
        "hf:EleutherAI/gpt-j-6b",
        description="what role models and chatbots are tuned from; the paper's is Blender, which is no causal model",
    )
    seeker: str | None = Field("models:/augesc-seeker@champion", description="AugESC 6.1")
    supporter: str | None = Field("models:/augesc-supporter@champion", description="AugESC 6.1")
    chatbot: str = Field("models:/augesc-chatbot@champion", description="AugESC 7.1: tuned on ESConv")
    augmented_chatbot: str = Field(
        "models:/augesc-augmented-chatbot@champion", description="AugESC 7.1: that one, further on AugESC"
    )
    batch_size: int = Field(64, ge=1, description="rows a model sees at once when it labels")
    label_precision: LabelPrecision = added(
        "fp32",
        description="ours: in which weak labeler and dialogue classifiers multiply when they label; bf16 is faster"
        " where the processor or GPU has it, and 0.3% of the labels differ (docs/results/labels.md)",
    )
    threads: int = Field(1, ge=1, description="CPU threads of a labelling worker")
    folder: str | None = Field(
        None, description="models and checkpoints: a folder that all machines see, or a URI; null: beside the tables"
    )
    share: bool = Field(False, description="copy pkg: and file: models to the shared folder, for other machines")
    training_threads: int = Field(2, ge=1, description="CPU threads of a training; fixed for equal sums")
    training_device: str = speed("auto", description="of a training: auto, cpu, cuda or cuda:N")
    training_precision: Literal["auto", "fp32", "bf16", "fp16"] = added(
        "auto",
        description="of a training; auto: bf16 where the hardware is fast in it; else fp16 on a GPU, fp32 on a CPU",
    )


class MultiLabelSettings(ClassifierOptions):
    """Emo Pillars 5.1.1: AdamW as transformers has it, no early stopping."""

    epochs: int = Field(10, ge=1)
    batch_size: int = Field(64, ge=1, description="rows a step on one device")
    effective_batch: int = Field(64, ge=1, description="rows an update, by accumulation")
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
    batch_size: int = Field(32, ge=1, description="rows a step on one device")
    effective_batch: int = Field(32, ge=1, description="rows an update, by accumulation")


class ContextualRewrittenSettings(ContextualSettings):
    name: str = "emo-pillars-contextual-rewritten"


class GoemotionsSettings(MultiLabelSettings):
    """Emo Pillars 5.1.2."""

    epochs: int = Field(3, ge=1)
    batch_size: int = Field(16, ge=1, description="rows a step on one device")
    effective_batch: int = Field(16, ge=1, description="rows an update, by accumulation")


class IsearSettings(MultiLabelSettings):
    """Emo Pillars 5.1.3."""

    epochs: int = Field(8, ge=1)
    batch_size: int = Field(4, ge=1, description="rows a step on one device")
    effective_batch: int = Field(4, ge=1, description="rows an update, by accumulation")
    max_tokens: int = Field(512, ge=8)


class EmocontextSettings(MultiLabelSettings):
    """Emo Pillars 5.2.2."""

    epochs: int = Field(3, ge=1)
    max_tokens: int = Field(512, ge=8)
    batch_size: int = Field(32, ge=1, description="rows a step on one device")
    effective_batch: int = Field(32, ge=1, description="rows an update, by accumulation")


class TunedEmocontextSettings(EmocontextSettings, NamedMultiLabelSettings):
    """Emo Pillars 6: the tuned model of Figure 6."""

    name: str = "emo-pillars-emocontext"


class TrainSections(Section):
    turn_segmenter: TurnSegmenterSettings = TurnSegmenterSettings()
    turn_pairs: TurnPairSettings = TurnPairSettings()
    weak_labeler: WeakLabelerSettings = WeakLabelerSettings()
    weak_student: WeakStudentSettings = WeakStudentSettings()
    self_labeler: SelfLabelerSettings = SelfLabelerSettings()
    emotion_classifier: EmotionClassifierSettings = EmotionClassifierSettings()
    emotion_student: EmotionStudentSettings = EmotionStudentSettings()
    comparison: ComparisonSettings = ComparisonSettings()
    augmenter: AugmenterSettings = AugmenterSettings()
    seeker: SeekerSettings = SeekerSettings()
    supporter: SupporterSettings = SupporterSettings()
    chatbot: ChatbotSettings = ChatbotSettings()
    augmented_chatbot: AugmentedChatbotSettings = AugmentedChatbotSettings()
    emo_pillars_contextless: ContextlessSettings = ContextlessSettings()
    emo_pillars_contextless_rewritten: ContextlessRewrittenSettings = ContextlessRewrittenSettings()
    emo_pillars_contextual: ContextualSettings = ContextualSettings()
    emo_pillars_contextual_rewritten: ContextualRewrittenSettings = ContextualRewrittenSettings()
    goemotions: GoemotionsSettings = GoemotionsSettings()
    isear: IsearSettings = IsearSettings()
    emocontext: EmocontextSettings = EmocontextSettings()
    emo_pillars_emocontext: TunedEmocontextSettings = TunedEmocontextSettings()
    reply_pretrained: ReplyTraining = ReplyTraining()
    reply_edos: EdosReplyTraining = EdosReplyTraining()
    reply_empathetic: EmpatheticReplyTraining = EmpatheticReplyTraining()
    reply_causal: CausalReplyTraining = CausalReplyTraining()
    reply_steered: SteeredReplyTraining = SteeredReplyTraining()
    seed: int = added(13, description="of all trainings: weights, order of rows and dropout; comparisons have theirs")
    processes: int = Field(
        1,
        ge=1,
        description="of a classifier's or generator's training, each on a GPU or CPU of its own; 1: the driver alone",
    )
