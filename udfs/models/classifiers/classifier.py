"""What the weak labeler and the dialogue classifier share: an encoder, a head, a folder on disk."""

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import pyarrow as pa
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.utils import logging

from conf.errors import InputError
from conf.training_options import ClassifierOptions, TrainingOptions
from udfs.models.batches import Batch, Encoded, answers_alike, collate
from udfs.models.learning_rates import encoder_layers, rate_by_layer
from udfs.models.trainable import TrainableModel

if TYPE_CHECKING:
    from udfs.models.pictures import Chart

ENCODER = "encoder"
HEAD_WEIGHTS = "head.safetensors"
HEAD_CONFIG = "head.json"

Item = TypeVar("Item")
Self = TypeVar("Self", bound="SequenceClassifier")


class LabelledRow(NamedTuple):
    """An encoded text or dialogue with its truth: a label's id, or several ids."""

    ids: tuple[int, ...]
    weights: tuple[float, ...]
    types: tuple[int, ...]
    truth: Any


def row_schema(truth: pa.DataType) -> pa.Schema:
    """Return the columns of a `LabelledRow`, of one kind of truth."""
    ids = pa.list_(pa.int32())
    return pa.schema([("ids", ids), ("weights", pa.list_(pa.float64())), ("types", ids), ("truth", truth)])


class SequenceClassifier(TrainableModel, Generic[Item]):
    """An encoder with a classification head over `labels`; one of them is a row's truth, by its id.

    A kind whose truth is another has a loss, answers and figures of its own (`MultiLabelClassifier`).

    On disk: `encoder/` (a transformers folder: config.json, safetensors, tokenizer), `head.safetensors` and
    `head.json`. Nothing in it is a pickle, and `encoder/` serves as another training's starting point.
    """

    row = LabelledRow
    schema = row_schema(pa.int32())
    loss_metric = "cross_entropy"
    epoch_metrics = ("accuracy", "macro_f1")
    settled: ClassVar[tuple[str, ...]] = ("temperature",)
    """What is chosen after the training: attributes that `load` sets where `head.json` has them."""

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
    def logits(self, batch: Batch) -> Tensor:
        """Logits (rows, labels)."""

    @abstractmethod
    def head_options(self) -> dict[str, Any]:
        """Keyword arguments of the constructor that are this kind's own."""

    def encode_rows(self, rows: Sequence[tuple[Item, Any]]) -> list[LabelledRow]:
        """Return (item, truth) pairs as the training loop's rows."""
        encoded = self.encode([item for item, _ in rows])
        return [LabelledRow(*one, truth) for one, (_, truth) in zip(encoded, rows, strict=True)]

    def check(self, rows: Sequence[LabelledRow], what: str) -> None:
        if not rows:
            raise InputError(f"no {what} rows: check the files of labelled examples")
        self.check_truths([row.truth for row in rows], what)

    def check_truths(self, truths: Sequence[Any], what: str) -> None:
        """Refuse truths outside the taxonomy with an `InputError`; `what` names the rows."""
        wrong = next((label for label in truths if not 0 <= label < len(self.labels)), None)
        if wrong is not None:
            raise InputError(f"label id {wrong} in the {what} rows is outside the taxonomy's 0..{len(self.labels) - 1}")

    def forward(self, rows: Sequence[LabelledRow], label_smoothing: float = 0.0) -> Tensor:
        device = next(self.parameters()).device
        logits = self.logits(collate(rows, self.pad_id).to(device))
        return self.loss(logits.float(), self.targets([row.truth for row in rows]).to(device), label_smoothing)

    def learning_rates(self, options: TrainingOptions) -> dict[str, float]:
        assert isinstance(options, ClassifierOptions)
        names = [name for name, value in self.named_parameters() if value.requires_grad]
        layers = encoder_layers(name for name, _ in self.named_parameters())
        return {name: rate_by_layer(name, layers, ENCODER, options) for name in names}

    def validate(self, rows: Sequence[LabelledRow], batch_size: int) -> dict[str, float]:
        self.eval()
        return self.validation_figures(self.answers_to(rows, batch_size).numpy(), [row.truth for row in rows])

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

    def save(self, folder: Path, weights: Mapping[str, Tensor] | None = None) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        state, encoder = self.state_dict() if weights is None else dict(weights), f"{ENCODER}."
        own = {name.removeprefix(encoder): value for name, value in state.items() if name.startswith(encoder)}
        with quiet():
            self.encoder.save_pretrained(folder / ENCODER, state_dict=own)  # type: ignore[operator]
        self.tokenizer.save_pretrained(folder / ENCODER)
        head = {name: value.contiguous() for name, value in state.items() if not name.startswith(encoder)}
        save_file(head, folder / HEAD_WEIGHTS)
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
    def new(
        cls: type[Self], encoder_path: str | Path, labels: Sequence[str], options: ClassifierOptions, **head: Any
    ) -> Self:
        """Return an encoder with a new head, which the options' seed gives.

        Args:
            encoder_path: folder of the encoder's safetensors, config and tokenizer.
            labels: the taxonomy in id order.
            head: the kind's own keyword arguments.
        """
        encoder, tokenizer = load_encoder(encoder_path, options.dropout)
        torch.manual_seed(options.seed)
        kind: Any = cls
        return kind(encoder, tokenizer, labels, options.max_tokens, dropout=options.dropout, **head)

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
        settled = {name: config.pop(name) for name in cls.settled if name in config}
        try:
            model = cls(encoder, tokenizer, **config)
            vars(model).update(settled)
            model.load_state_dict({**model.state_dict(), **load_file(folder / HEAD_WEIGHTS)})
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            raise InputError(f"{folder / HEAD_WEIGHTS}: does not fit {HEAD_CONFIG} ({_one_line(error)})") from None
        return model.eval()

    def probabilities(self, items: Sequence[Item], batch_size: int) -> Tensor:
        """Class probabilities (items, labels) on the CPU, in the items' order."""
        return self.answers_to(self.encode(items), batch_size)

    @torch.inference_mode()
    def answers_to(self, rows: Sequence[Encoded | LabelledRow], batch_size: int) -> Tensor:
        """Class probabilities (rows, labels) of encoded rows on the CPU, in their order."""
        found = answers_alike(rows, batch_size, self.max_tokens, self._answered)
        return torch.stack(found) if found else torch.empty((0, len(self.labels)))

    def _answered(self, rows: Sequence[Encoded | LabelledRow], width: int) -> list[Tensor]:
        batch = collate(rows, self.pad_id, width).to(next(self.parameters()).device)
        return list(self.answers(self.logits(batch)).cpu())


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
