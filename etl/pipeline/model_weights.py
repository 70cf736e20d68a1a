"""A look at a model's weights before anything is loaded: their headers against ``config.json``.

A header tells the names and shapes of the tensors; reading it takes milliseconds, and neither torch nor Spark. Loaders
compare every weight again, because a header says nothing of architectures other than those of `FAMILIES`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from conf.errors import InputError, message_line
from udfs.json_texts import parsed_json
from udfs.models.gguf_header import read_header

Shape = tuple[int, ...]
CURE = "copy or train the model again"
ENCODER = "encoder"
CLASSIFIER = "classifier"
LANGUAGE_MODEL = "language model"
JSON_FILES = (
    "config.json",
    "generation_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
)
OWN = ("head.json", "reply_generator.json", "segmenter.json", "rule.json")
"""Descriptions of models that this project trains, in place of a ``config.json``."""
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
INDEX = "model.safetensors.index.json"
_HEAD = re.compile(r"(?:classifier|classifier\.out_proj|score|classification_head\.out_proj|logits_proj)\.weight")


class Family(NamedTuple):
    """Weights of an architecture, by name without prefix.

    A shape is written by the letters of `_sizes`; ``+`` says that a bias or, of a norm, a second vector belongs to it.

    Attributes:
        outside: weights beside the layers; the first one's place gives the prefix of all.
        layer: weights of each layer.
        layers: names of the lists of layers, each with the keys of the configuration that may hold its length.
    """

    outside: Mapping[str, str]
    layer: Mapping[str, str]
    layers: Mapping[str, tuple[str, ...]]


_COUNTS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
_BERT = Family(
    {
        "embeddings.word_embeddings": "ve",
        "embeddings.position_embeddings": "pe",
        "embeddings.LayerNorm": "e+",
    },
    {
        "attention.self.query": "hh+",
        "attention.self.key": "hh+",
        "attention.self.value": "hh+",
        "attention.output.dense": "hh+",
        "attention.output.LayerNorm": "h+",
        "intermediate.dense": "ih+",
        "output.dense": "hi+",
        "output.LayerNorm": "h+",
    },
    {"encoder.layer": _COUNTS},
)
_MPNET = Family(
    _BERT.outside,
    {
        "attention.attn.q": "hh+",
        "attention.attn.k": "hh+",
        "attention.attn.v": "hh+",
        "attention.attn.o": "hh+",
        "attention.LayerNorm": "h+",
        "intermediate.dense": "ih+",
        "output.dense": "hi+",
        "output.LayerNorm": "h+",
    },
    {"encoder.layer": _COUNTS},
)
_DISTILBERT = Family(
    _BERT.outside,
    {
        "attention.q_lin": "hh+",
        "attention.k_lin": "hh+",
        "attention.v_lin": "hh+",
        "attention.out_lin": "hh+",
        "sa_layer_norm": "h+",
        "ffn.lin1": "ih+",
        "ffn.lin2": "hi+",
        "output_layer_norm": "h+",
    },
    {"transformer.layer": _COUNTS},
)
_LLAMA = Family(
    {"embed_tokens": "vh", "norm": "h"},
    {
        "self_attn.q_proj": "qh",
        "self_attn.k_proj": "kh",
        "self_attn.v_proj": "kh",
        "self_attn.o_proj": "hq",
        "mlp.gate_proj": "ih",
        "mlp.up_proj": "ih",
        "mlp.down_proj": "hi",
        "input_layernorm": "h",
        "post_attention_layernorm": "h",
    },
    {"layers": _COUNTS},
)
_GPT2 = Family(
    {"wte": "vh", "wpe": "ph", "ln_f": "h+"},
    {
        "ln_1": "h+",
        "attn.c_attn": "h3+",
        "attn.c_proj": "hh+",
        "ln_2": "h+",
        "mlp.c_fc": "hi+",
        "mlp.c_proj": "ih+",
    },
    {"h": _COUNTS},
)
_GPTJ = Family(
    {"wte": "vh", "ln_f": "h+"},
    {
        "ln_1": "h+",
        "attn.q_proj": "hh",
        "attn.k_proj": "hh",
        "attn.v_proj": "hh",
        "attn.out_proj": "hh",
        "mlp.fc_in": "ih+",
        "mlp.fc_out": "hi+",
    },
    {"h": _COUNTS},
)
_BART = Family(
    {"encoder.embed_positions": "?h", "decoder.embed_positions": "?h"},
    {
        "self_attn.q_proj": "hh+",
        "self_attn.k_proj": "hh+",
        "self_attn.v_proj": "hh+",
        "self_attn.out_proj": "hh+",
        "self_attn_layer_norm": "h+",
        "fc1": "?h+",
        "fc2": "h?+",
        "final_layer_norm": "h+",
    },
    {"encoder.layers": ("encoder_layers",), "decoder.layers": ("decoder_layers",)},
)
FAMILIES: Mapping[str, Family] = {
    **dict.fromkeys(("bert", "camembert", "electra", "roberta", "xlm-roberta"), _BERT),
    "mpnet": _MPNET,
    "distilbert": _DISTILBERT,
    **dict.fromkeys(("llama", "mistral", "qwen2"), _LLAMA),
    "gpt2": _GPT2,
    "gptj": _GPTJ,
    **dict.fromkeys(("bart", "mbart"), _BART),
}
"""Architectures whose weights are compared by name and shape, by ``model_type``."""


def check_weights(folder: Path, use: str | None = None) -> None:
    """Raise an InputError where a model's files cannot be what a loader reads.

    Args:
        folder: of the model, with weights in it or below it.
        use: `ENCODER`, `CLASSIFIER` or `LANGUAGE_MODEL`; None: what the files say that they are.

    Raises:
        InputError: a file is missing, is cut or no JSON, or weights are missing or have another shape. The message
            names the file.
    """
    for packed in sorted(folder.rglob("*.gguf")):
        read_header(packed)
    for place in sorted({path.parent for path in folder.rglob("*.safetensors")}):
        config = _json_files(place)
        stored = _stored(place)
        if config is None:
            if place == folder and use is not None and not _is_described(folder):
                raise InputError(f"{folder}: no config.json beside the weights: {CURE}")
            continue
        if "model_type" in config and not any(any(near.glob(name)) for near in (place, folder) for name in TOKENIZERS):
            raise InputError(f"{place}: no tokenizer ({', '.join(TOKENIZERS)}): {CURE}")
        faults = list(_faults(config, stored, use if place == folder else None))
        if faults:
            named = ", ".join(faults[:3]) + (f" and {len(faults) - 3} more" if len(faults) > 3 else "")
            raise InputError(f"{place}: weights do not fit config.json: {named}: {CURE}")


def _is_described(folder: Path) -> bool:
    """Return whether this project's own description says what the weights are, or a folder below has the network."""
    below = (path.parent for path in folder.glob("*/config.json"))
    return any((folder / name).is_file() for name in OWN) or any(any(one.glob("*.safetensors")) for one in below)


def _json_files(folder: Path) -> dict[str, Any] | None:
    """Return a folder's ``config.json``; None where there is none. The other files of `JSON_FILES` are read, too."""
    found = {name: _object(folder / name) for name in JSON_FILES if (folder / name).exists()}
    return found.get("config.json")


def _object(file: Path) -> dict[str, Any]:
    try:
        content = parsed_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: no JSON ({type(error).__name__}): {CURE}") from None
    if not isinstance(content, dict):
        raise InputError(f"{file}: no JSON object: {CURE}")
    return content


def _stored(folder: Path) -> dict[str, Shape]:
    """Return the shapes of all tensors in a folder's safetensors, by name.

    Raises:
        InputError: a file cannot be read, has no tensors, or is not there though the index names it.
    """
    found: dict[str, Shape] = {}
    for file in sorted(folder.glob("*.safetensors")):
        shapes = _shapes(file)
        if not shapes:
            raise InputError(f"{file}: no tensors in it: {CURE}")
        found |= shapes
    index = folder / INDEX
    if index.exists():
        placed = _object(index).get("weight_map")
        if not isinstance(placed, dict) or not all(isinstance(name, str) for name in placed.values()):
            raise InputError(f"{index}: no weight_map of names and files: {CURE}")
        if gone := sorted(name for name in set(placed.values()) if not (folder / name).is_file()):
            raise InputError(f"{index}: {gone[0]} is not there, of {len(set(placed.values()))} files: {CURE}")
        if lost := sorted(placed.keys() - found.keys()):
            raise InputError(f"{index}: {len(lost)} tensors are in no file ({lost[0][:100]}): {CURE}")
    return found


def _shapes(file: Path) -> dict[str, Shape]:
    """Return the shapes of a file's tensors by name, from its header."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, "np") as content:
            return {name: tuple(content.get_slice(name).get_shape()) for name in content.keys()}  # noqa: SIM118
    except (OSError, ValueError, SafetensorError) as error:
        raise InputError(f"{file}: no safetensors file that can be used ({message_line(error)}): {CURE}") from None


def _faults(config: Mapping[str, Any], stored: Mapping[str, Shape], use: str | None) -> Iterator[str]:
    """Yield what of the stored tensors does not fit a configuration."""
    if "quantization_config" in config:
        return
    if "in_features" in config and "out_features" in config:
        yield from _compared("linear.weight", stored, (config["out_features"], config["in_features"]))
        return
    family = FAMILIES.get(str(config.get("model_type")))
    if family is not None:
        yield from _family_faults(family, config, stored)
    if use == CLASSIFIER:
        yield from _head_faults(config, stored)
    untied = config.get("tie_word_embeddings") is False and family in (_LLAMA, _GPT2, _GPTJ)
    if use == LANGUAGE_MODEL and untied and "lm_head.weight" not in stored:
        yield "lm_head.weight is missing"


def _head_faults(config: Mapping[str, Any], stored: Mapping[str, Shape]) -> Iterator[str]:
    """Yield why there is no head of a sequence classifier with the configuration's labels."""
    labels = config.get("id2label")
    number = len(labels) if isinstance(labels, dict) else 2
    heads = {name: shape for name, shape in stored.items() if _HEAD.fullmatch(name)}
    if not heads:
        yield "the classifier's head is missing (classifier.weight)"
    elif all(shape[:1] != (number,) for shape in heads.values()):
        name, shape = next(iter(heads.items()))
        yield f"{name} has the shape {_text(shape)}, for {number} labels"


def _family_faults(family: Family, config: Mapping[str, Any], stored: Mapping[str, Shape]) -> Iterator[str]:
    first = f"{next(iter(family.outside))}.weight"
    prefix = min((name.removesuffix(first) for name in stored if f".{name}".endswith(f".{first}")), default=None)
    if prefix is None:
        yield f"{first} is missing"
        return
    sizes = _sizes(config)
    for name, shape in family.outside.items():
        yield from _weight_faults(f"{prefix}{name}", shape, sizes, stored)
    for place, keys in family.layers.items():
        number = next((config[key] for key in keys if isinstance(config.get(key), int)), None)
        for layer in range(number if number is not None and 0 <= number <= 10_000 else 0):
            for name, shape in family.layer.items():
                yield from _weight_faults(f"{prefix}{place}.{layer}.{name}", shape, sizes, stored)


def _weight_faults(
    name: str, letters: str, sizes: Mapping[str, int | None], stored: Mapping[str, Shape]
) -> Iterator[str]:
    shape = [sizes.get(letter) for letter in letters.removesuffix("+")]
    older = f"{name}.gamma" in stored
    yield from _compared(f"{name}.gamma" if older else f"{name}.weight", stored, shape)
    if letters.endswith("+"):
        bias = f"{name}.beta" if older else f"{name}.bias"
        if bias not in stored:
            yield f"{bias} is missing"


def _compared(name: str, stored: Mapping[str, Shape], shape: Sequence[Any]) -> Iterable[str]:
    """Yield how a tensor's shape differs from the expected one, in which None matches any size."""
    found = stored.get(name)
    if found is None:
        yield f"{name} is missing"
    elif len(found) != len(shape) or any(one not in (None, real) for one, real in zip(shape, found, strict=True)):
        wanted = " x ".join("?" if one is None else str(one) for one in shape)
        yield f"{name} has the shape {_text(found)}, not {wanted}"


def _text(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape)) or "of one number"


def _sizes(config: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the sizes that a configuration gives, by letter; what it leaves to defaults is None."""

    def size(*keys: str) -> int | None:
        return next((config[key] for key in keys if isinstance(config.get(key), int)), None)

    hidden = size("hidden_size", "n_embd", "d_model", "dim")
    heads = size("num_attention_heads", "n_head", "n_heads")
    own = size("head_dim")
    each = own if own is not None else hidden // heads if hidden and heads else None
    shared = size("num_key_value_heads")
    shared = heads if shared is None else shared
    gpt = "n_embd" in config
    inner = size("intermediate_size", "n_inner", "hidden_dim")
    return {
        "v": size("vocab_size"),
        "h": hidden,
        "e": size("embedding_size") or hidden,
        "p": size("max_position_embeddings", "n_positions"),
        "i": 4 * hidden if inner is None and gpt and hidden else inner,
        "q": heads * each if heads and each else None,
        "k": shared * each if shared and each else None,
        "3": 3 * hidden if hidden else None,
    }
