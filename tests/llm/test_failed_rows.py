"""Rows that failed and may be cured: the conditions of all stages, by both writers of tables."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from jobs import all_stages

CONDITIONS = sorted(
    {
        condition
        for stage in all_stages()
        if stage.incremental is not None
        for condition in (stage.incremental.failed, stage.incremental.unanswered)
        if condition is not None
    }
)
ERRORS = (
    (None, False),
    ("RuntimeError: CUDA error: an illegal memory access was encountered", True),
    ("AcceleratorError: device-side assert triggered", True),
    ("ValueError: the text is empty", False),
)


def test_some_stages_ask_again() -> None:
    assert len(CONDITIONS) >= 3


@pytest.mark.parametrize("condition", CONDITIONS)
def test_delta_rs_and_spark_read_a_condition_alike(condition: str, spark: SparkSession, tmp_path: Path) -> None:
    rows = [("an answer", None), (None, "refused: 400"), *((None, error) for error, _ in ERRORS)]
    left = spark.createDataFrame(rows, "text string, error string").where(f"NOT coalesce({condition}, false)")
    folder = tmp_path / "table"
    columns = {"text": [text for text, _ in rows], "error": [error for _, error in rows]}
    write_deltalake(folder, pa.table(columns, schema=pa.schema([("text", pa.string()), ("error", pa.string())])))
    DeltaTable(folder).delete(condition)
    kept = DeltaTable(folder).to_pyarrow_table().to_pylist()
    assert sorted((row["text"] or "", row["error"] or "") for row in kept) == sorted(
        (row["text"] or "", row["error"] or "") for row in left.collect()
    )


@pytest.mark.parametrize(("error", "expected"), ERRORS)
def test_faults_of_a_device_are_asked_again(error: str | None, expected: bool, spark: SparkSession) -> None:
    (stage,) = (one for one in all_stages() if one.name == "score_weakly")
    assert stage.incremental is not None
    rows = spark.createDataFrame([(error,)], "error string")
    assert (rows.where(stage.incremental.failed or "false").count() == 1) is expected
