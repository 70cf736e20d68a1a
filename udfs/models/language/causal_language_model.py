"""A causal language model for tuning on conversations; only marked parts of a text count in the loss."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import torch
from torch import Tensor, nn
from torch.nn import functional

from conf.errors import InputError
from udfs.models.batches import padded, row_mask
from udfs.models.language.language_model import LanguageModel, network_state
from udfs.models.pretrained import causal_model, quiet, unpacked

Piece = tuple[str, bool]
"""A part of a text, and whether its tokens count in the loss."""


class TokenRow(NamedTuple):
    """A text as token ids, and which of them count in the loss."""

    ids: tuple[int, ...]
    learned: tuple[bool, ...]


class CausalLanguageModel(LanguageModel):
    """A transformers decoder with its tokenizer; `LocalGenerator` reads the folder that it is saved to.

    Texts are encoded without a chat template, and markers in them are not special tokens.
    """

    kind = "causal_language_model"
    row = TokenRow
    schema = pa.schema([("ids", pa.list_(pa.int32())), ("learned", pa.list_(pa.bool_()))])
    sharded = True

    def __init__(self, network: Any, tokenizer: Any, max_tokens: int = 1500) -> None:
        super().__init__()
        self.network = network
        self.tokenizer = tokenizer
        self.max_tokens = max_tokens
        self._stored: tuple[Path, dict[str, Any]] | None = None
        if tokenizer.eos_token_id is None:
            raise InputError("the model's tokenizer has no end-of-text token")
        if not tokenizer.is_fast:
            raise InputError("the model's tokenizer gives no token offsets: one with tokenizer.json is needed")

    @classmethod
    def load(
        cls, folder: str | Path, max_tokens: int = 1500, gradient_checkpointing: bool = False
    ) -> "CausalLanguageModel":
        """Read a folder of safetensors or GGUF in fp32.

        Args:
            max_tokens: longer rows are truncated at the end.
            gradient_checkpointing: compute activations twice instead of storing them (AugESC 4.1).

        Raises:
            InputError: the folder has no such model.
        """
        network, tokenizer = causal_model(folder, torch.float32)
        network = unpacked(network)
        if gradient_checkpointing:
            network.gradient_checkpointing_enable({"use_reentrant": False})
        model = cls(network, tokenizer, max_tokens)
        options = {"max_tokens": max_tokens, "gradient_checkpointing": gradient_checkpointing}
        model._stored = Path(folder).resolve(), options
        return model

    def stored(self) -> tuple[Path, dict[str, Any]] | None:
        return self._stored

    def encode(self, texts: Sequence[Sequence[Piece]]) -> list[TokenRow]:
        """Return each text as a row of at most `max_tokens`; the end token is learned if the last piece is."""
        return [self._row(pieces) for pieces in texts]

    def _row(self, pieces: Sequence[Piece]) -> TokenRow:
        text = "".join(text for text, _ in pieces)
        tokens = self.tokenizer(text, return_offsets_mapping=True, split_special_tokens=True)
        learned_at = [learned for text, learned in pieces for _ in text]
        learned = [begin < end and learned_at[begin] for begin, end in tokens["offset_mapping"]]
        ids = [*tokens["input_ids"], self.tokenizer.eos_token_id]
        learned.append(bool(pieces) and pieces[-1][1])
        return TokenRow(tuple(ids[: self.max_tokens]), tuple(learned[: self.max_tokens]))

    def is_cut(self, row: TokenRow) -> bool:
        """Return whether a row's text was truncated to `max_tokens`."""
        return row.ids[-1] != self.tokenizer.eos_token_id

    def counted(self, rows: Sequence[TokenRow]) -> int:
        return sum(sum(row.learned[1:]) for row in rows)  # a first token is not predicted

    def forward(self, rows: Sequence[TokenRow], label_smoothing: float = 0.0) -> Tensor:
        device = next(self.network.parameters()).device
        ids = padded([row.ids for row in rows], self.tokenizer.eos_token_id).to(device)
        mask = row_mask(rows).to(device)
        learned = padded([row.learned for row in rows], dtype=torch.bool).to(device)[:, 1:]
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
