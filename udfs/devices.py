"""Device, precision and threads of a worker, and its handling of CUDA out-of-memory errors."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, NamedTuple, TypeVar

import torch

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def task_device() -> torch.device:
    """Return the device of the running Spark task: the GPU that Spark assigned to it, else the CPU.

    Raises:
        RuntimeError: The task has a GPU and torch sees none.
    """
    try:
        from pyspark import TaskContext
    except ModuleNotFoundError:  # models also answer where no Spark is installed
        return torch.device("cpu")
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
    # If the cluster manager hides the other GPUs, the visible one has number 0.
    visible = torch.cuda.device_count()
    return torch.device("cuda", int(address) if address.isdigit() and int(address) < visible else 0)


def training_device(name: str) -> torch.device:
    """Return the device for training; `auto` is a GPU if torch sees one, else the CPU.

    Raises:
        RuntimeError: `name` is a CUDA device and torch sees none.
    """
    auto = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(auto if name == "auto" else name)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise RuntimeError(
            f"training.device is {name} but torch {torch.__version__} sees no CUDA device: use auto or cpu"
        )
    return device


PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
FASTER = 1.2
"""Minimum speed of bf16 relative to fp32 on a CPU for `auto` to choose bf16.

It is 2 or more with AVX512-BF16 or AMX, about 0.5 emulated on AVX-512, and 0.03 on AVX2.
"""


class Precision(NamedTuple):
    """A precision chosen for a device, with a warning if the setting is slow on this hardware."""

    name: str  # fp32, bf16 or fp16
    reason: str
    warning: str | None = None

    @property
    def dtype(self) -> torch.dtype:
        return PRECISIONS[self.name]


def chosen_precision(setting: str, device: torch.device) -> Precision:
    """Return the precision for a setting (fp32, bf16, fp16 or auto) on a device.

    On a GPU, auto is bf16, or fp16 if the GPU lacks bf16. On a CPU, auto is bf16 if it multiplies faster than fp32.
    """
    if device.type == "cuda":
        bf16 = bool(torch.version.hip) or torch.cuda.get_device_capability(device) >= (8, 0)
        fits, reason = ("bf16", "the GPU has bf16") if bf16 else ("fp16", "the GPU has no bf16")
        slow = setting == "bf16" and not bf16
    else:
        speed = bf16_speed()
        fits = "bf16" if speed >= FASTER else "fp32"
        reason = f"bf16 runs at {speed:.2g} times the speed of fp32 on this CPU"
        slow = setting == "fp16" or (setting == "bf16" and fits != "bf16")
    if setting == "auto":
        return Precision(fits, reason)
    warning = f"precision {setting} is slow here ({reason}): set it to auto or {fits}" if slow else None
    return Precision(setting, "by setting", warning)


def autocast(device: torch.device, dtype: torch.dtype) -> AbstractContextManager[Any]:
    """Return a context in which matrices are multiplied in a precision; none is entered for fp32."""
    return nullcontext() if dtype == torch.float32 else torch.autocast(device.type, dtype=dtype)


def hardware_parameters(precision: str, device: str) -> dict[str, str]:
    """Return the device, precision and threads of a training run: computed_on, computed_in, cpu_threads."""
    on = training_device(device)
    chosen = chosen_precision(precision, on)
    return {"computed_on": str(on), "computed_in": chosen.name, "cpu_threads": str(torch.get_num_threads())}


def hardware_lines(precision: str, device: str) -> list[str]:
    """Return one line that states device and precision, and a second if a setting is slow on them."""
    on = training_device(device)
    chosen = chosen_precision(precision, on)
    lines = [f"computing on {on} in {chosen.name}: {chosen.reason}"]
    return [*lines, chosen.warning] if chosen.warning else lines


@cache
def bf16_speed() -> float:
    """Measure the speed of bf16 matrix products relative to fp32 on this CPU; takes at most 0.3 s."""
    kinds = (torch.float32, torch.bfloat16)
    matrices = {kind: (torch.ones(64, 384, dtype=kind), torch.ones(384, 1536, dtype=kind)) for kind in kinds}
    best = dict.fromkeys(kinds, float("inf"))
    for _ in range(5):
        for kind, (left, right) in matrices.items():
            began = time.perf_counter()
            torch.mm(left, right)
            best[kind] = min(best[kind], time.perf_counter() - began)
    return best[torch.float32] / best[torch.bfloat16]


def set_threads(threads: int) -> None:
    """Set torch's number of CPU threads in this process; 0 keeps torch's default."""
    if threads > 0:
        torch.set_num_threads(threads)


def with_back_off(answer: Callable[[Sequence[Item]], list[Answer]], items: Sequence[Item]) -> list[Answer]:
    """Return `answer(items)`, computed in halves while CUDA runs out of memory; a single item raises instead."""
    try:
        return answer(items)
    except torch.cuda.OutOfMemoryError:
        if len(items) < 2:
            raise
    torch.cuda.empty_cache()  # does nothing without CUDA
    middle = len(items) // 2
    return with_back_off(answer, items[:middle]) + with_back_off(answer, items[middle:])
