"""``vllm-offline:URI``: a model in vLLM's engine within the worker, without a server between them."""

from functools import lru_cache
from typing import TYPE_CHECKING

from udfs.llm_kinds import SERVED_PER_MINUTE, Kind, Source
from udfs.models.stores import fetched

if TYPE_CHECKING:
    from udfs.vllm_offline import OfflineGenerator


@lru_cache(maxsize=1)
def engine(source: Source) -> "OfflineGenerator":
    """Return the worker's engine, which the first request loads."""
    from udfs.vllm_offline import OfflineGenerator

    return OfflineGenerator(str(fetched(source.model_path)), source.settings)


KIND = Kind("vllm-offline:", engine, shared=True, whole_gpu=True, prompts_per_minute=SERVED_PER_MINUTE)
