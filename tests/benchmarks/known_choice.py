"""The dialogues that a choice takes from series whose speakers are known, and how many have only right borders.

    python -m tests.benchmarks.known_choice write FOLDER KNOWN
    python -m tests.benchmarks.known_choice score LAKEHOUSE KNOWN [--series NAME...]

``write`` makes an ``.srt`` file of each episode of the folder KNOWN, which is one of ``subtitles.turn_examples``; a run
with FOLDER as ``subtitles.sources`` and ``--to select_emotional`` makes LAKEHOUSE. ``score`` prints for each
share of the raw turns what the first dialogues of ``edos.initial`` are: a dialogue is right if nobody else speaks in
one of its turns, neighbouring turns have different speakers, and so have its outer two and the lines beside them.
"""

import argparse
import itertools
from pathlib import Path

import deltalake
import numpy as np
import pandas as pd

from etl.subtitles.known_speakers import LONGEST_GAP_MS, Episode, episodes_of, sentences_of_cues, subrip

SHARES = (0.01, 0.02, 0.06, 0.12, 0.24)


def written(folder: Path, known: Path) -> int:
    """Write each episode as a SubRip file, and return how many there are."""
    count = 0
    for episode in episodes_of(known):
        path = folder / episode.series / f"{episode.name}.srt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(subrip(episode.in_order()), "utf-8")
        count += 1
    return count


class Truth:
    """Who speaks each sentence of an episode.

    Attributes:
        first, last: the cues of each sentence.
        cues: in their order.
        words: whether each sentence has a letter or digit.
        spoken: the sentences that have.
    """

    def __init__(self, episode: Episode) -> None:
        self.cues = episode.in_order()
        sentences = sentences_of_cues(self.cues)
        self.first, self.last = sentences.block_first - 1, sentences.block_last - 1
        self.words = np.array([any(map(str.isalnum, text)) for text in sentences.text.to_pylist()])
        self.spoken: list[int] = np.flatnonzero(self.words).tolist()

    def changes(self, left: int, right: int) -> bool | None:
        """Return whether the speaker changes between two sentences; None where that is not known."""
        before, after = self.cues[self.last[left]], self.cues[self.first[right]]
        if any(cue.text.lstrip().startswith("-") for cue in (before, after)):
            return None
        if before is after:
            return False
        if after.start_ms - before.end_ms > LONGEST_GAP_MS:
            return True
        if before.utterance and after.utterance and before.utterance[0] != after.utterance[0]:
            return True
        if before.speaker is None or after.speaker is None:
            return None
        return before.speaker != after.speaker

    def right(self, turns: list[tuple[int, int]]) -> bool | None:
        """Return whether all borders of a dialogue are right; None where one of them is not known."""
        spoken = self.spoken
        inside = [place for place in spoken if turns[0][0] <= place <= turns[-1][1]]
        starts = [first for first, _ in turns]
        before = [place for place in spoken if place < inside[0]][-1:]
        after = [place for place in spoken if place > inside[-1]][:1]
        answers = [self.changes(left, right) for left, right in itertools.pairwise([*before, *inside, *after])]
        opens = [any(left < start <= right for start in starts) for left, right in itertools.pairwise(inside)]
        expected = [*(True for _ in before), *opens, *(True for _ in after)]
        return None if None in answers else answers == expected


def chosen(lakehouse: Path) -> pd.DataFrame:
    """Return the dialogues of ``edos.initial`` in their order: source_path, sentences, certainty, sizes."""
    edos = lakehouse / "edos"
    ranks = deltalake.DeltaTable(edos / "initial").to_pandas(columns=["dialogue_id", "rank", "certainty"])
    clean = deltalake.DeltaTable(lakehouse / "subtitles" / "clean_dialogues").to_pandas(
        columns=["dialogue_id", "source_path", "turns"]
    )
    found = ranks.merge(clean, on="dialogue_id").sort_values("rank", ignore_index=True)
    found["size"] = found.turns.map(len)
    found["tokens"] = found.turns.map(lambda turns: sum(len(turn["text"].split(" ")) for turn in turns))
    return found


def score(lakehouse: Path, known: Path, series: tuple[str, ...]) -> None:
    """Print the table of shares, by series."""
    found = chosen(lakehouse)
    raw = deltalake.DeltaTable(lakehouse / "subtitles" / "dialogues").to_pandas(columns=["source_path", "turns"])
    found["series"] = found.source_path.map(lambda path: Path(path).parent.name)
    raw["series"] = raw.source_path.map(lambda path: Path(path).parent.name)
    truths = {f"{one.series}/{one.name}": Truth(one) for one in episodes_of(known)}
    heads = (f"{'series':>10}", f"{'of the raw turns':>17}", f"{'dialogues':>10}", f"{'turns':>6}", f"{'tokens':>7}")
    print(*heads, *(f"{name:>6}" for name in ("told", "right", "known")))
    for name in series or sorted(set(found.series)):
        rows = found[found.series == name]
        answers = []
        for path, turns in zip(rows.source_path, rows.turns, strict=True):
            truth = truths[f"{Path(path).parent.name}/{Path(path).stem}"]
            answers.append(truth.right([(turn["sentence_first"], turn["sentence_last"]) for turn in turns]))
        rows = rows.assign(right=pd.array(answers, "boolean"), so_far=rows["size"].cumsum())
        most = raw[raw.series == name].turns.map(len).sum()
        for share in SHARES:
            part = rows[rows.so_far <= share * most]
            if part.so_far.max() < 0.9 * share * most:
                break
            print(
                f"{name:>10} {share:>17.0%} {len(part):>10,} {part['size'].mean():>6.2f} "
                f"{part.tokens.sum() / part['size'].sum():>7.1f} {part.certainty.mean():>6.1%} "
                f"{part.right.mean():>6.1%} {part.right.count():>6,}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("write", "score"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("known", type=Path)
    parser.add_argument("--series", nargs="*", default=())
    options = parser.parse_args()
    if options.what == "write":
        print(f"{written(options.folder, options.known)} files")
    else:
        score(options.folder, options.known, tuple(options.series))


if __name__ == "__main__":
    main()
