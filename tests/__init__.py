"""Tests, and the benchmarks, attacks and chaos trials beside them."""

import os
import sys

if "pytest" in sys.modules:
    # Several test processes share the cores, where a tiny model's second thread would only wait for its turn. The
    # libraries read these when they are loaded.
    for _limit in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(_limit, "1")
