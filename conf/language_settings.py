"""Settings for the training of language models."""

from typing import Literal

from pydantic import Field

from conf.section import fixed
from conf.training_options import TrainingOptions


class LanguageTrainingSettings(TrainingOptions):
    """Settings for tuning a language model on conversations: AugESC's (4.1), and for AdamW those of transformers."""

    name: str = Field(description="in the MLflow registry")
    epochs: int = Field(1, ge=1, description="AugESC 4.1")
    batch_size: int = Field(2, ge=1, description="rows a step on one device")
    effective_batch: int = Field(2, ge=1, description="AugESC 4.1: rows an update, by accumulation")
    learning_rate: float = Field(6e-5, gt=0, description="AugESC 4.1: AdamW's, falling linearly to 0")
    warmup_steps: int = fixed(5, description="AugESC 4.1: updates in which the rate rises from 0")
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
