"""``gguf:URI``: a model's GGUF file in llama.cpp, which each worker loads."""

from pathlib import Path
from typing import TYPE_CHECKING

from udfs.llm_kinds import Kind, ModelSource
from udfs.models.gguf_header import gguf_file, read_header
from udfs.models.stores import fetched

if TYPE_CHECKING:
    from udfs.models.language.llama_cpp import LlamaCppGenerator


def load(source: ModelSource) -> "LlamaCppGenerator":
    """Return the model, on a worker's threads."""
    from udfs.models.language.llama_cpp import LlamaCppGenerator

    settings = source.settings
    path = str(fetched(source.model_path))
    return LlamaCppGenerator.load(path, settings.batch_size, settings.context_tokens, source.threads)


def check_files(folder: Path) -> None:
    """Raise an InputError where the folder has no GGUF file, or a broken one."""
    read_header(gguf_file(folder))


KIND = Kind("gguf:", load, check_files=check_files)
