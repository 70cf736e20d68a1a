"""The end of the Java process prints no traceback from the thread that reads accumulators; other errors do."""

import pytest
from pyspark.sql import SparkSession

from etl.common.spark_api import show_errors_only


@pytest.mark.parametrize(
    ("error", "printed"),
    [(EOFError(), False), (ConnectionResetError(104, "reset"), False), (BrokenPipeError(), False),
     (ValueError("a bad update"), True)],
)  # fmt: skip
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
