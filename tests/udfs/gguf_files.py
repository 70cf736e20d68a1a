"""GGUF files that are small and have no model that could answer."""

from pathlib import Path

import numpy as np
from gguf import GGUFWriter


def written(path: Path, tokens: tuple[str, ...] = ("a", "<s>", "<|end|>"), types: tuple[int, ...] = (1, 3, 4)) -> Path:
    """A GGUF file with a vocabulary and one tensor, and no model that could answer."""
    writer = GGUFWriter(str(path), "llama")
    writer.add_context_length(64)
    writer.add_token_list(list(tokens))
    writer.add_token_types(list(types))
    writer.add_chat_template("{{ messages }}")
    writer.add_tensor("token_embd.weight", np.zeros((3, 32), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
