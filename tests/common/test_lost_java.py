"""The end of the Java process prints no traceback from the thread that reads accumulators; other errors do."""

import logging

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from etl.pipeline.spark_api import show_errors_only


@pytest.mark.parametrize(
    ("error", "printed"),
    [
        (EOFError(), False),
        (ConnectionResetError(104, "reset"), False),
        (BrokenPipeError(), False),
        (ValueError("a bad update"), True),
    ],
)
def test_only_other_errors_are_printed(
    spark: SparkSession, capsys: pytest.CaptureFixture[str], error: Exception, printed: bool
) -> None:
    show_errors_only(spark)
    server = spark.sparkContext._accumulatorServer  # type: ignore[attr-defined]
    try:
        raise error
    except Exception:
        server.handle_error(None, ("127.0.0.1", 1))
    assert (type(error).__name__ in capsys.readouterr().err) == printed


@pytest.mark.parametrize(("error", "logged"), [(Py4JNetworkError("reset"), False), (ValueError("other"), True)])
def test_a_lost_connection_is_not_logged(
    spark: SparkSession, caplog: pytest.LogCaptureFixture, error: Exception, logged: bool
) -> None:
    show_errors_only(spark)
    try:
        raise error
    except Exception:
        logging.exception("Exception while sending command.")
    assert bool(caplog.records) == logged
