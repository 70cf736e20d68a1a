"""The environment of a local session, without the variables of other installations of Spark and Java.

On a cluster, and under ``spark-submit``, the surroundings are the cluster's own and stay as they are.
"""

import os
import sys
from collections.abc import Mapping

from conf.settings import Settings
from etl.pipeline.java_homes import java_home

FOREIGN_PREFIXES = ("SPARK_", "PYSPARK_", "HADOOP_", "YARN_", "HIVE_")
FOREIGN = (
    *("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH"),
    # A training would become a part of another one, or wait for it.
    *("MLFLOW_RUN_ID", "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"),
)
"""Variables of other programs that would change a local session."""
OF_PYSPARK = ("SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE")
"""Variables that pyspark sets in a process with a session, and that its other processes inherit."""
LOOPBACK = "127.0.0.1"
_reported: set[str] = set()


def foreign(environ: Mapping[str, str]) -> list[str]:
    """Return the names of the variables that a local session leaves aside, sorted."""
    own = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": LOOPBACK, "SPARK_LOCAL_HOSTNAME": "localhost"}
    named = (name for name in environ if name in FOREIGN or name.startswith(FOREIGN_PREFIXES))
    return sorted(name for name in named if name not in OF_PYSPARK and environ[name] != own.get(name))


def take_local_environment(settings: Settings) -> None:
    """Change this process's environment for a local session; say once, on standard error, what is left aside.

    Raises:
        InputError: there is no Java.
    """
    environ = os.environ
    if "PYSPARK_GATEWAY_PORT" in environ:  # spark-submit has started Java with its own environment
        return
    home = java_home(settings.spark.java_home)
    aside = foreign(environ)
    if ignored := [name for name in aside if name not in _reported]:
        print(f"edos-lakehouse: ignored in local sessions: {', '.join(ignored)}", file=sys.stderr)
        _reported.update(ignored)
    for name in aside:
        del environ[name]
    environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": LOOPBACK, "SPARK_LOCAL_HOSTNAME": "localhost"}
    environ["JAVA_HOME"] = str(home)
    # Models run one thread a worker unless the settings say more; OpenMP would take every core.
    environ.setdefault("OMP_NUM_THREADS", str(settings.models.threads))
    # Threads that wait must sleep: spinning, two on a busy core take seven times as long.
    environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if sys.platform == "linux":
        # Java names files by the locale's encoding, and writes numbers and letters by its language.
        environ["LC_ALL"] = "C.UTF-8"
