"""Sentence-BERT embeddings of turns, which do not depend on the other texts of the batch (EDOS 3.3)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from conf.errors import InputError
from udfs.json_texts import parsed_json
from udfs.models.batches import Encoded, answers_alike, collate, unweighted
from udfs.models.pretrained import LOCAL, reading, require_safetensors

Vectors = NDArray[np.float32]


class SentenceEncoder(nn.Module):
    """A sentence-transformers model: its tokenizer, encoder, pooling and, where it has one, normalisation.

    All rows of a batch have one width, so that no embedding depends on the lengths of other texts.
    """

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network
        self.max_tokens = int(network.max_seq_length or 128)

    @classmethod
    def load(cls, folder: str | Path) -> "SentenceEncoder":
        """Read a model's folder in fp32: safetensors only, and no code.

        A folder without the files of sentence-transformers is read as an encoder with mean pooling.

        Raises:
            InputError: `folder` or a module in it holds no safetensors, or not a model that the library knows.
        """
        folder = Path(folder)
        require_safetensors(folder, "**/*.safetensors")
        _require_safe_modules(folder)
        from sentence_transformers import SentenceTransformer

        with reading(folder, TypeError, library="sentence-transformers"):
            network = SentenceTransformer(str(folder), device="cpu", model_kwargs={"use_safetensors": True}, **LOCAL)
        return cls(network.float().eval())

    @torch.inference_mode()
    def embed(self, texts: Sequence[str], batch_size: int) -> Vectors:
        """Return one row a text; rows have length 1 only where the model normalises."""
        if not texts:
            return np.empty((0, 0), dtype=np.float32)
        ids = self.network.tokenizer(list(texts), truncation=True, max_length=self.max_tokens)["input_ids"]
        return torch.stack(answers_alike(unweighted(ids), batch_size, self.max_tokens, self._vectors)).numpy()

    def _vectors(self, rows: Sequence[Encoded], width: int) -> list[Tensor]:
        device = next(self.network.parameters()).device
        batch = collate(rows, int(self.network.tokenizer.pad_token_id), width).to(device)
        answer = self.network({"input_ids": batch.ids, "attention_mask": batch.mask})
        return list(answer["sentence_embedding"].float().cpu())


def _require_safe_modules(folder: Path) -> None:
    """Raise an InputError where a module, such as ``2_Dense``, has weights that are no safetensors.

    The library would read ``pytorch_model.bin`` there, which is a pickle and no part of the model's identity.
    """
    listed = folder / "modules.json"
    if not listed.is_file():
        return
    try:
        modules = [str(module["path"]) for module in parsed_json(listed.read_text("utf-8"))]
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{listed}: no list of modules with a path ({type(error).__name__})") from None
    for name in modules:
        place = (folder / name).resolve()
        if not place.is_relative_to(folder.resolve()):
            raise InputError(f"{listed}: module {name!r} is outside the model's folder")
        if name and (place / "pytorch_model.bin").is_file() and not (place / "model.safetensors").is_file():
            raise InputError(
                f"{folder}: {name}/pytorch_model.bin may hold code, and only safetensors are read: save the model "
                "again with a present version of sentence-transformers"
            )
