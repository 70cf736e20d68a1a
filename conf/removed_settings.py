"""Settings of earlier versions that are gone, each with the default that it had and what to use instead.

The loader refuses such a key and says what to use. A run that was made with the default has no work again for its
sake: `etl.pipeline.planner.same_settings` ignores it.
"""

from typing import Any, NamedTuple


class Removed(NamedTuple):
    """A setting that is gone.

    Attributes:
        default: its default, as the settings had it: 1.0 for a fraction that was written as 1.
        instead: what to use instead, or why it went; it ends the sentence "setting KEY is gone: ...".
    """

    default: Any
    instead: str


REMOVED: dict[str, Removed] = {
    "training.*.average_decay": Removed(0.0, "weights are not averaged: it had brought nothing"),
    "training.*.members": Removed(
        1, "one model answers: take a larger encoder, such as models.encoder=hf:roberta-large"
    ),
    "training.*.thresholds": Removed("shared", "one threshold for all labels, as Emo Pillars D has it"),
    "training.*.train_rows": Removed(None, "all rows are learned from: take subtitles.sample for a trial"),
    "training.*.typed": Removed(False, "emo_pillars_transfer_emocontext compares with and without token types"),
    "training.emotion_student.crowd_teacher_share": Removed(0.0, "labelled rows are learned by their labels"),
    "training.emotion_student.teacher_share": Removed(0.0, "labelled rows are learned by their labels"),
    "training.weak_student.teacher_share": Removed(0.5, "label and teacher's answer count alike"),
    "emo_pillars.judge.others": Removed(3, "the judge of labels went with its stages"),
    "emo_pillars.judge.gate": Removed(False, "the judge of labels went with its stages"),
    "models.emo_pillars_judge": Removed(None, "the judge of labels went with its stages"),
    "emo_pillars.analysis.label_floor": Removed(0.55, "unknown emotions are in ops.dropped as unknown_label"),
    "emo_pillars.quality.least_words": Removed(2, "etl/emo_pillars/quality.py has the bounds of the faults"),
    "emo_pillars.quality.longest_rewrite": Removed(2.0, "etl/emo_pillars/steps/rewrites.py has the bound"),
    "emo_pillars.quality.most_repeats": Removed(3, "etl/emo_pillars/quality.py has the bounds of the faults"),
    "emo_pillars.quality.sameness": Removed(0.8, "etl/emo_pillars/steps/utterances.py has the bound"),
    "emo_pillars.quality.least_labels": Removed(2, "etl/emo_pillars/steps/soft_labels.py has the bound"),
    "augesc.generation.strategies": Removed(False, "AugESC's texts name no strategies (4.1)"),
    "augesc.repair.attempts": Removed(0, "texts that fail a requirement are thrown away, as in AugESC 4.3"),
    "llm.engine.command": Removed(
        (
            "vllm",
            "serve",
            "{model}",
            "--served-model-name",
            "{name}",
            "--host",
            "127.0.0.1",
            "--port",
            "{port}",
            "--tensor-parallel-size",
            "{gpus}",
        ),
        "start vLLM's server on each machine, and name it by openai:NAME",
    ),
    "llm.engine.start_seconds": Removed(900.0, "start vLLM's server on each machine, and name it by openai:NAME"),
    "llm.engine.restarts": Removed(1, "start vLLM's server on each machine, and name it by openai:NAME"),
    "llm.engine.concurrency": Removed(128, "llm.server.concurrency"),
    "llm.offline.gpu_memory": Removed(0.9, "start vLLM's server on each machine, and name it by openai:NAME"),
    "conf/prompts/emo_pillars/actors.gbnf": Removed(
        {"prompts/emo_pillars/actors.gbnf": "5b7ed10f4e1602598db730b0f70c807d4c5d62dd89279772eb9957a0813cf15b"},
        "emo_pillars.steps.actors.response_format=step",
    ),
    "conf/prompts/emo_pillars/utterances.gbnf": Removed(
        {"prompts/emo_pillars/utterances.gbnf": "91d0ed7826b482738e0736d9731080c4904c9076622cc630a0d0389e6674d1c4"},
        "emo_pillars.steps.utterances.response_format=step",
    ),
    "conf/prompts/emo_pillars/soft_labels.gbnf": Removed(
        {"prompts/emo_pillars/soft_labels.gbnf": "3c05a2e948101b899d43ae230316228f9cfd421950f2bf219fa411d15578b814"},
        "emo_pillars.steps.soft_labels.response_format=step",
    ),
}
"""By ``section.key``; ``*`` stands for one name. A key itself goes before one with ``*``."""


def removed(key: str) -> Removed | None:
    """Return what is known of a setting that is gone; None of any other key."""
    if key in REMOVED:
        return REMOVED[key]
    parts = key.split(".")
    for pattern, found in REMOVED.items():
        names = pattern.split(".")
        if len(names) == len(parts) and all(name in ("*", part) for name, part in zip(names, parts, strict=True)):
            return found
    return None
