"""Writer of reproducible files: gzip without a time stamp, zip members with a fixed date."""

import csv
import gzip
import hashlib
import io
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

_DATE = (2018, 1, 1, 0, 0, 0)


def csv_bytes(header: Sequence[str], rows: Iterable[Sequence[object]], line_end: str = "\n") -> bytes:
    """Return a CSV file's content in UTF-8."""
    table = io.StringIO()
    csv.writer(table, lineterminator=line_end).writerows([header, *rows])
    return table.getvalue().encode()


class CorpusFolder:
    """The demo's target folder, with digests of all files written to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._digests: dict[str, str] = {}

    def write(self, name: str, content: bytes, digest_of: bytes | None = None) -> None:
        """Write ``content`` to ``name`` below the folder, and record the digest of ``digest_of`` or the content."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self._digests[name] = hashlib.sha256(content if digest_of is None else digest_of).hexdigest()

    def write_packed(self, name: str, content: bytes) -> None:
        """Write ``content``, gzipped if ``name`` ends in .gz."""
        packed = gzip.compress(content, compresslevel=9, mtime=0) if name.endswith(".gz") else content
        self.write(name, packed, content)

    def write_zip(self, name: str, members: dict[str, bytes], damaged: str | None = None) -> None:
        """Write a zip; the member ``damaged`` is stored without compression and then overwritten in part."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for member, content in members.items():
                entry = zipfile.ZipInfo(member, _DATE)
                entry.compress_type = zipfile.ZIP_STORED if member == damaged else zipfile.ZIP_DEFLATED
                entry.create_system = 3
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, content)
                self._digests[f"{name}!{member}"] = hashlib.sha256(content).hexdigest()
            target = archive.getinfo(damaged) if damaged else None
        if target is not None:
            begin = target.header_offset + 30 + len(target.filename.encode())
            raw = bytearray(path.read_bytes())
            middle = begin + target.compress_size // 2
            raw[middle : middle + 16] = bytes(byte ^ 0xFF for byte in raw[middle : middle + 16])
            path.write_bytes(raw)

    def digest(self) -> str:
        """Return a digest of the paths and unpacked contents of all files."""
        lines = (f"{name} {digest}" for name, digest in sorted(self._digests.items()))
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()
