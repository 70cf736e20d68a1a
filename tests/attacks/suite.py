"""The attacks on the reader: inputs made from seeds, and what must hold for each of them.

Each attack makes input number ``n`` of a seed and returns how many rows were lost and how many doubled. An input
survives if nothing is lost or doubled, nothing but the reader's own error is raised, and it takes at most 10 s of a
core, and 5 minutes in all where other processes share the cores.
"""

import gzip
import os
import random
import re
import resource
import shutil
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.attacks import plain
from tests.attacks.corpora import Reading, reading_of
from tests.attacks.differential import differences, outcome_of
from tests.attacks.documents import document, mutated
from tests.attacks.forms import FORMS, mutant, ours, theirs, unaccounted, well_formed
from tests.attacks.zips import UTF8, Entry, zip_of
from udfs.opus.files import Caps
from udfs.opus.parser import parse_by_tree
from udfs.opus.paths import is_subtitle_name


class End(NamedTuple):
    """How an input ended: rows lost and doubled, and whether a fault was named."""

    lost: int = 0
    doubled: int = 0
    named: bool = False


MOST_SECONDS = 10.0
LONGEST = 300.0
CAPS = Caps(max_bytes=64 << 20, max_ratio=200)
Losses = tuple[int, int] | tuple[int, int, bool]
"""Rows lost and doubled, and whether a fault was named."""
_SIZES = (60_000_000, 9_900_000, 5_900_000)
_CLAIMS = (0, 1, 7, 1000, 2**31, 2**32 - 2, 2**32 - 1, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1)


@dataclass
class Tally:
    """What became of the inputs of an attack; time in seconds of one core, memory in MB of the whole process.

    Those that survived are right, or ended in a named fault. Those that crashed raised another error, or took too long.
    """

    attack: str
    tried: int = 0
    survived: int = 0
    named: int = 0
    crashed: int = 0
    lost: int = 0
    doubled: int = 0
    slowest: float = 0.0
    peak: float = 0.0
    failures: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Add the inputs of another part of the attack."""
        for name in ("tried", "survived", "named", "crashed", "lost", "doubled"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.slowest = max(self.slowest, other.slowest)
        self.peak = max(self.peak, other.peak)
        self.failures += other.failures


def run(attack: str, numbers: Iterable[int], seed: int = 0, until: float = float("inf")) -> Tally:
    """Try some inputs of an attack, until a time of ``time.monotonic``."""
    tally = Tally(attack)
    work = ATTACKS[attack]
    for number in numbers:
        began = time.monotonic()
        cpu = time.process_time()
        if began > until:
            break
        end = End()
        problem = ""
        try:
            end = End(*work(random.Random(f"{attack}|{seed}|{number}"), number))
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"[:200]
        took = time.monotonic() - began
        used = time.process_time() - cpu
        if used > MOST_SECONDS or took > LONGEST:
            problem = problem or f"took {used:.1f} s of a core, {took:.1f} s in all"
        tally.crashed += bool(problem)
        if end.lost or end.doubled:
            problem = problem or f"{end.lost} lost, {end.doubled} doubled"
        tally.tried += 1
        tally.survived += not problem
        tally.named += end.named and not problem
        tally.lost = tally.lost + end.lost
        tally.doubled = tally.doubled + end.doubled
        tally.slowest = max(tally.slowest, used)
        if problem:
            tally.failures.append(f"{attack} {seed}/{number}: {problem}")
    tally.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return tally


def table(tallies: Iterable[Tally]) -> list[str]:
    """Return a line for each attack."""
    columns = ("attack", "tried", "survived", "named", "lost", "doubled", "crashed")
    rows = [columns, *([str(getattr(tally, column)) for column in columns] for tally in tallies)]
    return ["".join(cell.ljust(30 if place == 0 else 10) for place, cell in enumerate(row)) for row in rows]


def both_parsers(rng: random.Random, number: int) -> Losses:
    """One mutated document: both parsers must give the same columns and rows, or the same refusal."""
    data = document(rng)
    if number % 8:
        data = mutated(rng, data)
    if differences(data, truecase=bool(number % 3)):
        quick, tree = (_rows(parse, data) for parse in ("quick", "tree"))
        return max(tree - quick, 0) or int(quick == tree), max(quick - tree, 0)
    return 0, 0


def _rows(parser: str, data: bytes) -> int:
    from udfs.opus.parser import parse_subtitles

    outcome = outcome_of(parse_by_tree if parser == "tree" else parse_subtitles, data, True)
    return len(outcome["sentences"]["text"]) if isinstance(outcome, dict) else 0


def files_of_a_folder(rng: random.Random, number: int) -> Losses:
    """A folder of plain and gzipped files, some of them damaged, under names of any bytes."""
    with _folder() as root:
        folder = os.fsencode(root) + rng.choice(
            (b"/xml/en/1999/1", b"/xml/en/\xff\xfe", b"/a.zip!", b"/x\xc3\xa9/\xc3")
        )
        Path(os.fsdecode(folder)).mkdir(parents=True)
        intact = 0
        names = {_name(rng, place) for place in range(rng.randint(2, 8))}
        for name in sorted(names):
            data = document(rng, odd=0)
            if name.endswith(b".gz"):
                data = gzip.compress(data, rng.choice((0, 6)), mtime=0) + rng.choice((b"", b"", b"\0" * 9))
            damaged = mutated(rng, data) if rng.random() < 0.5 else data
            intact += damaged == data
            _write(folder + b"/" + name, damaged)
        others = _add_what_is_no_file(rng, folder)
        return _losses(reading_of(root, CAPS, rng.choice((1, 8))), len(names) + others, intact)


def _add_what_is_no_file(rng: random.Random, folder: bytes) -> int:
    """Add links and pipes, and return how many of them are to be listed."""
    listed = 0
    for place, (kind, name) in enumerate(
        (("pipe", b"p%d.xml"), ("dangling", b"d%d.xml.gz"), ("loop", b"l%d"), ("note", b"n%d.txt"))
    ):
        if rng.random() < 0.3:
            path = folder + b"/" + name % place
            if kind == "pipe":
                os.mkfifo(path)
            elif kind == "note":
                _write(path, b"x")
            else:
                Path(os.fsdecode(path)).symlink_to(rng.choice((".", "..", "../..")) if kind == "loop" else "gone")
            listed += kind in ("pipe", "dangling")
    return listed


def plain_text(rng: random.Random, number: int) -> Losses:
    """A folder of SubRip and WebVTT files in several encodings, some damaged; no word of an intact one is lost."""
    with _folder() as root:
        files = rng.randint(1, 5)
        intact = words = 0
        for place in range(files):
            odd = 0.0 if rng.random() < 0.5 else 0.1
            text = plain.cue_file(rng, odd)
            codec = rng.choice(plain.CODECS)
            data = text.encode(codec, "ignore")
            if odd:
                data = plain.damaged(rng, data)
            elif codec not in ("utf-32", "utf-16-le"):
                intact += 1
                words += len(re.findall("[A-Za-z]{2,}", text.removeprefix("WEBVTT")))
            _write(os.fsencode(root) + b"/%d.%s" % (place, rng.choice((b"srt", b"vtt"))), data)
        reading = reading_of(root, CAPS)
        read = " ".join(sentence["text"] for row in reading.read for sentence in row["sentences"] or ())
        end = End(*_losses(reading, files, intact))
        if any("other_language" in dict(row["quirks"] or ()) for row in reading.read):
            return end  # lines of words drawn at random may be of two languages
        return end._replace(lost=end.lost + max(words - len(re.findall("[A-Za-z]{2,}", read)), 0))


def forms_of_cues(rng: random.Random, number: int) -> Losses:
    """A file of SubRip, WebVTT or ASS: well-formed, the cues that pysubs2 finds; damaged, none lost."""
    form = FORMS[number % len(FORMS)]
    text = well_formed(rng, form)
    if number // len(FORMS) % 8 == 0:
        found, expected = (Counter(cues) for cues in (ours(text), theirs(text, form)))
        return (expected - found).total(), (found - expected).total()
    return unaccounted(mutant(rng, text, form))


def zips_with_claims(rng: random.Random, number: int) -> Losses:
    """A zip whose directory claims what is not true of some members; all others must be read."""
    entries = []
    wrong = 0
    for place in range(rng.randint(1, 9)):
        entry = Entry(
            b"xml/en/1999/1/" + _name(rng, place % 5), document(rng, odd=0), rng.choice((0, UTF8)), rng.choice((0, 8))
        )
        if entry.name.endswith(b".gz"):
            entry = Entry(entry.name, gzip.compress(entry.data, mtime=0), entry.flags, entry.method)
        if rng.random() < 0.4:
            claimed = rng.choice(
                ("claimed_bytes", "claimed_stored", "claimed_offset", "claimed_crc", "flags", "method")
            )
            value = rng.choice(_CLAIMS) % (
                2**32 if claimed == "claimed_crc" else 2**16 if claimed in ("flags", "method") else 2**64
            )
            entry = Entry(**{**vars(entry), claimed: value})
            wrong = wrong + 1
        entries.append(entry)
    before, after = (b"x" * rng.choice((0, 0, 0, 3, 1000)) for _ in range(2))
    with _folder() as root:
        _write(os.fsencode(root) + b"/a.zip", zip_of(entries, before, after))
        return _losses(reading_of(root, CAPS), len(entries), len(entries) - wrong)


def zips_of_any_bytes(rng: random.Random, number: int) -> Losses:
    """A zip with mutated bytes: every member listed has one row, and a zip that is not listed whole has one too."""
    entries = [Entry(b"xml/en/1999/1/%d.xml" % place, document(rng, odd=0), UTF8) for place in range(rng.randint(1, 5))]
    packed = mutated(rng, zip_of(entries), most=6)
    if rng.random() < 0.5:  # most of the directory's damage
        at = packed.rfind(b"PK\x01\x02")
        packed = packed[:at] + mutated(rng, packed[at:] or b"x", most=3)
    with _folder() as root:
        _write(os.fsencode(root) + b"/a.zip", packed)
        reading = reading_of(root, CAPS, languages=())  # a mutation may change the language in a path
        unlisted = int(not reading.listed and _is_whole(root / "a.zip"))
        return reading.lost + unlisted, reading.doubled


def _is_whole(path: Path) -> bool:
    """Return whether a zip must give a row: zipfile sees a member that is to be listed, or cannot read the zip.

    An archive that zipfile refuses, and whose entries name no subtitle file, may give none.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return any(is_subtitle_name(name) for name in archive.namelist())
    except Exception:
        data = path.read_bytes()
        starts = [found.start() for found in re.finditer(b"PK\x01\x02", data)]
        names = [data[at + 46 : at + 46 + int.from_bytes(data[at + 28 : at + 30], "little")] for at in starts]
        return not names or any(is_subtitle_name(name.decode("cp437")) for name in names)


def large_files(rng: random.Random, number: int) -> Losses:
    """A file near one of the limits, which takes time or memory where a step is not linear."""
    make = _LARGE[number % len(_LARGE)]
    size = _SIZES[number // len(_LARGE) % len(_SIZES)]
    with _folder() as root:
        name, data = make(size)
        _write(os.fsencode(root) + b"/" + name, data)
        _write(os.fsencode(root) + b"/good.xml", document(rng, odd=0))
        return _losses(reading_of(root, Caps(64 << 20, 1e9)), 2, 1)


def _within(before: bytes, unit: bytes, after: bytes) -> Callable[[int], tuple[bytes, bytes]]:
    return lambda size: (b"1.xml", before + unit * (size // len(unit)) + after)


def _plainly(before: bytes, unit: bytes) -> Callable[[int], tuple[bytes, bytes]]:
    return lambda size: (b"1.srt", before + unit * (size // len(unit)))


_OPEN = b'<?xml version="1.0" encoding="utf-8"?>\n<document id="1">'
_CLOSE = b"</document>"
_LARGE: tuple[Callable[[int], tuple[bytes, bytes]], ...] = (
    _within(_OPEN + b"<s>", b"<w/>", b"</s>" + _CLOSE),
    _within(_OPEN + b"<s>", b"<w/><time/>", b"</s>" + _CLOSE),
    _within(_OPEN, b"<s/>", _CLOSE),
    _within(_OPEN, b"<w/>", _CLOSE),
    _within(_OPEN, b'<s id="1"><w id="1">o</w></s>', _CLOSE),
    _within(_OPEN + b'<s id="1"><w id="1.1">', b"o", b"</w></s>" + _CLOSE),
    _within(_OPEN + b"<s><w", b' a="', b"></w></s>" + _CLOSE),
    _within(_OPEN + b"<s><w>", b"&amp;", b"</w></s>" + _CLOSE),
    _within(_OPEN + b"<s><w>", b"<!---->", b"</w></s>" + _CLOSE),
    _within(_OPEN + b"<s><w>", b"<i>o", b"</w></s>" + _CLOSE),
    _within(_OPEN + b"<s><w>", b"<i/>o", b"</w></s>" + _CLOSE),
    _within(_OPEN + b'<s id="1"><w id="', b"1", b'">o</w></s>' + _CLOSE),
    _within(b"<?xml version='1.0' ", b" ", b"encoding='punycode'?><document/>"),
    _within(b"<?xml version='1.0' encoding='utf-16'?>", b"o", b""),
    _within(b"\xff\xfe", b"<\0", b""),
    _within(b"", b"<", b""),
    _within(b"<meta>", b"<meta>", b""),
    _within(_OPEN + b'<s id="1">', b"so. ", b"</s>" + _CLOSE),
    _within(_OPEN + b'<s id="1">', b'so.<time id="T1S" value="00:00:01,000"/>', b"</s>" + _CLOSE),
    *(_plainly(before, unit) for before in (b"", b"00:00:01,000 --> 00:00:02,000\n") for unit in plain.UNITS),
    lambda size: (b"1.xml.gz", gzip.compress(b"", mtime=0) * (size // 20)),
    lambda size: (b"1.xml.gz", gzip.compress(_OPEN + b" " * size + _CLOSE, mtime=0)),
    lambda size: (b"1.xml", _OPEN + b"".join(b'<s a%d="">' % n for n in range(size // 20)) + _CLOSE),
    lambda size: (b"1.xml", _OPEN + b"<s " + b" ".join(b'a%d=""' % n for n in range(size // 12)) + b"/>" + _CLOSE),
    lambda size: (
        b"1.xml",
        _OPEN
        + b"<s>"
        + b"".join(b'<time id="%s%d" value="x"/>' % (b"T" * 4000, n) for n in range(size // 4100))
        + b"</s>"
        + _CLOSE,
    ),
    lambda size: (
        b"1.zip",
        zip_of([*(Entry(b"%d.txt" % n, b"", UTF8) for n in range(size // 600)), Entry(b"1.xml", b"")]),
    ),
)
LARGE_FILES = len(_LARGE) * len(_SIZES)


def _losses(reading: Reading, listed: int, intact: int) -> Losses:
    """Compare with the numbers of files that were written, and of those that can be read."""
    missing = max(listed - len(reading.listed), 0)
    extra = max(len(reading.listed) - listed, 0)
    # Words drawn at random may be of another language than their folder.
    unread = max(intact - len(reading.kept) - list(reading.refused.values()).count("other_language"), 0)
    return reading.lost + missing + unread, reading.doubled + extra, bool(reading.refused)


def _name(rng: random.Random, place: int) -> bytes:
    middle = rng.choice(
        (b"", b"", b"", b"\xe9", b"\xff\xfe", "\u00e9".encode(), "\ufffdE9".encode(), b"!", b".zip!", b"%E9", b"#2")
    )
    return b"%d%s%s" % (place, middle, rng.choice((b".xml", b".xml", b".xml.gz", b".XML")))


def _write(path: bytes, data: bytes) -> None:
    with open(path, "wb") as file:  # noqa: PTH123 - pathlib has no bytes
        file.write(data)


class _folder:  # noqa: N801 - a function that is a context
    """A temporary folder; names of any bytes are removed with it."""

    def __enter__(self) -> Path:
        self._path = tempfile.mkdtemp(prefix="attack-")
        source = Path(self._path) / "1" / "2" / "3"  # links to folders above stay within the temporary folder
        source.mkdir(parents=True)
        return source

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(os.fsencode(self._path), ignore_errors=True)


ATTACKS: dict[str, Callable[[random.Random, int], Losses]] = {
    "documents, both parsers": both_parsers,
    "folders of .xml and .xml.gz": files_of_a_folder,
    "plain text": plain_text,
    "srt, vtt and ass": forms_of_cues,
    "zips with false claims": zips_with_claims,
    "zips of any bytes": zips_of_any_bytes,
    "large files": large_files,
}
SHARES = {
    "documents, both parsers": 0.44,
    "folders of .xml and .xml.gz": 0.06,
    "plain text": 0.04,
    "srt, vtt and ass": 0.34,
    "zips with false claims": 0.06,
    "zips of any bytes": 0.06,
}
"""The share of each attack in the inputs; large files come on top."""
