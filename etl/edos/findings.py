"""The input of EDOS's report and dataset card: rows of views, the classifier's metrics, versions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from pyspark.sql import SparkSession

from conf.taxonomy import Taxonomy, load_taxonomy
from etl.edos.origins import Origins, origins_of
from etl.edos.presets import PROMISES, choice_in_words, preset_in_words
from etl.edos.settings import EdosSettings
from etl.edos.tables import DIALOGUES, TRAINING_DIALOGUES
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.lineage import package_version
from etl.pipeline.locations import Stored
from etl.publishing.dataset_findings import in_plain_words, rows_of, versions
from etl.publishing.findings import Findings, Rows
from etl.subtitles.settings import SubtitleSettings
from etl.subtitles.tables import CLEAN_DIALOGUES
from etl.training.registry import HeldOut, held_out

CARD_VIEWS = (
    "edos_table_3",
    "edos_label_distribution",
    "edos_funnel",
    "edos_confidence",
    "edos_label_curve",
    "edos_accepted_labels",
    "edos_table_5",
    "edos_origins",
)


REPORT_VIEWS = (
    *CARD_VIEWS,
    "edos_models",
    "edos_table_2",
    "edos_table_4",
    "edos_kl_divergence",
    "edos_flow",
    "edos_emotions_by_turn",
    "edos_examples",
    "edos_gaps",
    "edos_weighting",
    "edos_similarity_thresholds",
    "edos_table_7",
    "edos_table_10",
    "dropped_by_reason",
    "cleaning_cost",
)
UNSURE = 0.5
"""Labels with a lower confidence are unsure."""


@dataclass(frozen=True)
class EdosFindings(Findings):
    """The input of EDOS's report and card.

    Attributes:
        classifier: the labelling model's metrics on held-out rows, such as ``macro_f1``; empty if unknown.
        silence_seconds: the silence between dialogues.
        classes: label, precision, recall, f1 and support of each class on held-out rows.
        training: name of the MLflow run that trained the labelling model; "" if unknown.
        size: what that model started from, and its epochs, in words; "" if unknown.
    """

    classifier: Mapping[str, float] = field(default_factory=dict)
    silence_seconds: float = 5.0
    taxonomy: Taxonomy = field(default_factory=partial(load_taxonomy, "edos"))
    classes: Rows = ()
    training: str = ""
    size: str = ""
    edos: EdosSettings = field(default_factory=EdosSettings)
    preset: str = "released"
    origins: Origins = field(default_factory=Origins)

    @property
    def promise(self) -> str:
        """Return a sentence that says which preset the set is of, and what that is."""
        return f"Preset {self.preset}: {PROMISES[self.edos.preset]}."

    @property
    def choice(self) -> str:
        """Return sentences that say which dialogues were chosen; of a published set its authors' choice is not ours."""
        if self.edos.published_dialogues:
            return "The dialogues are those of a published set, chosen by its makers. The label shares are of these."
        return choice_in_words(self.edos, self.count(5), self.count(6))

    def count(self, step: int) -> int:
        """Return the units of a step of ``analysis.edos_funnel``; 0 where it is missing."""
        return next((row["units"] for row in self.rows("edos_funnel") if row["place"] == step), 0)

    @property
    def dialogues(self) -> int:
        return self._of_table_3(1)

    @property
    def turns(self) -> int:
        return self._of_table_3(2)

    @property
    def films(self) -> int:
        return self.count(8)

    @property
    def unsure_share(self) -> float | None:
        """Return the share of turns with a confidence up to `UNSURE`."""
        rows = self.rows("edos_confidence")
        return sum(row["share"] for row in rows if row["to_confidence"] <= UNSURE) if rows else None

    @property
    def accepted(self) -> tuple[float, float] | None:
        """Return the share of test turns whose label is accepted, and how many of these are right; None: unknown."""
        all_labels = next(iter(self.rows("edos_accepted_labels")), None)
        if not all_labels or not all_labels["accepted"]:
            return None
        return all_labels["accepted"] / all_labels["turns"], all_labels["accepted_accuracy"]

    @property
    def divergence(self) -> float | None:
        """Return the KL divergence of our labels from EmpatheticDialogues, in nats."""
        return next((row["nats"] for row in self.rows("edos_kl_divergence") if row["place"] == 1), None)

    def _of_table_3(self, place: int) -> int:
        return next((int(row["value"] or 0) for row in self.rows("edos_table_3") if row["place"] == place), 0)


def gather(
    spark: SparkSession,
    places: Stored,
    subtitles: SubtitleSettings,
    edos: EdosSettings,
    views: Iterable[str] = REPORT_VIEWS,
) -> EdosFindings:
    """Return the rows of small views and the facts of the run.

    Args:
        subtitles, edos: what the data set was made with.
        views: names without ``analysis.``; a missing view has no rows.
    """
    lakehouse = Lakehouse(spark, places.lakehouse)
    models = [str(row.model) for row in lakehouse.read(DIALOGUES).select("model").distinct().orderBy("model").collect()]
    rules = subtitles.cleaning.model_dump(mode="json", exclude={"near_duplicate_jaccard"})
    made_with = {
        "pipeline": f"edos-lakehouse {package_version()}",
        "labelled by": ", ".join(models),
        **versions(lakehouse, (CLEAN_DIALOGUES, TRAINING_DIALOGUES, DIALOGUES)),
        "taxonomy": f"{edos.taxonomy.name}: {edos.taxonomy.in_words()}",
        "languages": ", ".join(subtitles.languages),
        "uploads of a film": str(subtitles.uploads_per_film or "all"),
        "share of films": f"{subtitles.sample:g}",
        "silence between dialogues": f"{subtitles.silence_seconds:g} s",
        "cleaning": ", ".join(f"{name} {in_plain_words(value)}" for name, value in rules.items()),
        "preset": preset_in_words(subtitles, edos),
        "chosen": f"top {edos.top_n:,} by {edos.choice}, {edos.dialogue_confidence} weak confidence, no emotions: "
        f"{', '.join(edos.not_emotions) or 'none'}",
    }
    known = held_out(places, models[0]) if len(models) == 1 else HeldOut()
    return EdosFindings(
        views=rows_of(lakehouse, views, edos.taxonomy),
        classifier=known.figures,
        classes=known.classes,
        training=known.training,
        size=known.size,
        edos=edos,
        preset=preset_in_words(subtitles, edos),
        made_with=made_with,
        silence_seconds=subtitles.silence_seconds,
        taxonomy=edos.taxonomy,
        origins=origins_of(lakehouse),
    )
