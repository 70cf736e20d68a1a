"""Folders of models for tests."""

import json

from safetensors.numpy import save_file


def model_folder(folder, value=1.0):
    import numpy as np

    folder.mkdir(parents=True)
    save_file({"w": np.full(3, value, dtype=np.float32)}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    return folder
