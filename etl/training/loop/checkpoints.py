"""The state of a training after an epoch, on disk without pickles: a killed training goes on from the last one."""

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, distribute_tensor

from conf.training_options import TrainingOptions
from udfs.models.folders import filling
from udfs.models.trainable import EncodedRows, TrainableModel

COURSE = "course.json"
Parts = Mapping[str, Mapping[str, Tensor]]
"""Tensors by name, in files by name."""


def weights_of(model: nn.Module, keep: bool = True) -> dict[str, Tensor]:
    """Return a copy of the parameters on the CPU; those that layers share are there once.

    Of a sharded model all processes give their parts; those that do not ``keep`` the whole get nothing.
    """
    return _gathered(((name, value.detach()) for name, value in model.named_parameters()), keep)


def put_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Write what `weights_of` gave into the model."""
    with torch.no_grad():
        for name, value in model.named_parameters():
            value.copy_(_own_part(weights[name], value))


def optimizer_state(optimizer: torch.optim.Optimizer, keep: bool = True) -> dict[str, Tensor]:
    """Return a copy of the optimizer's tensors, whole as those of `weights_of`, named ``<parameter>.<name>``."""
    states = optimizer.state_dict()["state"]
    return _gathered(
        ((f"{place}.{name}", value) for place, state in states.items() for name, value in state.items()), keep
    )


def put_optimizer_state(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Write what `optimizer_state` gave into the optimizer."""
    states: dict[int, dict[str, Tensor]] = {}
    parameters = [value for group in optimizer.param_groups for value in group["params"]]
    for key, value in tensors.items():
        place, name = key.split(".", 1)
        like = parameters[int(place)]
        whole = value.shape == like.shape  # a count of steps is none's part
        states.setdefault(int(place), {})[name] = _own_part(value, like) if whole else value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": states})


def _gathered(tensors: Iterable[tuple[str, Tensor]], keep: bool) -> dict[str, Tensor]:
    """One at a time, so that no process holds more than it keeps."""
    found = {}
    for name, value in tensors:
        whole = value.full_tensor() if isinstance(value, DTensor) else value
        if keep:
            found[name] = whole.cpu().clone().contiguous()
    return found


def _own_part(whole: Tensor, like: Tensor) -> Tensor:
    """This process's part of a tensor that all have, where ``like`` is such a part."""
    if not isinstance(like, DTensor):
        return whole
    return distribute_tensor(whole.to(like.device), like.device_mesh, like.placements, src_data_rank=None)


def random_state() -> dict[str, Tensor]:
    """Return the state of this process's random numbers."""
    states = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state()
    return states


def put_random_state(states: Mapping[str, Tensor]) -> None:
    """Go on with the random numbers from what `random_state` gave."""
    if "cpu" in states:
        torch.set_rng_state(states["cpu"])
    if torch.cuda.is_available() and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"])


def training_digest(model: TrainableModel, rows: EncodedRows, options: TrainingOptions) -> str:
    """Return the sha256 of start, encoded rows and options; of these not the device, which each process has its own."""
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
    """A training's checkpoints in a folder, the newest alone.

    Args:
        folder: readable by all processes of the training.
        training: what tells this training from any other; checkpoints of another are not gone on from.
    """

    def __init__(self, folder: Path, training: str) -> None:
        self.folder, self.training = folder, training

    def save(self, epoch: int, parts: Parts, course: Mapping[str, Any]) -> None:
        """Keep the state after `epoch`; `course` is what JSON can write."""
        with filling(self.folder / f"epoch-{epoch:05d}") as scratch:
            for name, tensors in parts.items():
                save_file(dict(tensors), scratch / f"{name}.safetensors")
            state = {"training": self.training, "epoch": epoch, "parts": list(parts), **course}
            (scratch / COURSE).write_text(json.dumps(state), encoding="utf-8")
        for older in self._kept()[:-1]:
            shutil.rmtree(older, ignore_errors=True)

    def newest(self) -> tuple[dict[str, Any], Parts] | None:
        """Return the newest course and its tensors; None where this training has no checkpoint that can be read."""
        for folder in reversed(self._kept()):
            try:
                course = json.loads((folder / COURSE).read_text(encoding="utf-8"))
                if course["training"] == self.training:
                    return course, {name: load_file(folder / f"{name}.safetensors") for name in course["parts"]}
            except (OSError, ValueError, KeyError, SafetensorError):
                continue
        return None

    def clear(self) -> None:
        """Forget all of them: the training has ended."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _kept(self) -> list[Path]:
        return sorted(self.folder.glob("epoch-*"))
