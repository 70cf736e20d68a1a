"""Switch off what libraries send to their makers."""

import os

OFF = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "GRADIO_ANALYTICS_ENABLED": "False",
    "WANDB_MODE": "disabled",
}
"""Variables that MLflow, Hugging Face's libraries, vLLM and others read when they are imported."""


def without_telemetry() -> None:
    """Set the variables, unless the environment has them. Before an import, since MLflow's thread starts with it."""
    for name, value in OFF.items():
        os.environ.setdefault(name, value)
