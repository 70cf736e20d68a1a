"""Other URIs: a model in transformers, which each worker loads."""

import os
from typing import TYPE_CHECKING

from udfs.llm_kinds import Kind, ModelSource
from udfs.models.stores import fetched

if TYPE_CHECKING:
    from udfs.models.language.generator import LocalGenerator


def load(source: ModelSource) -> "LocalGenerator":
    """Return the model, on the task's device."""
    from udfs.devices import set_threads, task_device
    from udfs.models.language.generator import LocalGenerator

    path = str(fetched(source.model_path))
    settings = source.settings
    set_threads(source.threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    return LocalGenerator.load(path, settings.batch_size, settings.precision).to(task_device())


KIND = Kind("", load)
