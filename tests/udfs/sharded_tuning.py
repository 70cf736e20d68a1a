"""One of the processes that tune a causal language model together: ``FOLDER [EPOCH]``, killed after that epoch."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from etl.training.loop.checkpoints import Checkpoints
from etl.training.loop.process_job import train_at
from tests.ports import free_port


def as_only_process(patch: pytest.MonkeyPatch) -> None:
    """Let this process be a group of one, as torchrun tells its processes."""
    told = {"RANK": 0, "LOCAL_RANK": 0, "WORLD_SIZE": 1, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port()}
    for name, value in told.items():
        patch.setenv(name, str(value))


def killed_after(epoch: int, save: Callable[..., None]) -> Callable[..., None]:
    def saved(kept: Checkpoints, number: int, *state: Any) -> None:
        save(kept, number, *state)
        if number == epoch:
            raise SystemExit(1)

    return saved


if __name__ == "__main__":
    if len(sys.argv) > 2:
        Checkpoints.save = killed_after(int(sys.argv[2]), Checkpoints.save)  # type: ignore[method-assign]
    train_at(sys.argv[1])
