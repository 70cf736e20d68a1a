"""Fixtures: one Spark session for the whole run, and the real data where they are at hand."""

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.frames import literal_rows
from tests.memory_tables import memory_tables
from tests.stand_ins import StandIns

REPOSITORY = Path(__file__).resolve().parent.parent
JOBS = "tests/jobs/"
TO_LITERALS = "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--delta", action="store_true", help="chains of stages write Delta tables, not tables in memory")


@contextmanager
def unless_delta(config: pytest.Config) -> Iterator[None]:
    """Keep tables in memory, unless ``--delta`` asks for Delta."""
    with nullcontext() if config.getoption("--delta") else memory_tables():
        yield


@pytest.fixture(scope="module")
def tables(request: pytest.FixtureRequest) -> Iterator[None]:
    """The chains of a module write tables in memory, unless ``--delta`` asks for Delta."""
    with unless_delta(request.config):
        yield


@pytest.fixture()
def tables_of_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """The same for one test, in a module whose other tests need Delta."""
    with unless_delta(request.config):
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Of several test processes one has all that look at the finished run, which takes minutes to make."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::")[0]
            return JOBS if file.startswith(JOBS) else file

    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first."""
    items.sort(key=lambda item: not item.nodeid.startswith(JOBS))


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """A local session with Delta, as the local profile makes it."""
    from conf.settings import load_settings
    from etl.pipeline.session import spark_session

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # With --delta queries are compiled and rows are in several partitions, as in long runs. Without it a session has
    # one core, which takes a seventh less CPU; the finished run of tests/jobs has several partitions in any case.
    long = request.config.getoption("--delta")
    cores = 2 if long else 1
    overrides = {"spark.master": f"local[{cores}]", "spark.shuffle_partitions": cores, "spark.short_session": not long}
    session = spark_session(load_settings("local", [], overrides), "tests")
    with pytest.MonkeyPatch.context() as patch:
        if not long:
            patch.setattr(SparkSession, "_create_dataframe", literal_rows)
            # Expressions on literal rows are for the tasks, as in a run, and not for the optimizer.
            session.conf.set("spark.sql.optimizer.excludedRules", TO_LITERALS)
        yield session
    session.stop()


@pytest.fixture(scope="session", autouse=True)
def _mlflow_databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Make new MLflow databases as copies of the first: its migrations take more than a second."""
    if "mlflow" not in sys.modules:  # no module of this run uses it from its first line on
        yield
        return
    from mlflow.store.db import utils
    from mlflow.store.model_registry import sqlalchemy_store

    migrate = utils._initialize_tables
    first = tmp_path_factory.mktemp("mlflow") / "first.db"

    def initialize(engine: Any) -> None:
        place = engine.url.database
        if engine.dialect.name != "sqlite" or not place:
            return migrate(engine)
        if not first.exists():
            migrate(engine)
        given, wanted = (place, first) if not first.exists() else (first, place)
        with closing(sqlite3.connect(given)) as source, closing(sqlite3.connect(wanted)) as target:
            source.backup(target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(utils, "_initialize_tables", initialize)
        patch.setattr(sqlalchemy_store, "_initialize_tables", initialize)
        yield


@pytest.fixture()
def stand_ins(spark: SparkSession) -> Iterator[StandIns]:
    """Every view over tables of the test's own."""
    from conf.taxonomy import load_taxonomy
    from etl.publishing.views import all_views

    found = StandIns(spark, all_views(load_taxonomy("edos")))
    yield found
    found.drop()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the checkout; tests that need it skip where it is not."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data at ../shared/data ({folder} is not there): this test needs them")
    return folder
