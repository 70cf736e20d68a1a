"""Spark's Python daemon for local sessions, with faster imports.

Spark's workers import from ``pyspark.zip`` first, whose directory Python 3.11 reads again in each task (58 ms). This
daemon uses the installed pyspark and imports common packages once, before it forks the workers.
"""

import sys

if __name__ == "__main__":
    sys.path[:] = [path for path in sys.path if not path.endswith(".zip")]
    for cached in [path for path in sys.path_importer_cache if ".zip" in path]:
        del sys.path_importer_cache[cached]
    import pandas  # noqa: F401
    import pyarrow  # noqa: F401
    from pyspark.daemon import manager

    manager()
