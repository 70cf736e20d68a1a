"""The rule that decides about turns where no segmenter can be trained: one small film, from its file to dialogues."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.settings import load_settings
from conf.subtitle_settings import CleaningSettings
from conf.training_settings import SegmenterOptions, SvmOptions, TurnPairSettings
from etl.pipeline.spark_api import cached
from etl.subtitles.cleaning import clean_dialogues
from etl.subtitles.cleaning_words import cleaning_words
from etl.subtitles.dialogues import dialogues_between_silences
from etl.subtitles.ingest import ingest_subtitles
from etl.subtitles.manifest import find_subtitles
from etl.subtitles.turn_features import LemmaTable, PairContext
from etl.subtitles.turn_ragged import Ragged
from etl.subtitles.turn_rule import RULE_FILE, RuleScorer, questions
from etl.subtitles.turn_scorers import turn_scorer
from etl.subtitles.turn_scoring import by_rule, score_turns
from etl.subtitles.turns import turns_of
from etl.training.recipes.turn_segmenter import SegmenterKinds, kind_for, train_and_register_turn_segmenter
from tests.frames import computed
from tests.stages import stage_run

FILM = """1
00:00:01,000 --> 00:00:02,800
Where were you last night?

2
00:00:03,000 --> 00:00:04,600
At the harbour.

3
00:00:04,800 --> 00:00:07,200
And I waited for you until the very last ferry had left.

4
00:00:07,400 --> 00:00:09,000
Did you really wait that long?

5
00:00:20,000 --> 00:00:22,500
- Are you still angry with me?
- Not any more.

6
00:00:22,700 --> 00:00:25,000
Come inside, it is getting cold out here.
"""


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Where were you ?", True),
        ('Where were you ? ! "', True),
        ("أين كنت ؟", True),
        ("你在哪里？", True),
        ("Πού ήσουν ;", True),
        ("Wait ;", False),
        ('He asked " why ? " and left .', False),
        ("?", True),
        ("", False),
        (None, False),
    ],
)
def test_questions_of_any_script(text: str | None, asks: bool) -> None:
    assert questions(pa.array([text], pa.string())).tolist() == [asks]


@pytest.mark.parametrize(
    ("left", "right", "block", "opens"),
    [
        ("Where were you last night ?", "At the harbour .", 0, True),
        ("Where were you last night ?", "At the harbour .", 1, True),
        ("Wo warst du ?", "Zu Hause .", -1, True),
        ("Where ? Why ?", "Did you really wait that long for me ?", 0, False),
        ("No .", "I waited for you until the very last ferry had left .", 0, False),
        ("I waited for you until the last ferry left .", "Why ?", 0, True),
        ("I waited for you until the last ferry left .", "Then I went home .", 1, False),
        ("", "", 0, True),
    ],
)
def test_who_speaks_by_the_rule(left: str, right: str, block: int, opens: bool) -> None:
    context = PairContext(np.array([block], np.int8), Ragged(np.zeros(1, np.int64), np.zeros(0, np.uint64)), np.ones(1))
    margins = RuleScorer()(pa.array([left, right]), np.array([0]), np.array([1]), context)
    assert (margins[0] > 0) == opens


@pytest.mark.parametrize(
    ("kind", "pairs", "answers", "trained"),
    [
        ("svm", 1_600, 2, "svm"),
        ("svm", 1_599, 2, "rule"),
        ("both", 0, 0, "rule"),
        ("encoder", 5_000, 1, "rule"),
        ("rule", 5_000, 2, "rule"),
    ],
)
def test_what_is_trained_from_how_many_pairs(kind: str, pairs: int, answers: int, trained: str) -> None:
    chosen, why = kind_for(SegmenterOptions(kind=kind), pairs, answers)  # type: ignore[arg-type]
    assert chosen == trained
    assert bool(why) == (chosen != kind)


def test_a_damaged_rule_is_named(tmp_path: Path) -> None:
    RuleScorer().save(tmp_path)
    assert turn_scorer(tmp_path, LemmaTable.of({}), 8, 1) == RuleScorer()
    (tmp_path / RULE_FILE).write_text('{"format": 9}')
    with pytest.raises(InputError, match="not of this version's format; train it again"):
        turn_scorer(tmp_path, LemmaTable.of({}), 8, 1)
    (tmp_path / RULE_FILE).write_text("[]")
    with pytest.raises(InputError, match="cannot be read"):
        turn_scorer(tmp_path, LemmaTable.of({}), 8, 1)


def test_one_small_film_becomes_clean_dialogues(spark: SparkSession, tmp_path: Path) -> None:
    films = tmp_path / "films"
    films.mkdir()
    (films / "harbour.srt").write_text(FILM, "utf-8")
    manifest = find_subtitles(spark, [str(films)], ["en"], "v2018")
    files = ingest_subtitles(manifest, languages=["en"], sources=[str(films)]).rows.persist()
    settings = load_settings("local", [], {"lakehouse.root": str(tmp_path / "lake")})
    said: list[str] = []
    run = stage_run(spark, settings, tmp_path, say=said.append)
    options = SegmenterOptions()
    kinds = SegmenterKinds(SvmOptions(), 0.5, TurnPairSettings(), "hf:none")
    trained = train_and_register_turn_segmenter(files, run, options, kinds, (), "en")
    assert trained.figures == {}
    assert said[0].startswith("0 training pairs, fewer than training.turn_segmenter.min_pairs=1,600 of both answers")
    model = run.model(f"models:/{options.name}@champion")
    scorer = turn_scorer(model.path, LemmaTable.of({}), 8, 1)
    scores = computed(score_turns(files, scorer, model.identity))
    (row,) = scores.collect()
    assert row["sources"] == ["rule"] * 4 + ["mark", "rule"]
    ruled = scores.select("source_path", "scores", "carried", by_rule(scores).alias("ruled"))
    turns = turns_of(files.join(F.broadcast(ruled), "source_path"), explicit_marks=True, silence_ends_turn_ms=5_000)
    raw = computed(dialogues_between_silences(turns, 5.0).rows)
    outcome = clean_dialogues(raw, CleaningSettings(), cleaning_words(), persist=cached)
    clean = outcome.rows.orderBy("dialogue_id").collect()
    assert [[turn["text"] for turn in one["turns"]] for one in clean] == [
        [
            "Where were you last night ?",
            "At the harbour . And I waited for you until the very last ferry had left .",
            "Did you really wait that long ?",
        ],
        ["Are you still angry with me ?", "Not any more . Come inside , it is getting cold out here ."],
    ]
    assert [list(one["borders"]) for one in clean] == [["start", "rule", "rule"], ["silence", "mark"]]
    assert all(0.5 <= value <= 1 for one in clean for value in one["border_certainties"])
