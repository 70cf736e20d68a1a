"""``openai:NAME``: a model on the OpenAI-compatible server of ``llm.server``, which all workers ask."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from conf.llm_settings import DecodingSettings
from udfs.llm_kinds import SERVED_PER_MINUTE, Kind, ModelSource
from udfs.llm_requests import NOT_CONTINUED

if TYPE_CHECKING:
    from udfs.llm_server import ServerGenerator

PREFIX = "openai:"


@lru_cache(maxsize=4)
def client(source: ModelSource) -> "ServerGenerator":
    """Return the worker's client of the server."""
    from udfs.llm_server import ServerGenerator
    from udfs.openai_server import OpenAIServer

    server = source.settings.server
    model = OpenAIServer(source.identity.removeprefix(PREFIX), server, source.key)
    return ServerGenerator(model, server, source.workers)


def check(source: ModelSource) -> None:
    """Raise an InputError where the server is unreachable, refuses the key or lacks the model."""
    client(source).check()


def beside(source: ModelSource, decoding: DecodingSettings) -> dict[str, Any]:
    """Return what the server does not get of a decoding, and what it gets beside it.

    Where it was found not to continue the start of an answer, this is said.
    """
    from udfs import openai_server

    model: Any = client(source).model
    found = openai_server.beside(decoding, source.settings.server)
    return found | ({"answer_start": NOT_CONTINUED} if model.answers_anew else {})


KIND = Kind(
    PREFIX, client, in_files=False, shared=True, check=check, prompts_per_minute=SERVED_PER_MINUTE, beside=beside
)
