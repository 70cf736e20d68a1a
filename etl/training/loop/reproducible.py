"""Reproducible trainings: fixed seeds, threads and kernels."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from conf.training_options import TrainingOptions
from udfs.devices import set_threads


@contextmanager
def reproducible(options: TrainingOptions) -> Iterator[None]:
    """Seed torch, set its threads and deterministic kernels, and restore the settings afterwards."""
    before = torch.get_num_threads()
    strict = torch.are_deterministic_algorithms_enabled()
    with torch.random.fork_rng():
        torch.manual_seed(options.seed)
        set_threads(options.threads or 0)
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # required for deterministic cuBLAS
        torch.use_deterministic_algorithms(True, warn_only=True)
        # numpy caches the smallest numbers, and would warn if denormals were disabled before.
        for kind in (np.float32, np.float64):
            np.finfo(kind)
        # Adam's averages for rare tokens decay into denormals, which are a hundred times slower on a CPU.
        torch.set_flush_denormal(True)
        try:
            yield
        finally:
            torch.set_flush_denormal(False)
            torch.use_deterministic_algorithms(strict)
            torch.set_num_threads(before)
