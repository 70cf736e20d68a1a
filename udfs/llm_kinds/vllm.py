"""``vllm:URI``: a model on a server that each worker starts: vLLM, or the command of ``llm.engine``."""

from functools import lru_cache
from typing import TYPE_CHECKING

from udfs.llm_kinds import Kind, Source
from udfs.models.stores import fetched

if TYPE_CHECKING:
    from udfs.llm_engine import EngineGenerator


@lru_cache(maxsize=2)
def engine(source: Source) -> "EngineGenerator":
    """Return the worker's server."""
    from udfs.llm_engine import EngineGenerator

    return EngineGenerator(str(fetched(source.model_path)), source.settings)


KIND = Kind("vllm:", engine, shared=True, whole_gpu=True)
