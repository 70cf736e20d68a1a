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
    "models.turn_arbiter": Removed(None, "no language model decides borders: it had brought nothing"),
    "subtitles.arbiter.below": Removed(None, "no language model decides borders: it had brought nothing"),
    "subtitles.certainty.arbiter": Removed(0.6, "no language model decides borders: it had brought nothing"),
    "subtitles.cleaning.certain_opening": Removed(
        True, "the border before a span's first turn counts as all others do"
    ),
    "subtitles.cleaning.certain_turns": Removed("spans", "min_certainty keeps the spans that are worth most"),
    "subtitles.film_spread": Removed(0.5, "one limit serves all films: marks within cues say little of those between"),
    "training.turn_segmenter.features": Removed(2**20, "the SVM has 2**20 hash buckets"),
    "training.turn_segmenter.max_iterations": Removed(60, "the SVM is fitted in 60 passes at most"),
    "training.turn_segmenter.regularization": Removed(0.007, "the value that cross-validation chose is fixed"),
    "training.turn_segmenter.seed": Removed(13, "the order in which the optimizer takes pairs is fixed"),
    "training.turn_segmenter.sure_margin": Removed(0.5, "take training.turn_segmenter.kind=both in a cascade's place"),
    "checks.max_drift": Removed(0.1, "compare the labels of two versions of a table in SQL"),
    "checks.max_null_change": Removed(0.05, "compare the nulls of two versions of a table in SQL"),
    "lakehouse.change_data_feed": Removed(
        [], "ALTER TABLE ... SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true') turns a table's feed on"
    ),
    "subtitles.max_quarantined_share": Removed(
        0.1, "`jobs check` tells it after the run (checks.max_quarantined_share)"
    ),
    "prices.core_hour": Removed(None, "multiply the core-hours of `estimate` by it"),
    "prices.gpu_hour": Removed(None, "multiply the GPU-hours of `estimate` by it"),
    "replies.decoding.candidates": Removed(8, "one reply is written: replies.decoding.method=beam"),
    "replies.decoding.intent_weight": Removed(1.0, "one reply is written: replies.decoding.method=beam"),
    "replies.pretraining.dialogues": Removed("clean", "the clean dialogues are learned from, as EDOS 5 has it"),
    "replies.pretraining.transcripts": Removed((), "the clean dialogues are learned from, as EDOS 5 has it"),
    "edos.crowd_aggregation": Removed("majority", "two of three workers agree, as in EDOS 3.2"),
    "edos.annotation.order": Removed("readability", "the most readable turns are asked first, as in EDOS 3.2"),
    "edos.annotation.readability_alpha": Removed(87, "etl/edos/readability.py has the constants of EDOS A"),
    "edos.annotation.distinct_weight": Removed(0.04, "etl/edos/readability.py has the constants of EDOS A"),
    "edos.annotation.quiz_characters": Removed((20, 160), "etl/edos/quiz.py has the lengths"),
    "edos.annotation.seed": Removed(13, "HITs are drawn by content alone"),
    "edos.annotation.quiz_to_pass": Removed(3, "three right answers earn the bonus, as in EDOS 7"),
    "edos.annotation.require_signed": Removed(False, "edos.annotation.known_workers"),
    "*.evaluation.require_signed": Removed(False, "known_raters of the questionnaire"),
    "*.evaluation.*.require_signed": Removed(False, "known_raters of the questionnaire"),
    "edos.annotation.countries": Removed(("US", "GB", "CA", "AU", "NZ"), "edit hit_type.json"),
    "edos.annotation.workers": Removed(3, "edit hit_type.json"),
    "edos.test_share": Removed(0.2, "a fifth of each class is held out, as in EDOS 3.3"),
    "edos.expansion.matches": Removed(5, "the best five matches of a dialogue are stored"),
    "edos.audit": Removed({}, "the audit went with its stages"),
    "edos.llm_annotator": Removed({}, "the language model as annotator went with its stages"),
    "models.llm_annotator": Removed(None, "the language model as annotator went with its stages"),
    "edos.report.examples": Removed(12, "the report shows twelve dialogues of each quarter"),
    "edos.report.flow_labels": Removed(9, "the flow has the nine most frequent labels"),
    "edos.report.searchable": Removed(True, "the search pages went: make sql, jobs read, or the export's files"),
    "publishing.accepted_only": Removed(False, "filter the rows by label_accepted"),
    "publishing.titles": Removed(None, "join titles by movie_id"),
    "publishing.years": Removed(None, "filter the rows by year"),
    "publishing.genres": Removed((), "filter the rows by genres"),
    "publishing.languages": Removed((), "filter the rows by language, or set subtitles.languages"),
    "publishing.dialogues_per_file": Removed(250_000, "a file has 250,000 dialogues"),
    "publishing.date": Removed(None, "croissant.json has the day on which the files were written"),
    "pipeline.open_lineage": Removed(None, "pipeline.observers={etl.extras.lineage: PLACE}"),
    "pipeline.open_lineage_namespace": Removed("edos-lakehouse", "events have the namespace edos-lakehouse"),
    "pipeline.metrics": Removed(None, "pipeline.observers={etl.extras.metrics: PLACE}"),
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
    "emo_pillars.sentences": Removed(None, "no embeddings are exported: CORECT is not there"),
    "emo_pillars.embeddings": Removed(None, "no embeddings are exported: CORECT is not there"),
    "augesc.evaluation.ratings.tested": Removed("ratings", "single ratings are the sample of the t-test"),
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


NOT_COVERED = ...
MOVED_DEFAULTS: dict[str, tuple[Any, Any]] = {
    "training.turn_segmenter.kind": ("svm", "linear"),
    "training.turn_segmenter.lengths": (True, NOT_COVERED),
}
"""Settings with another default than before, as (before, now): a finished run with the one is not made again for the
other. ``--again`` makes it. ``NOT_COVERED``: by default it does not count any more."""
