"""``python -m jobs mlflow``: serve MLflow's pages, and print the link of the runs with the columns to compare."""

import os
import signal
import socket
import subprocess
import sys
import time

from conf.errors import InputError
from conf.settings import Settings
from etl.pipeline.locations import tracking_uri
from etl.training.registry import model_store

WAIT_SECONDS = 120


def open_mlflow(settings: Settings, port: int, link_only: bool) -> int:
    """Serve the store of the settings until it is stopped, and return the exit status.

    Args:
        port: of the server, which only this machine reaches.

    Raises:
        InputError: nothing was tracked yet, or the port is taken.
    """
    from etl.training.experiment import comparison_path, describe_experiment

    store = model_store(settings)
    client = store.client()
    known = client.get_experiment_by_name(store.experiment)
    if known is None:
        raise InputError(f"no trainings in {tracking_uri(settings)}: run a stage that trains, or set lakehouse.root")
    describe_experiment(client, known.experiment_id)
    path = comparison_path(known.experiment_id)
    server = f"http://127.0.0.1:{port}"
    if store.tracking_uri is not None and store.tracking_uri.startswith("http"):
        print(f"the runs side by side: {store.tracking_uri.rstrip('/')}{path}")
        return 0
    line = f"the runs side by side: {server}{path}"
    if link_only:
        print(line)
        return 0
    if _answers(port):
        raise InputError(f"port {port} is taken: name another with --port, or only print the link with --link")
    serve = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", str(store.tracking_uri)]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends this command ends the server
    address = ["--host", "127.0.0.1", "--port", str(port), "--workers", "1", "--uvicorn-opts", "--log-level warning"]
    quiet = {"PYTHONWARNINGS": "ignore", "MLFLOW_LOGGING_LEVEL": "WARNING"}
    # MLflow's server starts some seven processes for jobs that no page here asks for.
    quiet["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"
    process = subprocess.Popen([*serve, *address], env=quiet | os.environ)
    try:
        deadline = time.monotonic() + WAIT_SECONDS
        while process.poll() is None and not _answers(port) and time.monotonic() < deadline:
            time.sleep(0.2)
        if process.poll() is None:
            late = "" if _answers(port) else " (it does not answer yet)"
            print(f"{line}{late}\nCtrl+C ends the server", flush=True)
        return 1 if process.wait() else 0
    except KeyboardInterrupt:
        return 0
    finally:
        process.terminate()
        process.wait()


def _answers(port: int) -> bool:
    """Return whether something on this machine answers at a port."""
    with socket.socket() as tried:
        tried.settimeout(1)
        return tried.connect_ex(("127.0.0.1", port)) == 0
