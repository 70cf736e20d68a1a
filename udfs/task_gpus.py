"""The GPUs of a Spark task, for code that needs no torch."""

from pyspark import TaskContext


def task_gpus() -> list[str]:
    """Return the addresses of the GPUs that Spark assigned to the running task; none outside a task."""
    context = TaskContext.get()
    gpu = context.resources().get("gpu") if context is not None else None
    return list(gpu.addresses) if gpu is not None else []
