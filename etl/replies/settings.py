"""Settings of the response generators: rows, tokens, network, trainings, decoding, evaluation (EDOS 5, E)."""

from typing import Literal

from pydantic import Field, model_validator

from conf.section import Part, Section, fixed, speed
from conf.training_options import TrainingOptions


class ReplyRows(Section):
    """Training rows: each turn with the turns before it."""

    test_share: float = Field(0.1, gt=0, lt=0.5, description="EDOS 5: of films, or conversations")
    validation_share: float = Field(0.1, gt=0, lt=0.5, description="EDOS 5: of films, or conversations")
    shared_words: int = fixed(
        6, description="ours: a reply of so many words that a held-out split has, too, is not learnt from"
    )
    near_jaccard: float | None = Field(
        0.6, gt=0, le=1, description="ours: dialogues this similar are never in two splits; null: not checked"
    )


class ReplyTokens(Section):
    tokenizer: str = Field(
        "hf:roberta-base", description="EDOS E: RoBERTa's; a model's URI, or `trained` on the training texts"
    )
    vocabulary: int = Field(8_000, ge=300, description="of a trained tokenizer, at most")


class ReplyNetwork(Section):
    """Sizes of the network (EDOS 5, E). They give 25 M parameters (untied 55 M), not the 121 M of Table 10."""

    layers: int = Field(4, ge=1, description="of the encoder, and of the decoder")
    heads: int = Field(6, ge=1)
    hidden: int = Field(300, ge=2)
    feed_forward: int = Field(1_200, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)
    max_tokens: int = Field(100, ge=8, description="most tokens of a history (cut from the left) and of a reply")
    tied_embeddings: bool = Field(True, description="one matrix for encoder, decoder and output")
    norm: Literal["after", "before"] = Field(
        "after",
        description="layer norms after each sub-layer (Vaswani et al., whom EDOS 5 follows), or before it: "
        "steadier at large steps, where `after` may learn to write without reading",
    )

    @model_validator(mode="after")
    def heads_share_the_hidden_size(self) -> "ReplyNetwork":
        if self.hidden % self.heads:
            raise ValueError(f"hidden is not a multiple of heads: {self.hidden} and {self.heads}")
        return self


class ReplyDecoding(Section):
    method: Literal["beam", "greedy", "top_p"] = Field("beam", description="EDOS 5: beam")
    beams: int = Field(32, ge=1, description="EDOS 5")
    blocked_ngrams: int = Field(4, ge=0, description="EDOS 5, E: no n-gram twice in a reply; 0: any")
    length_penalty: float = fixed(1.0, description="of beams, an exponent of the length; 1: the mean of the tokens")
    top_p: float = Field(0.9, gt=0, le=1)
    temperature: float = Field(1.0, gt=0)
    max_new_tokens: int = Field(99, ge=1, description="of a reply; the network's positions bound it, too")


class SteeringRequests(Part):
    """The intents that a steered generator is asked for."""

    contexts: int = Field(
        200, ge=1, description="ours: histories for each intent; the view says so if there are fewer than 200"
    )
    intents: tuple[str, ...] = Field((), description="ours: intents to ask for; empty: all labels")


class ReplyEvaluation(SteeringRequests):
    examples: int | None = Field(
        None, ge=1, description="test replies of each source, by content hash: alike in all cells of Table 7; null: all"
    )
    baseline_rows: int = fixed(
        20_000,
        description="ours: training replies of each source that the baselines `random` and `retrieval` "
        "choose from, by content hash",
    )
    true_replies: int = fixed(
        200,
        description="ours: true replies of each intent that the classifier reads: the ceiling",
    )
    batch_size: int = speed(16, ge=1, description="replies that are written at once; times beams, rows of the network")


class ReplySettings(Section):
    rows: ReplyRows = ReplyRows()
    tokens: ReplyTokens = ReplyTokens()
    network: ReplyNetwork = ReplyNetwork()
    decoding: ReplyDecoding = ReplyDecoding()
    evaluation: ReplyEvaluation = ReplyEvaluation()


class ReplyTraining(TrainingOptions):
    """Training of one generator, until the validation loss stops falling (EDOS 5, E)."""

    name: str = Field("edos-reply-pretrained", description="in the MLflow registry")
    epochs: int = Field(50, ge=1, description="Table 10; at most")
    patience: int | None = Field(
        2, ge=1, description="ours: stop after this many epochs without a lower loss; null: never"
    )
    learning_rate: float = Field(5e-5, gt=0, description="EDOS E")
    decay: Literal["linear", "none"] = Field(
        "none", description="how the rate falls after the warm-up: to 0, or not at all"
    )
    warmup_steps: int = Field(0, ge=0, description="updates over which the rate rises from 0")
    batch_size: int = Field(64, ge=1, description="rows per step on one device")
    effective_batch: int = Field(512, ge=1, description="EDOS E: rows per update, by accumulation")
    validation_rows: int | None = Field(
        None,
        ge=1,
        description="validation rows, and as many test rows, by content hash; null: all (replies.evaluation.examples "
        "limits the evaluation)",
    )


class EdosReplyTraining(ReplyTraining):
    name: str = "edos-reply-edos"
    epochs: int = Field(20, ge=1, description="Table 10: the fifth was the best")


class EmpatheticReplyTraining(ReplyTraining):
    name: str = "edos-reply-empathetic"
    epochs: int = Field(20, ge=1, description="Table 10: the ninth was the best")


class CausalReplyTraining(ReplyTraining):
    """Beyond the paper: a pre-trained causal language model tuned on EDOS and EmpatheticDialogues."""

    name: str = "edos-reply-causal"
    epochs: int = Field(3, ge=1)
    patience: int | None = Field(1, ge=1, description="stop after this many epochs without a lower loss; null: never")
    learning_rate: float = Field(5e-5, gt=0)
    decay: Literal["linear", "none"] = "linear"
    batch_size: int = Field(16, ge=1, description="rows per step on one device")
    effective_batch: int = Field(64, ge=1, description="rows per update, by accumulation")


class SteeredReplyTraining(ReplyTraining):
    """Beyond the paper, its future work: a generator conditioned on the reply's intent (EDOS 6)."""

    name: str = "edos-reply-steered"
    epochs: int = Field(20, ge=1)
    unasked_share: float = Field(
        0.1, ge=0, lt=1, description="share of the rows, by content hash, learned without intent"
    )
