"""A standalone cluster on this machine."""

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home

from tests.clusters.commands import LONGEST
from tests.ports import free_port, listening

AT = ["--host", "127.0.0.1", "--webui-port", "0"]
FULL = "1m"
"""A disk that is too small for what a worker unpacks."""


def wait_for(port: int, log: Path) -> None:
    deadline = time.monotonic() + 90
    while not listening(port):
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.2)


@dataclass
class Cluster:
    """A master, two workers, and the folder and variables of a person who submits to them."""

    folder: Path
    variables: dict[str, str]
    store: dict[str, str]
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, *arguments: str, before: Sequence[str] = ()) -> None:
        """Start a daemon; ``before`` are the words of a command that starts it in its turn."""
        log = (self.folder.parent / f"{name}.log").open("wb")
        command = [*before, str(Path(_find_spark_home(), "bin", "spark-class")), *arguments]
        self.daemons[name] = subprocess.Popen(
            command, stdout=log, stderr=log, env=self.variables, cwd=self.folder.parent
        )

    def start_worker(self, name: str, disk: str | None = None) -> None:
        """Start a worker of one core and 1 GiB, whose folder has a disk of its own of a size, such as 1m, if given."""
        folder = self.folder.parent / name
        folder.mkdir(exist_ok=True)
        mount = f'mount -t tmpfs -o size={disk} tmpfs "{folder}" && exec "$@"'
        self.start(
            name,
            *["org.apache.spark.deploy.worker.Worker", "-c", "1", "-m", "1g", "-d", str(folder), *AT],
            self.variables["MASTER"],
            before=["unshare", "--map-root-user", "--mount", "sh", "-c", mount, "sh"] if disk else (),
        )

    def shell(self, commands: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )

    def said(self, commands: str) -> str:
        """What successful commands printed."""
        done = self.shell(commands)
        assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-4000:]
        return done.stdout

    def run_and_kill(self, commands: str, when: str, name: str) -> tuple[int, str]:
        """Run commands, and kill a worker with its executors as soon as a line says ``when``."""
        said = self.folder.parent / "said.txt"
        done = None
        with said.open("w") as out:
            done = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", commands],
                cwd=self.folder,
                env=self.variables | {"PYTHONUNBUFFERED": "1"},
                stdout=out,
                stderr=out,
            )
            killed = False
            deadline = time.monotonic() + LONGEST
            while done.poll() is None and time.monotonic() < deadline:
                if not killed and when in said.read_text():
                    self.kill(name)
                    killed = True
                time.sleep(0.2)
        assert killed, f"no line said {when!r}: {said.read_text()[-4000:]}"
        return done.wait(timeout=1), said.read_text()

    def kill(self, name: str) -> None:
        """End a worker at once, and what it started: the processes that work in its folder."""
        self.daemons[name].kill()
        self.kill_executors(name)

    def kill_executors(self, name: str) -> int:
        """End what a worker started at once; return how many processes that were."""
        killed = 0
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (process / "cwd").resolve().is_relative_to(self.folder.parent / name):
                    os.kill(int(process.name), 9)
                    killed += 1
        return killed


@contextmanager
def standalone(
    folder: Path, variables: dict[str, str], store: dict[str, str], disk: str | None = None
) -> Iterator[Cluster]:
    """Start a master and two workers, with disks of a size where one is given, and end them afterwards."""
    one = Cluster(folder, variables, store)
    port = free_port()
    variables["MASTER"] = f"spark://127.0.0.1:{port}"
    try:
        one.start("master", "org.apache.spark.deploy.master.Master", "--port", str(port), *AT)
        wait_for(port, folder.parent / "master.log")
        for name in ("worker1", "worker2"):
            one.start_worker(name, disk)
        yield one
    finally:
        for daemon in one.daemons.values():
            daemon.terminate()
        for daemon in one.daemons.values():
            daemon.wait(timeout=30)
