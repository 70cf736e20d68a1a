"""Walk through local folders, by bytes: names of any bytes, links without loops, and what is no file."""

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from udfs.opus.names import readable
from udfs.opus.paths import is_subtitle_name, is_zip_name

_CLOSED = frozenset({errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})


@dataclass(frozen=True)
class ListedFile:
    """A file, or something in a file's place, with its path in its file system.

    Attributes:
        tag: version of the file: size and modification time.
        fault: why it cannot be read, as ``reason: detail``.
        folder: it is a folder that cannot be listed.
    """

    path: str
    size: int
    tag: str
    fault: str | None = None
    folder: bool = False


@dataclass(frozen=True)
class LocalFolder:
    """A folder under a source.

    Attributes:
        path: as reached from the source.
        real: without links.
        entered: real paths of the source and of the linked folders on the way.
    """

    path: bytes
    real: bytes
    entered: tuple[bytes, ...]

    @classmethod
    def of(cls, root: bytes, path: bytes) -> "LocalFolder":
        """Return a folder at or below the root of a source."""
        real = os.path.realpath(root)
        folder = cls(root, real, (real,))
        for name in filter(None, path[len(root) :].split(b"/")):
            linked = os.path.islink(os.path.join(folder.path, name))  # noqa: PTH114, PTH118
            folder = folder._child(name, linked) or cls(os.path.join(folder.path, name), b"", folder.entered)  # noqa: PTH118
        return folder

    def _child(self, name: bytes, linked: bool) -> "LocalFolder | None":
        """Return a folder in this one; None if it is listed where it is, or contains this one."""
        path = os.path.join(self.path, name)  # noqa: PTH118 - pathlib has no bytes
        if not linked:
            real = os.path.join(self.real, name)  # noqa: PTH118
            return None if real in self.entered else LocalFolder(path, real, self.entered)
        real = os.path.realpath(path)
        if any(_is_listed_in(above, real) for above in self.entered):
            return None
        return LocalFolder(path, real, (*self.entered, real))

    def inside(self) -> tuple[list[ListedFile], list["LocalFolder"]]:
        """Return the files and the folders in this one, without hidden ones, by name.

        Raises:
            OSError: The disk or mount has an error; a folder that may not be read is a fault.
        """
        try:
            with os.scandir(self.path) as entries:
                named = sorted(entries, key=lambda entry: entry.name)
        except FileNotFoundError:
            return [], []
        except OSError as error:
            if error.errno not in _CLOSED:
                raise
            fault = f"listing_failed: {type(error).__name__}: {error.strerror}"
            return [ListedFile(readable(self.path), 0, "closed", fault, folder=True)], []
        files = []
        folders = []
        for entry in named:
            if entry.name.startswith(b"."):
                continue
            folder = self._child(entry.name, entry.is_symlink()) if _is_folder(entry) else None
            if folder is not None:
                folders.append(folder)
            elif (found := _found(entry)) is not None:
                files.append(found)
        return files, folders

    def below(self) -> Iterator[ListedFile]:
        """Yield all files below this folder."""
        waiting = [self]
        while waiting:
            files, folders = waiting.pop().inside()
            yield from files
            waiting += folders


def _is_listed_in(above: bytes, real: bytes) -> bool:
    """Return whether a real path is listed as part of an entered folder, which hidden folders are not."""
    if real == above:
        return True
    start = above.rstrip(b"/") + b"/"
    return real.startswith(start) and b"/." not in b"/" + real[len(start) :]


def _is_folder(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _found(entry: os.DirEntry[bytes]) -> ListedFile | None:
    """Return the file of an entry; None for folders and for other things that are not named as sources."""
    name = readable(entry.name)
    wanted = is_subtitle_name(name) or is_zip_name(name)
    path = readable(entry.path)
    try:
        info = entry.stat()
    except OSError as error:
        is_link = entry.is_symlink()
        if (error.errno == errno.ENOENT and not is_link) or not (wanted or (is_link and "." not in name)):
            return None
        what = "link to nothing: " if is_link else ""
        return ListedFile(
            path, 0, f"error-{error.errno}", f"unreadable: {what}{type(error).__name__}: {error.strerror}"
        )
    if stat.S_ISREG(info.st_mode):
        return ListedFile(path, info.st_size, f"{info.st_size}-{info.st_mtime_ns}")
    if stat.S_ISDIR(info.st_mode) or not wanted:
        return None
    kind = "named pipe" if stat.S_ISFIFO(info.st_mode) else "socket" if stat.S_ISSOCK(info.st_mode) else "device"
    return ListedFile(path, 0, kind, f"not_a_file: a {kind}")
