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

from udfs.models.folders import filling

WEIGHTS, BEST, OPTIMIZER, COURSE = "weights.safetensors", "best.safetensors", "optimizer.safetensors", "course.json"
RANDOM = "random."


def weights_of(model: nn.Module, keep: bool = True) -> dict[str, Tensor]:
    """A copy of the parameters on the CPU; those that layers share are there once.

    Of a sharded model all processes give their parts; those that do not ``keep`` the whole get nothing.
    """
    return _gathered(((name, value.detach()) for name, value in model.named_parameters()), keep)


def put_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Write what `weights_of` gave into the model."""
    with torch.no_grad():
        for name, value in model.named_parameters():
            value.copy_(_parted(weights[name], value))


def _gathered(tensors: Iterable[tuple[str, Tensor]], keep: bool) -> dict[str, Tensor]:
    """One at a time, so that no process holds more than it keeps."""
    found = {}
    for name, value in tensors:
        whole = value.full_tensor() if isinstance(value, DTensor) else value
        if keep:
            found[name] = whole.cpu().clone().contiguous()
    return found


def _parted(whole: Tensor, like: Tensor) -> Tensor:
    """This process's part of a tensor that all have, where ``like`` is such a part."""
    if not isinstance(like, DTensor):
        return whole
    return distribute_tensor(whole.to(like.device), like.device_mesh, like.placements, src_data_rank=None)


def weights_digest(model: nn.Module) -> str:
    """Sha256 of the parameters."""
    total = hashlib.sha256()
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

    def save(
        self,
        epoch: int,
        model: nn.Module,
        best: Mapping[str, Tensor] | None,
        optimizer: torch.optim.Optimizer,
        shuffler: torch.Generator,
        course: Mapping[str, Any],
        writes: bool = True,
    ) -> None:
        """Keep the state after `epoch`; `course` is what JSON can write.

        Of a sharded model all processes give their parts, and the one that ``writes`` does.
        """
        states = optimizer.state_dict()["state"]
        named = ((f"{place}.{name}", value) for place, state in states.items() for name, value in state.items())
        tensors, weights = _gathered(named, writes), weights_of(model, writes)
        if not writes:
            return
        tensors |= {f"{RANDOM}{name}": value for name, value in _random_states(shuffler).items()}
        with filling(self.folder / f"epoch-{epoch:05d}") as scratch:
            save_file(weights, scratch / WEIGHTS)
            if best is not None:
                save_file(dict(best), scratch / BEST)
            save_file(tensors, scratch / OPTIMIZER)
            state = {"training": self.training, "epoch": epoch, **course}
            (scratch / COURSE).write_text(json.dumps(state), encoding="utf-8")
        for older in self._kept()[:-1]:
            shutil.rmtree(older, ignore_errors=True)

    def restore(
        self, model: nn.Module, optimizer: torch.optim.Optimizer, shuffler: torch.Generator
    ) -> tuple[dict[str, Any], dict[str, Tensor] | None] | None:
        """Put the newest state into model, optimizer and generators.

        Returns:
            The course and the best weights so far; None where this training has no checkpoint that can be read.
        """
        for folder in reversed(self._kept()):
            try:
                course = json.loads((folder / COURSE).read_text(encoding="utf-8"))
                if course["training"] != self.training:
                    continue
                weights, tensors = load_file(folder / WEIGHTS), load_file(folder / OPTIMIZER)
                best = load_file(folder / BEST) if (folder / BEST).is_file() else None
            except (OSError, ValueError, KeyError, SafetensorError):
                continue
            put_weights(model, weights)
            _restore_random({name: tensors.pop(name) for name in list(tensors) if name.startswith(RANDOM)}, shuffler)
            states: dict[int, dict[str, Tensor]] = {}
            parameters = [value for group in optimizer.param_groups for value in group["params"]]
            for key, value in tensors.items():
                place, name = key.split(".", 1)
                like = parameters[int(place)]
                whole = value.shape == like.shape  # a count of steps is none's part
                states.setdefault(int(place), {})[name] = _parted(value, like) if whole else value
            optimizer.load_state_dict({**optimizer.state_dict(), "state": states})
            return course, best
        return None

    def clear(self) -> None:
        """Forget all of them: the training has ended."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _kept(self) -> list[Path]:
        return sorted(self.folder.glob("epoch-*"))


def _random_states(shuffler: torch.Generator) -> dict[str, Tensor]:
    states = {"shuffle": shuffler.get_state(), "cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state()
    return states


def _restore_random(states: Mapping[str, Tensor], shuffler: torch.Generator) -> None:
    shuffler.set_state(states[f"{RANDOM}shuffle"])
    torch.set_rng_state(states[f"{RANDOM}cpu"])
    if torch.cuda.is_available() and f"{RANDOM}cuda" in states:
        torch.cuda.set_rng_state(states[f"{RANDOM}cuda"])
