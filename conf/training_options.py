"""Options of the training loop (`etl.training.loop.train`), the same for every model."""

from typing import Literal

from pydantic import Field

from conf.section import Section, fixed


class TrainingOptions(Section):
    """Options of one training. A family of models adds its options and defaults."""

    epochs: int = Field(5, ge=1, description="passes over the training rows, at most")
    learning_rate: float = Field(2e-5, gt=0, description="learning rate after the warm-up")
    batch_size: int = Field(32, ge=1, description="rows per step on one device")
    effective_batch: int = Field(32, ge=1, description="rows per update; gradients of several steps are added up")
    warmup_share: float = fixed(0.0, ge=0, le=1, description="share of the updates over which the rate rises from 0")
    warmup_steps: int = fixed(0, ge=0, description="the same as a number of updates; the larger of the two counts")
    decay: Literal["linear", "none"] = fixed(
        "linear", description="how the rate falls after the warm-up: to 0, or not at all"
    )
    label_smoothing: float = fixed(0.0, ge=0, lt=1, description="share of the target spread over all labels")
    beta2: float = fixed(0.999, gt=0, lt=1, description="AdamW's decay rate of the squared gradients")
    epsilon: float = fixed(1e-8, gt=0, description="AdamW's term against division by 0")
    weight_decay: float = fixed(0.0, ge=0, description="of AdamW; 0: Adam")
    max_gradient_norm: float = fixed(1.0, gt=0, description="longer gradients are shortened to it")
    keep: Literal["best", "last"] = fixed("best", description="the epoch of the lowest validation loss, or the last")
    patience: int | None = fixed(
        None, ge=1, description="stop after this many epochs without a lower loss; null: never"
    )
    precision: Literal["auto", "fp32", "bf16", "fp16"] = fixed("auto", "models.training_precision")
    device: str = fixed("auto", "models.training_device")
    seed: int = fixed(13, "training.seed")
    threads: int | None = fixed(None, "models.training_threads", ge=1)

    @property
    def last_epochs(self) -> int:
        """Return how many final epochs train on a separate set of rows."""
        return 0


class ClassifierOptions(TrainingOptions):
    """Options of a classifier's training: an encoder with a new head (EDOS C; the optimizer is RoBERTa's)."""

    head_learning_rate: float | None = Field(None, description="learning rate of the new layers; null: the same")
    layer_decay: float = Field(
        1.0, gt=0, le=1, description="ours: ratio of an encoder layer's rate to that of the layer above"
    )
    max_tokens: int = Field(100, ge=8, description="most tokens of a row; the rest is cut off")
    warmup_share: float = Field(0.1, ge=0, le=1, description="share of the updates over which the rate rises from 0")
    dropout: float = fixed(0.1, ge=0, lt=1, description="share of activations that are set to 0 in training")
    beta2: float = fixed(0.98, gt=0, lt=1, description="AdamW's decay rate of the squared gradients")
    epsilon: float = fixed(1e-6, gt=0, description="AdamW's term against division by 0")
