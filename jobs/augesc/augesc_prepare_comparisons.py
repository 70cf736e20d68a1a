"""Pair the participants' talks with the two bots, for them to compare (AugESC 7.2)."""

from etl.augesc.comparisons import paired_chats
from etl.lakehouse.files.outside import files_under
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc_evaluation import COMPARISON_TASKS

SETTINGS = "augesc.evaluation.comparisons"


@stage(
    writes=COMPARISON_TASKS,
    settings=(f"{SETTINGS}.least_utterances", f"{SETTINGS}.seed"),
    inputs=(f"{SETTINGS}.chats",),
    units=Units("talks", rows_out="2 * count(*)"),
    on_request=True,
)
def augesc_prepare_comparisons(run: StageRun) -> Outcome:
    wanted = run.settings.augesc.evaluation.comparisons
    files = files_under(wanted.chats, (".jsonl", ".jsonl.gz"), f"{SETTINGS}.chats")
    return paired_chats(run.spark, files, least=wanted.least_utterances, seed=wanted.seed)


if __name__ == "__main__":
    augesc_prepare_comparisons.main()
