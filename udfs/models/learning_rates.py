"""Learning rates that fall from the head of a classifier to the lowest layer of its encoder."""

import re
from collections.abc import Iterable

from conf.training_options import ClassifierOptions


def encoder_layers(names: Iterable[str]) -> int:
    """Return how many transformer layers there are among parameters of these names."""
    return 1 + max((layer for layer in map(_layer, names) if layer is not None), default=-1)


def rate_by_layer(name: str, layers: int, encoder: str, options: ClassifierOptions) -> float:
    """Return a parameter's rate: the head's own, the top layer's, `layer_decay` times that for each layer further down.

    The embeddings, and whatever of the encoder belongs to no layer, lie below the first layer.

    Args:
        name: of the parameter.
        layers: how many the encoder has.
        encoder: the name of the part that is the encoder; the rest is the head.
    """
    if not name.startswith(f"{encoder}."):
        return options.head_learning_rate or options.learning_rate
    layer = _layer(name)
    depth = layers if layer is None else layers - 1 - layer
    return options.learning_rate * options.layer_decay**depth


def _layer(name: str) -> int | None:
    found = re.search(r"\.layer\.(\d+)\.", name)
    return int(found[1]) if found else None
