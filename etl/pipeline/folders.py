"""Read and write files beside the tables on any file system that Spark knows."""

import errno
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from conf.places import local_path
from etl.pipeline.spark_api import hadoop_configuration, java


@dataclass(frozen=True)
class Entry:
    """An entry of a listed folder: a file or a folder."""

    name: str
    path: str
    size: int
    is_folder: bool


class Folders:
    """Reads and writes small files, and moves large ones, through Hadoop's file systems.

    Args:
        spark: its Hadoop configuration defines how ``s3://``, ``dbfs:/``, ``/Volumes`` or plain paths are reached.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._java = java(spark, "reading and writing files beside the tables")
        self._configuration = hadoop_configuration(spark, "reading and writing files beside the tables")

    def exists(self, path: str) -> bool:
        system, place = self._at(path)
        return bool(system.exists(place))

    def entries(self, path: str) -> list[Entry]:
        """Return a folder's entries, sorted by name; none where there is no folder."""
        system, place = self._at(path)
        if not system.exists(place):
            return []
        listed = ((one.getPath().getName(), one) for one in system.listStatus(place))
        found = [Entry(name, f"{path.rstrip('/')}/{name}", one.getLen(), one.isDirectory()) for name, one in listed]
        return sorted(found, key=lambda one: one.name)

    def read_text(self, path: str) -> str | None:
        """Return a file's text; None where there is no file."""
        system, place = self._at(path)
        if not system.exists(place):
            return None
        stream = system.open(place)
        try:
            content = self._java.org.apache.commons.io.IOUtils.toByteArray(stream)
        finally:
            stream.close()
        return bytes(content).decode("utf-8")

    def write_text(self, path: str, text: str) -> bool:
        """Write a text beside the file and move it there, unless the file has it; return whether it was written."""
        if self.read_text(path) == text:
            return False
        system, place = self._at(f"{path}.new")
        stream = system.create(place, True)
        try:
            stream.write(bytearray(text.encode("utf-8")))
        finally:
            stream.close()
        self.move(f"{path}.new", path)
        return True

    def move(self, source: str, target: str) -> None:
        """Rename a file or folder. An existing target is deleted first, so the change is not atomic.

        Raises:
            PermissionError: the file system refuses.
        """
        system, place = self._at(source)
        _, goal = self._at(target)
        system.mkdirs(goal.getParent())
        if system.exists(goal):
            system.delete(goal, True)
        if not system.rename(place, goal):
            raise PermissionError(
                errno.EACCES, "the file system refuses a move: look at the folder's permissions", target
            )

    def delete(self, path: str) -> None:
        """Delete a file or folder, if it exists."""
        system, place = self._at(path)
        system.delete(place, True)

    def _at(self, path: str) -> tuple[Any, Any]:
        place = self._java.org.apache.hadoop.fs.Path(located(path))
        system = place.getFileSystem(self._configuration)
        # The local one would leave a hidden checksum beside each file.
        raw = system.getRawFileSystem() if str(system.getScheme()) == "file" else system
        return raw, place


def located(path: str) -> str:
    """Return a path for Spark, which decodes nothing in it: a store's URI unchanged, a local path absolute.

    A ``file:`` URI stays one, because on a cluster a plain path may be of another file system.
    """
    local = local_path(path)
    if local is None:
        return path
    return f"file:{local}" if path.startswith("file:") else local
