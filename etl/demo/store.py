"""Writing files that are the same bytes each time: gzip without a clock, zip members with a fixed date."""

import gzip
import hashlib
import zipfile
from pathlib import Path

_DATE = (2018, 1, 1, 0, 0, 0)


class Store:
    """The folder that the demo is written to; remembers a digest of all it wrote."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._digests: dict[str, str] = {}

    def write(self, name: str, content: bytes, seen_as: bytes | None = None) -> None:
        """Write ``content`` to ``name`` below the folder; ``seen_as`` is what the digest is taken of."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self._digests[name] = hashlib.sha256(content if seen_as is None else seen_as).hexdigest()

    def write_packed(self, name: str, content: bytes) -> None:
        """Write ``content`` gzipped where ``name`` ends in .gz, else as it is."""
        packed = gzip.compress(content, compresslevel=9, mtime=0) if name.endswith(".gz") else content
        self.write(name, packed, content)

    def write_zip(self, name: str, members: dict[str, bytes], damaged: str | None = None) -> None:
        """Write a zip; the member ``damaged`` is stored as it is, and spoilt afterwards."""
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
            spoilt = archive.getinfo(damaged) if damaged else None
        if spoilt is not None:
            begin = spoilt.header_offset + 30 + len(spoilt.filename.encode())
            raw = bytearray(path.read_bytes())
            middle = begin + spoilt.compress_size // 2
            raw[middle : middle + 16] = bytes(byte ^ 0xFF for byte in raw[middle : middle + 16])
            path.write_bytes(raw)

    def digest(self) -> str:
        """One digest over the paths and unpacked contents of all that was written."""
        lines = (f"{name} {digest}" for name, digest in sorted(self._digests.items()))
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()
