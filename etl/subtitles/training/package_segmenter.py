"""Train the turn segmenter that comes with the package, from one series of TV4Dialog.

    python -m etl.subtitles.training.package_segmenter FOLDER [--series castle] [--out FOLDER]

``FOLDER`` holds ``withSpkr`` and ``xmlScript`` (``python -m jobs fetch-data tv4dialog`` fetches them). The other series
are left for judging.
"""

import argparse
from pathlib import Path

import pandas as pd
import pyarrow as pa

from etl.subtitles.border_segmenter import KINDS, PAIR_KEY, WITHIN, BorderSegmenter, no_start, trained_kind
from etl.subtitles.known_speakers import known_pairs, tv4dialog

SERIES = "castle"
LANGUAGE = "en"
OUT = Path(__file__).parents[1] / "segmenter"
"""The package's folder of the weights."""


def package_segmenter(folder: Path, series: str = SERIES) -> BorderSegmenter:
    """Return the segmenter that has learned from one series of TV4Dialog."""
    pairs = known_pairs(episode for episode in tv4dialog(folder) if episode.series == series)
    pairs = pairs.assign(genres=None, density=None).sort_values(list(PAIR_KEY), kind="stable")
    models = []
    for kind in KINDS:
        start = getattr(no_start(LANGUAGE), kind)
        ours = pairs[pairs["same_block"] == (kind == WITHIN)]
        models.append(trained_kind(_table(ours), LANGUAGE, start))
    return BorderSegmenter(*models)


def _table(pairs: pd.DataFrame) -> pa.Table:
    table = pa.Table.from_pandas(pairs, preserve_index=False)
    genres = pa.nulls(len(table), pa.list_(pa.string()))
    return table.set_column(table.column_names.index("genres"), "genres", genres)


def main() -> None:
    """Train, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--series", default=SERIES)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    package_segmenter(given.folder, given.series).save(given.out)


if __name__ == "__main__":
    main()
