"""The numbers that the paper prints are the defaults of settings (Emo Pillars 3 to 8, B, G, I)."""

from functools import reduce
from typing import Any

import pytest

from conf.settings import Settings

STEPS = {"actors": 300, "utterances": 500, "soft_labels": 100, "contexts": 300, "clean_contexts": 300, "rewrites": 300}
UNTIL_LAST = {"learning_rate": 2e-5, "keep": "last", "patience": None, "warmup_share": 0.0, "decay": "linear"}
TRAININGS = {
    "emo_pillars_contextless": {"epochs": 10, "max_tokens": 128, "effective_batch": 64},
    "emo_pillars_contextless_rewritten": {"epochs": 10, "max_tokens": 128, "effective_batch": 64},
    "emo_pillars_contextual": {"epochs": 10, "max_tokens": 512, "effective_batch": 32},
    "emo_pillars_contextual_rewritten": {"epochs": 10, "max_tokens": 512, "effective_batch": 32},
    "goemotions": {"epochs": 3, "effective_batch": 16},
    "isear": {"epochs": 8, "max_tokens": 512, "effective_batch": 4},
    "emocontext": {"epochs": 3},
    "emo_pillars_emocontext": {"epochs": 3},
}
PRINTED: dict[str, Any] = {
    "emo_pillars.plot_limit": 2000,
    "emo_pillars.emotional": 8,
    "emo_pillars.neutral": 2,
    "emo_pillars.top_labels": 5,
    "emo_pillars.least_level": 0.3,
    "emo_pillars.context_share": 1 / 3,
    "emo_pillars.transfer.folds": 5,
    "emo_pillars.transfer.folds_run": None,
    "emo_pillars.transfer.training_share": 1.0,
    "emo_pillars.transfer.least_probability": 0.3,
    "emo_pillars.analysis.utterances": 10_000,
    "emo_pillars.analysis.pairs": 10_000,
    "emo_pillars.analysis.plots": 1000,
    "emo_pillars.analysis.topic_emotion": "joy",
    "emo_pillars.analysis.topic_utterances": 3000,
    "emo_pillars.analysis.topic_similarity": 0.6,
    "emo_pillars.analysis.topic_examples": 200,
    "emo_pillars.analysis.removed_share": 0.6,
    "emo_pillars.analysis.marker_share": 0.05,
    "emo_pillars.evaluation.examples": 200,
    "emo_pillars.evaluation.neutral_alone": 0.11,
    "emo_pillars.evaluation.neutral_beside": 0.18,
    "emo_pillars.evaluation.ranked_share": 0.2,
    "emo_pillars.evaluation.raters": 3,
    "models.generator": "hf:mistralai/Mistral-7B-Instruct-v0.2",
    "models.emo_pillars_encoder": "hf:FacebookAI/roberta-large",
    "models.analysis_encoder": "hf:sentence-transformers/all-mpnet-base-v2",
    **{f"emo_pillars.steps.{step}.max_new_tokens": tokens for step, tokens in STEPS.items()},
    **{f"emo_pillars.steps.{step}.repetition_penalty": 1.03 for step in STEPS},
    **{f"emo_pillars.steps.{step}.temperature": 0.0 for step in STEPS},
    **{f"training.{task}.{key}": value for task, its in TRAININGS.items() for key, value in (UNTIL_LAST | its).items()},
}


@pytest.mark.parametrize("key", PRINTED)
def test_what_the_paper_prints_is_the_default(key: str) -> None:
    assert reduce(getattr, key.split("."), Settings()) == PRINTED[key]


def test_three_runs_on_goemotions() -> None:
    assert len(set(Settings().emo_pillars.transfer.seeds)) == 3
