"""Checkpoints of a training after each epoch, without pickles; a killed training resumes from the last one."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeGuard

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from conf.errors import InputError
from conf.training_options import TrainingOptions
from udfs.models.folders import filling
from udfs.models.stores import delete, folders_in, get, is_store, put
from udfs.models.trainable import EncodedRows, TrainableModel

COURSE = "course.json"
Parts = Mapping[str, Mapping[str, Tensor]]
"""Tensors by name, in files by name."""


def weights_of(model: nn.Module, keep: bool = True) -> dict[str, Tensor]:
    """Return a copy of the parameters on the CPU; parameters that layers share occur once.

    For a sharded model all processes must call it. Processes without ``keep`` return an empty dictionary.
    """
    return _gathered(((name, value.detach()) for name, value in model.named_parameters()), keep)


def put_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy the result of `weights_of` into the model."""
    with torch.no_grad():
        for name, value in model.named_parameters():
            value.copy_(_local_part(weights[name], value))


def optimizer_state(optimizer: torch.optim.Optimizer, keep: bool = True) -> dict[str, Tensor]:
    """Return a copy of the optimizer's unsharded tensors, named ``<parameter>.<name>``; see `weights_of`."""
    states = optimizer.state_dict()["state"]
    return _gathered(
        ((f"{place}.{name}", value) for place, state in states.items() for name, value in state.items()), keep
    )


def put_optimizer_state(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Copy the result of `optimizer_state` into the optimizer."""
    states: dict[int, dict[str, Tensor]] = {}
    parameters = [value for group in optimizer.param_groups for value in group["params"]]
    for key, value in tensors.items():
        place, name = key.split(".", 1)
        like = parameters[int(place)]
        sharded = value.shape == like.shape  # a step counter is not sharded
        states.setdefault(int(place), {})[name] = _local_part(value, like) if sharded else value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": states})


def _gathered(tensors: Iterable[tuple[str, Tensor]], keep: bool) -> dict[str, Tensor]:
    """Copy tensors to the CPU, one at a time to save memory."""
    found = {}
    for name, value in tensors:
        whole = value.full_tensor() if _is_sharded(value) else value
        if keep:
            found[name] = whole.cpu().clone().contiguous()
    return found


def _is_sharded(value: Any) -> TypeGuard[Any]:
    """Return whether a tensor is a DTensor, a type that torch exports from 2.5 on."""
    return hasattr(value, "full_tensor")


def _local_part(whole: Tensor, like: Tensor) -> Tensor:
    """Return this process's part of a tensor where ``like`` is sharded, else the whole tensor."""
    if not _is_sharded(like):
        return whole
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(whole.to(like.device), like.device_mesh, like.placements, src_data_rank=None)


def random_state() -> dict[str, Tensor]:
    """Return the states of this process's random number generators."""
    states = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state()
    return states


def put_random_state(states: Mapping[str, Tensor]) -> None:
    """Restore the result of `random_state`."""
    if "cpu" in states:
        torch.set_rng_state(states["cpu"])
    if torch.cuda.is_available() and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"])


def training_digest(model: TrainableModel, rows: EncodedRows, options: TrainingOptions) -> str:
    """Return the sha256 of initial weights, encoded rows and options; the device is excluded, as processes differ."""
    total = hashlib.sha256(json.dumps([model.kind, options.model_dump(mode="json", exclude={"device"})]).encode())
    for some in rows:
        total.update(f"{len(some)}\n".encode())
        for row in some:
            total.update(json.dumps(row).encode())
    for name, value in model.named_parameters():
        total.update(name.encode())
        total.update(value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
    return total.hexdigest()


class Checkpoints:
    """A folder with the newest checkpoint of a training.

    Args:
        place: readable by all processes of the training; a folder, or a place in an object store.
        training: digest of the training; checkpoints with another digest are ignored.
    """

    def __init__(self, place: Path | str, training: str) -> None:
        self.place = str(place)
        self.training = training
        self.stored = is_store(self.place)

    def save(self, epoch: int, parts: Parts, course: Mapping[str, Any]) -> None:
        """Write the state after `epoch`, and delete older checkpoints; `course` must be JSON-serializable."""
        with self._new(f"epoch-{epoch:05d}") as scratch:
            for name, tensors in parts.items():
                save_file(dict(tensors), scratch / f"{name}.safetensors")
            state = {"training": self.training, "epoch": epoch, "parts": list(parts), **course}
            (scratch / COURSE).write_text(json.dumps(state), encoding="utf-8")
        for older in self._kept()[:-1]:
            self._delete(f"{self.place}/{older}")

    def newest(self) -> tuple[dict[str, Any], Parts] | None:
        """Return the newest course and its tensors; None where this training has no readable checkpoint."""
        for name in reversed(self._kept()):
            try:
                with self._local(name) as folder:
                    course = json.loads((folder / COURSE).read_text(encoding="utf-8"))
                    if course["training"] == self.training:
                        return course, {part: load_file(folder / f"{part}.safetensors") for part in course["parts"]}
            except (OSError, ValueError, KeyError, SafetensorError, InputError):
                continue
        return None

    def clear(self) -> None:
        """Delete the folder."""
        self._delete(self.place)

    def _kept(self) -> list[str]:
        if self.stored:
            return [name for name in folders_in(self.place) if name.startswith("epoch-")]
        return sorted(folder.name for folder in Path(self.place).glob("epoch-*"))

    def _delete(self, place: str) -> None:
        if self.stored:
            delete(place)
        else:
            shutil.rmtree(place, ignore_errors=True)

    @contextmanager
    def _new(self, name: str) -> Iterator[Path]:
        """Yield a local folder that becomes the checkpoint of this name."""
        if not self.stored:
            with filling(Path(self.place, name)) as scratch:
                yield scratch
            return
        with tempfile.TemporaryDirectory() as scratch:
            yield Path(scratch)
            delete(f"{self.place}/{name}")
            put(Path(scratch), f"{self.place}/{name}")

    @contextmanager
    def _local(self, name: str) -> Iterator[Path]:
        """Yield a local folder with the files of a checkpoint."""
        if not self.stored:
            yield Path(self.place, name)
            return
        with tempfile.TemporaryDirectory() as scratch:
            yield get(f"{self.place}/{name}", Path(scratch))
