"""A classifier of lines that speak of danger: a sentence encoder with small trained additions, kept in the package.

Low-rank additions (Hu et al., 2021) to the frozen encoder's linear layers and one linear layer on the mean of the
tokens' states. The additions and the layer are the only weights that are stored.
"""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, ClassVar

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.utils import parametrize

from conf.errors import InputError
from conf.training_options import ClassifierOptions
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.models.pretrained import one_line

WEIGHTS = "danger_classifier.safetensors"
CONFIG = "danger_classifier.json"
LABELS = ("harmless", "danger")
BATCH_SIZE = 64


class LowRank(nn.Module):
    """The sum of a frozen weight and a trained product of two thin matrices, 0 at the start."""

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        rows, columns = weight.shape
        self.down = nn.Parameter(torch.randn(rank, columns) / columns**0.5)
        self.up = nn.Parameter(torch.zeros(rows, rank))

    def forward(self, weight: Tensor) -> Tensor:
        return weight + 2 * self.up @ self.down


class DangerClassifier(WeakLabeler):
    """The classifier of one text; class 1 is danger.

    Attributes:
        rank: of the additions.
        started_from: identity of the encoder.
        threshold: of the probability of danger, chosen on the half of the danger set that is tuned on.
    """

    kind: ClassVar[str] = "danger_classifier"

    def __init__(self, encoder: nn.Module, tokenizer: Any, max_tokens: int, rank: int, dropout: float = 0.1) -> None:
        super().__init__(encoder, tokenizer, LABELS, max_tokens, "mean", dropout)
        self.rank, self.started_from, self.threshold = rank, "", 0.5
        encoder.requires_grad_(False)
        for layer in [part for part in encoder.encoder.modules() if isinstance(part, nn.Linear)]:  # type: ignore[union-attr]
            parametrize.register_parametrization(layer, "weight", LowRank(layer.weight, rank))

    @classmethod
    def untrained(cls, encoder_path: Path, identity: str, options: ClassifierOptions, rank: int) -> "DangerClassifier":
        """Return the classifier before its training, initialised from the options' seed."""
        encoder, tokenizer = load_encoder(encoder_path, options.dropout)
        torch.manual_seed(options.seed)
        model = cls(encoder, tokenizer, options.max_tokens, rank, options.dropout)
        model.started_from = identity
        return model

    @classmethod
    def packaged(cls, encoder_path: Path, identity: str) -> "DangerClassifier":
        """Return the classifier that comes with the package, on the encoder that it was trained with.

        Raises:
            InputError: `identity` is another encoder.
        """
        with as_file(files("conf") / "safety") as folder:
            return cls.read(folder, encoder_path, identity)

    @classmethod
    def read(cls, folder: Path, encoder_path: Path, identity: str) -> "DangerClassifier":
        """Return a classifier that `save` wrote, on its encoder."""
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        if config["encoder"] != identity:
            raise InputError(f"safety.encoder: {identity} is not the classifier's {config['encoder']}; null: none")
        encoder, tokenizer = load_encoder(encoder_path)
        model = cls(encoder, tokenizer, config["max_tokens"], config["rank"])
        model.started_from, model.threshold = config["encoder"], config["threshold"]
        weights = {name: value.float() for name, value in load_file(folder / WEIGHTS).items()}
        try:
            missing, unknown = model.load_state_dict(weights, strict=False)
        except RuntimeError as error:
            raise InputError(f"{folder / WEIGHTS}: does not fit {CONFIG} ({one_line(error)})") from None
        if unknown or {name for name, value in model.named_parameters() if value.requires_grad} & set(missing):
            raise InputError(f"{folder / WEIGHTS}: does not fit {CONFIG}")
        return model.eval()

    def save(self, folder: Path, weights: Mapping[str, Tensor] | None = None) -> Path:
        """Write the trained weights, in half precision, and the configuration."""
        folder.mkdir(parents=True, exist_ok=True)
        state = dict(self.named_parameters()) if weights is None else dict(weights)
        trained = {name for name, value in self.named_parameters() if value.requires_grad}
        save_file({name: state[name].detach().half().contiguous() for name in sorted(trained)}, folder / WEIGHTS)
        self.write_config(folder)
        return folder

    def write_config(self, folder: Path) -> None:
        """Write the configuration: encoder, rank, tokens, threshold."""
        config = {
            "encoder": self.started_from, "rank": self.rank, "max_tokens": self.max_tokens, "threshold": self.threshold,
        }  # fmt: skip
        (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")

    def scores(self, texts: Sequence[str]) -> list[float]:
        """Return each text's probability of danger, rounded to 4 digits."""
        return [round(float(score), 4) for score in self.probabilities(texts, BATCH_SIZE)[:, 1]]
