"""Look up each Java name once; repeated look-ups of ``functions.col`` cost more than most queries."""

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JavaPackage
from pyspark.sql import SparkSession

from etl.pipeline.spark_api import is_connect, java

NAMES = (
    *("functions", "PythonUtils", "PythonSQLUtils", "PythonRDD", "SerDeUtil", "SimplePythonFunction", "SparkSession"),
    *("PythonParallelizeServer", "ArrowIteratorServer", "org", "java"),
)
"""Classes that PySpark finds by imports with a star, each of which searches all jars, and roots of full names."""


class _Remembered:
    """A Java class or package whose members are looked up once.

    py4j asks Java for each name at each use, and Java searches every jar for ``package.name`` before it finds a class.
    """

    def __init__(self, java: Any) -> None:
        self._java = java

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._java, name)
        if isinstance(found, JavaPackage | JavaClass):
            found = _Remembered(found)
        if isinstance(found, _Remembered | JavaMember):
            setattr(self, name, found)
        return found

    def __call__(self, *arguments: Any) -> Any:
        return self._java(*arguments)


def remember_java_names(session: SparkSession) -> None:
    """Make the session's most used Java names known to Python."""
    if is_connect(session):
        return
    jvm = java(session, "")
    for name in NAMES:
        if not isinstance(getattr(jvm, name), _Remembered):
            setattr(jvm, name, _Remembered(getattr(jvm, name)))
