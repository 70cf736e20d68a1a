"""Walk through local folders, by bytes: names of any bytes, links without loops, and what is no file."""

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from udfs.opus.names import readable
from udfs.opus.paths import is_subtitle_name, is_zip_name

UNREAD = "unknown_format"
HIDDEN = "hidden files and folders, whose names begin with a full stop, are not read"
_LISTED_ELSEWHERE = "a link to a folder of this source, or above it; its files are listed where they are"
_LISTED_ONCE = "a link to a file of this source, which is read where it is"
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
        """Return a folder in this one; None for a link to one that is listed where it is, or that has the source."""
        path = os.path.join(self.path, name)  # noqa: PTH118 - pathlib has no bytes
        if not linked:
            real = os.path.join(self.real, name)  # noqa: PTH118
            return None if real in self.entered else LocalFolder(path, real, self.entered)
        real = os.path.realpath(path)
        if any(_is_listed_in(above, real) for above in self.entered):
            return None
        return LocalFolder(path, real, (*self.entered, real))

    def _leads_to_listed(self, entry: os.DirEntry[bytes]) -> bool:
        """Return whether an entry is a link to a subtitle file that is listed where it is."""
        if not entry.is_symlink():
            return False
        real = os.path.realpath(entry.path)
        name = readable(os.path.basename(real))  # noqa: PTH119 - pathlib has no bytes
        wanted = (is_subtitle_name(name) or is_zip_name(name)) and os.path.isfile(real)  # noqa: PTH113
        return wanted and any(_is_listed_in(above, real) for above in self.entered)

    def inside(self) -> tuple[list[ListedFile], list["LocalFolder"]]:
        """Return the files and the folders in this one, by name.

        Folders that are not looked into, which are hidden ones and links to folders that are listed elsewhere, are
        files with a fault.

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
            if not _is_folder(entry):
                if self._leads_to_listed(entry):
                    files.append(ListedFile(readable(entry.path), 0, "link", f"{UNREAD}: {_LISTED_ONCE}"))
                elif (found := _found(entry)) is not None:
                    files.append(found)
            elif entry.name.startswith(b"."):
                files.append(ListedFile(readable(entry.path), 0, "hidden", f"{UNREAD}: {HIDDEN}", folder=True))
            elif (folder := self._child(entry.name, entry.is_symlink())) is not None:
                folders.append(folder)
            elif entry.is_symlink():
                files.append(ListedFile(readable(entry.path), 0, "link", f"{UNREAD}: {_LISTED_ELSEWHERE}", folder=True))
        return files, folders

    def below(self) -> Iterator[ListedFile]:
        """Yield all files below this folder."""
        waiting = [self]
        while waiting:
            files, folders = waiting.pop().inside()
            yield from files
            waiting += folders


def _is_listed_in(above: bytes, real: bytes) -> bool:
    """Return whether a real path holds an entered folder, or is listed as part of it, which hidden folders are not."""
    if above == real or above.startswith(real.rstrip(b"/") + b"/"):
        return True
    start = above.rstrip(b"/") + b"/"
    return real.startswith(start) and b"/." not in b"/" + real[len(start) :]


def _is_folder(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _found(entry: os.DirEntry[bytes]) -> ListedFile | None:
    """Return the file of an entry that is no folder, or what stands in its place; None if it has vanished."""
    name = readable(entry.name)
    wanted = is_subtitle_name(name) or is_zip_name(name)
    path = readable(entry.path)
    try:
        info = entry.stat()
    except OSError as error:
        is_link = entry.is_symlink()
        if error.errno == errno.ENOENT and not is_link:
            return None
        if not wanted and (not is_link or "." in name):
            return ListedFile(path, 0, f"error-{error.errno}")
        what = "a link that leads nowhere: " if is_link else ""
        return ListedFile(
            path, 0, f"error-{error.errno}", f"unreadable: {what}{type(error).__name__}: {error.strerror}"
        )
    if stat.S_ISREG(info.st_mode):
        return ListedFile(path, info.st_size, f"{info.st_size}-{info.st_mtime_ns}")
    kind = "named pipe" if stat.S_ISFIFO(info.st_mode) else "socket" if stat.S_ISSOCK(info.st_mode) else "device"
    return ListedFile(path, 0, kind, f"not_a_file: a {kind}" if wanted else f"{UNREAD}: a {kind}, not a file")
