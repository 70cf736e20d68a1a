"""List how each response generator was trained: parameters, epochs, time, validation perplexity (EDOS E, Table 10)."""

from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.replies import TRAININGS


@stage(
    writes=TRAININGS,
    asks=(Model("reply_pretrained"), Model("reply_edos"), Model("reply_empathetic")),
    units=Units("generators"),
    on_request=True,
)
def replies_list_trainings(run: StageRun) -> Outcome:
    from etl.lakehouse.trainings.reply_comparison import listed_trainings

    return listed_trainings(run)


if __name__ == "__main__":
    replies_list_trainings.main()
