"""Check the eight requirements for every text, each for itself (AugESC 4.3)."""

from pyspark.sql import DataFrame

from etl.augesc.requirements import violations
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc import MEASURED_TEXTS, VIOLATIONS


@stage(
    reads=(MEASURED_TEXTS,),
    writes=VIOLATIONS,
    settings=("augesc.filters",),
    units=Units("texts"),
    on_request=True,
)
def augesc_check_texts(measured: DataFrame, run: StageRun) -> DataFrame:
    return violations(measured, run.settings.augesc.filters)


if __name__ == "__main__":
    augesc_check_texts.main()
