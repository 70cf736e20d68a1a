"""Train the turn segmenter that comes with the package, from one series of TV4Dialog, and calibrate it on the others.

    python -m etl.subtitles.training.package_segmenter FOLDER [--series castle] [--out FOLDER]

``FOLDER`` holds ``withSpkr`` and ``xmlScript`` (``python -m jobs fetch-data tv4dialog`` fetches them). The other series
tell one number of each model: how much less certain it is of a series that it has not learned from.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from etl.subtitles.border_features import border_features, sentence_words
from etl.subtitles.border_segmenter import (
    KINDS,
    PACKAGED_SERIES,
    PAIR_KEY,
    WITHIN,
    BorderSegmenter,
    KindModel,
    LinearModel,
    fitted_slope,
    no_start,
    trained_kind,
)
from etl.subtitles.known_speakers import known_pairs, tv4dialog
from etl.subtitles.turn_scoring import pairs_of

LANGUAGE = "en"
OUT = Path(__file__).parents[1] / "segmenter"
"""The package's folder of the weights."""


def package_segmenter(folder: Path, series: str = PACKAGED_SERIES) -> BorderSegmenter:
    """Return the segmenter that has learned from one series of TV4Dialog."""
    pairs = known_pairs(tv4dialog(folder))
    pairs = pairs.assign(genres=None, density=None).sort_values(list(PAIR_KEY), kind="stable")
    learned = pairs["split_group"].str.startswith(f"{series}/")
    models = []
    for kind in KINDS:
        ours = pairs["same_block"] == (kind == WITHIN)
        model = trained_kind(_table(pairs[ours & learned]), LANGUAGE, getattr(no_start(LANGUAGE), kind))
        models.append(_less_certain(model, _table(pairs[ours & ~learned])))
    return BorderSegmenter(*models)


def _less_certain(model: KindModel, others: pa.Table) -> KindModel:
    """Return the model with the slopes that are right for pairs that it has not learned from; no decision changes."""
    others = others.filter(others["label"].is_valid())
    if len(others["label"].unique()) < 2:
        return model
    texts, left, right, context = pairs_of(others.combine_chunks().to_batches()[0])
    words = sentence_words(texts)
    models: list[LinearModel] = []
    for linear, lexical in ((model.words, True), (model.plain, False)):
        odds = linear.log_odds(border_features(words, left, right, context, lexical))
        models.append(linear.scaled(fitted_slope(odds, np.asarray(others["label"]))))
    return KindModel(model.language, *models)


def _table(pairs: pd.DataFrame) -> pa.Table:
    table = pa.Table.from_pandas(pairs, preserve_index=False)
    genres = pa.nulls(len(table), pa.list_(pa.string()))
    return table.set_column(table.column_names.index("genres"), "genres", genres)


def main() -> None:
    """Train, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--series", default=PACKAGED_SERIES)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    package_segmenter(given.folder, given.series).save(given.out)


if __name__ == "__main__":
    main()
