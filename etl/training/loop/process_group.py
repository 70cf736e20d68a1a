"""The processes that train one model together: each takes its part of every batch, all make the same update."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import distributed, nn
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.nn.parallel import DistributedDataParallel

from conf.errors import InputError

Value = TypeVar("Value")
TIMEOUT = timedelta(minutes=30)


@dataclass(frozen=True)
class ProcessGroup:
    """One process's place among those of a training; alone unless `process_group` says otherwise.

    Attributes:
        sharded: each process holds a part of the parameters, of their gradients and of the optimizer's state,
            and the whole of one block at a time: for models that are too large for one device.
    """

    rank: int = 0
    size: int = 1
    sharded: bool = False

    @property
    def leads(self) -> bool:
        """Whether this process writes and speaks for all."""
        return self.rank == 0

    def own_rows(self, rows: int) -> range:
        """The places of `rows` rows that are this process's own; no two processes share one."""
        return range(self.rank, rows, self.size)

    def wrap(self, model: nn.Module, blocks: Sequence[nn.Module] = ()) -> nn.Module:
        """The network whose gradients are averaged over the group; `model` itself when alone.

        A sharded group's parameters are others afterwards: an optimizer is made after it.
        """
        if self.size == 1:
            return model
        if self.sharded:
            for block in [*blocks, model]:
                fully_shard(block)
            return model
        # An encoder's own pooler, which no classifier here uses, never gets a gradient.
        return DistributedDataParallel(model, find_unused_parameters=True)

    def accumulate(self, network: nn.Module, last: bool) -> AbstractContextManager[Any]:
        """Around a micro-batch: gradients travel with the `last` one of an update only."""
        if isinstance(network, FSDPModule):
            network.set_requires_gradient_sync(last)
        if self.size == 1 or self.sharded or last:
            return nullcontext()
        assert isinstance(network, DistributedDataParallel)
        return network.no_sync()

    def total(self, value: float, device: torch.device) -> float:
        """The sum of the processes' values."""
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
        """Until all are here: torchrun stops everybody when one process ends badly, be the others still writing."""
        if self.size > 1:
            distributed.barrier()


ALONE = ProcessGroup()


@contextmanager
def process_group(device: str) -> Iterator[tuple[ProcessGroup, str]]:
    """Return this process's group and device, from the environment that torchrun sets: NCCL on GPUs, else gloo.

    Args:
        device: `auto`, `cpu` or `cuda`; each process of a machine takes the GPU of its local rank.

    Raises:
        InputError: fewer GPUs than processes on this machine.
    """
    on_gpu = device.startswith("cuda") or (device == "auto" and torch.cuda.is_available())
    own = "cpu"
    if on_gpu:
        local, gpus = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
        if local >= gpus:
            raise InputError(f"training.processes needs a GPU for each process, this machine has {gpus}: use fewer")
        own = f"cuda:{local}"
        torch.cuda.set_device(local)
    distributed.init_process_group("nccl" if on_gpu else "gloo", timeout=TIMEOUT)
    try:
        yield ProcessGroup(distributed.get_rank(), distributed.get_world_size()), own
    finally:
        distributed.destroy_process_group()
