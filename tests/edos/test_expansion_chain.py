"""The stages of expansion one after the other, on hand-made dialogues and untrained models of two layers."""

import csv
import gzip

import pytest
import torch
from pyspark.sql import SparkSession

from conf.settings import Settings, load_settings
from conf.taxonomy import edos_labels
from etl.pipeline.planner import PipelineContext
from etl.pipeline.tables import TABLES
from jobs import all_stages
from tests.stages import run_stages
from tests.udfs.tiny_models import WORDS, tiny_encoder
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.weak_labeler import WeakLabeler

pytestmark = pytest.mark.usefixtures("tables")

CHAIN = (
    "hold_out_labels",
    "import_released_dialogues",
    "embed_turns",
    "embed_dialogues",
    "search_similar",
    "expand_labels",
    "train_self_labeler",
    "score_for_self_labels",
    "self_label",
    "search_similar_again",
    "expand_labels_round2",
    "gather_training_dialogues",
)
LABELS = ("sad", "joyful", "angry")


def sentence(*numbers: int) -> str:
    """Words of the tiny tokenizer, so that texts differ for the untrained encoder, too."""
    return " ".join(WORDS[number % 66] for number in numbers)


def crowd_text(number: int) -> list[str]:
    own = [sentence(number * 7 + place * (number % 5 + 1)) for place in range(6)]
    return [sentence(number, number * 3 + 1), f"{' '.join(own)} number {number}"]


def write_tables(place: PipelineContext) -> None:
    crowd = [(f"c{number}", 1, crowd_text(number), LABELS[number % 3], ["x"], "test") for number in range(60)]
    films = {}
    for number in range(30):  # nearly what the crowd saw, under other words at the start
        films[f"p{number}-0"] = [sentence(number, number * 3 + 2), f"{crowd_text(number * 2)[1]} again"]
    for number in range(30, 50):
        films[f"p{number}-0"] = [sentence(number * 11), sentence(number * 13, number, number * 5), "thanks"]
    clean = [
        {"dialogue_id": name, "movie_id": f"film {name[:2]}", "turns": [{"text": text} for text in turns]}
        for name, turns in films.items()
    ]
    spark = place.spark
    for name, rows in (("edos.crowd_labels", crowd), ("subtitles.clean_dialogues", clean)):
        schema = TABLES[name].schema
        # Later columns are optional: names for the cells, null for the rest.
        named = [row if isinstance(row, dict) else dict(zip(schema.names, row, strict=False)) for row in rows]
        place.lakehouse.replace(TABLES[name], spark.createDataFrame(named, schema), {})


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("chain")
    encoder = tiny_encoder(folder / "encoder")
    torch.manual_seed(3)
    weak = WeakLabeler(*load_encoder(encoder), edos_labels(), max_tokens=32).save(folder / "weak")
    released = folder / "self.csv.gz"
    with gzip.open(released, "wt", encoding="utf-8", newline="") as text:
        csv.writer(text).writerows(
            [["os_dialog_id", "emotion", "confidence", "os_dialog"], ["900", "sad", "0.7", "- we went home\n- so sad"]]
        )
    return load_settings(
        "local",
        [],
        {
            "lakehouse.root": str(folder / "lakehouse"),
            "models.sentence_encoder": f"file:{encoder}",
            "models.encoder": f"file:{encoder}",
            "models.weak_labeler": f"file:{weak}",
            "training.self_labeler.epochs": 1,
            "models.training_precision": "fp32",
            "edos.released_labels": [str(released)],
            "edos.expansion.floor": 0.9,
            "edos.expansion.threshold": 0.95,
            "edos.expansion.again_threshold": 0.95,
            "edos.expansion.held_out_threshold": 0.9999,
            "edos.self_labels.confidence": None,
            "edos.self_labels.per_class": 3,
            "spark.shuffle_partitions": 2,
        },
    )


def work(place: PipelineContext) -> list[str]:
    """Run what of the chain has work; the names of the stages that ran."""
    stages = {stage.name: stage for stage in all_stages()}
    return run_stages(place, [stages[name] for name in CHAIN])


def counts(place: PipelineContext, name: str) -> dict[tuple[str, str], int]:
    rows = place.lakehouse.read(TABLES[name]).groupBy("origin", "split").count().collect()
    return {(row["origin"], row["split"]): row["count"] for row in rows}


@pytest.fixture(scope="module")
def worked(tables: None, spark: SparkSession, settings: Settings) -> tuple[PipelineContext, list[str]]:
    """The chain's tables, and the stages that made them."""
    place = PipelineContext(spark, settings)
    write_tables(place)
    return place, work(place)


@pytest.mark.slow
def test_the_chain_adds_up_and_goes_on_from_where_it_is(
    spark: SparkSession, settings: Settings, worked: tuple[PipelineContext, list[str]]
) -> None:
    place, ran = worked
    assert ran == list(CHAIN)
    found = counts(place, "edos.training_dialogues")
    assert sum(number for (origin, _), number in found.items() if origin == "crowd") == 60
    assert {origin for origin, split in found if split == "train"} >= {"crowd", "similar", "self"}
    assert {split for origin, split in found if origin != "crowd"} == {"train"}
    seeds = {(row.dialogue_id, row.turn): row for row in place.lakehouse.read(TABLES["edos.seeds"]).collect()}
    similar = place.lakehouse.read(TABLES["edos.similar_dialogues"]).collect()
    for row in similar:
        dialogue_id, turn = row.matched_id.split("/")
        seed = seeds[dialogue_id, int(turn)]
        assert (seed.split, seed.label) == ("train", row.label)
    own = place.lakehouse.read(TABLES["edos.self_labelled"]).where("source = 'released'").collect()
    assert [(row.dialogue_id, row.turn, row.label) for row in own] == [("900", 1, "sad")]
    matches = place.lakehouse.read(TABLES["edos.similar_matches"])
    assert matches.where("seed_split != 'train' AND label IS NOT NULL").count() == 0
    run = place.log.last("train_self_labeler", "done")
    assert run is not None
    assert run.rows_in == 60 + len(similar)
    assert work(PipelineContext(spark, settings)) == []


@pytest.mark.slow
@pytest.mark.usefixtures("worked")
def test_another_threshold_needs_no_search_and_the_switch_leaves_the_released(
    spark: SparkSession, settings: Settings
) -> None:
    def changed(**values: object) -> Settings:
        edos = settings.edos.model_dump()
        edos["expansion"] |= values
        return Settings.model_validate({**settings.model_dump(), "edos": edos})

    stricter = PipelineContext(spark, changed(threshold=0.9999))
    stages = {stage.name: stage for stage in all_stages()}
    assert stricter.plan(stages["search_similar"]).why is None
    assert stricter.plan(stages["expand_labels"]).why == "edos.expansion.threshold (0.95 -> 0.9999) changed"
    off = PipelineContext(spark, changed(enabled=False))
    ran = work(off)
    assert "train_self_labeler" not in ran
    assert "gather_training_dialogues" in ran
    found = counts(off, "edos.training_dialogues")
    assert found.pop(("self", "train")) == 1
    assert {origin for origin, _ in found} == {"crowd"}
