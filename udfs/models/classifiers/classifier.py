"""Classifiers of an encoder and a head, saved in a folder."""

import json
import shutil
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import pyarrow as pa
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoTokenizer

from conf.errors import InputError, message_line
from conf.training_options import ClassifierOptions, TrainingOptions
from udfs.models.batches import Batch, Encoded, answers_alike, collate, mean_pooled
from udfs.models.pretrained import (
    LOCAL,
    POOLER,
    complete,
    layers_below_top,
    quiet,
    reading,
    require_complete,
    require_safetensors,
    require_words,
)
from udfs.models.trainable import TrainableModel

if TYPE_CHECKING:
    from udfs.models.pictures import Chart

ENCODER = "encoder"
HEAD_WEIGHTS = "head.safetensors"
HEAD_CONFIG = "head.json"
MEMBERS = "members"
"""Folder of the classifiers of which another is the mean, 1, 2 and so on; in `head.json` their number."""

Item = TypeVar("Item")
Self = TypeVar("Self", bound="SequenceClassifier")


class LabelledRow(NamedTuple):
    """An encoded text or dialogue with its true label id, or several ids."""

    ids: tuple[int, ...]
    weights: tuple[float, ...]
    types: tuple[int, ...]
    truth: Any


def row_schema(truth: pa.DataType) -> pa.Schema:
    """Return the columns of a `LabelledRow` whose truth has this type."""
    ids = pa.list_(pa.int32())
    return pa.schema([("ids", ids), ("weights", pa.list_(pa.float64())), ("types", ids), ("truth", truth)])


UNCHANGED = (0.0, 1.0)
"""The offset and slope by which `with_confidence` changes nothing."""


def with_confidence(probabilities: Tensor, offset: float, slope: float) -> Tensor:
    """Return probabilities whose largest one has been calibrated; the others share the rest as before.

    The largest one's log-odds become ``offset + slope * log-odds``. It stays at least as large as the others, so that
    no label changes.

    Args:
        probabilities: (rows, labels).
        offset, slope: fitted by `etl.training.calibration`.
    """
    if (offset, slope) == UNCHANGED or probabilities.shape[-1] < 2:
        return probabilities
    first, place = probabilities.max(dim=-1, keepdim=True)
    others = probabilities.clamp_min(1e-12).scatter(-1, place, 0.0)
    others = others / others.sum(dim=-1, keepdim=True)
    second = others.amax(dim=-1, keepdim=True)
    calibrated_confidence = torch.sigmoid(offset + slope * torch.logit(first, eps=1e-6))
    calibrated_confidence = torch.maximum(calibrated_confidence, second / (1 + second) + 1e-6)
    return (others * (1 - calibrated_confidence)).scatter(-1, place, calibrated_confidence)


class Classifier(nn.Module, Generic[Item]):
    """What gives items the probabilities of labels: one model, or several that answer as one.

    Attributes:
        labels: the taxonomy in id order.
        temperature: divides logits, set by calibration, never in training.
        confidence: offset and slope of `with_confidence`; likewise.
    """

    def __init__(self, labels: Sequence[str]) -> None:
        super().__init__()
        self.labels = tuple(labels)
        self.temperature = 1.0
        self.confidence: Sequence[float] = UNCHANGED

    @abstractmethod
    def probabilities(self, items: Sequence[Item], batch_size: int) -> Tensor:
        """Return class probabilities (items, labels) on the CPU, in the items' order."""

    def calibrated(self, logits: Tensor) -> Tensor:
        """Return probabilities (rows, labels) of logits, by temperature and `with_confidence`."""
        return with_confidence(torch.softmax(logits.float() / self.temperature, dim=-1), *self.confidence)

    def figures(self, probabilities: NDArray[Any], truths: Sequence[Any]) -> dict[str, float]:
        """Return metrics, `cross_entropy`, `accuracy` and `macro_f1` among them."""
        # Imports scikit-learn, which workers do not need.
        from udfs.models.classifiers.metrics import classification_metrics

        return classification_metrics(probabilities, truths)

    def class_figures(self, probabilities: NDArray[Any], truths: Sequence[Any]) -> list[dict[str, Any]]:
        """Return metrics, one row a class."""
        from udfs.models.classifiers.metrics import per_class_metrics

        return per_class_metrics(probabilities, truths, self.labels)

    def charts(self, probabilities: NDArray[Any], truths: Sequence[Any]) -> list["Chart"]:
        """Return charts of the model's errors: here the confusion matrix, and accuracy by confidence."""
        from udfs.models.classifiers.metrics import confusion_counts, reliability
        from udfs.models.pictures import confusion_chart, reliability_chart

        return [
            confusion_chart(confusion_counts(probabilities, truths), self.labels),
            reliability_chart(reliability(probabilities, truths)),
        ]

    def choice_charts(self, probabilities: NDArray[Any], truths: Sequence[Any]) -> list["Chart"]:
        """Return charts of what is chosen on validation rows: here none."""
        return []


class MeanClassifier(Classifier[Item]):
    """Classifiers of one kind and the same labels that answer as one: by the mean of their probabilities (ours).

    On disk: `members/1`, `members/2` and so on, each as `SequenceClassifier` saves it, and `head.json`. Each keeps its
    own encoder, tokenizer and calibration; the mean is calibrated once more.
    """

    def __init__(self, members: Sequence[Classifier[Item]]) -> None:
        super().__init__(members[0].labels)
        self.members = nn.ModuleList(members)

    def probabilities(self, items: Sequence[Item], batch_size: int) -> Tensor:
        answers = [one.probabilities(items, batch_size) for one in self.members]  # type: ignore[operator]
        mean = torch.stack(answers).mean(dim=0)
        if self.temperature != 1:
            return self.calibrated(mean.clamp_min(1e-30).log())
        return with_confidence(mean, *self.confidence)


def save_mean(folder: Path, members: Sequence[Path]) -> Path:
    """Write the `MeanClassifier` of saved classifiers to `folder`, uncalibrated, and return the folder.

    Raises:
        InputError: they are of several kinds, or have different labels.
    """
    first, *others = heads = [read_head(member) for member in members]
    for key in ("kind", "labels"):
        if any(head.get(key) != first.get(key) for head in others):
            raise InputError(f"{', '.join(map(str, members))}: no mean of classifiers with different {key}")
    for number, member in enumerate(members, 1):
        for name in (ENCODER, MEMBERS):
            if (member / name).is_dir():
                shutil.copytree(member / name, folder / MEMBERS / str(number) / name)
        for name in (HEAD_WEIGHTS, HEAD_CONFIG):
            if (member / name).is_file():
                shutil.copyfile(member / name, folder / MEMBERS / str(number) / name)
    write_head(folder, {"kind": first["kind"], "labels": first["labels"], MEMBERS: len(heads)})
    return folder


class SequenceClassifier(TrainableModel, Classifier[Item]):
    """An encoder with a classification head over `labels`; a row's truth is the id of one label.

    `MultiLabelClassifier` overrides loss, answers and metrics for several labels.

    On disk: `encoder/` (a transformers folder: config.json, safetensors, tokenizer), `head.safetensors` and
    `head.json`, without pickles. Another training can start from `encoder/`.

    Args:
        pooling: `mean` averages the tokens' states, `cls` takes the first token's.
    """

    row = LabelledRow
    schema = row_schema(pa.int32())
    loss_metric = "cross_entropy"
    epoch_metrics = ("accuracy", "macro_f1")
    settled: ClassVar[tuple[str, ...]] = ("temperature", "confidence")
    """Attributes that are chosen after the training; `load` sets those in `head.json`."""

    def __init__(
        self, encoder: nn.Module, tokenizer: Any, labels: Sequence[str], max_tokens: int, pooling: str = "mean"
    ) -> None:
        super().__init__(labels)
        if pooling not in ("mean", "cls"):
            raise ValueError(f"pooling is {pooling!r}: mean or cls")
        self.encoder = encoder
        self.tokenizer = tokenizer
        self.max_tokens = max_tokens
        self.pooling = pooling

    @abstractmethod
    def encode(self, items: Sequence[Item]) -> list[Encoded]:
        """Return token ids and weights of each item, at most `max_tokens`."""

    @abstractmethod
    def logits(self, batch: Batch) -> Tensor:
        """Return logits (rows, labels)."""

    @abstractmethod
    def head_options(self) -> dict[str, Any]:
        """Return the constructor's keyword arguments that only this kind has."""

    def pooled(self, states: Tensor, mask: Tensor) -> Tensor:
        """Return one state a row (rows, size) from its tokens' states (rows, width, size)."""
        return states[:, 0] if self.pooling == "cls" else mean_pooled(states, mask)

    def encode_rows(self, rows: Sequence[tuple[Item, Any]]) -> list[LabelledRow]:
        """Return (item, truth) pairs as the training loop's rows."""
        encoded = self.encode([item for item, _ in rows])
        return [LabelledRow(*one, truth) for one, (_, truth) in zip(encoded, rows, strict=True)]

    def check(self, rows: Sequence[LabelledRow], what: str) -> None:
        if not rows:
            raise InputError(f"no {what} rows: check the files of labelled examples")
        self.check_truths([row.truth for row in rows], what)

    def check_truths(self, truths: Sequence[Any], what: str) -> None:
        """Raise an `InputError` for a label id outside the taxonomy; `what` names the rows."""
        wrong = next((label for label in truths if not 0 <= label < len(self.labels)), None)
        if wrong is not None:
            raise InputError(f"label id {wrong} in the {what} rows is outside the taxonomy's 0..{len(self.labels) - 1}")

    def forward(self, rows: Sequence[LabelledRow], label_smoothing: float = 0.0) -> Tensor:
        device = next(self.parameters()).device
        logits = self.logits(collate(rows, self.pad_id).to(device))
        return self.loss(logits.float(), self.targets([row.truth for row in rows]).to(device), label_smoothing)

    def learning_rates(self, options: TrainingOptions) -> dict[str, float]:
        assert isinstance(options, ClassifierOptions)
        below = layers_below_top(self.encoder) if options.layer_decay < 1 else {}
        rates = {}
        for name, value in self.named_parameters():
            if value.requires_grad and name.startswith(f"{ENCODER}."):
                depth = below.get(name.removeprefix(f"{ENCODER}."), 0)
                rates[name] = options.learning_rate * options.layer_decay**depth
            elif value.requires_grad:
                rates[name] = options.head_learning_rate or options.learning_rate
        return rates

    def validate(self, rows: Sequence[LabelledRow], batch_size: int) -> dict[str, float]:
        self.eval()
        return self.validation_figures(self.answers_to(rows, batch_size).numpy(), self.truths(rows))

    def truths(self, rows: Sequence[LabelledRow]) -> list[Any]:
        """Return the rows' truths as metrics read them: the id of a label, or the ids of several."""
        return [row.truth for row in rows]

    def targets(self, truths: Sequence[Any]) -> Tensor:
        """Return the truths as `loss` reads them, one row each."""
        return torch.tensor(truths)

    def loss(self, logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        """Return the sum of the rows' losses."""
        return nn.functional.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum")

    def answers(self, logits: Tensor) -> Tensor:
        """Return probabilities (rows, labels)."""
        return self.calibrated(logits)

    def validation_figures(self, probabilities: NDArray[Any], truths: Sequence[Any]) -> dict[str, float]:
        """Return metrics on validation rows, with the values that `settle` takes from them."""
        return self.figures(probabilities, truths)

    @property
    def pad_id(self) -> int:
        return int(self.tokenizer.pad_token_id)

    def save(self, folder: Path, weights: Mapping[str, Tensor] | None = None) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        state = self.state_dict() if weights is None else dict(weights)
        encoder = f"{ENCODER}."
        inner = {name.removeprefix(encoder): value for name, value in state.items() if name.startswith(encoder)}
        with quiet():
            self.encoder.save_pretrained(folder / ENCODER, state_dict=inner)  # type: ignore[operator]
        self.tokenizer.save_pretrained(folder / ENCODER)
        head = {name: value.contiguous() for name, value in state.items() if not name.startswith(encoder)}
        save_file(head, folder / HEAD_WEIGHTS)
        config = {
            "kind": self.kind,
            "labels": self.labels,
            "max_tokens": self.max_tokens,
            **({"temperature": self.temperature} if self.temperature != 1 else {}),
            **({"confidence": self.confidence} if tuple(self.confidence) != UNCHANGED else {}),
            **self.head_options(),
        }
        write_head(folder, config)
        return folder

    @classmethod
    def new(
        cls: type[Self], encoder_path: str | Path, labels: Sequence[str], options: ClassifierOptions, **head: Any
    ) -> Self:
        """Return an encoder with a new head, initialised from the options' seed.

        Args:
            encoder_path: folder of the encoder's safetensors, config and tokenizer.
            labels: the taxonomy in id order.
            head: keyword arguments that only this kind has.
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
        config = cls._read_head(folder)
        if MEMBERS in config:
            raise InputError(f"{folder}: a mean of classifiers, which answers and is not trained: name one of them")
        encoder, tokenizer = load_encoder(folder / ENCODER)
        settled = {name: config.pop(name) for name in cls.settled if name in config}
        try:
            model = cls(encoder, tokenizer, **config)
            vars(model).update(settled)
            stored = load_file(folder / HEAD_WEIGHTS)
            missing = [name for name in model.state_dict() if not name.startswith("encoder.") and name not in stored]
            require_complete(folder / HEAD_WEIGHTS, {"missing_keys": missing})
            model.load_state_dict({**model.state_dict(), **stored})
        except InputError:
            raise
        except (OSError, RuntimeError, TypeError, ValueError, SafetensorError) as error:
            raise InputError(f"{folder / HEAD_WEIGHTS}: does not fit {HEAD_CONFIG} ({message_line(error)})") from None
        return model.eval()

    @classmethod
    def load_to_answer(cls, folder: str | Path) -> Classifier[Item]:
        """Read a model that `save` wrote, or the mean of several.

        Raises:
            InputError: see `load`.
        """
        folder = Path(folder)
        config = cls._read_head(folder)
        if MEMBERS not in config:
            return cls.load(folder)
        members = [cls.load_to_answer(folder / MEMBERS / str(number + 1)) for number in range(config[MEMBERS])]
        mean = MeanClassifier(members)
        vars(mean).update({name: config[name] for name in ("temperature", "confidence") if name in config})
        return mean.eval()

    @classmethod
    def _read_head(cls, folder: Path) -> Any:
        """Return the content of `head.json` without its kind, which has to be this one."""
        try:
            config = read_head(folder)
        except (OSError, ValueError) as error:
            raise InputError(f"{folder}: no {HEAD_CONFIG} of a {cls.kind} ({error}): train one first") from None
        if config.pop("kind", None) != cls.kind:
            raise InputError(f"{folder}: not a {cls.kind}: check the model's URI")
        return config

    def probabilities(self, items: Sequence[Item], batch_size: int) -> Tensor:
        """Return class probabilities (items, labels) on the CPU, in the items' order."""
        return self.answers_to(self.encode(items), batch_size)

    @torch.inference_mode()
    def answers_to(self, rows: Sequence[Encoded | LabelledRow], batch_size: int) -> Tensor:
        """Return class probabilities (rows, labels) of encoded rows on the CPU, in their order."""
        if not rows:
            return torch.empty((0, len(self.labels)))
        return answers_alike(rows, batch_size, self.max_tokens, self._answered)

    def _answered(self, rows: Sequence[Encoded | LabelledRow], width: int) -> Tensor:
        batch = collate(rows, self.pad_id, width).to(next(self.parameters()).device)
        return self.answers(self.logits(batch))


def read_head(folder: Path) -> Any:
    """Return the content of a saved classifier's `head.json`, which other programs may have written."""
    return json.loads((folder / HEAD_CONFIG).read_text(encoding="utf-8"))


def write_head(folder: Path, config: Mapping[str, Any]) -> None:
    """Write a classifier's `head.json`."""
    (folder / HEAD_CONFIG).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def load_encoder(folder: str | Path, dropout: float | None = None) -> tuple[nn.Module, Any]:
    """Return an encoder, with this `dropout` on layers and attention, and its tokenizer.

    Raises:
        InputError: `folder` holds no safetensors, or not a model that transformers knows.
    """
    folder = Path(folder)
    require_safetensors(folder)
    with reading(folder):
        config = AutoConfig.from_pretrained(folder, **LOCAL)
        if dropout is not None:
            config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
        encoder = complete(AutoModel, folder, POOLER, config=config, use_safetensors=True)
        tokenizer = AutoTokenizer.from_pretrained(folder, **LOCAL)
        require_words(folder, tokenizer, encoder)
    return encoder.float(), tokenizer
