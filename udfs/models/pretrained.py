"""Models of the transformers library from a folder: safetensors or one GGUF file, no code from it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import nn

from conf.errors import InputError, message_line

POOLER = ("pooler.",)
"""Weights that many encoders lack, and that no classifier, embedding or generator here uses."""
_DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, SafetensorError)
LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
"""Arguments of every ``from_pretrained``."""


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress transformers' progress bars and its notes on unused weights."""
    from transformers.utils import logging

    bars = logging.is_progress_bar_enabled()
    level = logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def reading(folder: Path, *more: type[Exception], what: str = "it", library: str = "transformers") -> Iterator[None]:
    """Suppress the library's output, and raise an InputError where it cannot read a folder.

    Args:
        more: exceptions to convert besides those of damaged files.
    """
    errors: tuple[type[Exception], ...] = (*_DAMAGED, *more)
    try:
        with quiet():
            yield
    except InputError:
        raise
    except errors as error:
        raise InputError(f"{folder}: {library} cannot read {what} ({message_line(error)})") from None


def complete(kind: Any, folder: str | Path, may_lack: Sequence[str] = (), **options: Any) -> Any:
    """Return ``kind.from_pretrained`` of a folder; the library would fill what its file lacks with random numbers.

    Args:
        may_lack: starts of the names of weights that nothing uses, or that are about to be trained.
        options: of ``from_pretrained``, besides `LOCAL`.

    Raises:
        InputError: weights are missing, have another shape, or are no numbers.
    """
    told = {"output_loading_info": True, "ignore_mismatched_sizes": True}  # a mismatch is told, with the names
    network, found = kind.from_pretrained(str(folder), **{**LOCAL, **told, **options})
    require_complete(folder, found, may_lack)
    require_numbers(folder, network)
    return network


def require_numbers(folder: str | Path, network: nn.Module) -> None:
    """Raise an InputError where weights are NaN or infinite, or a quarter of the matrices are zeros: a copy's hole."""
    weights = [(name, one.detach()) for name, one in network.named_parameters() if one.is_floating_point()]
    ranges = {name: (one.dim(), *one.aminmax()) for name, one in weights if one.numel() and not one.is_meta}
    odd = [name for name, (_, least, most) in ranges.items() if not (least.isfinite() and most.isfinite())]
    matrices = {name: bool(least == most == 0) for name, (size, least, most) in ranges.items() if size > 1}
    zeros = [name for name, is_zero in matrices.items() if is_zero]
    fault = f"no numbers in {len(odd)} weights ({_some(odd)})" if odd else ""
    if not odd and 4 * len(zeros) > len(matrices):
        fault = f"only zeros in {len(zeros)} weights ({_some(zeros)})"
    if fault:
        raise InputError(f"{folder}: {fault}: copy or train the model again")


def require_words(folder: str | Path, tokenizer: Any, network: Any) -> None:
    """Raise an InputError where a tokenizer has more words than the network knows, or less than half of them.

    Without its files transformers makes one of some five words, and answers would be by chance.
    """
    known = getattr(network.get_input_embeddings(), "num_embeddings", None)
    if known is not None and (tokenizer.vocab_size > known or 2 * len(tokenizer) < known):
        raise InputError(
            f"{folder}: the tokenizer has {len(tokenizer):,} words, and the weights are for {known:,}: copy "
            "tokenizer.json, or the tokenizer's other files, again"
        )


def require_complete(folder: str | Path, found: Mapping[str, Any], may_lack: Sequence[str] = ()) -> None:
    """Raise an InputError where transformers' ``output_loading_info`` has weights that are missing or misshaped."""
    missing = sorted(str(name) for name in found.get("missing_keys", ()) if not str(name).startswith(tuple(may_lack)))
    shapes = [name if isinstance(name, str) else str(name[0]) for name in found.get("mismatched_keys", ())]
    faults = [f"{len(missing)} missing ({_some(missing)})"] if missing else []
    faults += [f"{len(shapes)} of another shape ({_some(sorted(shapes))})"] if shapes else []
    if not faults:
        return
    unexpected = sorted(map(str, found.get("unexpected_keys", ())))
    faults += [f"{len(unexpected)} unexpected ({_some(unexpected)})"] if unexpected else []
    raise InputError(f"{folder}: weights do not fit config.json: {', '.join(faults)}: copy or train the model again")


def _some(names: Sequence[str]) -> str:
    return ", ".join(name[:100] for name in names[:3]) + (", ..." if len(names) > 3 else "")


def require_safetensors(folder: Path, pattern: str = "*.safetensors") -> None:
    """Raise an InputError where a folder has no safetensors."""
    if not any(folder.glob(pattern)):
        raise InputError(f"{folder}: no .safetensors weights: only safetensors are read")


def layers_below_top(encoder: nn.Module) -> dict[str, int]:
    """Return how many layers each parameter of an encoder is below its top layer, by the parameter's name.

    The layers are the first list of ``num_hidden_layers`` modules, whatever the architecture calls it: ``layer`` in
    BERT, ``layers`` in ModernBERT. Parameters before the list, such as embeddings, are below the first layer. Those
    after it, such as a final norm, count with the top layer.

    Raises:
        InputError: the encoder has no such list; ALBERT's layers, for one, share their weights.
    """
    depth = int(getattr(encoder.config, "num_hidden_layers", 0))
    lists = (name for name, part in encoder.named_modules() if isinstance(part, nn.ModuleList) and len(part) == depth)
    found = next(lists, None)
    if found is None or depth == 0:
        raise InputError(f"layer_decay: {type(encoder).__name__} has no list of {depth} layers: set layer_decay to 1")
    below = dict[str, int]()
    passed = False
    for name, _ in encoder.named_parameters():
        inside = name.startswith(f"{found}.")
        passed = passed or inside
        number = int(name.removeprefix(f"{found}.").split(".", 1)[0]) if inside else depth - 1 if passed else -1
        below[name] = depth - 1 - number
    return below


def causal_model(folder: str | Path, dtype: torch.dtype) -> tuple[Any, Any]:
    """Return a folder's causal language model, in evaluation mode, and its tokenizer.

    Args:
        folder: with safetensors, or with one GGUF file, whose weights are dequantized.

    Raises:
        InputError: the folder has no such weights, or transformers does not know the model.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = Path(folder)
    packed = sorted(folder.glob("*.gguf"))
    safetensors = any(folder.glob("*.safetensors"))
    if not safetensors and len(packed) != 1:
        raise InputError(f"{folder}: neither .safetensors weights nor one .gguf file")
    options = LOCAL if safetensors else {**LOCAL, "gguf_file": packed[0].name}
    # Dequantizing draws a progress bar.
    with reading(folder, TypeError, ImportError), redirect_stderr(StringIO()):
        tokenizer = AutoTokenizer.from_pretrained(str(folder), **options)
        network = complete(
            AutoModelForCausalLM, folder, torch_dtype=dtype, use_safetensors=True if safetensors else None, **options
        )
        require_words(folder, tokenizer, network)
    return network.eval(), tokenizer


def unpacked(network: Any) -> Any:
    """Return a network that can be trained and saved: transformers marks one read from GGUF as quantized."""
    config = network.config
    if getattr(config, "quantization_config", None) is None:
        return network
    del config.quantization_config
    plain = type(network)(config).to(network.dtype)
    plain.load_state_dict(network.state_dict())
    plain.tie_weights()
    plain.generation_config = network.generation_config
    return plain.eval()
