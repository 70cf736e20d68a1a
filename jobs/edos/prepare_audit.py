"""Draw finished turns by label and confidence for people to label again: the audit (ours)."""

from pyspark.sql import DataFrame

from etl.edos.audit import audit_tasks
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import AUDIT_TASKS, DIALOGUES, WEAK_LABELS


@stage(
    reads=(DIALOGUES, WEAK_LABELS),
    writes=AUDIT_TASKS,
    settings=("edos.audit.bands", "edos.audit.per_stratum", "edos.audit.items_per_hit", "edos.annotation.seed"),
    units=Units("turns", "sum(size(turns))"),
    on_request=True,
)
def prepare_audit(dialogues: DataFrame, weak_labels: DataFrame, run: StageRun) -> Outcome:
    audit, seed = run.settings.edos.audit, run.settings.edos.annotation.seed
    return audit_tasks(
        dialogues, weak_labels, bands=audit.bands, per_stratum=audit.per_stratum, per_hit=audit.items_per_hit, seed=seed
    )


if __name__ == "__main__":
    prepare_audit.main()
