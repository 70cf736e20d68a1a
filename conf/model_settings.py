"""Settings of models: where each is, and how it runs."""

from typing import Literal

from pydantic import Field

from conf.section import Section, added, speed

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
        None, description="a classifier of pairs with a label contradiction; null: only rules look for contradictions"
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
        "models:/augesc-augmenter@champion", description="AugESC 4: continues from queries; null: none is trained"
    )
    dialogue_base: str = Field(
        "hf:EleutherAI/gpt-j-6b",
        description="what role models and chatbots are tuned from; the paper's is Blender, which is not a causal model",
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
        description="ours: precision of the weak labeler and dialogue classifiers when they label; bf16 is faster"
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
        description="of a training; auto: bf16 if the hardware is fast in it; else fp16 on a GPU, fp32 on a CPU",
    )
