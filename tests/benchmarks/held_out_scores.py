"""Copy a lakehouse with scores of turns by segmenters that never saw the film.

    python -m tests.benchmarks.held_out_scores FOLDER LAKEHOUSE COPY --margins FOLDER

Replaces the scores of ``subtitles.turn_scores`` in the copy by the margins that ``bench_marks --margins`` kept, so that
``segment_dialogues`` and ``clean_dialogues`` make the dialogues of films that were held out.
"""

import argparse
import shutil
import sys
from pathlib import Path

import deltalake
import numpy as np
import pyarrow as pa

from etl.subtitles.turn_sentences import Sentences
from etl.tables.subtitles import TURN_SCORES
from tests.benchmarks.turn_folds import MARGINS, read_uploads


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("folder", "lakehouse", "copy", "--margins"):
        parser.add_argument(name, type=Path, **({"required": True} if name.startswith("--") else {}))  # type: ignore[arg-type]
    given = parser.parse_args()
    margins = np.load(given.margins / MARGINS)
    uploads = read_uploads(given.folder)
    offsets = Sentences.of(uploads.column("sentences")).offsets
    places = {path: place for place, path in enumerate(uploads.column("source_path").to_pylist())}
    shutil.copytree(given.lakehouse, given.copy)
    table = deltalake.DeltaTable(given.copy / TURN_SCORES.name.replace(".", "/"))
    rows = pa.table(table.to_pyarrow_dataset().to_table())
    found = []
    for row in rows.to_pylist():
        place = places[row["source_path"]]
        scores = margins[offsets[place] + 1 : offsets[place + 1]].tolist()
        if len(scores) != len(row["scores"]):
            raise ValueError(f"{row['source_path']}: {len(scores)} margins for {len(row['scores'])} scores")
        # Another version of the unit, so that segment_dialogues works on it.
        found.append({**row, "scores": scores, "work_version": (row["work_version"] or 0) ^ 1})
    deltalake.write_deltalake(table, pa.Table.from_pylist(found, rows.schema), mode="overwrite")
    return 0


if __name__ == "__main__":
    sys.exit(main())
