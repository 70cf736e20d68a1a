"""A causal language model that is tuned on conversations: the loss is of the parts of a text that are to be learned."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import torch
from torch import Tensor, nn
from torch.nn import functional

from conf.errors import InputError
from udfs.models.classifiers.classifier import quiet
from udfs.models.language.language_model import LanguageModel, network_state
from udfs.models.language.pretrained import causal_model, unpacked

Piece = tuple[str, bool]
"""A part of a text, and whether it is learned; the others are only read."""


class TokenRow(NamedTuple):
    """A text as token ids, and which of them the loss is of."""

    ids: tuple[int, ...]
    learned: tuple[bool, ...]


class CausalLanguageModel(LanguageModel):
    """A transformers decoder with its tokenizer; on disk a folder that `LocalGenerator` answers prompts with.

    Texts are read as they are: no chat template, and no mark in them is a special token.
    """

    kind = "causal_language_model"
    row = TokenRow
    schema = pa.schema([("ids", pa.list_(pa.int32())), ("learned", pa.list_(pa.bool_()))])
    sharded = True

    def __init__(self, network: Any, tokenizer: Any, max_tokens: int = 1500) -> None:
        super().__init__()
        self.network, self.tokenizer, self.max_tokens = network, tokenizer, max_tokens
        self._stored: tuple[Path, dict[str, Any]] | None = None
        if tokenizer.eos_token_id is None:
            raise InputError("the model's tokenizer names no token that ends a text")
        if not tokenizer.is_fast:
            raise InputError(
                "the model's tokenizer does not say where its tokens stand: one with tokenizer.json is needed"
            )

    @classmethod
    def load(
        cls, folder: str | Path, max_tokens: int = 1500, gradient_checkpointing: bool = False
    ) -> "CausalLanguageModel":
        """Read a folder of safetensors or GGUF, to tune it or to measure it, in fp32.

        Args:
            max_tokens: a longer row is cut at its end.
            gradient_checkpointing: compute activations twice instead of keeping them (AugESC 4.1).

        Raises:
            InputError: there is no such model.
        """
        network, tokenizer = causal_model(folder, torch.float32)
        network = unpacked(network)
        if gradient_checkpointing:
            network.gradient_checkpointing_enable({"use_reentrant": False})
        model = cls(network, tokenizer, max_tokens)
        told = {"max_tokens": max_tokens, "gradient_checkpointing": gradient_checkpointing}
        model._stored = Path(folder).resolve(), told
        return model

    def stored(self) -> tuple[Path, dict[str, Any]] | None:
        return self._stored

    def encode(self, texts: Sequence[Sequence[Piece]]) -> list[TokenRow]:
        """Each text, given in pieces, as a row of at most `max_tokens`; the end of the text is learned where its last
        piece is."""
        return [self._row(pieces) for pieces in texts]

    def _row(self, pieces: Sequence[Piece]) -> TokenRow:
        told = self.tokenizer(
            "".join(text for text, _ in pieces), return_offsets_mapping=True, split_special_tokens=True
        )
        learned_at = [learned for text, learned in pieces for _ in text]
        learned = [begin < end and learned_at[begin] for begin, end in told["offset_mapping"]]
        ids = [*told["input_ids"], self.tokenizer.eos_token_id]
        learned.append(bool(pieces) and pieces[-1][1])
        return TokenRow(tuple(ids[: self.max_tokens]), tuple(learned[: self.max_tokens]))

    def is_cut(self, row: TokenRow) -> bool:
        """Whether a row's text was longer than `max_tokens`."""
        return row.ids[-1] != self.tokenizer.eos_token_id

    def counted(self, rows: Sequence[TokenRow]) -> int:
        return sum(sum(row.learned[1:]) for row in rows)  # nothing foretells a first token

    def forward(self, rows: Sequence[TokenRow], label_smoothing: float = 0.0) -> Tensor:
        width = max(self.lengths(rows))
        ids = torch.full((len(rows), width), self.tokenizer.eos_token_id, dtype=torch.int64)
        mask, learned = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
        for place, row in enumerate(rows):
            ids[place, : len(row.ids)] = torch.tensor(row.ids)
            mask[place, : len(row.ids)] = 1
            learned[place, : len(row.ids)] = torch.tensor(row.learned)
        device = next(self.network.parameters()).device
        ids, mask, learned = ids.to(device), mask.to(device), learned.to(device)[:, 1:]
        logits = self.network(input_ids=ids, attention_mask=mask, use_cache=False).logits[:, :-1]
        return functional.cross_entropy(
            logits[learned].float(), ids[:, 1:][learned], reduction="sum", label_smoothing=label_smoothing
        )

    def blocks(self) -> list[nn.Module]:
        names = set(self.network._no_split_modules or ())
        return [module for module in self.network.modules() if type(module).__name__ in names]

    def save(self, folder: Path, weights: Mapping[str, Tensor] | None = None) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        with quiet():
            self.network.save_pretrained(folder, state_dict=network_state(weights))
        self.tokenizer.save_pretrained(folder)
        return folder
