"""Spark's Python daemon for local sessions, without the zip that makes each task slow.

Spark's workers look their modules up in ``pyspark.zip`` first, and Python 3.11 reads the zip's whole directory again
for each task (58 ms). Here the installed pyspark is used, and what every worker needs is imported once, before they
are forked.
"""

import sys


def _without_zips() -> None:
    sys.path[:] = [path for path in sys.path if not path.endswith(".zip")]
    for path in [path for path in sys.path_importer_cache if ".zip" in path]:
        del sys.path_importer_cache[path]


if __name__ == "__main__":
    _without_zips()
    import pandas  # noqa: F401
    import pyarrow  # noqa: F401
    from pyspark.daemon import manager

    manager()
