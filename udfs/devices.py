"""Which device a worker computes on, in which precision and with how many threads, and what it does when memory
runs out."""

import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

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


PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
FASTER = 1.2
"""How many times as fast as fp32 a CPU's bf16 must be before `auto` takes it. With AVX512-BF16 or AMX it is 2 or more;
emulated on AVX-512 about 0.5, on AVX2 0.03."""


class Precision(NamedTuple):
    """A precision chosen for a device.

    Attributes:
        name: fp32, bf16 or fp16.
        reason: why, in a few words.
        warning: one line where the setting asks for what this hardware does slowly, else None.
    """

    name: str
    reason: str
    warning: str | None = None

    @property
    def dtype(self) -> torch.dtype:
        return PRECISIONS[self.name]


def chosen_precision(setting: str, device: torch.device) -> Precision:
    """Return the precision that `setting` means on `device`.

    Args:
        setting: fp32, bf16, fp16, or auto: bf16 on a GPU (fp16 where it has none), on a CPU bf16 where its matrix
            products are faster than in fp32, else fp32.
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


def hardware_parameters(precision: str, device: str) -> dict[str, str]:
    """Return what `auto` came to on this machine, for a training's run: computed_on, computed_in, cpu_threads."""
    on = training_device(device)
    chosen = chosen_precision(precision, on)
    return {"computed_on": str(on), "computed_in": chosen.name, "cpu_threads": str(torch.get_num_threads())}


def hardware_lines(precision: str, device: str) -> list[str]:
    """Return one line that states device and precision, and a second where a setting is slow on them."""
    on = training_device(device)
    chosen = chosen_precision(precision, on)
    lines = [f"computing on {on} in {chosen.name}: {chosen.reason}"]
    return [*lines, chosen.warning] if chosen.warning else lines


_PROBED = (torch.float32, torch.bfloat16)


@cache
def bf16_speed() -> float:
    """Measure how many times as fast as in fp32 this CPU multiplies matrices in bf16; takes at most 0.3 s."""
    fp32, bf16 = ((torch.ones(64, 384, dtype=kind), torch.ones(384, 1536, dtype=kind)) for kind in _PROBED)
    best = {kind: float("inf") for kind in _PROBED}
    for _ in range(5):
        for kind, (left, right) in zip(_PROBED, (fp32, bf16), strict=True):
            began = time.perf_counter()
            torch.mm(left, right)
            best[kind] = min(best[kind], time.perf_counter() - began)
    return best[torch.float32] / best[torch.bfloat16]


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
