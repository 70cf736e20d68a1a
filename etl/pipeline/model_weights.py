"""Validate a model's files before they are loaded: complete weights without pickles, and valid JSON.

It takes milliseconds, and neither torch nor Spark. Loaders compare each weight with ``config.json``.
"""

from pathlib import Path

from conf.errors import InputError, message_line
from udfs.json_texts import parsed_json
from udfs.models.gguf_header import read_header

CURE = "copy or train the model again"
JSON_FILES = (
    "config.json",
    "generation_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
)


def check_weights(folder: Path) -> None:
    """Raise an InputError where a model's files cannot be what a loader reads.

    Args:
        folder: of the model, with weights in it or below it.

    Raises:
        InputError: weights are cut or empty, or a description is no JSON object. The message names the file.
    """
    for packed in sorted(folder.rglob("*.gguf")):
        read_header(packed)
    weights = sorted(folder.rglob("*.safetensors"))
    for file in weights:
        _check_tensors(file)
    for place in sorted({path.parent for path in weights}):
        for name in JSON_FILES:
            if (place / name).exists():
                _check_object(place / name)


def _check_tensors(file: Path) -> None:
    """Read a file's header, which says where each tensor ends."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, "np") as content:
            names = list(content.keys())
    except (OSError, ValueError, SafetensorError) as error:
        raise InputError(f"{file}: not a usable safetensors file ({message_line(error)}): {CURE}") from None
    if not names:
        raise InputError(f"{file}: no tensors in it: {CURE}")


def _check_object(file: Path) -> None:
    try:
        content = parsed_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: no JSON ({type(error).__name__}): {CURE}") from None
    if not isinstance(content, dict):
        raise InputError(f"{file}: no JSON object: {CURE}")
