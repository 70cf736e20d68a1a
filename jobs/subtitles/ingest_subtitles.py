"""Read the files found: one row a file, sentences nested; what cannot be read goes to quarantine."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Sliced, StageRun, Units, stage
from etl.lakehouse.tables.subtitles import FILES, MANIFEST
from etl.subtitles.ingest import ingest_subtitles as read_subtitles
from etl.subtitles.ingest import mark_copies


def copies_marked(manifest: DataFrame, run: StageRun) -> DataFrame:
    return mark_copies(manifest, run.all_settings.subtitles.sources)


@stage(
    reads=(MANIFEST,),
    writes=FILES,
    settings=(
        "subtitles.languages", "subtitles.truecase", "subtitles.max_file_megabytes", "subtitles.max_ratio",
    ),
    sliced=Sliced("source_path", "sum(bytes) / 1e6", cost_per_minute=1_000, prepare=copies_marked),
    units=Units("files"),
)  # fmt: skip
def ingest_subtitles(found: DataFrame, run: StageRun) -> Outcome:
    subtitles = run.settings.subtitles
    return read_subtitles(
        found,
        languages=subtitles.languages,
        task_mb=run.all_settings.subtitles.task_megabytes,
        max_bytes=subtitles.max_file_megabytes << 20,
        max_ratio=subtitles.max_ratio,
        truecase=subtitles.truecase,
    )


if __name__ == "__main__":
    ingest_subtitles.main()
