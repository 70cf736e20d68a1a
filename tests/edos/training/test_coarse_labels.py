"""Classifiers that learn from transcripts, whose emotions people gave in coarse classes."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from conf.errors import InputError
from conf.taxonomy import Label, Taxonomy, goemotions_labels, load_taxonomy
from etl.edos.training.coarse_labels import (
    COMMENT_GROUPS,
    GROUPS,
    CoarseRows,
    TranscriptChoice,
    coarse_figures,
    coarse_rows,
    groups_of,
    within_groups,
)
from etl.training.loop.further import FurtherTraining, train_twice
from etl.training.loop.train import TrainingContext
from etl.training.registration import Recipe
from tests.training.small_sets import ALL_THREE, LABELS
from udfs.models.classifiers.weak_labeler import WeakLabeler

EDOS = load_taxonomy("edos")
ID = {name: number for number, name in enumerate(EDOS.names)}
RecipeWith = Callable[..., tuple[Recipe, list[str]]]
MELD = ("Utterance", "Speaker", "Emotion", "Dialogue_ID", "Utterance_ID")
SMALL = Taxonomy(
    name="small",
    labels=tuple(
        Label(label=name, kind="neutral" if name == "neutral" else "emotion", about="x", example="x") for name in LABELS
    ),
)


def meld(folder: Path, train: list[tuple[object, ...]], dev: list[tuple[object, ...]]) -> str:
    folder.mkdir()
    for part, rows in (("train", train), ("dev", dev)):
        pd.DataFrame(rows, columns=list(MELD)).to_csv(folder / f"{part}_sent_emo.csv", index=False)
    return str(folder)


def test_answers_stay_within_the_group_that_people_gave() -> None:
    answers = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.5, 0.0, 0.0], [0.7, 0.1, 0.1, 0.1]])
    found = within_groups(answers, [(0, 2), (2, 3), (1,)])
    assert found == pytest.approx(np.array([[0.25, 0, 0.75, 0], [0, 0, 0.5, 0.5], [0, 1, 0, 0]]))


def test_utterances_have_the_history_of_their_scene(tmp_path: Path) -> None:
    train = [
        ("Where is\u0092s it?", "A", "neutral", 0, 0),
        ("Gone!", "B", "anger", 0, 1),
        ("I see.", "A", "boredom", 0, 2),
        ("Oh no.", "B", "sadness", 0, 4),
        (" ", "B", "joy", 0, 5),
        ("Hush.", "A", "fear", 0, 6),
        *((f"Line {number}.", "A", "Neutral", 1, number) for number in range(6)),
    ]
    learned, _, held_out, _ = coarse_rows([meld(tmp_path / "meld", train, [("Great!", "A", "joy", 0, 0)])], EDOS)
    assert learned.histories[:3] == [("Where is's it?",), ("Where is's it?", "Gone!"), ("Oh no.",)]
    assert learned.histories[3] == ("Oh no.", "Hush.")
    assert learned.histories[-1] == ("Line 2.", "Line 3.", "Line 4.", "Line 5.")
    assert learned.emotional == [False, True, True, True, *[False] * 6]
    assert held_out.histories == [("Great!",)]


def test_a_tenth_of_the_scenes_is_chosen_on(tmp_path: Path) -> None:
    train = [(f"{place} of {scene}.", "A", "joy", scene, place) for scene in range(200) for place in range(2)]
    learned, chosen_on, *_ = coarse_rows([meld(tmp_path / "meld", train, [("Great!", "A", "joy", 0, 0)])], EDOS)
    scenes = [{turns[-1].split()[-1] for turns in rows.histories} for rows in (learned, chosen_on)]
    assert scenes[0].isdisjoint(scenes[1])
    assert len(learned.histories) + len(chosen_on.histories) == 400
    assert 10 <= len(scenes[1]) <= 30


def test_a_class_stands_for_labels_of_its_kind(tmp_path: Path) -> None:
    groups = groups_of(EDOS)
    assert {EDOS.kinds[EDOS.names[label]] for label in groups["neutral"]} == {"intent", "neutral"}
    assert ID["furious"] in groups["anger"]
    assert ID["joyful"] not in groups["anger"]
    assert {label for labels in GROUPS.values() for label in labels} <= set(EDOS.names)
    # Each emotion is in some class, or rows of transcripts would only ever speak against it.
    assert {name for name, kind in EDOS.kinds.items() if kind == "emotion"} <= {
        label for labels in GROUPS.values() for label in labels
    }


def test_comments_may_have_any_label_of_their_classes(tmp_path: Path) -> None:
    transcripts = meld(tmp_path / "meld", [("Gone!", "B", "anger", 0, 1)], [("Great!", "A", "joy", 0, 0)])
    comments = tmp_path / "goemotions"
    comments.mkdir()
    lines = (
        "Thanks, [NAME]!\t15\ta",
        "Is  this in New Orleans??\t27\tb",
        "So sad and so proud.\t21,25\tc",
        "no label\t99\td",
        "torn",
    )
    (comments / "train.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    learned, chosen_on, held_out, dropped = coarse_rows([transcripts, str(comments)], EDOS)
    assert learned.histories[1:] == [("Thanks, John!",), ("Is this in New Orleans??",), ("So sad and so proud.",)]
    assert learned.emotional[1:] == [True, False, True]
    names = [{EDOS.names[label] for label in group} for group in learned.groups[1:]]
    assert names[0] == {"grateful"}
    assert {EDOS.kinds[name] for name in names[1]} == {"intent", "neutral"}
    assert {"proud", "confident", "sad", "lonely"} <= names[2]
    assert len(chosen_on.histories) + len(held_out.histories) == 1, "nothing is chosen or measured on comments"
    left_out = [(row.unit, row.id, row.reason, row.units) for row in dropped]
    assert left_out == [
        ("comment", "train:4", "unknown_label", 0),
        ("comment", "train:5", "not_a_comment", 0),
    ]


def test_comments_whose_classes_stand_for_no_label_are_counted(tmp_path: Path) -> None:
    transcripts = meld(tmp_path / "meld", [("Gone!", "B", "sadness", 0, 1)], [("Great!", "A", "sadness", 0, 0)])
    comments = tmp_path / "goemotions"
    comments.mkdir()
    (comments / "train.tsv").write_text("Thanks!\t15\ta\nOh no.\t25\tb\nPhew!\t23\tc\n", "utf-8")
    learned, *_, dropped = coarse_rows([transcripts, str(comments)], SMALL)
    assert learned.histories[1:] == [("Oh no.",)]
    assert [tuple(row) for row in dropped] == [("comment", "train.tsv", "class_without_labels", "2 comments", 0)]


def test_each_class_of_comments_stands_for_labels() -> None:
    assert [*COMMENT_GROUPS, "neutral"] == list(goemotions_labels())
    assert {label for labels in COMMENT_GROUPS.values() for label in labels} <= set(EDOS.names)
    assert set(groups_of(SMALL, COMMENT_GROUPS)) <= set(goemotions_labels())


def test_another_taxonomy_has_the_classes_that_it_knows() -> None:
    assert groups_of(SMALL) == {"sadness": (0,), "sad": (0,), "fear": (3,), "scared": (3,), "neutral": (2,)}
    assert groups_of(Taxonomy(name="own", labels=SMALL.labels[:2])) == {}
    ekman = load_taxonomy("ekman")
    assert all(ekman.names[group[0]] == name for name, group in groups_of(ekman).items())
    assert set(groups_of(ekman)) == {"anger", "disgust", "sadness", "fear", "joy", "surprise", "neutral"}


def test_files_without_emotions_teach_nothing(tmp_path: Path) -> None:
    folder = meld(tmp_path / "meld", [("Gone!", "B", "anger", 0, 1)], [("Great!", "A", "joy", 0, 0)])
    for file in Path(folder).iterdir():
        pd.read_csv(file).drop(columns="Emotion").to_csv(file, index=False)
    (tmp_path / "dailydialog").mkdir()
    (tmp_path / "dailydialog" / "dialogues_test.txt").write_text("Hi . __eou__ Hello . __eou__\n")
    *parts, dropped = coarse_rows([folder, str(tmp_path / "dailydialog")], EDOS)
    assert [rows.histories for rows in parts] == [[], [], []]
    assert not dropped


def test_a_folder_that_holds_no_transcripts_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"edos\.emotion_transcripts: .* has none of train_sent_emo\.csv"):
        coarse_rows([str(tmp_path)], EDOS)


def test_figures_stand_beside_their_floors() -> None:
    rows = CoarseRows([("a",)] * 4, [(0,), (1,), (2,), (2,)], [True, True, False, False])
    # sad rightly, afraid for glad, neutral rightly, glad for neutral.
    answers = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.1, 0.3, 0.5], [0.1, 0.1, 0.7, 0.1], [0.1, 0.4, 0.3, 0.2]])
    assert coarse_figures(answers, rows, SMALL) == pytest.approx(
        {
            "emotional_share": 0.5,
            # Mass of the emotions 0.9 and 0.7 against 0.3 and 0.7: three pairs are right and one is even.
            "emotional_auc": 0.875,
            "emotional_recall": 1.0,
            "emotional_precision": 2 / 3,
            "emotion_in_group": 1 / 3,
            "emotion_in_group_floor": 1 / 3,
        }
    )


@pytest.fixture
def recipes_with(recipe_of: RecipeWith, tmp_path: Path) -> RecipeWith:
    """A function that gives a weak labeler's recipe with the named folders of transcripts, and the lines said."""
    shutil.copytree(str(files("conf").joinpath("demo", "corpus", "turns")), tmp_path / "turns")
    (tmp_path / "turns" / "dialogues_test.txt").write_text("Hi . __eou__ Hello . __eou__\n")
    return lambda *names, **values: recipe_of(ALL_THREE, [str(tmp_path / "turns" / name) for name in names], **values)


def test_a_recipe_takes_the_transcripts_and_tells_of_them(
    recipes_with: RecipeWith,
) -> None:
    plain, _ = recipes_with()
    recipe, said = recipes_with("meld", "emorynlp")
    learned = recipe.params["coarse_rows"]
    assert learned > 100
    assert plain.further is None
    assert recipe.further is not None
    assert recipe.rows == plain.rows
    choice = recipe.choice
    assert isinstance(choice, TranscriptChoice)
    assert choice.rows == plain.choice.rows
    assert len(choice.items) > 20
    assert recipe.differs[-1] == f"{learned:,} with other classes"
    assert said[-1].startswith(f"{learned:,} texts with other classes of emotions to train on, ")


def test_transcripts_without_emotions_leave_the_recipe(recipes_with: RecipeWith) -> None:
    recipe, said = recipes_with(".")
    assert recipe.further is None
    assert said[-1].startswith("no transcript has human emotion labels that the taxonomy knows")


def test_the_second_training_goes_on_from_the_first(recipes_with: RecipeWith, tmp_path: Path) -> None:
    """Truths of the transcripts are the first model's answers within their groups; those of examples stay."""
    epochs = {"training.weak_labeler.epochs": 2, "training.weak_labeler.max_tokens": 16}
    recipe, said = recipes_with("meld", **epochs)
    assert recipe.further is not None
    seen: list[tuple[WeakLabeler, FurtherTraining]] = []

    def further(first: Path) -> FurtherTraining:
        seen.append((WeakLabeler.load(first), recipe.further(first)))
        return seen[-1][1]

    epochs_told: list[int] = []
    context = TrainingContext(
        checkpoints=tmp_path / "checkpoints",
        on_epoch=lambda epoch: epochs_told.append(epoch.epoch),
        say=lambda line: None,
    )
    start = partial(recipe.start, recipe.options)
    result = train_twice(further, start, recipe.rows, recipe.options, tmp_path / "model", context)
    ((first, second),) = seen
    assert sorted(path.name for path in result.path.iterdir()) == ["encoder", "head.json", "head.safetensors"]
    assert epochs_told == [1, 2, 3]
    assert [epoch.epoch for epoch in result.history] == [1, 2, 3]
    assert not list(tmp_path.glob("checkpoints*/*"))
    text, truth = second.rows.train[-1]
    answer = first.probabilities([text], 1)[0].numpy()
    inside = [label for label, share in enumerate(truth) if share]
    assert np.array(truth)[inside] == pytest.approx(answer[inside] / answer[inside].sum(), abs=2e-3), (
        "computed in bf16 on some machines"
    )
    sentence, label = recipe.rows.train[0]
    assert second.rows.train[0] == (sentence, tuple(float(place == label) for place in range(len(EDOS.names))))
    told = recipe.finish(result)
    assert 0 < told.metrics["transcripts_emotional_share"] < 1
    assert said[-1].startswith("on ")


@pytest.mark.long
def test_a_kill_in_the_second_training_repeats_no_epoch_of_the_first(recipes_with: RecipeWith, tmp_path: Path) -> None:
    recipe, _ = recipes_with("meld", **{"training.weak_labeler.epochs": 2, "training.weak_labeler.max_tokens": 16})
    assert recipe.further is not None
    whole = recipe.further
    said: list[str] = []
    context = TrainingContext(checkpoints=tmp_path / "checkpoints", say=said.append)
    start = partial(recipe.start, recipe.options)
    given = (start, recipe.rows, recipe.options)
    undisturbed = train_twice(whole, *given, tmp_path / "undisturbed", replace(context, checkpoints=None))
    assert sum(line.startswith("epoch") for line in said) == 3

    def killed(first: Path) -> FurtherTraining:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_twice(killed, *given, tmp_path / "killed", context)
    said.clear()
    resumed = train_twice(whole, *given, tmp_path / "resumed", context)
    assert sum(line.startswith("epoch") for line in said) == 1
    assert resumed.metrics == undisturbed.metrics
