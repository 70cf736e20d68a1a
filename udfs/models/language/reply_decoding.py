"""Decoding of replies: beam search without repeated n-grams, greedy search or sampling (EDOS 5, E)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import GenerationConfig

from etl.replies.settings import ReplyDecoding
from udfs.models.batches import answers_alike
from udfs.models.language.reply_generator import ReplyGenerator, ReplyPrompt
from udfs.models.language.row_sampling import RowSampling


class Written(NamedTuple):
    """A reply as text, and as token ids including the end token."""

    text: str
    ids: list[int]

    @property
    def tokens(self) -> int:
        return len(self.ids)


def write_replies(
    model: ReplyGenerator,
    contexts: Sequence[Sequence[str]],
    intents: Sequence[str | None],
    decoding: ReplyDecoding,
    batch_size: int,
    seeds: Sequence[int] = (),
) -> list[Written]:
    """Return a reply to each history, oldest turn first; it does not depend on the other histories.

    Args:
        intents: of the replies, None for any.
        batch_size: histories in one batch; the network computes this number of rows times the number of beams.

    Raises:
        InputError: a history without a turn, or an unknown intent.
    """
    histories = model.tokenizer.contexts(contexts, model.max_tokens)
    starts = [model.tokenizer.start_of(intent) for intent in intents]
    questions = [ReplyPrompt(*one) for one in zip(histories, starts, seeds or [0] * len(histories), strict=True)]

    def answer(part: Sequence[ReplyPrompt], width: int) -> Tensor:
        written = _written(model, part, width, decoding)
        return nn.functional.pad(written, (0, model.max_tokens - written.shape[1]), value=model.tokenizer.pad)

    if not questions:
        return []
    found = answers_alike(questions, batch_size, model.max_tokens, answer).tolist()
    end = model.tokenizer.end
    pad = model.tokenizer.pad
    lengths = [ids.index(end) + 1 if end in ids else len(ids) - ids.count(pad) for ids in found]
    replies = [ids[:length] for ids, length in zip(found, lengths, strict=True)]
    return [Written(model.tokenizer.text(ids), ids) for ids in replies]


@torch.inference_mode()
def _written(model: ReplyGenerator, questions: Sequence[ReplyPrompt], width: int, decoding: ReplyDecoding) -> Tensor:
    tokens = model.tokenizer
    sampled = decoding.method == "top_p"
    beams: dict[str, Any] = {}
    if decoding.method == "beam":
        beams = {"num_beams": decoding.beams, "length_penalty": decoding.length_penalty, "early_stopping": True}
    config = GenerationConfig(
        do_sample=False,
        max_new_tokens=min(decoding.max_new_tokens, model.max_tokens - 1),
        suppress_tokens=tokens.unwritten,
        pad_token_id=tokens.pad,
        eos_token_id=tokens.end,
        **beams,
    )
    rules = [RowSampling([row.seed for row in questions], decoding.temperature, decoding.top_p)] if sampled else []
    return model.written(questions, width, config, decoding.blocked_ngrams, rules)
