"""The file of a conversation: written after each turn, readable by its owner alone."""

import fcntl
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conf.errors import InputError


class SavedTalk:
    """A line of JSON at the end of a file, written anew after each turn, so that a killed chat loses none.

    The file gets mode 600, and one chat at a time writes to it.

    Args:
        file: is created where it is not there; its earlier lines stay.
        facts: of the conversation, before its turns.

    Raises:
        InputError: the file cannot be written, is no plain file, or another chat writes to it.
    """

    def __init__(self, file: str | Path, facts: Mapping[str, Any]) -> None:
        self.file = Path(file)
        self.facts = dict(facts)
        try:
            self._descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
            self._lock()
        except OSError as error:
            raise self._refused(error) from None
        self._offset = self._end()

    def write(self, turns: list[dict[str, Any]]) -> None:
        """Write the turns so far, and have them on the disk at return.

        Raises:
            InputError: the file cannot be written.
        """
        line = json.dumps({**self.facts, "turns": turns}, ensure_ascii=False) + "\n"
        try:
            content = line.encode("utf-8", "replace")
            written = 0
            while written < len(content):
                written += os.pwrite(self._descriptor, content[written:], self._offset + written)
            os.ftruncate(self._descriptor, self._offset + len(content))
            os.fsync(self._descriptor)
        except OSError as error:
            raise self._refused(error) from None

    def close(self) -> None:
        """Let other chats write to the file."""
        os.close(self._descriptor)

    def _lock(self) -> None:
        try:
            if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
                raise OSError(0, "no plain file")
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.fchmod(self._descriptor, 0o600)
        except OSError:
            os.close(self._descriptor)
            raise

    def _end(self) -> int:
        """Return where this conversation's line begins, after ending a last line that a crash left open."""
        size = os.fstat(self._descriptor).st_size
        if size and os.pread(self._descriptor, 1, size - 1) != b"\n":
            os.pwrite(self._descriptor, b"\n", size)
            size += 1
        return size

    def _refused(self, error: OSError) -> InputError:
        why = "another chat writes to it" if isinstance(error, BlockingIOError) else error.strerror
        return InputError(f"chat --save {self.file}: cannot be written ({why})")
