"""A step of Emo Pillars: what is asked of a language model, and how answers become rows and ledger rows (3).

Each module of ``etl.emo_pillars.steps`` is one step, with its ``STEP``. Its two tables are here, its two stages in
``etl.emo_pillars.step_stages``; its settings are those of its template's name (``etl.emo_pillars.settings``).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
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
from etl.llm.prompt_texts import filled
from etl.llm.requests import answered_request, fault_of, with_requests
from etl.llm.tables import generations
from etl.pipeline import RowAccounting
from etl.pipeline.outcome import Outcome, dropped_columns
from etl.pipeline.tables.model import Table

MOST_CHARACTERS = 20_000
"""Most characters of an answer that are parsed; the longest step asks for 500 tokens."""
FOLDER = "emo_pillars"
"""Of our prompts, under ``conf/prompts``, and the schema of the tables."""
GENERATOR = "generator"
NAMER = "topic_namer"
"""Keys under ``models``: of the model that makes the data, and of the one that names topics."""
FAULTS = "faults: array<string>"
"""Field of an item for its faults; see ``etl.emo_pillars.quality``."""
MAPPED = f"label: string, was_mapped: boolean, {FAULTS}"
PROSE = f"text: string, cut: boolean, unchanged: boolean, {FAULTS}"
FAULTS_COLUMN = "faults array<string> COMMENT 'of its quality, see emo_pillars.quality'"
REQUEST_COLUMN = """request struct<request_id: string, prompt_hash: string, model: string>
    COMMENT 'the answer it was read from, in llm.generations'"""
OURS = load_emotion_taxonomy(GOEMOTIONS_NAME)
"""The paper's labels."""


class Asked(NamedTuple):
    """What a step asks.

    Attributes:
        units: one row a prompt, with the unit's key and all columns that the prompt and the rows are made of.
        slots: what stands in each slot of the template.
        start: the start of the answer, which the model continues; JSON has none.
        together: text that prompts have in common, as of ``etl.llm.requests.with_requests``.
        taxonomy: the labels, for the JSON schema of the answers.
    """

    units: DataFrame
    slots: Mapping[str, Column]
    start: Column | None = None
    together: Column | None = None
    taxonomy: EmotionTaxonomy = OURS


class Rules(NamedTuple):
    """By what a step's answers are read.

    Attributes:
        template: the step's template, to detect repetitions of the prompt.
        names: known names of emotions; none where a step asks for none.
        quality: the section ``emo_pillars.quality``; None for a step without faults.
        neutral: the label of utterances without an emotion.
    """

    template: str
    names: Names
    quality: Any = None
    top: int = 5
    neutral: str = NEUTRAL


@dataclass(frozen=True, kw_only=True)
class Step:
    """A kind of prompt, how its answers are read, and the table of what was read.

    Attributes:
        name: of its template ``conf/prompts/emo_pillars/<name>.txt``, its module, its tables
            ``llm.emo_pillars_<name>`` and ``emo_pillars.<name>``, its stages ``emo_pillars_ask_<name>`` and
            ``emo_pillars_<name>``, and its settings ``emo_pillars.steps.<name>`` and ``emo_pillars.prompts.<name>``.
        model: key under ``models`` of the language model.
        asked_for: what the model generates, for the catalog.
        ask: from these tables and settings, named as those of a stage, to the prompts. Its docstring describes the
            stage that asks.
        form: of a second template ``<name>_<form>.txt``.
        form_setting: ``section.key`` of the setting that chooses between this form and ``plain``.
        resources: further files of ``conf`` that its prompts contain.
        schema: from a taxonomy to the JSON schema of its answers where ``response_format`` is ``step``; None: it has
            none.
        unit: what one prompt is about, for the ledger.
        unit_key: column of the unit's id.
        given: what the parser sees of the prompt: by name, SQL of the units' columns.
        item: fields of what an answer gives, as DDL.
        read: the parser: the items of an answer as tuples of these fields, and its rejected parts; from the answer,
            whether generation stopped at the token limit, the rules, and what was given (labels as a list). Its
            docstring describes the stage that reads.
        rules_from: settings under ``emo_pillars`` that the rules come from.
        row: what a row of its table is, for the catalog.
        columns: of its table, as DDL with comments. A column is the field of the item, or else the column of the
            units, that has its name; ``place`` counts an answer's items from 1, ``request`` tells the answer.
        key: of its table. Of a step that makes examples the first column is the id of an example, actor or plot.
        values: SQL of the columns that are none of these, by name, of ``item``, ``place`` and the units' columns.
        finish: what else is done with the answers, the items and the outcome made of them.
        exported: columns of its table that the export of the examples has, as a list under the step's name.
        accounting: what the stage that reads counts.
        version: of the stage that reads; increased when the same answers give other rows.
    """

    name: str
    model: str = GENERATOR
    asked_for: str
    reads: tuple[Table, ...]
    ask: Callable[..., Asked]
    form: str | None = None
    form_setting: str | None = None
    resources: tuple[str, ...] = ()
    schema: Callable[[EmotionTaxonomy], dict[str, Any]] | None = None
    unit: str
    unit_key: str
    given: Mapping[str, str] = field(default_factory=dict)
    item: str
    read: Callable[[str, bool, Rules, Mapping[str, Any]], Parsed]
    rules_from: tuple[str, ...] = ("quality", "taxonomy")
    row: str
    columns: str
    key: tuple[str, ...]
    checks: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    finish: Callable[[DataFrame, DataFrame, Outcome], Outcome] | None = None
    exported: tuple[str, ...] = ()
    accounting: RowAccounting | str
    version: int = 1

    @cached_property
    def answers(self) -> Table:
        """The table of its raw answers."""
        return generations(f"{FOLDER}_{self.name}", self.asked_for)

    @cached_property
    def table(self) -> Table:
        """The table of its rows."""
        return Table(f"{FOLDER}.{self.name}", self.row, self.columns, self.key, self.checks)

    @property
    def prompt_files(self) -> tuple[str, ...]:
        """All files that its prompts are made of, as resources."""
        forms = (PLAIN,) if self.form is None else (PLAIN, self.form)
        templates = (f"prompts/{FOLDER}/{self._name(form)}{TEMPLATE}" for form in forms)
        return (*templates, *self.resources)

    def template(self, form: str = PLAIN, files: Mapping[str, str] | None = None) -> str:
        """Return its template in one of its forms: the user's, of these files by name, or ours."""
        return (files or {}).get(f"{self._name(form)}{TEMPLATE}") or prompt(f"{FOLDER}/{self._name(form)}")

    def decoding(self, decoding: DecodingSettings, taxonomy: EmotionTaxonomy = OURS) -> DecodingSettings:
        """Return a decoding whose form ``step`` is the JSON schema of the step's own one (ours).

        Args:
            decoding: the settings ``emo_pillars.steps.<name>``.

        Raises:
            InputError: the step has no schema.
        """
        if decoding.response_format != STEP_FORM:
            return decoding
        if self.schema is None:
            raise InputError(f"emo_pillars.steps.{self.name}.response_format: write a schema, this step has none")
        return decoding.model_copy(update={"response_format": json.dumps(self.schema(taxonomy), sort_keys=True)})

    def requests(
        self, asked: Asked, decoding: DecodingSettings, form: str = PLAIN, files: Mapping[str, str] | None = None
    ) -> DataFrame:
        """Return the units with their requests, see ``etl.llm.requests.with_requests``."""
        template = self.template(form, files)
        start = asked.start if decoding.response_format is None else None  # JSON begins with a bracket
        decoded = self.decoding(decoding, asked.taxonomy)
        words = filled(template, asked.slots)
        return with_requests(asked.units, words, decoded, start, together=asked.together, template=template)

    def rules(
        self,
        form: str = PLAIN,
        files: Mapping[str, str] | None = None,
        quality: Any = None,
        taxonomy: EmotionTaxonomy | None = None,
        top_labels: int = 5,
    ) -> Rules:
        """Return the rules by which its answers are read, from the settings of these names."""
        names, neutral = ({}, NEUTRAL) if taxonomy is None else (taxonomy.known_names, taxonomy.neutral)
        return Rules(self.template(form, files), names, quality, top_labels, neutral)

    def items_of(self, rules: Rules, answer: str, cut_off: bool, given: Mapping[str, Any]) -> Parsed:
        """Return the items of an answer as tuples, and its rejected parts.

        Args:
            cut_off: whether generation stopped at the token limit.
            given: what the prompt contained: labels (a list), utterance, actor, context.
        """
        return self.read(answer[:MOST_CHARACTERS], cut_off or len(answer) > MOST_CHARACTERS, rules, given)

    def rows(self, answers: DataFrame, rules: Rules) -> Outcome:
        """Return a row of its table per item, and ledger rows of units without items and of rejected parts.

        Args:
            answers: rows of ``etl.llm.requests.with_answers``.
        """
        rejected = "rejected: array<struct<reason: string, text: string>>"
        schema = f"struct<items: array<struct<{self.item}>>, {rejected}>"
        names = tuple(self.given)

        def parsed(answer: str | None, cut_off: bool, *values: Any) -> Parsed:
            return self.items_of(rules, answer or "", bool(cut_off), dict(zip(names, values, strict=True)))

        # Spark calls a nondeterministic function once, not once per column that reads its result.
        parser = F.udf(parsed, schema).asNondeterministic()
        read = answers.withColumn("parsed", parser("answer", "cut_off", *map(F.expr, self.given.values()))).persist()
        failed = F.col("error").isNotNull()
        nothing = F.size("parsed.items") == 0
        reason = F.when(failed, fault_of(F.col("error"), "model_failed")).otherwise("nothing_read")
        ledger = dropped_columns(self.unit, self.unit_key, reason, 1, F.coalesce("error", "answer"))
        whole = read.where(failed | nothing).select(*ledger)
        answered = read.where(~failed)
        parts = answered.select(self.unit_key, F.posexplode("parsed.rejected").alias("place", "part"))
        line_id = F.concat(self.unit_key, F.lit("#"), (F.col("place") + 1).cast("string"))
        lines = parts.select(*dropped_columns("line", line_id, F.col("part.reason"), 0, F.col("part.text")))
        items = answered.select("*", F.posexplode("parsed.items").alias("from_0", "item"))
        items = items.withColumn("place", F.col("from_0") + 1)
        outcome = Outcome(items.select(*self._columns(items)), whole.unionByName(lines))
        return outcome if self.finish is None else self.finish(answers, items, outcome)

    def _columns(self, items: DataFrame) -> list[Column]:
        """Return the columns of its table, of a row per item."""
        fields = items.select("item.*").columns

        def column(name: str) -> Column:
            if name in self.values:
                return F.expr(self.values[name]).alias(name)
            if name == "request":
                return answered_request()
            return F.col(f"item.{name}" if name in fields else name).alias(name)

        return [column(one.name) for one in self.table.described]

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


def child_id(parent: str) -> str:
    """Return the SQL of an item's id: its unit's id and its place."""
    return f"concat({parent}, '-', cast(place AS string))"
