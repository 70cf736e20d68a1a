"""What the weak labeler and the dialogue classifier share: an encoder, a head, a folder on disk."""

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.utils import logging

from conf.errors import InputError
from udfs.models.batches import Batch, Encoded, answers_alike, collate

if TYPE_CHECKING:
    from udfs.models.pictures import Chart

ENCODER = "encoder"
HEAD_WEIGHTS = "head.safetensors"
HEAD_CONFIG = "head.json"

Item = TypeVar("Item")
Self = TypeVar("Self", bound="SequenceClassifier")


class SequenceClassifier(nn.Module, Generic[Item]):
    """An encoder with a classification head over `labels`; one of them is a row's truth, by its id.

    A kind whose truth is another has a loss, answers and figures of its own (`MultiLabelClassifier`).

    On disk: `encoder/` (a transformers folder: config.json, safetensors, tokenizer), `head.safetensors` and
    `head.json`. Nothing in it is a pickle, and `encoder/` serves as another training's starting point.
    """

    kind: ClassVar[str]

    def __init__(self, encoder: nn.Module, tokenizer: Any, labels: Sequence[str], max_tokens: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.tokenizer = tokenizer
        self.labels = tuple(labels)
        self.max_tokens = max_tokens
        self.temperature = 1.0  # divides logits when it answers; set by calibration, never in training

    @abstractmethod
    def encode(self, items: Sequence[Item]) -> list[Encoded]:
        """Token ids and weights of each item, at most `max_tokens`."""

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """Logits (rows, labels)."""

    @abstractmethod
    def head_options(self) -> dict[str, Any]:
        """Keyword arguments of the constructor that are this kind's own."""

    def check(self, truths: Sequence[Any], what: str) -> None:
        """Refuse truths outside the taxonomy with an `InputError`; `what` names the rows."""
        wrong = next((label for label in truths if not 0 <= label < len(self.labels)), None)
        if wrong is not None:
            raise InputError(f"label id {wrong} in the {what} rows is outside the taxonomy's 0..{len(self.labels) - 1}")

    def targets(self, truths: Sequence[Any]) -> Tensor:
        """The rows' truths as `loss` reads them, one row each."""
        return torch.tensor(truths)

    def loss(self, logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        """The rows' losses, summed."""
        return nn.functional.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum")

    def answers(self, logits: Tensor) -> Tensor:
        """Probabilities (rows, labels)."""
        return torch.softmax(logits.float() / self.temperature, dim=-1)

    def figures(self, probabilities: NDArray[Any], truths: Sequence[Any]) -> dict[str, float]:
        """Figures on rows, `cross_entropy`, `accuracy` and `macro_f1` among them."""
        from udfs.models.classifiers.metrics import (
            classification_metrics,  # scikit-learn: not for workers, which only answer
        )

        return classification_metrics(probabilities, truths)

    def validation_figures(self, probabilities: NDArray[Any], truths: Sequence[Any]) -> dict[str, float]:
        """Figures on validation rows, and what is chosen on them, which `settle` then takes."""
        return self.figures(probabilities, truths)

    def settle(self, figures: Mapping[str, float]) -> None:
        """Take what was chosen on validation rows, before the model is saved."""

    def class_figures(self, probabilities: NDArray[Any], truths: Sequence[Any]) -> list[dict[str, Any]]:
        """One row a class."""
        from udfs.models.classifiers.metrics import per_class_metrics

        return per_class_metrics(probabilities, truths, self.labels)

    def chart(self, probabilities: NDArray[Any], truths: Sequence[Any]) -> "Chart":
        """What shows best where the model errs."""
        from udfs.models.classifiers.metrics import confusion_counts
        from udfs.models.pictures import confusion_chart

        return confusion_chart(confusion_counts(probabilities, truths), self.labels)

    @property
    def pad_id(self) -> int:
        return int(self.tokenizer.pad_token_id)

    def head_state(self) -> dict[str, Tensor]:
        state = self.state_dict()
        return {name: value.contiguous() for name, value in state.items() if not name.startswith(f"{ENCODER}.")}

    def save(self, folder: Path) -> Path:
        """Write the model to `folder` and return it."""
        folder.mkdir(parents=True, exist_ok=True)
        with quiet():
            self.encoder.save_pretrained(folder / ENCODER)  # type: ignore[operator]
        self.tokenizer.save_pretrained(folder / ENCODER)
        save_file(self.head_state(), folder / HEAD_WEIGHTS)
        config = {
            "kind": self.kind,
            "labels": self.labels,
            "max_tokens": self.max_tokens,
            **({"temperature": self.temperature} if self.temperature != 1 else {}),
            **self.head_options(),
        }
        (folder / HEAD_CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return folder

    @classmethod
    def load(cls: type[Self], folder: str | Path) -> Self:
        """Read a model that `save` wrote.

        Raises:
            InputError: `folder` holds no model of this kind.
        """
        folder = Path(folder)
        try:
            config = json.loads((folder / HEAD_CONFIG).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{folder}: no {HEAD_CONFIG} of a {cls.kind} ({error}): train one first") from None
        if config.pop("kind", None) != cls.kind:
            raise InputError(f"{folder}: not a {cls.kind}: check the model's URI")
        encoder, tokenizer = load_encoder(folder / ENCODER)
        temperature = config.pop("temperature", 1.0)
        try:
            model = cls(encoder, tokenizer, **config)
            model.temperature = float(temperature)
            model.load_state_dict({**model.state_dict(), **load_file(folder / HEAD_WEIGHTS)})
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            raise InputError(f"{folder / HEAD_WEIGHTS}: does not fit {HEAD_CONFIG} ({_one_line(error)})") from None
        return model.eval()

    @torch.inference_mode()
    def probabilities(self, items: Sequence[Item], batch_size: int) -> Tensor:
        """Class probabilities (items, labels) on the CPU, in the items' order."""
        rows = self.encode(items)
        found = answers_alike(rows, batch_size, self.max_tokens, self._answered)
        return torch.stack(found) if found else torch.empty((0, len(self.labels)))

    def _answered(self, rows: Sequence[Encoded], width: int) -> list[Tensor]:
        batch = collate(rows, self.pad_id, width).to(next(self.parameters()).device)
        return list(self.answers(self(batch)).cpu())


def load_encoder(folder: str | Path, dropout: float | None = None) -> tuple[nn.Module, Any]:
    """An encoder and its tokenizer from a folder of safetensors; `dropout` on layers and attention.

    Raises:
        InputError: `folder` holds no safetensors, or not a model that transformers knows.
    """
    folder = Path(folder)
    if not any(folder.glob("*.safetensors")):
        raise InputError(f"{folder}: no .safetensors weights: only safetensors are read")
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = AutoConfig.from_pretrained(folder, **options)
        if dropout is not None:
            config.hidden_dropout_prob = dropout
            config.attention_probs_dropout_prob = dropout
        with quiet():
            encoder = AutoModel.from_pretrained(folder, config=config, use_safetensors=True, **options)
        tokenizer = AutoTokenizer.from_pretrained(folder, **options)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{folder}: transformers cannot read it ({_one_line(error)})") from None
    return encoder.float(), tokenizer


@contextmanager
def quiet() -> Iterator[None]:
    """Without transformers' progress bars and its notes on weights that a classifier does not use."""
    bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
