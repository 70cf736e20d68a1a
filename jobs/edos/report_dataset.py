"""Report on the finished data set: one HTML page with labels, flow, silences, examples, limits (EDOS 4)."""

from pyspark.sql import DataFrame

from etl.lakehouse.stage import StageRun, stage
from etl.lakehouse.tables.edos import DIALOGUES, EMPATHETIC_TURNS
from etl.lakehouse.tables.subtitles import GAPS


@stage(
    reads=(DIALOGUES, EMPATHETIC_TURNS, GAPS),
    writes=None,
    settings=("edos.report",),
    shows="a page under `edos.report.folder`",
    on_request=True,
)
def report_dataset(dialogues: DataFrame, empathetic: DataFrame, gaps: DataFrame, run: StageRun) -> None:
    from etl.lakehouse.publishing.dataset_report import write_report

    write_report(run)


if __name__ == "__main__":
    report_dataset.main()
