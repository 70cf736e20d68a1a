"""Account for all stored answers of all models: what can be read, and what of it is usable (ours).

The answers are parsed as they are for the tables of results. What a prompt contained is read out of the prompt.
"""

import hashlib
from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.common.columns import with_columns_once
from etl.emo_pillars.step import Rules, Step, Wording, slots_of
from etl.emo_pillars.steps import SYNTHESIS
from etl.llm.requests import answer_said
from etl.pipeline.outcome import Outcome

OTHER = "other"
"""Prompts of another template than the present one."""
_JUDGEMENT = "prompt: string, items: int, usable: int, faults: array<string>, rejected: array<string>"


def answer_quality(
    answers: Mapping[str, DataFrame], quality: Any, top: int, wording_of: Callable[[str], Wording]
) -> Outcome:
    """Return ``emo_pillars.answer_quality``. The unit is the answer.

    Args:
        answers: the raw answers of each step of ``SYNTHESIS``, by its name.
        quality: the section ``emo_pillars.quality``.
        top: number of requested soft labels.
        wording_of: from a step's name to the present words of its prompts.
    """
    found = (_of_step(step, answers[step.name], quality, top, wording_of(step.name)) for step in SYNTHESIS)
    rows = reduce(DataFrame.unionByName, found)
    return Outcome(rows, rows_in=sum(frame.count() for frame in answers.values()))


def _of_step(step: Step, answers: DataFrame, quality: Any, top: int, wording: Wording) -> DataFrame:
    forms = tuple(step.template(form, wording) for form in step.forms[1:])
    rules = step.rules(quality, top, wording=wording)
    judge = F.udf(partial(judged_answer, step, rules, forms=forms), f"struct<{_JUDGEMENT}>").asNondeterministic()
    cut = F.coalesce("finish_reason", F.lit("")) == "length"
    read = with_columns_once(answers, said=answer_said())
    read = read.select("model", "request_id", judge("prompt", "said.answer", cut).alias("found"))
    return read.select(F.lit(step.name).alias("step"), "model", "request_id", "found.*")


def judged_answer(
    step: Step, rules: Rules, prompt: str, answer: str | None, cut_off: bool, forms: tuple[str, ...] = ()
) -> tuple[str, int | None, int | None, list[str], list[str]]:
    """Return the hash of a prompt's template, the items of its answer, the usable ones, and all faults.

    The prompt of another template is ``OTHER``; its answer is judged without what the prompt contained. ``forms`` are
    further templates of the step.
    """
    found = ((words, slots_of(words, prompt)) for words in (rules.template, *forms))
    words, given = next(((words, slots) for words, slots in found if slots is not None), (rules.template, None))
    rules = rules._replace(template=words)
    name = OTHER if given is None else hashlib.sha256(rules.template.encode()).hexdigest()[:8]
    if answer is None:
        return name, None, None, [], []
    contained: dict[str, Any] = dict(given or {})
    contained["labels"] = [label for label in contained.get("emotions", "").split(", ") if label]
    kept = rules._replace(quality=rules.quality.model_copy(update={"reject": ()}))
    parsed = step.items_of(kept, answer, cut_off, contained)
    faults = [item[-1] for item in parsed.items]
    usable = sum(not its for its in faults)
    rejected = [part.reason for part in parsed.rejected]
    return name, len(faults), usable, [fault for its in faults for fault in its], rejected
