"""Language models of the transformers library from a folder: safetensors or one GGUF file, no code from it."""

from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import torch

from conf.errors import InputError
from udfs.models.classifiers.classifier import quiet


def causal_model(folder: str | Path, kind: torch.dtype) -> tuple[Any, Any]:
    """A folder's causal language model, in evaluation mode, and its tokenizer.

    Args:
        folder: with safetensors, or one GGUF file, whose weights are unpacked.
        kind: of the weights.

    Raises:
        InputError: there are no such weights, or the library does not know the model.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = Path(folder)
    packed = sorted(folder.glob("*.gguf"))
    if not any(folder.glob("*.safetensors")) and len(packed) != 1:
        raise InputError(f"{folder}: neither .safetensors weights nor one .gguf file")
    source = {} if any(folder.glob("*.safetensors")) else {"gguf_file": packed[0].name}
    own: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False, **source}
    try:
        with quiet(), redirect_stderr(StringIO()):  # unpacking draws a bar
            tokenizer = AutoTokenizer.from_pretrained(str(folder), **own)
            network = AutoModelForCausalLM.from_pretrained(
                str(folder), torch_dtype=kind, use_safetensors=True if not source else None, **own
            )
    except (OSError, ValueError, KeyError, TypeError, ImportError) as error:
        raise InputError(f"{folder}: transformers cannot read it ({' '.join(str(error).split())[:200]})") from None
    return network.eval(), tokenizer


def unpacked(network: Any) -> Any:
    """The same network as one that can be trained and saved: what was read from GGUF is marked as quantized."""
    if getattr(network.config, "quantization_config", None) is None:
        return network
    config = network.config
    del config.quantization_config
    plain = type(network)(config).to(network.dtype)
    plain.load_state_dict(network.state_dict())
    plain.tie_weights()
    plain.generation_config = network.generation_config
    return plain.eval()
