"""The GPUs of a Spark task, for code that needs no torch."""


def task_gpus() -> list[str]:
    """Return the addresses of the GPUs that Spark assigned to the running task; none outside a task."""
    try:
        from pyspark import TaskContext
    except ModuleNotFoundError:  # models also answer where no Spark is installed
        return []
    context = TaskContext.get()
    gpu = context.resources().get("gpu") if context is not None else None
    return list(gpu.addresses) if gpu is not None else []
