"""Run the benchmarks, each in a process of its own, and write ``docs/benchmarks.md``.

    python -m tests.benchmarks [--only NAME,NAME] [--small] [--docs FOLDER]

Exit status 1 when a benchmark failed; the others' results are written all the same.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.harness import REPOSITORY, SLOWING, Progress
from tests.benchmarks.page import write_page

NAMES = [
    "reading",
    "spark_reading",
    "pipeline",
    "near_duplicates",
    "embeddings",
    "similarity",
    "classification",
    "generation",
]


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help=f"some of {', '.join(NAMES)}, parted by commas")
    parser.add_argument("--small", action="store_true", help="tiny sizes; the page is not written without --docs")
    parser.add_argument("--docs", type=Path, help="folder of the page (default docs)")
    given = parser.parse_args()
    chosen = [name.strip() for name in given.only.split(",") if name.strip()] or NAMES
    unknown = [name for name in chosen if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}: choose from {', '.join(NAMES)}")
    docs = given.docs or (None if given.small else REPOSITORY / "docs")
    stored = given.docs / "results.json" if given.docs else REPOSITORY / "tests" / "benchmarks" / "results.json"
    progress = Progress("benchmarks", len(chosen))
    failed = []
    for name in chosen:
        result = run(name, given.small)
        if result is None:
            failed.append(name)
        elif docs is not None:
            # At once, so that nothing is lost when a later one fails.
            write_page(docs / "benchmarks.md", stored, {name: result}, NAMES)
        progress.step(f"{name} {'failed' if result is None else 'done'}")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


def run(name: str, small: bool) -> dict[str, object] | None:
    """Run one benchmark in a process of its own; returns its result as JSON values, None where it failed."""
    environment = {key: value for key, value in os.environ.items() if key not in SLOWING}
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "result.json"
        command = [sys.executable, "-m", f"tests.benchmarks.{name}", "--json", str(target)]
        finished = subprocess.run([*command, *(["--small"] if small else [])], env=environment, cwd=REPOSITORY)
        if finished.returncode or not target.is_file():
            return None
        found: dict[str, object] = json.loads(target.read_text(encoding="utf-8"))
        return found


if __name__ == "__main__":
    sys.exit(main())
