"""Export the data set for others: Parquet and JSON Lines split by film, with a card; texts or references to OPUS."""

from pyspark.sql import DataFrame

from etl.lakehouse.stage import StageRun, stage
from etl.lakehouse.tables.edos import DIALOGUES
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


@stage(
    reads=(DIALOGUES, CLEAN_DIALOGUES),
    writes=None,
    settings=("publishing",),
    shows="files under `publishing.folder`",
    on_request=True,
)
def export_dataset(dialogues: DataFrame, clean: DataFrame, run: StageRun) -> None:
    from etl.lakehouse.publishing.dataset_export import publish

    publish(run)


if __name__ == "__main__":
    export_dataset.main()
