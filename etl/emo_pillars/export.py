"""The export of Emo Pillars: both data sets as files with where each label comes from, a map of labels, and a card."""

import csv
import io
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf import resources
from conf.taxonomy import GOEMOTIONS_MAPPING, GOEMOTIONS_NAME, EmotionTaxonomy, load_emotion_taxonomy
from etl.common.splits import SPLITS
from etl.emo_pillars.examples import split_of
from etl.emo_pillars.settings import EmoPillarsPublishing
from etl.emo_pillars.step import Step
from etl.emo_pillars.steps import IN_EVERY_EXAMPLE, SYNTHESIS
from etl.pipeline.folders import Folders
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.stage_run import StageRun
from etl.publishing import croissant
from etl.publishing.croissant import BOOLEAN, FLOAT, TEXT, Fields
from etl.publishing.dataset_card import About, Features, citation, example_row, table_rows
from etl.publishing.dataset_findings import rows_of
from etl.publishing.exports import (
    CARD,
    CROISSANT,
    Manifest,
    RowKind,
    exported,
    fingerprint,
    first_row,
    replaced_folder,
)
from etl.publishing.pages import shown

METHOD = "emo_pillars"
TAGS = ("emotion", "multi-label", "context", "synthetic")
ROWS = RowKind("examples", "utterance_id")
EXPORTED = tuple(step for step in SYNTHESIS if step.exported)
"""The steps with rows of an example that are exported as a list."""
LABEL_MAP = "label_map.csv"
"""The file beside the rows that says which label a named emotion counts as."""
_KINDS = {"string": TEXT, "double": FLOAT, "boolean": BOOLEAN}


def _fields_of(step: Step) -> Fields:
    """Return the exported columns of a step's table, each with its type."""
    kinds = {column.name: column.kind for column in step.table.described}
    return {name: _KINDS[kinds[name]] for name in step.exported}


EMO_PILLARS: Fields = {
    "utterance_id": TEXT,
    "plot_id": TEXT,
    "title": TEXT,
    "actor_id": TEXT,
    "actor": TEXT,
    "utterance": TEXT,
    "context": TEXT,
    "rewritten": TEXT,
    "primary_label": TEXT,
    "primary_raw_label": TEXT,
    "primary_was_mapped": BOOLEAN,
    "labels": {"label": TEXT, "level": FLOAT},
    **{step.name: _fields_of(step) for step in EXPORTED},
    "faults": {"step": TEXT, "fault": TEXT},
    "requests": {"step": TEXT, "model": TEXT, "prompt_hash": TEXT, "request_id": TEXT},
}


class Made(NamedTuple):
    """The tables of an export.

    Attributes:
        examples: ``emo_pillars.examples``.
        contextual: ``emo_pillars.contextual_examples``.
        plots: ``emo_pillars.plots``.
        steps: the table of each step of ``SYNTHESIS``, by the step's name.
    """

    examples: DataFrame
    contextual: DataFrame
    plots: DataFrame
    steps: Mapping[str, DataFrame]


def publish_emo_pillars(made: Made, run: StageRun, settings: EmoPillarsPublishing, taxonomy: EmotionTaxonomy) -> str:
    """Write the export if its inputs have changed, the map of labels and the card, and return the folder.

    Raises:
        InputError: the folder has other files, or there are no examples.
    """
    lakehouse = Lakehouse(run.spark, run.lakehouse)
    folders = Folders(run.spark)
    folder = replaced_folder(run, settings, "emo_pillars.publishing.folder")
    content = {
        "tables": dict(run.inputs),
        "settings": settings.model_dump(mode="json", exclude={"folder", "name", "licence"}),
    }
    rows = published_rows(made)
    manifest = exported(
        run,
        folder,
        Manifest(fingerprint(content), "included", {}, {}),
        lambda: rows,
        settings.formats,
        settings.examples_per_file,
        what=ROWS,
    )
    label_map = mapped_names(
        made.steps["soft_labels"].join(made.examples.select("utterance_id"), "utterance_id"), taxonomy
    )
    folders.write_text(f"{folder}/{LABEL_MAP}", as_csv(label_map))
    views = rows_of(lakehouse, ("emo_pillars_scale", "emo_pillars_labels"), emotions=taxonomy)
    contextual = rows.where("context IS NOT NULL").count()
    figures = Figures(manifest.rows, contextual, models_of(rows), faults_of(rows))
    example = first_row(run.spark, folder, manifest, ROWS.key)
    card = emo_pillars_card(settings, figures, label_map, views, taxonomy, example)
    folders.write_text(f"{folder}/{CARD}", card)
    folders.write_text(
        f"{folder}/{CROISSANT}", about_emo_pillars(settings, figures, taxonomy).croissant(manifest.written)
    )
    return folder


def published_rows(made: Made) -> DataFrame:
    """Return one row an example, with its context and rewritten utterance where it has them.

    Plots are split, whatever ``emo_pillars.split_by`` says: all examples of a plot are in one split.

    Returns:
        utterance_id, split, plot_id, title, actor_id, actor, utterance, context, rewritten, primary_label,
        primary_raw_label and primary_was_mapped (the emotion that it was made for), labels (label, level; those
        that count, the strongest first), the exported columns of each step of ``EXPORTED`` under its name, such as
        soft_labels (all that could be read, in the model's order), faults (step, fault), requests (step, model,
        prompt_hash, request_id; those of the cleaning and rewriting only with a context).
    """
    primary = made.steps["utterances"].select(
        "utterance_id",
        F.col("raw_label").alias("primary_raw_label"),
        F.col("was_mapped").alias("primary_was_mapped"),
    )
    rows = (
        made.examples.drop("split")
        .join(made.plots.select("plot_id", "title"), "plot_id", "left")
        .join(primary, "utterance_id", "left")
        .join(made.contextual.select("utterance_id", "context", "rewritten"), "utterance_id", "left")
    )
    with_context = made.contextual.select("utterance_id")
    for step in SYNTHESIS:
        found = made.steps[step.name]
        known = found if step.name in IN_EVERY_EXAMPLE else found.join(with_context, "utterance_id")
        rows = rows.join(_traced(step, known), step.key[0], "left")
    return rows.select(
        "utterance_id",
        split_of("plot_id").alias("split"),
        "plot_id",
        "title",
        "actor_id",
        "actor",
        "utterance",
        "context",
        "rewritten",
        "primary_label",
        "primary_raw_label",
        "primary_was_mapped",
        "labels",
        *(step.name for step in EXPORTED),
        F.flatten(F.array(*map(_faults, STEPS))).alias("faults"),
        F.array_compact(F.array(*map(_requests, STEPS))).alias("requests"),
    )


STEPS = tuple(step.name for step in SYNTHESIS)


def _traced(step: Step, rows: DataFrame) -> DataFrame:
    """Return the faults and the request of a step's rows, and its exported columns as a list, once per id.

    A step's rows of one id, the first column of its key, are in the order of the rest of the key.
    """
    first, *rest = step.key
    none = F.array().cast("array<string>")
    faults = F.col("faults") if "faults" in rows.columns else none
    exported = [F.struct(*step.exported).alias("exported")] if step.exported else []
    one = F.struct(*rest, *exported, faults.alias("faults"), "request")
    listed = rows.groupBy(first).agg(F.sort_array(F.collect_list(one)).alias("rows"))
    columns = [F.col("rows.exported").alias(step.name)] if step.exported else []
    return listed.select(
        first,
        *columns,
        F.array_distinct(F.flatten(F.coalesce(F.col("rows.faults"), F.array(none)))).alias(f"{step.name}_faults"),
        F.col("rows.request")[0].alias(f"{step.name}_request"),
    )


def _faults(step: str) -> Column:
    faults = F.coalesce(f"{step}_faults", F.array().cast("array<string>"))
    return F.transform(faults, lambda fault: F.struct(F.lit(step).alias("step"), fault.alias("fault")))


def _requests(step: str) -> Column:
    names = ("model", "prompt_hash", "request_id")
    request = F.struct(F.lit(step).alias("step"), *(F.col(f"{step}_request")[name].alias(name) for name in names))
    return F.when(F.col(f"{step}_request").isNotNull(), request)


class MappedName(NamedTuple):
    """An emotion as models name it, the label that it counts as, and how often it was named.

    Attributes:
        label: of the taxonomy; empty for a name without a close match, which is left out.
        source: the paper's section, ours, or the name of the user's taxonomy; empty for the labels themselves.
        soft_labels: of the exported examples.
    """

    raw_label: str
    label: str
    source: str
    soft_labels: int


def mapped_names(soft_labels: DataFrame, taxonomy: EmotionTaxonomy) -> list[MappedName]:
    """Return the whole map of names to labels, the labels themselves first, with the number of soft labels of each."""
    own = [(label, label, "") for label in taxonomy.names]
    sources = {row["raw"]: row["source"] for row in csv.DictReader(resources.text(GOEMOTIONS_MAPPING).splitlines())}
    is_ours = taxonomy == load_emotion_taxonomy(GOEMOTIONS_NAME)
    listed = [
        (raw, label or "", sources[raw] if is_ours else taxonomy.name)
        for raw, label in taxonomy.known_names.items()
        if raw not in taxonomy.names
    ]
    known = [*own, *listed]
    # Models name any number of other emotions.
    named = soft_labels.where(F.col("raw_label").isin([raw for raw, _, _ in known])).groupBy("raw_label").count()
    counts = {row.raw_label: row["count"] for row in named.collect()}
    return [MappedName(raw, label, source, counts.get(raw, 0)) for raw, label, source in known]


def as_csv(label_map: Sequence[MappedName]) -> str:
    """Return the map of labels as CSV with a header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(MappedName._fields)
    writer.writerows(label_map)
    return out.getvalue()


class Figures(NamedTuple):
    """The figures of the card.

    Attributes:
        rows: examples by split.
        contextual: examples with a context.
        models: (step, model, examples).
        faults: (step, fault, examples).
    """

    rows: Mapping[str, int]
    contextual: int
    models: Sequence[tuple[str, str, int]] = ()
    faults: Sequence[tuple[str, str, int]] = ()


def models_of(rows: DataFrame) -> list[tuple[str, str, int]]:
    """Return (step, model, number of examples) of the exported rows, by step and number."""
    return _counted(rows, "requests", "model")


def faults_of(rows: DataFrame) -> list[tuple[str, str, int]]:
    """Return (step, fault, number of examples) of the exported rows, by step and number."""
    return _counted(rows, "faults", "fault")


def _counted(rows: DataFrame, column: str, field: str) -> list[tuple[str, str, int]]:
    counts = rows.select(F.explode(column).alias("one")).groupBy("one.step", f"one.{field}").count().collect()
    return sorted((tuple(row) for row in counts), key=lambda row: (STEPS.index(row[0]), -row[2], row[1]))


def emo_pillars_card(
    settings: EmoPillarsPublishing,
    figures: Figures,
    label_map: Sequence[MappedName],
    views: Mapping[str, Sequence[Mapping[str, Any]]],
    taxonomy: EmotionTaxonomy,
    example: str | None = None,
) -> str:
    """Return the card as Markdown with front matter.

    Args:
        settings: name, licence and formats; loaders read the first format by default.
        label_map: names that counted as another label are listed with their number.
        views: rows of emo_pillars_scale and emo_pillars_labels.
        taxonomy: its labels are the classes that loaders read.
    """
    about = about_emo_pillars(settings, figures, taxonomy)
    template = Template(resources.text("publishing/emo_pillars_card.md"))
    names = [one for one in label_map if one.label and one.raw_label != one.label and one.soft_labels]
    text = template.substitute(
        name=settings.name,
        examples=shown(sum(figures.rows.values())),
        contextual=shown(figures.contextual),
        taxonomy=named(taxonomy),
        datasheet=about.datasheet,
        lists="\n".join(map(_described, EXPORTED)),
        example=example_row(example, "requests"),
        citation=citation(settings.name, METHOD),
        splits=table_rows((split, figures.rows[split]) for split in SPLITS if split in figures.rows),
        scale=table_rows((row["criterion"], row["value"], row["paper"]) for row in views.get("emo_pillars_scale", ())),
        labels=table_rows(
            (row["label"], row["polarity"], row["primary_labels"], row["labels"], row["mean_level"])
            for row in views.get("emo_pillars_labels", ())
        ),
        mapped=table_rows(
            (one.raw_label, one.label, one.source, one.soft_labels)
            for one in sorted(names, key=lambda one: (-one.soft_labels, one.raw_label))
        ),
        models=table_rows(figures.models),
        faults=table_rows(figures.faults),
    )
    return about.card(text)


def _described(step: Step) -> str:
    """Return what the card says of a step's exported columns."""
    known = {column.name: column for column in step.table.described}
    told = (f" ({known[name].comment})" if known[name].comment != name else "" for name in step.exported)
    columns = ", ".join(f"`{name}`{comment}" for name, comment in zip(step.exported, told, strict=True))
    about = step.row[0].lower() + step.row[1:].rstrip(".")
    return f"| {step.name} | list of {columns}: {about}; all that could be read |"


def named(taxonomy: EmotionTaxonomy) -> str:
    """Return what a card calls the labels, such as "GoEmotions' 28 labels"."""
    ending = "'" if taxonomy.name.endswith("s") else "'s"
    return f"{taxonomy.name}{ending} {len(taxonomy.names)} labels"


def about_emo_pillars(settings: EmoPillarsPublishing, figures: Figures, taxonomy: EmotionTaxonomy) -> About:
    """Return what is said of an export; the arguments are those of :func:`emo_pillars_card`."""
    models = sorted({model for _, model, _ in figures.models})
    facts = {
        "examples": shown(sum(figures.rows.values())),
        "contextual": shown(figures.contextual),
        "taxonomy": named(taxonomy),
        "models": ", ".join(models) or "a language model",
    }
    features = Features(
        EMO_PILLARS, taxonomy.names, name=ROWS.name, classes=("label", "primary_label"), number="float64"
    )
    sheet = croissant.Datasheet("emo_pillars", facts)
    return About(settings.name, METHOD, figures.rows, settings.formats, ["en"], settings.licence, features, sheet, TAGS)
