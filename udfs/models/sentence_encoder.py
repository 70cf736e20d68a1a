"""Sentence-BERT: a turn's embedding, the same whatever texts it is embedded with (EDOS 3.3)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from conf.errors import InputError
from udfs.models.batches import Encoded, answers_alike, collate

Vectors = NDArray[np.float32]


class SentenceEncoder(nn.Module):
    """A sentence-transformers model: its tokenizer, encoder, pooling and, where it has one, normalisation.

    The library reads the model and computes it. The batches are ours, each of one width, so that no embedding
    depends on its neighbours' lengths.
    """

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network
        self.max_tokens = int(network.max_seq_length or 128)

    @classmethod
    def load(cls, folder: str | Path) -> "SentenceEncoder":
        """Read a model's folder: safetensors only, no code from it, in fp32.

        A folder without sentence-transformers' own files is an encoder, pooled by the mean.

        Raises:
            InputError: `folder` holds no safetensors, or not a model that the library knows.
        """
        folder = Path(folder)
        if not any(folder.rglob("*.safetensors")):
            raise InputError(f"{folder}: no .safetensors weights: only safetensors are read")
        from sentence_transformers import SentenceTransformer

        from udfs.models.classifiers.classifier import quiet

        try:
            with quiet():
                network = SentenceTransformer(
                    str(folder),
                    device="cpu",
                    local_files_only=True,
                    trust_remote_code=False,
                    model_kwargs={"use_safetensors": True},
                )
        except (OSError, ValueError, KeyError, TypeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"{folder}: sentence-transformers cannot read it ({reason})") from None
        return cls(network.float().eval())

    @torch.inference_mode()
    def embed(self, texts: Sequence[str], batch_size: int) -> Vectors:
        """One row a text, as the model gives it: of length 1 only where the model normalises."""
        if not texts:
            return np.empty((0, 0), dtype=np.float32)
        ids = self.network.tokenizer(list(texts), truncation=True, max_length=self.max_tokens)["input_ids"]
        rows = [Encoded(tuple(row), (1.0,) * len(row)) for row in ids]
        return torch.stack(answers_alike(rows, batch_size, self.max_tokens, self._vectors)).numpy()

    def _vectors(self, rows: Sequence[Encoded], width: int) -> list[Tensor]:
        device = next(self.network.parameters()).device
        batch = collate(rows, int(self.network.tokenizer.pad_token_id), width).to(device)
        answer = self.network({"input_ids": batch.ids, "attention_mask": batch.mask})
        return list(answer["sentence_embedding"].float().cpu())
