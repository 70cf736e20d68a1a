"""``vllm:URI``: a model on a server that each worker starts: vLLM, or the command of ``llm.engine``."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from conf.llm_settings import DecodingSettings
from udfs.llm_kinds import SERVED_PER_MINUTE, Kind, Source
from udfs.models.stores import fetched

if TYPE_CHECKING:
    from udfs.llm_engine import EngineGenerator


@lru_cache(maxsize=2)
def engine(source: Source) -> "EngineGenerator":
    """Return the worker's server."""
    from udfs.llm_engine import EngineGenerator

    return EngineGenerator(str(fetched(source.model_path)), source.settings)


def beside(source: Source, decoding: DecodingSettings) -> dict[str, Any]:
    """Return what the server does not get of a decoding, and what it gets beside it."""
    from udfs import openai_server

    return openai_server.beside(decoding, source.settings.server.model_copy(update={"dialect": "vllm"}))


KIND = Kind("vllm:", engine, shared=True, whole_gpu=True, prompts_per_minute=SERVED_PER_MINUTE, beside=beside)
