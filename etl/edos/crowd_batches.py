"""Write batches of HITs for the crowd: the page, files for crowd platforms, and the secret key (EDOS 3.2)."""

from pyspark.sql import DataFrame

from conf.taxonomy import Taxonomy
from etl.annotation.batch import Batch
from etl.annotation.exports import KEY, Tasks, key_lines
from etl.annotation.form_files import Export, write_files
from etl.annotation.page import page_of
from etl.edos.crowd_platform import hit_type, hits_csv, template
from etl.edos.label_studio import label_studio_files
from etl.edos.labelling import CROWD, labelling_batch
from etl.edos.settings import Posting
from etl.pipeline.outcome import Outcome
from etl.pipeline.stage_run import StageRun

KEY_COLUMNS = (
    "hit_id",
    "position",
    "item_id",
    "dialogue_id",
    "turn",
    "turns",
    "options",
    "quiz_label",
    "label",
    "confidence",
    "band",
)


def batch_files(tasks: Tasks, taxonomy: Taxonomy, annotation: Posting) -> tuple[str, dict[str, str]]:
    """Return the batch id and the contents of its page, platform files, Label Studio's tasks and key by file name.

    Only ``key.jsonl`` has right answers and dialogue ids. It must not be published. The setting
    ``edos.annotation.batches`` names it when answers are collected.

    Args:
        taxonomy: ``edos.taxonomy``.
    """
    batch = labelling_batch(tasks, taxonomy, annotation.post_to)
    return batch.batch_id, {
        "annotate.html": page_of(batch),
        "hits.csv": hits_csv(tasks),
        "template.html": template(tasks, taxonomy),
        "hit_type.json": hit_type(batch.title, annotation),
        KEY: key_lines(tasks, CROWD, KEY_COLUMNS),
        **label_studio_files(tasks, batch.batch_id, taxonomy),
    }


def write_batch(tasks: DataFrame, taxonomy: Taxonomy, posting: Posting, run: StageRun) -> Outcome:
    """Write a task table's HITs to ``<folder>/crowd-<batch id>``, and return rows of ``edos.annotation_files``.

    The batch is built on the driver, as it is small. A changed table gives a new batch in another folder, so that
    exported batches stay valid for their answers. Items that the page cannot show are left out.
    """

    def make(rows: Tasks) -> Batch:
        return labelling_batch(rows, taxonomy, posting.post_to)

    def files(rows: Tasks) -> tuple[str, dict[str, str]]:
        return batch_files(rows, taxonomy, posting)

    rows = [row.asDict() for row in tasks.collect()]
    return write_files(rows, Export(CROWD, posting.folder, make, files), run)
