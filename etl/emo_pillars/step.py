"""A step of Emo Pillars: its templates, and how the answers to its prompts become rows and ledger rows (3).

Each module of ``etl.emo_pillars.steps`` is one step, with its ``STEP``, its prompt, its requests, its parser with the
faults that only its answers have, and its rows.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.llm_settings import STEP_FORM, DecodingSettings
from conf.prompts import TEMPLATE, prompt
from conf.taxonomy import GOEMOTIONS_NAME, EmotionTaxonomy, load_emotion_taxonomy
from etl.emo_pillars.answers import Parsed
from etl.emo_pillars.labels import Names
from etl.emo_pillars.prompts import NEUTRAL, PLAIN
from etl.llm.requests import fault_of
from etl.pipeline.outcome import dropped_columns

MOST_CHARACTERS = 20_000
"""Most characters of an answer that are parsed; the longest step asks for 500 tokens."""
FOLDER = "emo_pillars"
"""Of our prompts, under ``conf/prompts``."""
FAULTS = "faults: array<string>"
"""Field of an item for its faults; see ``etl.emo_pillars.quality``."""
MAPPED = f"label: string, was_mapped: boolean, {FAULTS}"
PROSE = f"text: string, cut: boolean, unchanged: boolean, {FAULTS}"


@dataclass(frozen=True)
class Wording:
    """What a step's prompts are made of beside the rows.

    Attributes:
        taxonomy: ``emo_pillars.taxonomy``.
        files: ``emo_pillars.prompts.<step>``: the user's files in place of ours, by name.
    """

    taxonomy: EmotionTaxonomy = field(default_factory=lambda: load_emotion_taxonomy(GOEMOTIONS_NAME))
    files: Mapping[str, str] = field(default_factory=dict)


OURS = Wording()
"""The paper's labels in our prompts."""


class Rules(NamedTuple):
    """Settings of the parser of a step's answers.

    Attributes:
        template: the step's template, to detect repetitions of the prompt.
        names: known names of emotions; none where a step asks for none.
        quality: the section ``emo_pillars.quality``; None for a step without faults.
        top: number of requested soft labels.
        neutral: the label of utterances without an emotion.
    """

    template: str
    names: Names
    quality: Any = None
    top: int = 5
    neutral: str = NEUTRAL


@dataclass(frozen=True)
class Step:
    """A kind of prompt, and how its answers are read.

    Attributes:
        name: of its template ``conf/prompts/emo_pillars/<name>.txt`` and of its settings ``emo_pillars.steps.<name>``.
        unit: what one prompt is about, for the ledger.
        key: column of the unit's id.
        item: fields of what an answer gives, as DDL.
        parse: the items of an answer as tuples of these fields, and its rejected parts; from the answer, whether
            generation stopped at the token limit, the rules, and what the prompt contained (labels as a list).
        form: of a second template ``<name>_<form>.txt``, which a setting chooses.
        resources: further files of ``conf`` that its prompts contain.
        schema: from a taxonomy to the JSON schema of its answers where ``response_format`` is ``step``; None: it has
            none.
    """

    name: str
    unit: str
    key: str
    item: str
    parse: Callable[[str, bool, Rules, Mapping[str, Any]], Parsed]
    form: str | None = None
    resources: tuple[str, ...] = ()
    schema: Callable[[EmotionTaxonomy], dict[str, Any]] | None = None

    @property
    def prompt_files(self) -> tuple[str, ...]:
        """All files that its prompts are made of, as resources."""
        forms = (PLAIN,) if self.form is None else (PLAIN, self.form)
        templates = (f"prompts/{FOLDER}/{self._name(form)}{TEMPLATE}" for form in forms)
        return (*templates, *self.resources)

    def template(self, form: str = PLAIN, wording: Wording = OURS) -> str:
        """Return its template in one of its forms, the user's or ours."""
        return wording.files.get(f"{self._name(form)}{TEMPLATE}") or prompt(f"{FOLDER}/{self._name(form)}")

    def decoding(self, decoding: DecodingSettings, wording: Wording = OURS) -> DecodingSettings:
        """Return a decoding whose form ``step`` is the JSON schema of the step's own one (ours).

        Args:
            decoding: the settings ``emo_pillars.steps.<name>``.
            wording: the labels.

        Raises:
            InputError: the step has no schema.
        """
        if decoding.response_format != STEP_FORM:
            return decoding
        if self.schema is None:
            raise InputError(f"emo_pillars.steps.{self.name}.response_format: write a schema, this step has none")
        return decoding.model_copy(
            update={"response_format": json.dumps(self.schema(wording.taxonomy), sort_keys=True)}
        )

    def rules(self, quality: Any, top: int = 5, form: str = PLAIN, wording: Wording = OURS) -> Rules:
        """Return the rules by which its answers are read."""
        known = wording.taxonomy
        return Rules(self.template(form, wording), known.known_names, quality, top, known.neutral)

    def items_of(self, rules: Rules, answer: str, cut_off: bool, given: Mapping[str, Any]) -> Parsed:
        """Return the items of an answer as tuples, and its rejected parts.

        Args:
            rules: the rules.
            answer: the raw answer.
            cut_off: whether generation stopped at the token limit.
            given: what the prompt contained: labels (a list), utterance, actor, context.
        """
        return self.parse(answer[:MOST_CHARACTERS], cut_off or len(answer) > MOST_CHARACTERS, rules, given)

    def read(
        self, answers: DataFrame, rules: Rules, given: Mapping[str, Column] | None = None
    ) -> tuple[DataFrame, DataFrame]:
        """Return a row per item, and ledger rows of units without items and of rejected parts.

        Args:
            answers: rows of ``etl.llm.requests.with_answers``.
            rules: the rules.
            given: columns of what the prompt contained, by the names that ``parse`` knows.

        Returns:
            The rows of ``answers`` with ``item`` and ``place`` (from 1); and rows of an ``Outcome``'s ``dropped``.
        """
        rejected = "rejected: array<struct<reason: string, text: string>>"
        schema = f"struct<items: array<struct<{self.item}>>, {rejected}>"
        names = tuple(given or ())

        def parsed(answer: str | None, cut_off: bool, *values: Any) -> Parsed:
            return self.items_of(rules, answer or "", bool(cut_off), dict(zip(names, values, strict=True)))

        # Spark calls a nondeterministic function once, not once per column that reads its result.
        parser = F.udf(parsed, schema).asNondeterministic()
        columns = (given or {}).values()
        read = answers.withColumn("parsed", parser("answer", "cut_off", *columns)).persist()
        failed = F.col("error").isNotNull()
        nothing = F.size("parsed.items") == 0
        reason = F.when(failed, fault_of(F.col("error"), "model_failed")).otherwise("nothing_read")
        ledger = dropped_columns(self.unit, self.key, reason, 1, F.coalesce("error", "answer"))
        whole = read.where(failed | nothing).select(*ledger)
        answered = read.where(~failed)
        parts = answered.select(self.key, F.posexplode("parsed.rejected").alias("place", "part"))
        line_id = F.concat(self.key, F.lit("#"), (F.col("place") + 1).cast("string"))
        lines = parts.select(*dropped_columns("line", line_id, F.col("part.reason"), 0, F.col("part.text")))
        items = answered.select("*", F.posexplode("parsed.items").alias("from_0", "item"))
        return items.withColumn("place", F.col("from_0") + 1), whole.unionByName(lines)

    def _name(self, form: str) -> str:
        return self.name if form == PLAIN else f"{self.name}_{form}"


def list_schema(name: str, /, **fields: Any) -> dict[str, Any]:
    """Return the JSON schema of an object with a list ``name`` of objects, all of whose fields are required."""
    item = {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}
    listed = {name: {"type": "array", "items": item}}
    return {"type": "object", "properties": listed, "required": [name], "additionalProperties": False}


def text_schema(name: str) -> dict[str, Any]:
    """Return the JSON schema of an object with one text."""
    text = {name: {"type": "string"}}
    return {"type": "object", "properties": text, "required": [name], "additionalProperties": False}


def child_id(parent: str) -> Column:
    """Return the id of an item: its unit's id and its place."""
    return F.concat(parent, F.lit("-"), F.col("place").cast("string"))
