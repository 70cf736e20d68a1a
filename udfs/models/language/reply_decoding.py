"""How a generator's reply is found: beams without repeated n-grams, the likeliest token, or chance (EDOS 5, E)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import GenerationConfig, LogitsProcessorList

from conf.reply_settings import ReplyDecoding
from udfs.models.batches import answers_alike
from udfs.models.language.reply_generator import ReplyGenerator, padded
from udfs.models.language.row_sampling import RowSampling


class Question(NamedTuple):
    """A history that is to be replied to.

    Attributes:
        ids: of the history.
        start: the token that the reply begins from.
        seed: of a reply by chance.
    """

    ids: tuple[int, ...]
    start: int
    seed: int


class Written(NamedTuple):
    """A reply, and how many tokens it took, its end among them."""

    text: str
    tokens: int


def write_replies(
    model: ReplyGenerator,
    contexts: Sequence[Sequence[str]],
    intents: Sequence[str | None],
    decoding: ReplyDecoding,
    batch_size: int,
    seeds: Sequence[int] = (),
) -> list[Written]:
    """A reply to each history, oldest turn first; it does not depend on the other histories.

    Args:
        intents: of the replies, None for any.
        batch_size: histories at once; the network sees as many rows as that times the beams.
        seeds: of replies by chance.

    Raises:
        InputError: a history without a turn, or an intent that is not known.
    """
    found = reply_ids(model, contexts, intents, decoding, batch_size, seeds)
    return [Written(model.tokenizer.text(ids), len(ids)) for ids in found]


def reply_ids(
    model: ReplyGenerator,
    contexts: Sequence[Sequence[str]],
    intents: Sequence[str | None],
    decoding: ReplyDecoding,
    batch_size: int,
    seeds: Sequence[int] = (),
) -> list[list[int]]:
    """The tokens of each reply, its end among them, as `write_replies` asks for them."""
    read = model.tokenizer.contexts(contexts, model.max_tokens)
    starts = [model.tokenizer.start_of(intent) for intent in intents]
    asked = [Question(*one) for one in zip(read, starts, seeds or [0] * len(read), strict=True)]

    def answer(part: Sequence[Question], width: int) -> list[Tensor]:
        return list(_written(model, part, width, decoding)[:, 1:].cpu())

    found = [ids.tolist() for ids in answers_alike(asked, batch_size, model.max_tokens, answer)]
    end, pad = model.tokenizer.end, model.tokenizer.pad
    lengths = [ids.index(end) + 1 if end in ids else len(ids) - ids.count(pad) for ids in found]
    return [ids[:n] for ids, n in zip(found, lengths, strict=True)]


@torch.inference_mode()
def _written(model: ReplyGenerator, asked: Sequence[Question], width: int, decoding: ReplyDecoding) -> Tensor:
    tokens, network = model.tokenizer, model.network
    device = network.model.shared.weight.device
    context = padded([row.ids for row in asked], tokens.pad, width).to(device)
    beams: dict[str, Any] = {}
    if decoding.method == "beam":
        beams = {"num_beams": decoding.beams, "length_penalty": decoding.length_penalty, "early_stopping": True}
    config = GenerationConfig(
        do_sample=False, max_new_tokens=min(decoding.max_new_tokens, model.max_tokens - 1),
        no_repeat_ngram_size=decoding.blocked_ngrams, suppress_tokens=tokens.unwritten,
        decoder_start_token_id=[row.start for row in asked], pad_token_id=tokens.pad, eos_token_id=tokens.end, **beams,
    )  # fmt: skip
    chance = LogitsProcessorList()
    if decoding.method == "top_p":
        chance.append(RowSampling([row.seed for row in asked], decoding.temperature, decoding.top_p))
    out = network.generate(  # type: ignore[misc]
        input_ids=context, attention_mask=(context != tokens.pad).long(), generation_config=config,
        logits_processor=chance,
    )  # fmt: skip
    assert isinstance(out, Tensor)
    return out
