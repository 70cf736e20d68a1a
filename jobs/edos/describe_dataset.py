"""Show what was made: the paper's Tables 3 and 9, accounts, examples, and how to go on."""

from pyspark.sql import DataFrame

from etl.lakehouse.stage import StageRun, stage
from etl.lakehouse.tables.edos import DIALOGUES


@stage(reads=(DIALOGUES,), writes=None)
def describe_dataset(dialogues: DataFrame, run: StageRun) -> None:
    from etl.lakehouse.commands.describe import describe

    describe(run)


if __name__ == "__main__":
    describe_dataset.main()
