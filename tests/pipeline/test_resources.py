"""What a stage uses of ``conf/`` counts: a changed word list runs it again, and it can read no undeclared one."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf import resources
from conf.resources import UndeclaredResourceError, digests, reading_only, stored, text
from conf.settings import Settings, load_settings
from conf.taxonomy import edos_labels
from conf.wordlists import words
from etl.pipeline.outcome import Outcome
from etl.pipeline.planner import PipelineContext
from etl.pipeline.stage_run import StageRun
from etl.pipeline.stages import REGISTRY, stage
from etl.pipeline.tables import Table
from jobs import all_stages
from tests.stages import run_stages

pytestmark = pytest.mark.usefixtures("tables")

NAMES = Table("trial.names", "A name.", "name string", ("name",))
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings("local", [], {"lakehouse.root": str(tmp_path), "models.generator": "openai:nobody"})


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Puts another line at the end of a file, as if somebody had edited it."""

    def change(name: str, line: str) -> None:
        content = f"{stored(name)}{line}\n"
        monkeypatch.setattr(resources, "stored", lambda other: content if other == name else stored(other))

    return change


@pytest.mark.parametrize(
    ("name", "resource", "line"),
    [
        ("emo_pillars_find_markers", "emo_pillars/not_adverbs.txt", "fiddlesticks"),
        pytest.param("clean_dialogues", "profanity.txt", "fiddlesticks", marks=pytest.mark.long),
        pytest.param("augesc_collect_queries", "augesc/sensitive_words.txt", "fiddlesticks", marks=pytest.mark.slow),
        pytest.param("emo_pillars_actors", "prompts/emo_pillars/actors.txt", "Be brief.", marks=pytest.mark.slow),
    ],
)
def test_a_changed_file_runs_its_stages_again(
    spark: SparkSession, settings: Settings, changed: Callable, name: str, resource: str, line: str
) -> None:
    place = PipelineContext(spark, settings)
    own = {one.name: one for one in all_stages()}[name]
    for table in own.reads:
        place.lakehouse.replace(table, spark.createDataFrame([], table.schema), {})
    assert run_stages(place, [own]) == [name]
    assert place.plan(own).why is None
    changed("publishing/card.md", "another file")
    assert place.plan(own).why is None
    changed(resource, line)
    why = place.plan(own).why
    assert why is not None
    assert why.startswith("conf/")
    assert why.endswith(" changed")


def test_an_edited_taxonomy_runs_its_stages_again(spark: SparkSession, tmp_path: Path) -> None:
    taxonomy = tmp_path / "labels.yaml"
    taxonomy.write_text(stored("taxonomies/ekman.yaml"), encoding="utf-8")

    def place() -> PipelineContext:
        options = {"lakehouse.root": str(tmp_path / "lakehouse"), "edos.taxonomy": str(taxonomy)}
        return PipelineContext(spark, load_settings("local", [], options))

    own = {one.name: one for one in all_stages()}["agree_labels"]
    for table in own.reads:
        place().lakehouse.replace(table, spark.createDataFrame([], table.schema), {})
    assert run_stages(place(), [own]) == ["agree_labels"]
    assert place().plan(own).why is None
    taxonomy.write_text(taxonomy.read_text("utf-8").replace("label: joy", "label: delight"), encoding="utf-8")
    assert place().plan(own).why == "edos.taxonomy.labels changed"


def test_stages_without_resources_keep_their_hashes() -> None:
    settings = load_settings("local")
    assert REGISTRY.keys() >= {"choose_uploads"} or all_stages()
    # Of a lakehouse made before stages declared resources.
    assert REGISTRY["choose_uploads"].settings_hash(settings) == "e7a3b826a00ce810"


def test_a_stage_reads_what_it_declares(spark: SparkSession, settings: Settings, monkeypatch) -> None:
    monkeypatch.setattr("etl.pipeline.stages.REGISTRY", {})

    def listed(run: StageRun) -> Outcome:
        """List labels and swear words."""
        names = (*edos_labels(), *words("profanity"))
        return Outcome(run.spark.createDataFrame([(name,) for name in names], "name string"), rows_in=len(names))

    place = PipelineContext(spark, settings)
    with pytest.raises(UndeclaredResourceError, match=r"^listed reads conf/profanity\.txt without declaring it"):
        run_stages(place, [stage(writes=NAMES, resources=("taxonomies/*.csv",))(listed)])
    monkeypatch.setattr("etl.pipeline.stages.REGISTRY", {})
    declared = stage(writes=NAMES, resources=("taxonomies/*.csv", "profanity.txt"))(listed)
    assert run_stages(place, [declared]) == ["listed"]


def test_units_of_work_are_planned_from_declared_files_alone() -> None:
    for one in all_stages():
        if one.writes is not None and not one.resources:
            with pytest.raises(UndeclaredResourceError), reading_only(one.name, one.resources):
                text("profanity.txt")
    assert text("profanity.txt")  # nobody's stage


def test_an_executor_reads_no_file(spark: SparkSession) -> None:
    def read(_: int) -> str:
        try:
            return text("profanity.txt")
        except UndeclaredResourceError as error:
            return str(error)

    said = spark.range(1).select(F.udf(read)("id").alias("said")).first()
    assert said is not None
    assert said[0] == ("conf/profanity.txt is read in a Spark task: read it on the driver and pass it in")


def test_declared_files_are_there() -> None:
    for one in all_stages():
        assert len(digests(one.resources)) >= len(one.resources), one.name
    with pytest.raises(FileNotFoundError, match=r"no conf/nothing\*\.txt"):
        digests(("nothing*.txt",))


@pytest.mark.slow
def test_no_file_is_read_at_import() -> None:
    """What a module reads when it is loaded is read outside of any stage; the defaults of settings are."""
    code = (
        "import conf.resources as r, sys\n"
        "def refuse(name):\n"
        "    caller = sys._getframe(1)\n"
        "    while caller and not caller.f_globals.get('__name__', '').startswith(('etl.', 'udfs.')):\n"
        "        caller = caller.f_back\n"
        "    module = caller.f_globals['__name__'] if caller else ''\n"
        "    assert module.endswith('.settings'), (module, name)\n"
        "    return stored(name)\n"
        "stored = r.stored\n"
        "r.stored = refuse\n"
        "import importlib, pkgutil, etl, jobs, udfs\n"
        "for package in (udfs, etl, jobs):\n"
        "    for one in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        if not one.name.endswith('__main__'):\n"
        "            importlib.import_module(one.name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_settings_of_the_segmenter_that_is_not_trained_do_not_count() -> None:
    segmenter = {one.name: one for one in all_stages()}["train_turn_segmenter"]

    def hashed(**values: object) -> str:
        named = {f"training.{name.replace('__', '.')}": value for name, value in values.items()}
        return segmenter.settings_hash(load_settings("local", [], named))

    svm = {"turn_segmenter__kind": "svm"}
    encoder = {"turn_segmenter__kind": "encoder"}
    both = {"turn_segmenter__kind": "both"}
    assert hashed(**svm) == hashed(**svm, turn_pairs__epochs=7) != hashed(**svm, turn_segmenter__lengths=False)
    assert hashed(**encoder) == hashed(**encoder, turn_segmenter__lengths=False) != hashed(**svm)
    assert hashed(**encoder) != hashed(**encoder, turn_pairs__epochs=7)
    assert (
        len({hashed(**both, **more) for more in ({}, {"turn_segmenter__lengths": False}, {"turn_pairs__epochs": 7})})
        == 3
    )
    assert hashed(**svm) != hashed(**svm, turn_segmenter__films=7)
