"""Export the AugESC conversations: JSON Lines in the schema of ESConv and Parquet, with a card (AugESC 5)."""

from pyspark.sql import DataFrame

from etl.lakehouse.stage import StageRun, stage
from etl.lakehouse.tables.augesc import CONVERSATIONS, QUERIES


@stage(
    reads=(CONVERSATIONS, QUERIES),
    writes=None,
    settings=("augesc.publishing",),
    shows="files under `augesc.publishing.folder`",
    on_request=True,
)
def augesc_export(conversations: DataFrame, queries: DataFrame, run: StageRun) -> None:
    from etl.lakehouse.publishing.augesc_export import publish_augesc

    publish_augesc(conversations, queries, run)


if __name__ == "__main__":
    augesc_export.main()
