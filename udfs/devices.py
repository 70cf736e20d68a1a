"""Which device a worker computes on, how many threads it takes, and what it does when memory runs out."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from pyspark import TaskContext

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def task_device() -> torch.device:
    """The device of the running Spark task: the GPU that Spark gave it, else the CPU.

    Raises:
        RuntimeError: the task has a GPU and torch sees none.
    """
    context = TaskContext.get()
    gpu = context.resources().get("gpu") if context is not None else None
    if gpu is None or not gpu.addresses:
        return torch.device("cpu")
    address = gpu.addresses[0]
    if not torch.cuda.is_available():
        raise RuntimeError(
            f"Spark gave this task GPU {address} but torch {torch.__version__} sees no CUDA device: "
            "install a CUDA build of torch on the executors or set spark.task.resource.gpu.amount=0"
        )
    # Where the cluster manager hides the other GPUs, the one left is always number 0.
    visible = torch.cuda.device_count()
    return torch.device("cuda", int(address) if address.isdigit() and int(address) < visible else 0)


def training_device(name: str) -> torch.device:
    """The device a training runs on: `auto` is a GPU when torch sees one, else the CPU.

    Raises:
        RuntimeError: `name` is a CUDA device and torch sees none.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device = torch.device(name)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise RuntimeError(
            f"training.device is {name} but torch {torch.__version__} sees no CUDA device: use auto or cpu"
        )
    return device


def set_threads(threads: int) -> None:
    """Give torch `threads` CPU threads in this process; 0 leaves its own choice."""
    if threads > 0:
        torch.set_num_threads(threads)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether `error` is CUDA running out of memory."""
    return isinstance(error, torch.cuda.OutOfMemoryError)


def with_back_off(answer: Callable[[Sequence[Item]], list[Answer]], items: Sequence[Item]) -> list[Answer]:
    """`answer(items)`, in halves while CUDA runs out of memory; one item that does not fit alone raises."""
    try:
        return answer(items)
    except torch.cuda.OutOfMemoryError:
        if len(items) < 2:
            raise
    _release_memory()
    middle = len(items) // 2
    return with_back_off(answer, items[:middle]) + with_back_off(answer, items[middle:])


def _release_memory() -> None:
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
