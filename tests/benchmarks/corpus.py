"""A corpus at size, from zips to clean dialogues, with kills, nights and a withdrawal, stage by stage.

    python -m tests.benchmarks.corpus [--films N,N] [--real FOLDER] [--work FOLDER] [--small] [--beside]

Makes N files out of real ones: other ids, words exchanged as in `Copier`, times moved; in zips as OPUS ships them, in
30% as many film folders. Of the files 12% are another upload of the file before them, with other times, and 1% are
damaged. Runs ``jobs run --to clean_dialogues``, killed once in each of `KILLED`; then with 0.5% more files, at the
smallest size on ten nights; then with none; then withdraws films; then looks for duplicates in the whole corpus.

What is done stays in the folder of work: the same command goes on where it was stopped, and the page shows all sizes.
"""

import json
import math
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from tests.benchmarks.corpora import opus_tree
from tests.benchmarks.harness import REPOSITORY, Progress, Result, Row, arguments, hand_in, without_slowing_variables
from tests.benchmarks.pipeline import Copier, segmenter, settings_of
from tests.benchmarks.processes import Use, Watch

KILLED = ("ingest_subtitles", "score_turns", "filter_dialogues")
ACCOUNTED = ("subtitles/files", "subtitles/quarantine")
PACKED = 5_000
"""Files in a zip."""
NIGHT = 0.005
NIGHTS = 10
"""Nights of the smallest size; the others have one."""
WITHDRAWN = 0.0005
NIGHT_AIM = 0.03
EMPTY_AIM = 60.0
MAKING = "making the files"
ANYWHERE = "duplicates in the whole corpus"
BEGIN = "start and end"
CARD = 3_700_000
CARD_CORES = 400
CAUSE = (
    "of a night of 10,000 files some 20 s a stage, 180 in all, are Java's start, planning and compiling, which do not "
    "grow with the files. What grows: `filter_dialogues` and `clean_dialogues` hash each dialogue again (33 and 43 s), "
    "since no table holds the hashes, and `score_turns` and `segment_dialogues` scan columns of all files (40 s). By "
    "these slopes a night of 100,000 files costs 7%. A withdrawal runs in a long session, whatever its size. The wall "
    "times are of a busy machine: `segment_dialogues` waited for memory and processors for 11 minutes, and the empty "
    "night of 10,000 files has 44 s of processors."
)
_TIME = re.compile(rb'value="(\d\d):(\d\d):(\d\d),(\d{3})"')
_STAGE = re.compile(r"^\[ *\d+/\d+\] (\w+) \(")
State = dict[str, Any]


class Corpus:
    """File k of a corpus: which real file it is made of, and its place."""

    def __init__(self, files: list[tuple[str, bytes]], size: int) -> None:
        self.copier = Copier(files)
        self.size = size
        self.films = max(1, size * 3 // 10)
        # Neighbours of a film's folder are made of different real files.
        self.stride = next(n for n in range(len(files) * 5 // 8 + 1, 0, -1) if math.gcd(n, len(files)) == 1)

    def film(self, number: int) -> int:
        """The film's number; a night's files belong half to films that are there."""
        later = number >= self.size and number % 2
        return number * 7919 % self.films if later else number * 3 // 10

    def name(self, number: int) -> str:
        """The member's name in a zip of OPUS."""
        film = self.film(number)
        return f"OpenSubtitles/xml/en/{1950 + film % 60}/{1_000_000 + film}/{10_000_000 + number}.xml"

    def data(self, number: int) -> bytes:
        """The file's content."""
        if number % 100 == 99:
            whole = self.copier.files[number % len(self.copier.files)][1]
            return (whole[: len(whole) // 2], b"", bytes(2_000), b"<html><body>404</body></html>")[number // 100 % 4]
        again = number % 10 == 1 or number % 50 == 5
        text = number - again
        copy, place = divmod(text, len(self.copier.files))
        data = self.copier.exchanged(self.copier.files[place * self.stride % len(self.copier.files)][1], copy + 1)
        return _TIME.sub(partial(_moved, 1_000 * (text % 90) + 1_500 * again), data)


def _moved(milliseconds: int, time: "re.Match[bytes]") -> bytes:
    hours, minutes, seconds, rest = map(int, time.groups())
    whole = ((hours * 60 + minutes) * 60 + seconds) * 1000 + rest + milliseconds
    return b'value="%02d:%02d:%02d,%03d"' % (whole // 3_600_000, whole // 60_000 % 60, whole // 1000 % 60, whole % 1000)


def written(corpus: Corpus, folder: Path, first: int, last: int) -> None:
    """Write the files from ``first`` to ``last`` as a zip, unless it is there."""
    target = folder / f"en-{first}.zip"
    if target.is_file():
        return
    part = target.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(first, last):
            archive.writestr(zipfile.ZipInfo(corpus.name(number)), corpus.data(number), zipfile.ZIP_DEFLATED)
    part.rename(target)


def made(corpus: Corpus, folder: Path, first: int, last: int) -> None:
    """Write zips, on all cores."""
    folder.mkdir(parents=True, exist_ok=True)
    ranges = [(start, min(start + PACKED, last)) for start in range(first, last, PACKED)]
    with multiprocessing.get_context("fork").Pool() as pool:
        pool.starmap(partial(written, corpus, folder), ranges, chunksize=1)


def watched(command: list[str], kill: str | None, patience: float) -> tuple[dict[str, Use], bool]:
    """Run a command of jobs; return the use by stage, and whether it ran to its end.

    Args:
        command: after ``python -m jobs``.
        kill: a stage in which all processes are killed.
        patience: seconds of that stage before.
    """
    arguments = [sys.executable, "-u", "-m", "jobs", *command]
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "start_new_session": True}
    run: subprocess.Popen[str] = subprocess.Popen(arguments, cwd=REPOSITORY, **pipe)  # type: ignore[call-overload]
    watch = Watch(run.pid)
    watch.start()
    used: dict[str, Use] = {}
    before = Use()
    began = time.monotonic()
    stage = BEGIN
    lines = []

    def account() -> None:
        nonlocal before, began
        now = watch.look()
        gone = {name: getattr(now, name) - getattr(before, name) for name in ("cpu", "read", "written")}
        used[stage] = used.get(stage, Use()) + Use(
            time.monotonic() - began, driver=now.driver, workers=now.workers, **gone
        )
        before, began = now, time.monotonic()
        watch.forget_memory()

    assert run.stdout is not None
    for line in run.stdout:
        lines.append(line)
        found = _STAGE.match(line)
        if found is None:
            continue
        account()
        stage = found[1]
        if stage == kill:
            time.sleep(patience)
            account()
            os.killpg(run.pid, signal.SIGKILL)
    status = run.wait()
    account()
    watch.stop()
    if status not in (0, -signal.SIGKILL):
        raise SystemExit(f"{' '.join(command)} failed:\n{''.join(lines)[-3000:]}")
    return used, status == 0


class Work:
    """One size's folder, and what has been measured in it."""

    def __init__(self, folder: Path, corpus: Corpus, model: str) -> None:
        self.folder = folder
        self.corpus = corpus
        self.kept = folder / "measured.json"
        self.state: State = json.loads(self.kept.read_text()) if self.kept.is_file() else {}
        self.source = folder / "opus"
        self.root = folder / "lakehouse"
        self.options = ["--set", *settings_of(self.root, self.source), f"models.turn_segmenter={model}"]

    def save(self) -> None:
        """Keep the state."""
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.kept.with_suffix(".part")
        part.write_text(json.dumps(self.state, indent=1))
        part.rename(self.kept)

    def phase(self, name: str, command: list[str], kills: tuple[str, ...] = (), files: int | None = None) -> None:
        """Run a command to its end unless that was done, killed once in each of the stages; keep what was used.

        With ``files``, so many must be accounted for in the end.
        """
        state = self.state.setdefault(name, {"runs": [], "done": False})
        while not state["done"]:
            kill = kills[len(state["runs"])] if len(state["runs"]) < len(kills) else None
            used, ended = watched([*command, *self.options], kill, 5 + self.corpus.size / 500)
            state["runs"].append({stage: asdict(use) for stage, use in used.items()})
            state["tables"] = sizes_of(self.root)
            if ended and files is not None:
                self.require_all(files)
            state["done"] = ended
            self.save()

    def everything(self, progress: Progress, nights: int) -> None:
        """Make the files and run all phases that were not done."""
        size = self.corpus.size
        run = ["run", "--to", "clean_dialogues"]
        if MAKING not in self.state:
            began = time.monotonic()
            made(self.corpus, self.source, 0, size)
            self.state[MAKING] = time.monotonic() - began
            self.save()
        progress.step(f"{size:,} files made")
        self.phase("run", run, KILLED, size)
        progress.step(f"{size:,} files run, killed {len(KILLED)} times")
        more = size
        for night in range(1, nights + 1):
            more, first = more + max(1, round(NIGHT * size)), more
            made(self.corpus, self.source, first, more)
            self.phase("night" if night == 1 else f"night {night}", run, files=more)
            progress.step(f"night {night} of {nights} with more files")
        self.phase("empty night", run)
        progress.step("an empty night")
        films = (1_000_000 + film for film in range(0, self.corpus.films, max(1, round(3 / 10 / WITHDRAWN))))
        self.phase("withdrawal", ["withdraw", *(part for film in films for part in ("--film", str(film)))])
        progress.step("films withdrawn")
        self.options.append("subtitles.cleaning.corpus_duplicates=true")
        self.phase(ANYWHERE, run)
        progress.step("duplicates in the whole corpus")

    def require_all(self, files: int) -> None:
        """Stop where a file is neither read nor in quarantine nor dropped as a copy."""
        counts = {name: DeltaTable(str(self.root / name)).to_pyarrow_dataset().count_rows() for name in ACCOUNTED}
        if sum(counts.values()) != files:
            raise SystemExit(f"of {files:,} files {counts} were accounted for")
        self.state["files"] = counts


def sizes_of(root: Path) -> dict[str, float]:
    """Data files, their bytes, and bytes of the logs of all tables under a root."""
    data = [path.stat().st_size for path in root.rglob("*.parquet") if "_delta_log" not in path.parts]
    logs = [path.stat().st_size for path in root.rglob("_delta_log/*") if path.is_file()]
    return {"files": len(data), "bytes": sum(data), "log": sum(logs)}


def total(runs: list[dict[str, Any]]) -> dict[str, Use]:
    """The use by stage, all runs of a phase together."""
    found: dict[str, Use] = {}
    for one in runs:
        for stage, use in one.items():
            found[stage] = found.get(stage, Use()) + Use(**use)
    return found


def told(use: Use) -> str:
    """The use as the page shows it."""
    memory = f"{use.driver:.1f} + {use.workers:.1f} GiB"
    return (
        f"{use.wall:.0f} s, {use.cpu:.0f} s of processors, {memory}, "
        f"{use.read / 1e6:,.0f} MB read, {use.written / 1e6:,.0f} MB written"
    )


def rows_of(states: dict[int, State]) -> Iterator[Row]:
    """Each stage and phase by size, beside the size before: the ratio is of processor seconds a file."""
    known: dict[str, tuple[int, float]] = {}

    def row(size: int, work: str, use: Use) -> Row:
        small, cpu = known.get(work, (size, use.cpu))
        known[work] = (size, use.cpu)
        ratio = use.cpu / max(cpu, 0.01) * small / size
        return Row(
            f"{size:,} files: {work}", told(use), f"itself with {small:,} files", f"{cpu:.0f} s of processors", ratio
        )

    for size, state in sorted(states.items()):
        stages = total(state["run"]["runs"])
        for stage, use in stages.items():
            if stage == "train_turn_segmenter":  # it is given
                continue
            yield row(size, f"`{stage}`" if stage != BEGIN else f"{BEGIN} of {len(KILLED) + 1} runs", use)
        whole = sum(stages.values(), Use())
        yield row(size, "all stages, with what was lost in kills", whole)
        phases = [
            phase for phase in ("night", "empty night", "withdrawal", ANYWHERE) if state.get(phase, {}).get("done")
        ]
        for phase in phases:
            use = sum(total(state[phase]["runs"]).values(), Use())
            share = use.cpu / whole.cpu
            if phase == "night":
                yield Row(
                    f"{size:,} files: {NIGHT:.1%} more",
                    told(use),
                    "all files",
                    f"{whole.cpu:.0f} s of processors",
                    share,
                    most=NIGHT_AIM,
                )
            elif phase == "empty night":
                yield Row(f"{size:,} files: {phase}, seconds", told(use), "", "", use.wall, most=EMPTY_AIM)
            else:
                yield row(size, phase, use)
        last = f"night {NIGHTS}"
        for phase in ("run", *phases, *([last] if state.get(last, {}).get("done") else [])):
            found = state[phase]["tables"]
            shown = f"{found['files']:,} files of {found['bytes'] / 1e6:,.0f} MB, logs of {found['log'] / 1e6:.1f} MB"
            yield Row(f"{size:,} files: tables after {phase}", shown, "", "", found["log"] / size)
    *_, small, size = [0, *sorted(states)]
    if small:
        cpu = {one: sum(total(states[one]["run"]["runs"]).values(), Use()).cpu for one in (small, size)}
        slope = (cpu[size] - cpu[small]) / (size - small)
        hours = slope * CARD / CARD_CORES / 3600
        yield Row(
            f"extrapolated, not measured: {CARD:,} files on {CARD_CORES} cores, without a fixed part",
            f"{hours:.1f} h",
            f"a file between {small:,} and {size:,}",
            f"{slope:.2f} s of processors",
            hours,
        )


def main() -> int:
    """Measure and hand in."""
    parser = arguments(__doc__, rounds=1)
    parser.add_argument("--films", default="1000", help="files, by commas (default 1000)")
    parser.add_argument("--real", type=Path, help="folder of real OPUS XML files (default: the demo's corpus)")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "edos-corpus", help="what is kept")
    parser.add_argument("--beside", action="store_true", help="other work ran on the machine; the page says so")
    given = parser.parse_args()
    sizes = [20, 40] if given.small else [int(size) for size in given.films.split(",")]
    files, origin = opus_tree(given.real)
    progress = Progress("corpus", 1 + 6 * len(sizes) + NIGHTS - 1)
    given.work.mkdir(parents=True, exist_ok=True)
    model = given.work / "model.txt"
    if not model.is_file():
        Copier(files).write(0, given.work / "films")
        model.write_text(segmenter(given.work / "training", given.work / "films"))
    progress.step("turn segmenter trained")
    for size in sizes:
        nights = NIGHTS if size == sizes[0] else 1
        Work(given.work / str(size), Corpus(files, size), model.read_text()).everything(progress, nights)
    kept = {int(path.parent.name): json.loads(path.read_text()) for path in given.work.glob("*/measured.json")}
    finished = {size: state for size, state in kept.items() if state.get("run", {}).get("done")}
    result = Result(
        "A corpus at size",
        f"`python -m jobs run --to clean_dialogues` on zips, killed once in each of {', '.join(KILLED)} and started "
        "again; a night with 0.5% more files (at the smallest size ten), one with none, a withdrawal, and the run with "
        "`subtitles.cleaning.corpus_duplicates`. Memory is the most of the driver (JVM and Python, tasks among them) "
        "and of Spark's Python workers. Bytes are of all calls, from and to files and pipes. The ratio is that of "
        "processor seconds a file to the size before; of tables, bytes of log a file."
        + (" Measured beside other work: compare seconds of processors, which others made longer, too." * given.beside),
        f"made of {len(files):,} {origin}, under other ids, with words exchanged and times moved; 30% as many film "
        "folders, 12% other uploads, 1% damaged",
        list(rows_of(finished)),
        CAUSE,
        ("delta-spark",),
    )
    shown = ["--films", ",".join(map(str, sorted(finished)))] + ["--real", "FOLDER"] * bool(given.real)
    return hand_in(result, given, "corpus", [*shown, "--beside"] if given.beside else shown)


if __name__ == "__main__":
    without_slowing_variables()
    sys.exit(main())
