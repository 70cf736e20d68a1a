"""Sentence-BERT embeddings of turns, which do not depend on the other texts of the batch (EDOS 3.3)."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from torch import Tensor, nn

from conf.errors import InputError
from udfs.json_texts import parsed_json
from udfs.models.batches import Encoded, answers_alike, collate, unweighted
from udfs.models.pretrained import LOCAL, POOLER, complete, reading, require_numbers, require_safetensors, require_words

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
        transformer = _require_safe_modules(folder)
        from sentence_transformers import SentenceTransformer

        with reading(folder, TypeError, library="sentence-transformers"):
            network = SentenceTransformer(str(folder), device="cpu", model_kwargs={"use_safetensors": True}, **LOCAL)
        _require_weights(transformer, network[0])
        if (encoder := getattr(network[0], "auto_model", None)) is not None:
            require_numbers(folder, encoder)
            require_words(folder, network.tokenizer, encoder)
        return cls(network.float().eval())

    @torch.inference_mode()
    def embed(self, texts: Sequence[str], batch_size: int) -> Vectors:
        """Return one row a text; rows have length 1 only where the model normalises."""
        if not texts:
            return np.empty((0, 0), dtype=np.float32)
        ids = self.network.tokenizer(list(texts), truncation=True, max_length=self.max_tokens)["input_ids"]
        return answers_alike(unweighted(ids), batch_size, self.max_tokens, self._vectors).numpy()

    def _vectors(self, rows: Sequence[Encoded], width: int) -> Tensor:
        device = next(self.network.parameters()).device
        batch = collate(rows, int(self.network.tokenizer.pad_token_id), width).to(device)
        answer = self.network({"input_ids": batch.ids, "attention_mask": batch.mask})
        return answer["sentence_embedding"].float()


MODULES = ("Transformer", "Pooling", "Normalize", "Dense", "Dropout", "LayerNorm", "WeightedLayerPooling")
"""The library's modules that a model may have. Others read pickles, or name further classes in their own files."""
_MODULE = re.compile(rf"sentence_transformers(?:\.[a-z_]+)*\.(?P<name>{'|'.join(MODULES)})")
_ACTIVATION = re.compile(r"torch\.nn\.(?:modules\.(?:activation|linear)\.)?[A-Z]\w*")
_CONFIGURATION = re.compile(r"config\.json|sentence_\w+_config\.json|config_\w+\.json")


def _require_safe_modules(folder: Path) -> Path:
    """Return the folder of the module with the encoder.

    The library would import any class that ``modules.json`` names, and read ``pytorch_model.bin``, which is a pickle
    and no part of the model's identity.

    Raises:
        InputError: a module is not one of `MODULES`, is outside the folder, or has weights that are no safetensors.
    """
    _require_no_code(folder)
    listed = folder / "modules.json"
    if not listed.is_file():
        return folder
    try:
        modules = [(str(module["path"]), str(module["type"])) for module in parsed_json(listed.read_text("utf-8"))]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{listed}: no list of modules with a path and a type ({type(error).__name__})") from None
    transformer = folder
    for name, kind in modules:
        found = _MODULE.fullmatch(kind)
        if found is None:
            raise InputError(
                f"{listed}: module {kind[:100]!r} is not one of sentence-transformers' {', '.join(MODULES)}: no other "
                "code of a model is run"
            )
        place = (folder / name).resolve()
        if found["name"] == "Transformer":
            transformer = place
        _require_no_code(place)
        if not place.is_relative_to(folder.resolve()):
            raise InputError(f"{listed}: module {name!r} is outside the model's folder")
        if name and (place / "pytorch_model.bin").is_file() and not (place / "model.safetensors").is_file():
            raise InputError(
                f"{folder}: {name}/pytorch_model.bin may hold code, and only safetensors are read: save the model "
                "again with a present version of sentence-transformers"
            )
    return transformer


def _require_no_code(folder: Path) -> None:
    """Raise an InputError where a module's configuration names code: of a hub, or as an activation."""
    for file in (one for one in sorted(folder.glob("*.json")) if _CONFIGURATION.fullmatch(one.name)):
        try:
            config = parsed_json(file.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{file}: no JSON ({type(error).__name__}): copy the model again") from None
        if not isinstance(config, dict):
            continue
        arguments = [value for key, value in config.items() if key.endswith(("_args", "_kwargs"))]
        if any("trust_remote_code" in value for value in [config, *arguments] if isinstance(value, dict)):
            raise InputError(f"{file}: trust_remote_code asks for code from a hub, which is never run")
        named = config.get("activation_function")
        if "in_features" in config and named is not None and not _ACTIVATION.fullmatch(str(named)):
            raise InputError(f"{file}: activation {str(named)[:100]!r} is not one of torch.nn")


def _require_weights(folder: Path, module: Any) -> None:
    """Raise an InputError where the encoder's file lacks weights, which the library fills with random numbers.

    A comparison of names is quick; where names differ, as of other heads or older versions, transformers decides.
    """
    network = getattr(module, "auto_model", None)
    if network is None or not hasattr(network, "base_model_prefix"):
        return
    stored: set[str] = set()
    for file in folder.glob("*.safetensors"):
        with safe_open(file, "pt") as content:
            stored |= set(content.keys())
    wanted = (name for name, _ in network.named_parameters() if not name.startswith(POOLER))
    prefix = network.base_model_prefix
    if all(name in stored or f"{prefix}.{name}" in stored for name in wanted):
        return
    with reading(folder):
        complete(type(network), folder, POOLER, use_safetensors=True)
