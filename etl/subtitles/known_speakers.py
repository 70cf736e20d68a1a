"""Subtitles with the speaker of every cue, which tell the truth at every border (EDOS 3.1).

The paper's segmenter learned from subtitles that were aligned with scripts, so that each pair of neighbouring sentences
has one speaker or two (Lison and Meena 2016). Such files are read here: TV4Dialog as its authors publish it, tables of
cues with speakers, and RTTM files of diarisation beside subtitle files.
"""

import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

import lxml.etree
import numpy as np
import pandas as pd
import pyarrow as pa

from conf.errors import InputError
from etl.subtitles.border_features import spoken_speeds
from etl.subtitles.turn_marks import spoken
from etl.subtitles.turn_sentences import UNKNOWN_MS, Sentences
from udfs.opus.cue_times import clock_ms
from udfs.opus.files import UnreadableError
from udfs.opus.plain_text import parse_plain_text

MOST_BYTES = 64 << 20
MIN_MATCH = 0.8
"""A cue with a smaller share of words in its script's utterance has a speaker that is not to be trusted."""
_WORD = re.compile(r"[a-z0-9']+")
_TAGGED = re.compile(r"<([0-9]{1,6})-([0-9]{1,6}),([^>]{0,80})>(.*)")


@dataclass(frozen=True)
class SpokenCue:
    """A cue and who speaks it.

    Attributes:
        start_ms, end_ms: when it is shown.
        text: its words, lines joined by a blank.
        speaker: None where it is not known, or not surely.
        utterance: scene and number of the script's utterance, where the file is aligned with one.
    """

    start_ms: int
    end_ms: int
    text: str
    speaker: str | None
    utterance: tuple[int, int] | None = None


@dataclass
class Episode:
    """The cues of one file in their order.

    Attributes:
        series: what is held out whole.
        name: unique within the series.
    """

    series: str
    name: str
    cues: list[SpokenCue] = field(default_factory=list)

    def in_order(self) -> list[SpokenCue]:
        """Return the cues by their starts, as a file numbers them."""
        return sorted(self.cues, key=lambda cue: cue.start_ms)


def script_match(text: str, utterance: str) -> float:
    """Return the share of a cue's words that a script's utterance has in the same order, 0 without words."""
    words, spoken = _WORD.findall(text.lower()), _WORD.findall(utterance.lower())
    if not words:
        return 0.0
    blocks = SequenceMatcher(None, words, spoken, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(words)


def tv4dialog(folder: Path) -> Iterator[Episode]:
    """Yield the episodes of TV4Dialog (``withSpkr`` and ``xmlScript``, Zhang and Zhou 2019), series by series."""
    for path in sorted((folder / "withSpkr").glob("*/*.srt")):
        script = _script(folder / "xmlScript" / path.parent.name / f"{path.stem}.xml")
        yield Episode(path.parent.name, path.stem, list(_tv4dialog_cues(_text(path), script)))


def _tv4dialog_cues(text: str, script: dict[tuple[int, int], str]) -> Iterator[SpokenCue]:
    for block in re.split(r"\n\s*\n", text.replace("\r", "")):
        lines = block.strip().split("\n")
        at = next((place for place, line in enumerate(lines[:3]) if "-->" in line), None)
        if at is None:
            continue
        start, _, end = lines[at].partition("-->")
        start_ms, end_ms = clock_ms(start.strip()), clock_ms(end.strip())
        tagged = [match for line in lines[at + 1 :] if (match := _TAGGED.match(line))]
        # The languages stand line by line; the last of them is English.
        if not tagged or start_ms is None or end_ms is None or (not tagged[-1][4].isascii() and len(tagged) == 1):
            continue
        scene, number, speaker, words = tagged[-1].groups()
        utterance = (int(scene), int(number))
        sure = script_match(words, script.get(utterance, "")) >= MIN_MATCH
        yield SpokenCue(start_ms, end_ms, words.strip(), speaker.strip().upper() if sure else None, utterance)


def _script(path: Path) -> dict[tuple[int, int], str]:
    """Return the utterances of a script by scene and number; none where it cannot be read."""
    parser = lxml.etree.XMLParser(resolve_entities=False, no_network=True, recover=True, load_dtd=False)
    try:
        root = lxml.etree.fromstring(_bytes(path), parser)
    except (InputError, lxml.etree.XMLSyntaxError):
        return {}
    found = {}
    for one in root.iter("utterance") if root is not None else ():
        scene, _, number = (one.get("uid") or "").partition("-")
        if scene.isdigit() and number.isdigit():
            found[int(scene), int(number)] = one.findtext("content") or ""
    return found


def cue_table(path: Path) -> Iterator[Episode]:
    """Yield the episodes of a table of cues: tab-separated, episode, start_ms, end_ms, speaker, text; more are ignored.

    The columns ``utterance`` (scene-number) and ``match`` say how well an alignment fits, where it has them.
    """
    rows = csv.DictReader(_text(path).split("\n"), delimiter="\t", quoting=csv.QUOTE_NONE)
    missing = {"episode", "start_ms", "end_ms", "speaker", "text"} - set(rows.fieldnames or ())
    if missing:
        raise InputError(f"{path}: no column {', '.join(sorted(missing))}")
    series = path.name.split(".")[0]
    episode: Episode | None = None
    for row in rows:
        if episode is None or episode.name != row["episode"]:
            if episode is not None:
                yield episode
            episode = Episode(series, row["episode"])
        try:
            sure = float(row.get("match") or 1) >= MIN_MATCH
            times = int(row["start_ms"]), int(row["end_ms"])
        except (ValueError, TypeError):
            raise InputError(f"{path}: row {rows.line_num} has a time or match that is not a number") from None
        scene, _, number = (row.get("utterance") or "").partition("-")
        utterance = (int(scene), int(number)) if scene.isdigit() and number.isdigit() else None
        episode.cues.append(
            SpokenCue(*times, row["text"], row["speaker"] if sure and row["speaker"] else None, utterance)
        )
    if episode is not None:
        yield episode


def diarised(path: Path) -> Episode:
    """Return a subtitle file with the speakers of the RTTM file of its name beside it.

    A cue's speaker is who speaks for most of it by the RTTM file, and for at least half of it.
    """
    try:
        table = parse_plain_text(_bytes(path), None).sentences
    except UnreadableError as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    spans = list(_rttm(path.with_suffix(".rttm")))
    episode = Episode(path.parent.name, path.stem)
    starts, ends, texts = (column.to_pylist() for column in (table.start_ms, table.end_ms, table.text))
    for start, end, text in zip(starts, ends, texts, strict=True):
        if start is None or end is None or end <= start:
            continue
        spoken_ms: dict[str, int] = {}
        for low, high, name in spans:
            if low < end and high > start:
                spoken_ms[name] = spoken_ms.get(name, 0) + min(high, end) - max(low, start)
        most = max(sorted(spoken_ms), key=spoken_ms.__getitem__, default=None)
        sure = most is not None and 2 * spoken_ms[most] >= end - start
        episode.cues.append(SpokenCue(start, end, text, most if sure else None))
    return episode


def _rttm(path: Path) -> Iterator[tuple[int, int, str]]:
    """Yield start and end in milliseconds and the speaker of each ``SPEAKER`` line."""
    for number, line in enumerate(_text(path).split("\n"), 1):
        parts = line.split()
        if parts[:1] != ["SPEAKER"]:
            continue
        try:
            start, length = round(1000 * float(parts[3])), round(1000 * float(parts[4]))
            yield start, start + length, parts[7]
        except (IndexError, ValueError, OverflowError):
            raise InputError(f"{path}: line {number} is not a SPEAKER line of RTTM") from None


TV4DIALOG = "withSpkr"
KNOWN_SPEAKERS = [TV4DIALOG, "*.tsv", "*.tsv.gz", "*.rttm"]
"""What a folder of subtitles with known speakers holds."""


def has_known_speakers(folder: Path) -> bool:
    """Return whether a folder holds subtitles whose speakers are known."""
    return any(next(folder.glob(pattern), None) is not None for pattern in KNOWN_SPEAKERS)


def episodes_of(folder: Path) -> Iterator[Episode]:
    """Yield the episodes of a folder of subtitles whose speakers are known; none where it holds no such files.

    Raises:
        InputError: a file cannot be read.
    """
    if (folder / TV4DIALOG).is_dir():
        yield from tv4dialog(folder)
    for path in sorted(folder.glob("*.tsv")) + sorted(folder.glob("*.tsv.gz")):
        yield from cue_table(path)
    for path in sorted(folder.glob("*.srt")) + sorted(folder.glob("*.vtt")):
        if path.with_suffix(".rttm").is_file():
            yield diarised(path)


BETWEEN_CUES = "cues"
WITHIN_CUES = "within cues"
KNOWN_SOURCES = (BETWEEN_CUES, WITHIN_CUES)
LONGEST_GAP_MS = 5000
_DASHES = re.compile(r"(?<=\S)\s+(?=-\s?\w)")


def known_pairs(episodes: Iterator[Episode]) -> pd.DataFrame:
    """Return the labelled pairs of adjacent sentences of episodes, read as the reader of ``.srt`` reads them.

    Between two cues the speaker changes where their speakers differ, if both are known, no more than 5 s lie between
    them, and a script that the file is aligned with has their utterances side by side. Within a cue a dash tells,
    in a file that has any. A pair of which a cue of several speakers is part has no known truth; its label is null.

    Returns:
        The columns of ``turn_pairs.PAIRS`` that are known: source, split_group (series/episode), left_text, right_text,
        label, same_block, silence_ms, left_speed, right_speed, language, place.
    """
    frames = [_episode_pairs(episode) for episode in episodes]
    return pd.concat(frames or [_episode_pairs(Episode("", ""))], ignore_index=True)


def _episode_pairs(episode: Episode) -> pd.DataFrame:
    cues = episode.in_order()
    lines = spoken(sentences_of_cues(cues))
    several = np.array([cue.text.lstrip().startswith("-") for cue in cues], dtype=bool)
    right = np.flatnonzero(lines.pairable)
    speed = spoken_speeds(lines)
    gap = lines.silence_ms[right]
    label = np.full(len(right), -1)
    within = lines.same_block[right]
    dashes = lines.dash[right][within]
    label[within] = dashes if dashes.any() else -1
    for place in np.flatnonzero(~within):
        before, after = int(lines.block_last[right[place] - 1]) - 1, int(lines.block_first[right[place]]) - 1
        if before >= 0 and after == before + 1 < len(cues) and not several[before] and not several[after]:
            label[place] = _change(cues[before], cues[after])
    texts = np.array(lines.text.to_pylist(), dtype=object)
    return pd.DataFrame(
        {
            "source": np.where(within, WITHIN_CUES, BETWEEN_CUES),
            "split_group": f"{episode.series}/{episode.name}",
            "left_text": texts[right - 1],
            "right_text": texts[right],
            "label": pd.Series(label, dtype="Int64").where(label >= 0),
            "same_block": within,
            "silence_ms": np.where(gap == UNKNOWN_MS, np.nan, gap),
            "left_speed": speed[right - 1],
            "right_speed": speed[right],
            "language": "en",
            "place": right,
        }
    )


def _change(left: SpokenCue, right: SpokenCue) -> int:
    """Return 1 where the speaker changes between two cues, 0 where not, -1 where that is not known."""
    if left.speaker is None or right.speaker is None or right.start_ms - left.end_ms > LONGEST_GAP_MS:
        return -1
    if left.utterance is not None and right.utterance is not None and left.utterance != right.utterance:
        (scene, number), (next_scene, next_number) = left.utterance, right.utterance
        if scene != next_scene or next_number != number + 1:
            return -1
    return int(left.speaker != right.speaker)


def subrip(cues: Sequence[SpokenCue]) -> str:
    """Return cues as the text of a SubRip file that numbers them from 1, a line for each dash within a cue."""
    blocks = []
    for number, cue in enumerate(cues, 1):
        text = cue.text.strip()
        shown = _DASHES.sub("\n", text) if text.startswith("-") else text
        blocks.append(f"{number}\n{_clock(cue.start_ms)} --> {_clock(cue.end_ms)}\n{shown}\n\n")
    return "".join(blocks)


def sentences_of_cues(cues: Sequence[SpokenCue]) -> Sentences:
    """Return the sentences that the reader of ``.srt`` finds in cues, whose numbers are those of the cues, from 1."""
    try:
        read = parse_plain_text(subrip(cues).encode(), "en").sentences
    except UnreadableError:
        read = None
    names = ("block_first", "block_last", "start_ms", "end_ms", "text")
    if read is None:
        columns = [pa.array([], pa.int32())] * 4 + [pa.array([], pa.string())]
    else:
        columns = [getattr(read, name) for name in names]
    flat = pa.StructArray.from_arrays(columns, names=list(names))
    return Sentences.of(pa.ListArray.from_arrays(pa.array([0, len(flat)], pa.int32()), flat))


def _clock(ms: int) -> str:
    seconds, ms = divmod(max(0, ms), 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},{ms:03}"


def _bytes(path: Path) -> bytes:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read: {str(error).partition(chr(10))[0]}") from None
    if len(content) > MOST_BYTES:
        raise InputError(f"{path} has more than {MOST_BYTES >> 20} MiB")
    return content


def _text(path: Path) -> str:
    return _bytes(path).decode("utf-8", "replace").removeprefix("\ufeff")
