"""The kinds of language models. Each module of this package is one: ``KIND`` says how its models are named and run."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from conf.llm_settings import DecodingSettings, LlmSettings
from udfs.llm_requests import Generator

SERVED_PER_MINUTE = 300.0
"""Prompts that a server on a GPU answers in a minute for each of our cores, by a low estimate."""


@dataclass(frozen=True)
class ModelSource:
    """A language model, its settings and its server's key, as sent to the workers."""

    model_path: str
    identity: str  # from `resolve`; ``openai:NAME`` for a server's model
    settings: LlmSettings = field(default_factory=LlmSettings)
    threads: int = 1  # of a worker with a local model
    workers: int = 1  # that share a server
    key: str | None = field(default=None, repr=False)

    @property
    def kind(self) -> "Kind":
        return kind_of(self.identity)

    def generator(self) -> Generator:
        """Return the worker's cached generator."""
        return self.kind.load(self) if self.kind.shared else _loaded(self)

    def new_generator(self) -> Generator:
        """Return a separate generator, for work that needs two models at once; servers are shared."""
        return self.kind.load(self)


@dataclass(frozen=True)
class Kind:
    """A way to run a language model.

    Attributes:
        prefix: of the URIs and identities of its models.
        load: returns a model's generator in a worker. A shared one is cached.
        in_files: whether the URI of a model in files follows the prefix; False for a served model, whose name is its
            identity.
        shared: whether all work of a worker has one generator, the client of a server.
        check_files: raises an InputError where the resolved folder has no model that can be run so.
        check: raises an InputError where the driver finds that the model cannot be reached.
        prompts_per_minute: of a core and minute, for planning batches; None: as the stage declares for the smallest
            model on a CPU. Too small batches keep a server waiting.
        beside: what the model does not get of a decoding, and what it gets beside it, for the stored parameters.
        locate: returns the path and the identity of what follows the prefix, where that is neither a model in files nor
            the name of a served one.
    """

    prefix: str
    load: Callable[[ModelSource], Generator]
    in_files: bool = True
    shared: bool = False
    check_files: Callable[[Path], None] | None = None
    check: Callable[[ModelSource], None] | None = None
    prompts_per_minute: float | None = None
    beside: Callable[[ModelSource, DecodingSettings], dict[str, Any]] = lambda source, decoding: {}
    locate: Callable[[str], tuple[Path, str]] | None = None


@cache
def kinds() -> tuple[Kind, ...]:
    """Return all kinds; the last one has no prefix, and runs what no other does."""
    found: list[Kind] = [import_module(f"{__name__}.{module.name}").KIND for module in iter_modules(__path__)]
    return tuple(sorted(found, key=lambda kind: kind.prefix, reverse=True))


def kind_of(text: str) -> Kind:
    """Return the kind of a URI or an identity."""
    return next(kind for kind in kinds() if text.startswith(kind.prefix))


@lru_cache(maxsize=1)
def _loaded(source: ModelSource) -> Generator:
    return source.kind.load(source)
