"""Decoding of replies: beam search without repeated n-grams, greedy search or sampling (EDOS 5, E)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import GenerationConfig, LogitsProcessorList

from conf.reply_settings import ReplyDecoding
from udfs.models.batches import answers_alike, padded
from udfs.models.language.reply_generator import ReplyGenerator
from udfs.models.language.row_sampling import RowSampling


class Question(NamedTuple):
    """The token ids of a history to reply to, the token that the reply starts from, and the seed for sampling."""

    ids: tuple[int, ...]
    start: int
    seed: int


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
        seeds: for sampling.

    Raises:
        InputError: a history without a turn, or an unknown intent.
    """
    histories = model.tokenizer.contexts(contexts, model.max_tokens)
    starts = [model.tokenizer.start_of(intent) for intent in intents]
    questions = [Question(*one) for one in zip(histories, starts, seeds or [0] * len(histories), strict=True)]

    def answer(part: Sequence[Question], width: int) -> list[Tensor]:
        return list(_written(model, part, width, decoding)[:, 1:].cpu())

    found = [ids.tolist() for ids in answers_alike(questions, batch_size, model.max_tokens, answer)]
    end, pad = model.tokenizer.end, model.tokenizer.pad
    lengths = [ids.index(end) + 1 if end in ids else len(ids) - ids.count(pad) for ids in found]
    replies = [ids[:length] for ids, length in zip(found, lengths, strict=True)]
    return [Written(model.tokenizer.text(ids), ids) for ids in replies]


@torch.inference_mode()
def _written(model: ReplyGenerator, questions: Sequence[Question], width: int, decoding: ReplyDecoding) -> Tensor:
    tokens, network = model.tokenizer, model.network
    device = network.model.shared.weight.device
    context = padded([row.ids for row in questions], tokens.pad, width).to(device)
    beams: dict[str, Any] = {}
    if decoding.method == "beam":
        beams = {"num_beams": decoding.beams, "length_penalty": decoding.length_penalty, "early_stopping": True}
    config = GenerationConfig(
        do_sample=False, max_new_tokens=min(decoding.max_new_tokens, model.max_tokens - 1),
        no_repeat_ngram_size=decoding.blocked_ngrams, suppress_tokens=tokens.unwritten,
        decoder_start_token_id=[row.start for row in questions], pad_token_id=tokens.pad, eos_token_id=tokens.end,
        **beams,
    )  # fmt: skip
    processors = LogitsProcessorList()
    if decoding.method == "top_p":
        processors.append(RowSampling([row.seed for row in questions], decoding.temperature, decoding.top_p))
    out = network.generate(  # type: ignore[misc]
        input_ids=context, attention_mask=(context != tokens.pad).long(), generation_config=config,
        logits_processor=processors,
    )  # fmt: skip
    assert isinstance(out, Tensor)
    return out
