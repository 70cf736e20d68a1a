"""Training in several processes by Spark's TorchDistributor, one process a task."""

import re
import shutil
import uuid
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from conf.errors import InputError
from conf.training_options import TrainingOptions
from etl.pipeline.model_loader import ResolvedModel, folder_digest
from etl.pipeline.spark_api import GPUS_OF_TASK, cores, gpus_of_task, master
from etl.pipeline.stage_run import StageRun
from etl.training.loop.process_job import (
    GIVEN,
    START,
    TrainingJob,
    collect,
    failure,
    finished,
    read_result,
    read_updates,
)
from etl.training.loop.reproducible import reproducible
from etl.training.loop.train import TrainingContext, encoded
from udfs.models.stores import delete, is_store, put
from udfs.models.trainable import TrainableModel, TrainingResult, TrainingRows

PACKAGES = ("conf", "etl", "udfs")


def train_in_processes(
    run: StageRun,
    start: Callable[[], TrainableModel],
    rows: TrainingRows,
    options: TrainingOptions,
    out_dir: Path,
    context: TrainingContext,
) -> TrainingResult:
    """Train a model in ``training.processes`` processes, on the driver of a local session or in Spark tasks.

    Rows, initial model and result are files under ``run.folder``, which all machines share, or under ``run.store``,
    which they copy from and to. The processes use neither Spark nor MLflow. The callbacks for epochs and updates are
    called at the end. Arguments and errors are those of `train_model`.

    Raises:
        InputError: the cluster cannot run it, or the rows are bad.
        RuntimeError: a process failed.
    """
    with _shared_folder(Path(run.folder).resolve()) as folder:
        with reproducible(options):
            model = start().to("cpu")  # the processes may need the GPU
        stored, load_options = model.stored() or (None, {})
        start_path = str(stored) if stored is not None else START
        if stored is None:
            model.save(folder / START)
        elif run.store is not None:
            start_path = run.worker_path(ResolvedModel(Path(stored), f"start#sha256:{folder_digest(Path(stored))}"))
        checkpoints = str(context.checkpoints) if context.checkpoints is not None else None
        if checkpoints is not None and not is_store(checkpoints):
            checkpoints = str(Path(checkpoints).resolve())
        job = TrainingJob(model.kind, start_path, options, checkpoints, load_options, context.keep_checkpoint)
        job.write(encoded(model, rows), folder)
        run_processes(run, options.device, folder)
        result = read_result(folder, options)
        shutil.copytree(result.path, out_dir, dirs_exist_ok=True)
        losses = read_updates(folder)
    if context.on_update is not None:
        for number, loss in losses.items():
            context.on_update(number, loss)
    if context.on_epoch is not None:
        for epoch in result.history:
            context.on_epoch(epoch)
    return replace(result, path=out_dir)


def run_processes(run: StageRun, device: str, folder: Path) -> None:
    """Run the training that is described in a folder, which is copied through ``run.store`` if there is one.

    Args:
        device: ``auto``, ``cpu`` or ``cuda``.
        folder: with the job; the result is written to it.

    Raises:
        InputError: the cluster cannot run it, or the rows are bad.
        RuntimeError: a process failed.
    """
    from pyspark.ml.torch.distributor import TorchDistributor

    processes = run.compute.processes
    local = re.fullmatch(r"local(\[.*\])?", master(run.spark, "training in several processes")) is not None
    if not local:
        refuse_unfit_cluster(run.spark.conf.get, processes, device, cores(run.spark))
    # On one machine the processes choose their GPUs without Spark.
    use_gpu = not local and device != "cpu" and gpus_of_task(run.spark.conf.get) == 1
    packages = write_packages(folder / "packages.zip").read_bytes()
    run.say(f"training in {processes} processes")
    with _seen_by_all(run, folder, local) as place:
        try:
            TorchDistributor(processes, local_mode=local, use_gpu=use_gpu).run(_process_main(packages, place))
        except Exception as error:
            collect(place, folder)
            if not finished(folder):
                raise failure(folder) from error
            run.say("a process failed after the training was finished: its result is valid")
        collect(place, folder)


def refuse_unfit_cluster(conf: Callable[[str, str], str | None], processes: int, device: str, slots: int) -> None:
    """Raise an InputError where TorchDistributor would fail or wait forever.

    Args:
        conf: Spark's configuration, by key and default.
        slots: number of concurrent tasks.
    """
    gpus = gpus_of_task(conf)
    reason = None
    if str(conf("spark.dynamicAllocation.enabled", "false")).lower() == "true":
        reason = " needs all executors at once: submit this stage alone, with spark.dynamicAllocation.enabled=false"
    elif device != "cpu" and gpus not in (0, 1):
        reason = f" needs one whole GPU a task: submit this stage alone, with {GPUS_OF_TASK}=1, not {gpus:g}"
    elif device.startswith("cuda") and gpus == 0:
        reason = f" on {device}: Spark gives its tasks no GPU: set {GPUS_OF_TASK}=1"
    elif processes > slots:
        reason = f": Spark runs {slots} tasks at once: use more executors or fewer processes"
    if reason is not None:
        raise InputError(f"training.processes={processes}{reason}")


def write_packages(archive: Path) -> Path:
    """Write this project's packages that a process needs to a zip file that Python can import from."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for package in PACKAGES:
            _add_folder(out, package, files(package))
    return archive


def _add_folder(out: zipfile.ZipFile, name: str, folder: Traversable) -> None:
    for member in folder.iterdir():
        if member.is_file():
            out.writestr(f"{name}/{member.name}", member.read_bytes())
        elif member.name != "__pycache__":
            _add_folder(out, f"{name}/{member.name}", member)


def _process_main(packages: bytes, place: str) -> Callable[[], None]:
    """Return the main function of each process; it is pickled by value, with this project's packages as a zip."""

    def train() -> None:
        import importlib
        import sys
        import tempfile
        from pathlib import Path

        with tempfile.TemporaryDirectory() as scratch:
            archive = Path(scratch, "packages.zip")
            archive.write_bytes(packages)
            sys.path.insert(0, str(archive))
            importlib.import_module("etl.training.loop.process_job").train_at(place)

    return train


@contextmanager
def _seen_by_all(run: StageRun, folder: Path, local: bool) -> Iterator[str]:
    """Yield the folder's path, or a copy's place in the object store, which is deleted after."""
    if run.store is None or local:
        yield str(folder)
        return
    place = f"{run.store}/trainings/{folder.name}"
    put(folder, f"{place}/{GIVEN}")
    try:
        yield place
    finally:
        delete(place)


@contextmanager
def _shared_folder(root: Path) -> Iterator[Path]:
    folder = root / "trainings" / uuid.uuid4().hex
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
