"""Frames that are computed once, however often a test asks them: planning the cleaning costs more than its rows."""

from collections import deque
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from pyspark import RDD
from pyspark.serializers import CPickleSerializer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructType, _make_type_verifier

from etl.pipeline.outcome import Outcome
from etl.pipeline.session import configured

_created = SparkSession._create_dataframe


def literal(spark: SparkSession, attributes: Any, rows: Any) -> DataFrame:
    """Return a table whose rows stand in the plan.

    Args:
        spark: the session.
        attributes: Java's sequence of the columns.
        rows: Java's sequence of the rows, in Spark's own form.
    """
    jvm: Any = spark._jvm
    relation = jvm.org.apache.spark.sql.catalyst.plans.logical.LocalRelation(attributes, rows, False)
    return DataFrame(jvm.org.apache.spark.sql.Dataset.ofRows(spark._jsparkSession, relation), spark)


def literal_rows(spark: SparkSession, data: Any, schema: Any, ratio: float | None, verify: bool) -> DataFrame:
    """Return what ``createDataFrame`` does, whose rows of a list pass through a Python worker in each query."""
    if isinstance(data, RDD) or (isinstance(schema, DataType) and not isinstance(schema, StructType)):
        return _created(spark, data, schema, ratio, verify)
    checked = list(data)
    if isinstance(schema, StructType) and verify:
        deque(map(_make_type_verifier(schema), checked), maxlen=0)
    if not checked:  # a literal table without rows would take most of a plan away
        return _created(spark, checked, schema, ratio, verify)
    own = SimpleNamespace(_sc=SimpleNamespace(parallelize=list), _inferSchemaFromList=spark._inferSchemaFromList)
    (rows, struct) = SparkSession._createFromLocal(own, checked, schema)  # type: ignore[arg-type]
    jvm: Any = spark._jvm
    jvm.SerDeUtil.initialize()
    java_type = spark._jsparkSession.parseDataType(struct.json())
    read = jvm.net.razorvine.pickle.Unpickler().loads(CPickleSerializer().dumps(rows))
    convert = jvm.org.apache.spark.sql.execution.python.EvaluatePython.makeFromJava(java_type)
    attributes = jvm.org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes(java_type)
    return literal(spark, attributes, jvm.PythonUtils.toSeq(read).iterator().map(convert).toList())


def computed(frame: DataFrame) -> DataFrame:
    """Return the frame's rows without the plan that made them."""
    spark = frame.sparkSession
    query = frame._jdf.queryExecution()
    rows = query.executedPlan().executeCollect()
    if not len(rows):
        # A checkpoint of a plan that is not adaptive has a partitioning that self joins cannot rename (Spark 3.5).
        with configured(spark, "spark.sql.adaptive.enabled", "true"):
            return frame.limit(0).localCheckpoint()
    jvm: Any = spark._jvm
    return literal(spark, query.analyzed().output(), jvm.scala.collection.mutable.WrappedArray.make(rows))


def outcome_computed(outcome: Outcome) -> Outcome:
    """Return an outcome whose rows and ledger are computed."""
    dropped = None if outcome.dropped is None else computed(outcome.dropped)
    return replace(outcome, rows=computed(outcome.rows), dropped=dropped)
