"""The processes that train one model together: each computes a part of every batch, and all make the same update."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from conf.errors import InputError

Value = TypeVar("Value")
TIMEOUT = timedelta(minutes=30)


@dataclass(frozen=True)
class ProcessGroup:
    """The rank of a process among those of a training; by default it is the only one.

    Attributes:
        sharded: each process holds a part of the parameters, gradients and optimizer state, and gathers one block at
            a time, for models that are too large for one device.
    """

    rank: int = 0
    size: int = 1
    sharded: bool = False

    @property
    def leads(self) -> bool:
        """Return whether this process writes files and logs."""
        return self.rank == 0

    def local_rows(self, rows: int) -> range:
        """Return the indices of this process's share of `rows` rows."""
        return range(self.rank, rows, self.size)

    def wrap(self, model: nn.Module, blocks: Sequence[nn.Module] = ()) -> nn.Module:
        """Return the network whose gradients are averaged over the group; `model` if there is one process.

        A sharded group replaces the model's parameters, so the optimizer must be created afterwards.
        """
        if self.size == 1:
            return model
        if self.sharded:
            try:
                from torch.distributed.fsdp import fully_shard
            except ImportError:
                raise InputError(f"a model in parts needs torch 2.6 or later, not {torch.__version__}") from None
            for block in [*blocks, model]:
                fully_shard(block)
            return model
        # The encoder's pooler is unused by the classifiers and gets no gradient.
        return DistributedDataParallel(model, find_unused_parameters=True)

    def accumulate(self, network: nn.Module, last: bool) -> AbstractContextManager[Any]:
        """Return the context manager of a micro-batch; only the `last` one of an update exchanges gradients."""
        if self.size > 1 and self.sharded:
            from torch.distributed.fsdp import FSDPModule

            assert isinstance(network, FSDPModule)
            network.set_requires_gradient_sync(last)
        if self.size == 1 or self.sharded or last:
            return nullcontext()
        assert isinstance(network, DistributedDataParallel)
        return network.no_sync()

    def total(self, value: float, device: torch.device) -> float:
        """Return the sum of the processes' values."""
        if self.size == 1:
            return value
        sums = torch.tensor(value, dtype=torch.float64, device=device)
        distributed.all_reduce(sums)
        return float(sums)

    def gathered(self, value: Value) -> list[Value]:
        """Return the processes' values, by rank."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        distributed.all_gather_object(values, value)
        return values

    def barrier(self) -> None:
        """Wait for all processes: when one fails, torchrun stops the others even while they write."""
        if self.size > 1:
            distributed.barrier()


ALONE = ProcessGroup()


@contextmanager
def process_group(device: str) -> Iterator[tuple[ProcessGroup, str]]:
    """Yield this process's group and device, from torchrun's environment variables: NCCL on GPUs, else gloo.

    Args:
        device: `auto`, `cpu` or `cuda`; each process uses the GPU of its local rank.

    Raises:
        InputError: fewer GPUs than processes on this machine.
    """
    on_gpu = device.startswith("cuda") or (device == "auto" and torch.cuda.is_available())
    local_device = "cpu"
    if on_gpu:
        local = int(os.environ.get("LOCAL_RANK", "0"))
        gpus = torch.cuda.device_count()
        if local >= gpus:
            raise InputError(f"training.processes needs a GPU for each process, this machine has {gpus}: use fewer")
        local_device = f"cuda:{local}"
        torch.cuda.set_device(local)
    distributed.init_process_group("nccl" if on_gpu else "gloo", timeout=TIMEOUT)
    try:
        yield ProcessGroup(distributed.get_rank(), distributed.get_world_size()), local_device
    finally:
        distributed.destroy_process_group()
