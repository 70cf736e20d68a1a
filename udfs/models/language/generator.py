"""Answers to prompts in batches, by a language model of the transformers library: safetensors or GGUF."""

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from conf.errors import InputError
from conf.llm_settings import DecodingSettings
from udfs.devices import chosen_precision, task_device, with_back_off
from udfs.llm_requests import Answer, Request, answered_in_halves, seed_of
from udfs.models.batches import ROW_STEP, batches_of_equal_width
from udfs.models.language.row_sampling import RowPenalty, RowSampling, RowStops
from udfs.models.language.shrinking_batch import BatchRules, RowRule, write_rows
from udfs.models.pretrained import causal_model

WIDTH_STEP = 64
"""Prompts are padded to a multiple of it, whatever the other rows' lengths are."""

# Markers between the parts of a chat, such as <s>, <|im_end|> and [/INST].
_MARK = re.compile(r"<\|?[^\s<>]{1,40}>|\[/?[A-Z_]{1,20}\]")


class LocalGenerator(nn.Module):
    """A causal language model with its tokenizer.

    A row's answer depends on its prompt, parameters and sample, not on the other rows: only rows of one width share
    a batch, batch sizes are multiples of eight, and each row has a random stream. In fp32 on one kind of machine
    answers are the same to the token. In bf16 or fp16, or with other kernels, two nearly equal tokens may be swapped;
    answers are stored, so each prompt is answered only once.
    """

    def __init__(self, network: Any, tokenizer: Any, batch_size: int = 8) -> None:
        super().__init__()
        self.network = network
        self.tokenizer = tokenizer
        self.batch_size = batch_size
        tokenizer.padding_side = "left"
        self._ends = _ends(network, tokenizer)
        self._pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else self._ends[0]
        self._marks = _marks(tokenizer)
        positions = getattr(network.config, "max_position_embeddings", None)
        self.window = int(positions) if positions else 1 << 30

    @classmethod
    def load(cls, folder: str | Path, batch_size: int = 8, precision: str = "auto") -> "LocalGenerator":
        """Read a folder's model from one GGUF file or safetensors, without code.

        Raises:
            InputError: the folder has no such weights, or transformers does not know the model.
        """
        network, tokenizer = causal_model(folder, chosen_precision(precision, task_device()).dtype)
        return cls(network, tokenizer, batch_size)

    def answers(self, requests: Sequence[Request], decoding: DecodingSettings) -> list[Answer]:
        """Return one answer a request, in order; rows of one width are computed together, the longest first.

        Raises:
            InputError: the decoding has a grammar or a form.
        """
        for name in ("grammar", "response_format"):
            if getattr(decoding, name) is not None:
                raise InputError(
                    f"transformers follow no {name}: leave {name} out, or name the model gguf:... (llama.cpp)"
                )
        rows = [self._row(request, decoding) for request in requests]
        errors = [self._misfit(row) for row in rows]
        found = [Answer(None, prompt_tokens=len(row.ids), error=error) for row, error in zip(rows, errors, strict=True)]
        fitting = [place for place, error in enumerate(errors) if error is None]
        widths = [_width(len(rows[place].ids)) for place in fitting]
        for width, indices in batches_of_equal_width(widths, self.batch_size):

            def ask(some: Sequence[_Row], width: int = width) -> list[Answer]:
                return with_back_off(lambda part: self._together(part, width, decoding), some)

            places = [fitting[index] for index in indices]
            for place, answer in zip(places, answered_in_halves(ask, [rows[p] for p in places]), strict=True):
                found[place] = answer
        return found

    def _row(self, request: Request, decoding: DecodingSettings) -> "_Row":
        text = request.prompt
        chat = decoding.chat and bool(self.tokenizer.chat_template)
        if chat:
            # Text from outside must not end the user's message and begin another.
            for mark in self._marks:
                text = text.replace(mark, f"{mark[0]} {mark[1:]}")
            text = _chat(self.tokenizer, text)
        ids = self.tokenizer(text + request.answer_start, add_special_tokens=not chat)["input_ids"]
        most = decoding.max_new_tokens
        if decoding.max_total_tokens is not None:
            most = min(most, decoding.max_total_tokens - len(ids))
        return _Row(request, tuple(ids), most)

    def _misfit(self, row: "_Row") -> str | None:
        """Return why a row cannot be answered, or None."""
        if not row.ids:
            return "no text"
        if row.most < 1:
            return f"the prompt of {len(row.ids)} tokens leaves no room under max_total_tokens"
        if _width(len(row.ids)) + row.most > self.window:
            return f"the prompt of {len(row.ids)} tokens and {row.most} more do not fit into {self.window}"
        return None

    @torch.inference_mode()
    def _together(self, rows: Sequence["_Row"], width: int, decoding: DecodingSettings) -> list[Answer]:
        """Return the answers of rows of one width."""
        began = time.monotonic()
        device = next(self.network.parameters()).device
        ids = torch.full((len(rows), width), self._pad, dtype=torch.int64)
        mask = torch.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, width - len(row.ids) :] = torch.tensor(row.ids)
            mask[place, width - len(row.ids) :] = 1
        out = self._written(ids.to(device), mask.to(device), rows, decoding)
        seconds = (time.monotonic() - began) / len(rows)
        return [self._answer(row, tokens, seconds, decoding) for row, tokens in zip(rows, out, strict=True)]

    def _written(
        self, ids: Tensor, mask: Tensor, rows: Sequence["_Row"], decoding: DecodingSettings
    ) -> list[list[int]]:
        from transformers import GenerationConfig

        rules: list[RowRule] = []
        if decoding.repetition_penalty != 1:
            rules.append(RowPenalty(decoding.repetition_penalty, mask))
        if decoding.temperature > 0:
            seeds = [seed_of(row.request) for row in rows]
            rules.append(RowSampling(seeds, decoding.temperature, decoding.top_p))
        stops = RowStops(decoding.stop, self.tokenizer, ids.shape[1]) if decoding.stop else None
        config = GenerationConfig(
            do_sample=False, eos_token_id=list(self._ends), pad_token_id=self._pad, return_dict_in_generate=True
        )
        # Products of very few rows take another path, so smaller batches are filled up.
        step = min(ROW_STEP, self.batch_size)
        return write_rows(self.network, ids, mask, [row.most for row in rows], BatchRules(rules, stops, config, step))

    def _answer(self, row: "_Row", tokens: list[int], seconds: float, decoding: DecodingSettings) -> Answer:
        tokens = tokens[: row.most]
        end = next((place for place, token in enumerate(tokens) if token in self._ends), None)
        kept = tokens if end is None else tokens[:end]
        text = str(self.tokenizer.decode(kept, skip_special_tokens=True))
        text, stopped = cut_at(text, decoding.stop)
        ended = "stop" if stopped or end is not None else "length"
        return Answer(text, ended, len(row.ids), len(kept), round(seconds, 4))


class _Row(NamedTuple):
    """A request as token ids, and the limit on its answer's tokens."""

    request: Request
    ids: tuple[int, ...]
    most: int


def cut_at(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """Return the text before the first stop text, and whether one was found."""
    places = [text.find(stop) for stop in stops if stop in text]
    return (text[: min(places)], True) if places else (text, False)


def _width(length: int) -> int:
    return -(-length // WIDTH_STEP) * WIDTH_STEP


def _ends(network: Any, tokenizer: Any) -> tuple[int, ...]:
    """Return the tokens that end an answer, the tokenizer's end token first."""
    more = getattr(network.generation_config, "eos_token_id", None)
    named = [tokenizer.eos_token_id, *(more if isinstance(more, list | tuple) else [more])]
    ends = tuple(dict.fromkeys(int(token) for token in named if token is not None))
    if not ends:
        raise InputError("the model has no end-of-text token")
    return ends


def _marks(tokenizer: Any) -> tuple[str, ...]:
    """Return the markers between a chat's parts: special tokens, and those that the template adds to a message."""
    special = [str(token) for token in tokenizer.all_special_tokens]
    if not tokenizer.chat_template:
        return tuple(special)
    return tuple(dict.fromkeys([*special, *_MARK.findall(_chat(tokenizer, "?"))]))


def _chat(tokenizer: Any, text: str) -> str:
    message = [{"role": "user", "content": text}]
    return str(tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True))
