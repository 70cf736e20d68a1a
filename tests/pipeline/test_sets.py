"""Named sets: several made from one lakehouse of dialogues, side by side, each with a file that makes it again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.settings import Settings, load_settings
from conf.taxonomy import load_taxonomy
from etl.cli.running import run_stages
from etl.cli.sql_shell import statements_of_sets
from etl.edos.export import MadeWith
from etl.edos.tables import INITIAL, WEAK_LABELS
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.lease import leased
from etl.pipeline.planner import PipelineContext, in_sets
from etl.pipeline.stages import REGISTRY, Stage
from etl.pipeline.tables import TABLES, in_set
from etl.pipeline.tables.ops import DROPPED, STAGE_RUNS
from etl.publishing.views import all_views, named_in
from etl.publishing.without_spark import connect
from etl.subtitles.tables import CLEAN_DIALOGUES, DIALOGUES
from jobs import all_stages

TALKS = [
    ["Did you feed the cat ?", "No .", "Then who did , and when ?", "Your brother fed her at noon ."],
    ["I lost my job today .", "Oh no , what happened there ?", "They closed the whole plant ."],
    ["We won the big match !", "I am so happy for all of you .", "Come and dance with us now !"],
    ["Where is the blue key ?", "It hangs beside the kitchen door .", "Thank you , I see it ."],
    ["Hi .", "Yes , sir .", "Bring the horses around to the gate .", "They are ready and waiting , sir ."],
]


def stages(*names: str) -> list[Stage]:
    all_stages()
    return [REGISTRY[name] for name in names]


def settings_of(root: Path, *given: str, config: tuple[Path, ...] = ()) -> Settings:
    preset = [] if config else ["edos.preset=released"]
    return load_settings("local", config, [f"lakehouse.root={root}", "spark.short_session=true", *preset, *given])


def raw_dialogues(spark: SparkSession) -> DataFrame:
    rows = []
    for film, talk in enumerate(TALKS):
        turns = [
            {"text": text, "start_ms": 2_000 * n, "end_ms": 2_000 * n + 1_500, "sentence_first": n, "sentence_last": n}
            for n, text in enumerate(talk)
        ]
        one: dict[str, Any] = dict.fromkeys(DIALOGUES.columns)
        one |= {"dialogue_id": f"{film}-0", "source_path": f"{film}.xml", "subtitle_id": f"{film}"}
        one |= {"movie_id": f"film{film}", "release": "v2018", "language": "en", "year": 1990 + film}
        one |= {"genres": ["Drama"], "turns": turns, "certainties": [0.9] * len(talk), "borders": ["mark"] * len(talk)}
        one |= {"border_certainties": [0.95] * len(talk), "speakers": [None] * len(talk), "work_version": 1}
        rows.append(one)
    return spark.createDataFrame(rows, DIALOGUES.schema)


def label_weakly(context: PipelineContext) -> None:
    """Write a weak label for each turn, as the weak labeler's stages do: the longer a text, the surer."""
    turns = context.lakehouse.read(CLEAN_DIALOGUES).select("dialogue_id", F.posexplode("turns.text").alias("turn", "t"))
    confidence = F.least(F.length("t") / 50, F.lit(1.0)).cast("float").alias("confidence")
    none = [F.lit(None).cast(field.dataType).alias(field.name) for field in WEAK_LABELS.schema]
    known = {"dialogue_id", "turn", "confidence", "label"}
    rows = turns.select("dialogue_id", "turn", confidence, F.lit("sad").alias("label"))
    rest = [column for column, field in zip(none, WEAK_LABELS.schema, strict=True) if field.name not in known]
    context.lakehouse.replace(WEAK_LABELS, rows.select("*", *rest), {})


def made(spark: SparkSession, settings: Settings) -> None:
    run_stages(spark, settings, stages("filter_dialogues", "clean_dialogues"), [])
    label_weakly(PipelineContext(spark, settings))
    run_stages(spark, settings, stages("select_emotional"), [])


def contents(spark: SparkSession, settings: Settings, *tables: Any) -> list[list[str]]:
    house = Lakehouse(spark, settings.lakehouse)
    return [sorted(str(row.asDict(recursive=True)) for row in house.read(table).collect()) for table in tables]


@pytest.fixture(scope="module")
def root(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a lakehouse of raw dialogues with a set without a name, and the set ``short``."""
    place = tmp_path_factory.mktemp("sets") / "lakehouse"
    Lakehouse(spark, settings_of(place).lakehouse).append(DIALOGUES, raw_dialogues(spark), {})
    made(spark, settings_of(place))
    made(spark, settings_of(place, *SHORT))
    shared = dict.fromkeys(DROPPED.columns) | {"stage": "ingest_subtitles", "unit": "file", "id": "x", "units": 1}
    Lakehouse(spark, settings_of(place).lakehouse).append(DROPPED, spark.createDataFrame([shared], DROPPED.schema), {})
    yield place
    for schema in ("edos", "ops", "subtitles", "analysis"):
        for name in (schema, f"{schema}_short", f"{schema}_again"):
            spark.sql(f"DROP SCHEMA IF EXISTS {name} CASCADE")


SHORT = (
    "lakehouse.set=short",
    "edos.preset=trusted",
    "subtitles.cleaning.min_certainty=null",
    "edos.top_n=2",
    "edos.top_share=1",
)


def test_tables_of_a_set_stand_beside_the_others(spark: SparkSession, root: Path) -> None:
    plain = contents(spark, settings_of(root), CLEAN_DIALOGUES, INITIAL)
    short = contents(spark, settings_of(root, *SHORT), CLEAN_DIALOGUES, INITIAL)
    assert (root / "subtitles_short" / "clean_dialogues" / "_delta_log").is_dir()
    assert not (root / "subtitles_short" / "dialogues").exists()
    assert any("Hi ." in row for row in short[0])
    assert not any("Hi ." in row for row in plain[0])
    assert len(short[1]) == 2
    assert len(plain[1]) > 2


def test_a_set_has_its_own_ledger_and_log(spark: SparkSession, root: Path) -> None:
    plain, short = (Lakehouse(spark, settings_of(root, *one).lakehouse) for one in ((), SHORT))
    assert {row.reason for row in plain.read(DROPPED).where("stage = 'select_emotional'").collect()} == set()
    assert {row.reason for row in short.read(DROPPED).where("stage = 'select_emotional'").collect()} == {"below_top_n"}
    assert {row.stage for row in short.read(STAGE_RUNS).collect()} == {
        "filter_dialogues",
        "clean_dialogues",
        "select_emotional",
    }
    assert plain.sets() == ["short"]


def test_one_session_answers_about_both(spark: SparkSession, root: Path) -> None:
    house = Lakehouse(spark, settings_of(root).lakehouse)
    views = all_views(load_taxonomy("edos"))
    query = "SELECT count(*) AS n FROM edos_short.initial AS a JOIN edos.initial AS b ON a.dialogue_id = b.dialogue_id"
    house.register({}, [INITIAL, CLEAN_DIALOGUES])
    for statement in statements_of_sets(house, views, [query, "SELECT * FROM `analysis_short`.`cleaning_cost`"]):
        spark.sql(statement)
    assert spark.sql(query).first()["n"] == 2  # type: ignore[index]
    assert spark.table("edos.initial").count() > spark.table("edos_short.initial").count() == 2
    assert spark.table("analysis_short.cleaning_cost").columns[0] == "rule"


def test_duckdb_answers_about_both_as_spark_does(spark: SparkSession, root: Path) -> None:
    house = Lakehouse(spark, settings_of(root).lakehouse)
    query = """
        SELECT (SELECT count(*) FROM edos_short.initial AS a JOIN edos.initial AS b ON a.dialogue_id = b.dialogue_id),
               (SELECT count(*) FROM edos.initial), (SELECT sum(turns) FROM analysis_short.cleaning_cost),
               (SELECT count(*) FROM ops_short.dropped WHERE stage = 'ingest_subtitles'),
               (SELECT count(*) FROM ops_short.stage_runs), (SELECT count(*) FROM ops.dropped)
    """
    views = all_views(load_taxonomy("edos"))
    house.register(*named_in([query], views))
    for statement in statements_of_sets(house, views, [query]):
        spark.sql(statement)
    by_spark = tuple(spark.sql(query).first() or ())
    assert by_spark[0] == 2
    assert by_spark[3] == 1, "a stage that the set did not run itself"
    with connect(root) as duck:
        assert duck.execute(query).fetchone() == by_spark
        assert duck.execute("SELECT * FROM analysis_short.labels").description, "a view without tables"


def test_the_plain_names_of_a_session_of_the_set_are_the_sets(spark: SparkSession, root: Path) -> None:
    house = Lakehouse(spark, settings_of(root, *SHORT).lakehouse)
    for _ in range(2):  # names that another lakehouse has registered are replaced
        house.register({}, [INITIAL, STAGE_RUNS, DROPPED])
    assert spark.table("edos.initial").count() == 2
    assert spark.sql("SELECT * FROM ops.dropped WHERE reason = 'below_top_n'").count() > 0
    Lakehouse(spark, settings_of(root).lakehouse).register({}, [INITIAL, STAGE_RUNS, DROPPED])
    assert spark.table("edos.initial").count() > 2
    assert spark.sql("SELECT * FROM ops.dropped WHERE reason = 'below_top_n'").count() == 0


def test_nothing_is_left_to_do_for_either(spark: SparkSession, root: Path) -> None:
    for one in ((), SHORT):
        context = PipelineContext(spark, settings_of(root, *one))
        for stage in stages("filter_dialogues", "clean_dialogues", "select_emotional"):
            assert context.of(stage).plan(stage).why is None, stage.name


def settings_again(root: Path, folder: Path) -> Settings:
    """Return the settings of another set, made with the file of an export of the set ``short``."""
    short = settings_of(root, *SHORT)
    made_with = MadeWith(short.publishing, short.subtitles, short.edos, short.models, short.training)
    file = folder / "settings.yaml"
    file.write_text(made_with.to_yaml("short"))
    return settings_of(root, "lakehouse.set=again", config=(file,))


def test_the_file_of_an_export_has_the_settings_of_the_set(tmp_path: Path) -> None:
    short, again = settings_of(tmp_path, *SHORT), settings_again(tmp_path, tmp_path)
    assert (again.subtitles, again.edos, again.publishing) == (short.subtitles, short.edos, short.publishing)
    assert load_settings("local", [tmp_path / "settings.yaml"]).lakehouse.set == "short"
    start_token = load_settings("local").training.emotion_classifier.start_token
    assert again.training.emotion_classifier.start_token == start_token
    assert again.models.weak_labeler == "models:/edos-weak-labeler-again@champion"


@pytest.mark.long
def test_the_file_of_an_export_makes_the_set_again(spark: SparkSession, root: Path, tmp_path: Path) -> None:
    again = settings_again(root, tmp_path)
    before = contents(spark, settings_of(root), CLEAN_DIALOGUES, INITIAL)
    made(spark, again)
    first = contents(spark, settings_of(root, *SHORT), CLEAN_DIALOGUES, INITIAL)
    assert contents(spark, again, CLEAN_DIALOGUES, INITIAL) == first
    assert contents(spark, settings_of(root), CLEAN_DIALOGUES, INITIAL) == before


def test_another_set_is_not_in_use_with_this_one(root: Path) -> None:
    with leased(settings_of(root), "clean_dialogues"), leased(settings_of(root, *SHORT), "clean_dialogues"):
        assert (root / "_leases" / "short.clean_dialogues").is_file()
    with (
        leased(settings_of(root, *SHORT), "clean_dialogues"),
        pytest.raises(InputError, match="in use"),
        leased(settings_of(root, *SHORT), "clean_dialogues"),
    ):
        pass


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("subtitles.clean_dialogues", "subtitles_a.clean_dialogues"),
        ("edos.turns", "edos_a.turns"),
        ("analysis.edos_table_9", "analysis_a.edos_table_9"),
        ("ops.dropped", "ops_a.dropped"),
        ("replies.examples", "replies_a.examples"),
        ("subtitles.dialogues", "subtitles.dialogues"),
        ("llm.generations", "llm.generations"),
        ("emo_pillars.plots", "emo_pillars.plots"),
        ("augesc.queries", "augesc.queries"),
    ],
)
def test_what_a_set_has_for_itself(name: str, expected: str) -> None:
    assert in_set(name, "a") == expected
    assert in_set(name, "") == name


def test_in_a_catalog_the_set_is_in_the_names_of_schemas(spark: SparkSession) -> None:
    values = {"lakehouse.catalog": "main", "lakehouse.schema_prefix": "p_", "lakehouse.set": "a"}
    house = Lakehouse(spark, load_settings("databricks", [], values).lakehouse)
    assert house.reference(INITIAL) == "`main`.p_edos_a.initial"
    assert house.reference(DIALOGUES) == "`main`.p_subtitles.dialogues"
    sql = "SELECT * FROM edos.turns JOIN subtitles.files JOIN analysis.edos_flow"
    assert house.named(sql) == "SELECT * FROM p_edos_a.turns JOIN p_subtitles.files JOIN p_analysis_a.edos_flow"


def test_models_of_a_set_have_names_of_their_own() -> None:
    own = load_settings("local", [], {"lakehouse.set": "a"})
    assert own.models.weak_labeler == "models:/edos-weak-labeler-a@champion"
    assert own.training.emotion_classifier.name == "edos-emotion-classifier-a"
    assert own.models.turn_segmenter == load_settings("local").models.turn_segmenter
    common = "models:/edos-weak-labeler@champion"
    given = load_settings("local", [], {"lakehouse.set": "a", "models.weak_labeler": common})
    assert given.models.weak_labeler == common
    unity = {"lakehouse.catalog": "main", "lakehouse.set": "a", "mlflow.registry_uri": "databricks-uc"}
    named = load_settings("databricks", [], {**unity, "lakehouse.schema_prefix": "p_"})
    assert named.training.weak_labeler.name == "main.p_models.edos_weak_labeler_a"


@pytest.mark.parametrize("name", ["A", "a-b", "a.b", "1a", "a b", "_a"])
def test_a_name_of_a_set_is_part_of_a_name_in_sql(name: str) -> None:
    with pytest.raises(InputError, match=r"lakehouse\.set"):
        load_settings("local", [], {"lakehouse.set": name})


def test_a_run_of_a_set_is_of_its_stages_and_what_they_need() -> None:
    found = [stage.name for stage in in_sets(all_stages())]
    assert {"find_subtitles", "train_turn_segmenter", "clean_dialogues", "annotate_dialogues"} <= set(found)
    assert not [name for name in found if name.startswith(("emo_pillars", "augesc"))]
    with pytest.raises(InputError, match=r"leave out lakehouse\.set"):
        in_sets(stages("augesc_read_sessions"))


def test_every_table_that_follows_from_clean_dialogues_is_of_sets() -> None:
    own = {name for name in TABLES if in_set(name, "a") != name}
    for stage in all_stages():
        if stage.writes is not None and stage.group in ("edos", "replies"):
            assert stage.of_sets, stage.name
        reads = {table.name for table in stage.reads}
        if reads & own and stage.group != "emo_pillars":
            assert stage.of_sets, stage.name
