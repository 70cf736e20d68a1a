"""Classifiers that learn from transcripts, whose emotions people gave in coarse classes."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.settings import load_settings
from conf.taxonomy import Label, Taxonomy, load_taxonomy
from conf.training_settings import EmotionClassifierSettings
from etl.demo.corpus_folder import CorpusFolder
from etl.demo.transcripts import write_transcripts
from etl.training.coarse_labels import GROUPS, CoarseRows, TranscriptChoice, coarse_figures, coarse_rows, groups_of
from etl.training.loop.train import TrainingContext, train_model
from etl.training.recipes import classifiers
from etl.training.registration import Recipe
from tests.stages import stage_run
from tests.training.small_sets import ALL_THREE, LABELS, TRAIN, write_files
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.coarse import CoarseClassifier, CoarseLabeler
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.models.trainable import TrainingRows

EDOS = load_taxonomy("edos")
ID = {name: number for number, name in enumerate(EDOS.names)}
MELD = ("Utterance", "Speaker", "Emotion", "Dialogue_ID", "Utterance_ID")
SMALL = Taxonomy(
    name="small",
    labels=tuple(
        Label(label=name, kind="neutral" if name == "neutral" else "emotion", about="x", example="x") for name in LABELS
    ),
)


@pytest.fixture(scope="module")
def group_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("groups"))


def meld(folder: Path, train: list[tuple[object, ...]], dev: list[tuple[object, ...]]) -> str:
    folder.mkdir()
    for part, rows in (("train", train), ("dev", dev)):
        pd.DataFrame(rows, columns=list(MELD)).to_csv(folder / f"{part}_sent_emo.csv", index=False)
    return str(folder)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_groups_of_one_label_have_the_loss_of_labels(group_encoder: Path, smoothing: float) -> None:
    torch.manual_seed(1)
    coarse = CoarseClassifier(*load_encoder(group_encoder), LABELS, dropout=0).eval()
    plain = DialogueClassifier(coarse.encoder, coarse.tokenizer, LABELS, dropout=0).eval()
    plain.load_state_dict(coarse.state_dict())
    alone = [(turns, (label,)) for turns, label in TRAIN]
    found = coarse(coarse.encode_rows(alone), smoothing).detach()
    assert float(found) == pytest.approx(float(plain(plain.encode_rows(TRAIN), smoothing).detach()), rel=1e-6)


def test_the_loss_of_a_group_is_that_of_its_probability(group_encoder: Path) -> None:
    model = CoarseLabeler(*load_encoder(group_encoder), LABELS)
    logits = torch.log(torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]]))
    loss = model.loss(logits, model.targets([(0, 3), (1,)]), 0.0)
    assert float(loss) == pytest.approx(-np.log(0.5) - np.log(0.1), rel=1e-6)


@pytest.mark.parametrize(
    ("group", "said"), [((), "a row of the training rows has an empty group"), ((0, 4), "label id 4 in the training")]
)
def test_a_wrong_group_is_refused(group_encoder: Path, group: tuple[int, ...], said: str) -> None:
    model = CoarseLabeler(*load_encoder(group_encoder), LABELS)
    with pytest.raises(InputError, match=said):
        model.check(model.encode_rows([("so sad .", group)]), "training")


def test_a_model_learns_which_label_of_the_group_from_other_rows(group_encoder: Path, tmp_path: Path) -> None:
    """The words of two labels, told apart by half of the rows; the other half names both. Saved, it is a plain one."""
    options = EmotionClassifierSettings(
        epochs=30, batch_size=8, effective_batch=8, learning_rate=5e-3, dropout=0, threads=1, device="cpu", keep="last"
    )
    rows = [(" ".join(turns), (label,) if number % 2 else (0, 1, label)) for number, (turns, label) in enumerate(TRAIN)]
    start = partial(CoarseLabeler.new, group_encoder, LABELS, options)
    one = [(text, group[-1:]) for text, group in rows]
    saved = train_model(start, TrainingRows(rows, one), options, tmp_path / "model", TrainingContext()).path
    answers = WeakLabeler.load(saved).probabilities([text for text, _ in rows], 4).numpy()
    of_group = [row[list(group)].sum() for row, (_, group) in zip(answers, rows, strict=True)]
    untrained = start().eval().probabilities([text for text, _ in rows], 4).numpy()
    floor = [row[list(group)].sum() for row, (_, group) in zip(untrained, rows, strict=True)]
    assert np.mean(of_group) > 0.95 > np.mean(floor)


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
    learned, _, held_out = coarse_rows([meld(tmp_path / "meld", train, [("Great!", "A", "joy", 0, 0)])], EDOS)
    assert learned.histories[:3] == [("Where is's it?",), ("Where is's it?", "Gone!"), ("Oh no.",)]
    assert learned.histories[3] == ("Oh no.", "Hush.")
    assert learned.histories[-1] == ("Line 2.", "Line 3.", "Line 4.", "Line 5.")
    assert learned.emotional == [False, True, True, True, *[False] * 6]
    assert held_out.histories == [("Great!",)]


def test_a_tenth_of_the_scenes_is_chosen_on(tmp_path: Path) -> None:
    train = [(f"{place} of {scene}.", "A", "joy", scene, place) for scene in range(200) for place in range(2)]
    learned, chosen_on, _ = coarse_rows([meld(tmp_path / "meld", train, [("Great!", "A", "joy", 0, 0)])], EDOS)
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
    assert [rows.histories for rows in coarse_rows([folder, str(tmp_path / "dailydialog")], EDOS)] == [[], [], []]


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


def test_a_recipe_takes_the_transcripts_and_tells_of_them(
    spark: SparkSession, group_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipes: list[Recipe] = []
    said: list[str] = []
    monkeypatch.setattr(classifiers, "train_and_register", lambda recipe, run: recipes.append(recipe))
    write_transcripts(CorpusFolder(tmp_path), 3)
    settings = load_settings("local", [], {"lakehouse.root": str(tmp_path / "lakehouse")})
    folders = [str(tmp_path / "turns" / name) for name in ("meld", "emorynlp")]
    examples = str(write_files(tmp_path / "examples", ALL_THREE))
    given = (settings.training.weak_labeler, EDOS, f"file:{group_encoder}", examples)
    (tmp_path / "turns" / "dialogues_test.txt").write_text("Hi . __eou__ Hello . __eou__\n")
    for transcripts in ([], [str(tmp_path / "turns")], folders):
        classifiers.train_and_register_weak_labeler(
            stage_run(spark, settings, say=said.append), *given, transcripts=transcripts
        )
    plain, without, coarse = recipes
    assert without.model is WeakLabeler
    assert "no transcript has emotions of people that the taxonomy knows: learned from the examples alone" in said
    learned = len(coarse.rows.train) - len(plain.rows.train)
    choice = coarse.choice
    assert isinstance(choice, TranscriptChoice)
    assert choice.rows == plain.choice.rows
    assert len(choice.items) > 20
    assert learned == coarse.params["transcript_rows"] > 100
    assert plain.model is WeakLabeler
    assert coarse.model is CoarseLabeler
    assert coarse.rows.train[0] == (plain.rows.train[0][0], (plain.rows.train[0][1],))
    assert [len(group) for _, group in coarse.rows.validation] == [1] * len(plain.rows.validation)
    assert coarse.differs[-1] == f"{learned:,} of transcripts"
    assert said[-1].startswith(f"{learned:,} utterances of transcripts to train on, ")
