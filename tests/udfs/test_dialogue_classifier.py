import json

import pytest
import torch

from conf.errors import InputError
from etl.edos.half_decay import turn_weights
from etl.edos.settings import EmotionClassifierSettings
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.batches import Batch, batches_of_equal_width, collate, padded_width
from udfs.models.classifiers.classifier import HEAD_CONFIG, load_encoder
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier, turns_newest_first
from udfs.models.classifiers.weak_labeler import WeakLabeler

LABELS = ("sad", "glad", "neutral", "questioning")
FAMILIES = ("bert", "roberta", "mpnet")
DIALOGUES = [
    ["i lost my dog ."],
    ["what did he do ?", "he was so mad ."],
    ["are you happy ?", "yes , very glad . the sun is great .", "why ?", "i got the money ."],
    ["rain " * 150],
]


@pytest.fixture(scope="module")
def dialogue_encoders(tmp_path_factory):
    return {family: tiny_encoder(tmp_path_factory.mktemp(family), family) for family in FAMILIES}


def classifier_of(folder, **options) -> DialogueClassifier:
    torch.manual_seed(3)
    return DialogueClassifier(*load_encoder(folder), LABELS, **options).eval()


@pytest.mark.parametrize(
    ("turns", "weights"),
    [(1, (1.0,)), (2, (2 / 3, 1 / 3)), (3, (4 / 7, 2 / 7, 1 / 7)), (4, (8 / 15, 4 / 15, 2 / 15, 1 / 15))],
)
def test_turn_weights_halve_from_the_newest(turns, weights):
    assert turn_weights(turns) == pytest.approx(weights)


def test_turn_weights_of_a_very_long_dialogue_are_finite_and_sum_to_one():
    weights = turn_weights(400)
    assert sum(weights) == pytest.approx(1.0)
    assert weights[0] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("turns", "limit", "expected"),
    [
        ([[1, 2], [3]], 20, [[9, 3, 9], [9, 1, 2, 9]]),
        ([[1, 2, 4], [3]], 7, [[9, 3, 9], [9, 1, 2, 9]]),  # the older turn keeps its beginning
        ([[1, 2], [3]], 5, [[9, 3, 9]]),  # no room for a token of the older turn
        ([[1], [2, 3, 4, 5]], 4, [[9, 2, 3, 9]]),  # the newest itself is too long: older turns go
        ([[1], [5, 6], [3]], 8, [[9, 3, 9], [9, 5, 6, 9]]),
        ([[1], []], 10, [[9, 9], [9, 1, 9]]),  # an empty newest turn keeps its place
        ([[]], 10, [[9, 9]]),
    ],
)
def test_newest_turn_first_and_the_oldest_is_cut(turns, limit, expected):
    assert turns_newest_first(turns, 9, limit) == expected


@pytest.mark.parametrize("family", FAMILIES)
def test_encoding_reverses_turns_between_separators_and_weighs_them(dialogue_encoders, family):
    model = classifier_of(dialogue_encoders[family])
    row = model.encode([["i cry", "why ?"]])[0]
    separator = model.tokenizer.sep_token_id
    words = model.tokenizer.convert_tokens_to_ids
    assert row.ids == (
        separator,
        words("why"),
        words("?"),
        separator,
        separator,
        words("i"),
        words("cry"),
        separator,
    )
    assert row.weights == pytest.approx((2 / 3,) * 4 + (1 / 3,) * 4)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_start_token_replaces_the_first_separator_and_is_saved(dialogue_encoders, family, tmp_path):
    options = EmotionClassifierSettings(max_tokens=20)
    with_start = DialogueClassifier.new(dialogue_encoders[family], LABELS, options)
    without = DialogueClassifier.new(
        dialogue_encoders[family], LABELS, options.model_copy(update={"start_token": False})
    )
    row = with_start.encode([["i cry", "why ?"]])[0]
    plain = without.encode([["i cry", "why ?"]])[0]
    assert row.ids == (with_start.tokenizer.cls_token_id, *plain.ids[1:])
    assert row.weights == plain.weights
    assert DialogueClassifier.load(with_start.save(tmp_path / "with")).encode([["i cry", "why ?"]]) == [row]
    assert DialogueClassifier.load(without.save(tmp_path / "without")).encode([["i cry", "why ?"]]) == [plain]


def test_a_model_saved_before_start_tokens_is_read_without(dialogue_encoders, tmp_path):
    folder = classifier_of(dialogue_encoders["bert"]).save(tmp_path / "older")
    config = json.loads((folder / HEAD_CONFIG).read_text("utf-8"))
    del config["start_token"]
    (folder / HEAD_CONFIG).write_text(json.dumps(config), "utf-8")
    assert not DialogueClassifier.load(folder).start_token


def test_a_history_longer_than_the_limit_keeps_the_newest_turn(dialogue_encoders):
    model = classifier_of(dialogue_encoders["bert"], max_tokens=12)
    row = model.encode([["rain rain rain rain rain rain rain", "sun sun sun", "why is it so dark"]])[0]
    assert len(row.ids) <= 12
    tokens = model.tokenizer.convert_ids_to_tokens(list(row.ids))
    assert tokens == [
        "[SEP]",
        *["why", "is", "it", "so", "dark"],
        "[SEP]",
        "[SEP]",
        "sun",
        "sun",
        "sun",
        "[SEP]",
    ]


def test_unweighted_gives_every_token_weight_one(dialogue_encoders):
    model = classifier_of(dialogue_encoders["bert"], weighted=False)
    assert set(model.encode([["i cry", "why ?"]])[0].weights) == {1.0}


@pytest.mark.parametrize("family", FAMILIES)
def test_only_token_embeddings_are_scaled(dialogue_encoders, family):
    """The embedding layer must see weight * token + position, with the position of a plain input."""
    model = classifier_of(dialogue_encoders[family])
    row = model.encode([["i lost my dog", "that is sad"]])[0]
    batch = collate([row], model.pad_id, width=16)
    seen = {}
    layer_norm = model.encoder.embeddings.LayerNorm
    hook = layer_norm.register_forward_pre_hook(lambda _, inputs: seen.setdefault("sum", inputs[0].detach()))
    with torch.no_grad():
        model.logits(batch)
        weighted = seen.pop("sum")[0, : len(row.ids)]
        model.encoder(input_ids=batch.ids, attention_mask=batch.mask)
        plain = seen.pop("sum")[0, : len(row.ids)]
        tokens = model.encoder.get_input_embeddings()(torch.tensor(row.ids))
    hook.remove()
    factors = torch.tensor(row.weights).unsqueeze(-1)
    torch.testing.assert_close(weighted - factors * tokens, plain - tokens, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_padding_and_neighbours_do_not_change_a_row(dialogue_encoders, family):
    model = classifier_of(dialogue_encoders[family])
    rows = model.encode(DIALOGUES)
    with torch.no_grad():
        together = model.logits(collate(rows, model.pad_id))
        alone = torch.cat([model.logits(collate([row], model.pad_id)) for row in rows])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-4)


def test_probabilities_are_bit_for_bit_the_same_in_any_company(dialogue_encoders):
    model = classifier_of(dialogue_encoders["bert"])
    dialogues = DIALOGUES + [["yes"], ["no , really ?", "sure"], ["thank you"]] * 3
    together = model.probabilities(dialogues, batch_size=4)
    alone = torch.cat([model.probabilities([turns], batch_size=4) for turns in dialogues])
    backwards = model.probabilities(dialogues[::-1], batch_size=4).flip(0)
    assert torch.equal(together, alone)
    assert torch.equal(together, backwards)
    for batch_size in (1, 3, 32):
        assert torch.equal(together, model.probabilities(dialogues, batch_size))
    torch.testing.assert_close(together.sum(dim=1), torch.ones(len(dialogues)))


def test_the_order_of_turns_matters(dialogue_encoders):
    model = classifier_of(dialogue_encoders["bert"])
    one, other = model.probabilities([["i cry", "why ?"], ["why ?", "i cry"]], batch_size=2)
    assert not torch.allclose(one, other, atol=1e-4)


def test_attention_pooling_ignores_padding(dialogue_encoders):
    model = classifier_of(dialogue_encoders["bert"])
    states = torch.randn(1, 6, 16)
    mask = torch.tensor([[1, 1, 1, 0, 0, 0]])
    changed = states.clone()
    changed[:, 3:] = 99.0
    torch.testing.assert_close(model.pooled(states, mask), model.pooled(changed, mask))


def test_saved_and_loaded_it_answers_the_same(dialogue_encoders, tmp_path):
    model = classifier_of(dialogue_encoders["roberta"], weighted=False, max_tokens=40)
    again = DialogueClassifier.load(model.save(tmp_path / "model"))
    assert (again.weighted, again.max_tokens, again.labels) == (False, 40, LABELS)
    assert torch.equal(model.probabilities(DIALOGUES, 4), again.probabilities(DIALOGUES, 4))
    written = {path.name for path in (tmp_path / "model").rglob("*") if path.is_file()}
    assert not {name for name in written if name.endswith((".bin", ".pt", ".pkl"))}


def test_a_folder_of_another_kind_is_refused(dialogue_encoders, tmp_path):
    classifier_of(dialogue_encoders["bert"]).save(tmp_path / "model")
    with pytest.raises(InputError, match="not a weak_labeler"):
        WeakLabeler.load(tmp_path / "model")
    with pytest.raises(InputError, match=r"head\.json"):
        DialogueClassifier.load(tmp_path / "nothing")


@pytest.mark.parametrize(("length", "width"), [(1, 2), (8, 8), (9, 10), (32, 32), (33, 40), (97, 100), (100, 100)])
def test_padded_width_depends_on_the_row_alone(length, width):
    assert padded_width(length, 100) == width


def test_batches_hold_one_width_and_every_row_once(dialogue_encoders):
    rows = classifier_of(dialogue_encoders["bert"]).encode(DIALOGUES * 5)
    batches = list(batches_of_equal_width([padded_width(len(row.ids), 100) for row in rows], 3))
    assert sorted(index for _, indices in batches for index in indices) == list(range(20))
    assert all({padded_width(len(rows[i].ids), 100) for i in indices} == {width} for width, indices in batches)
    assert max(len(indices) for _, indices in batches) == 3
    assert [width for width, _ in batches] == sorted((width for width, _ in batches), reverse=True)


def test_collate_pads_on_the_right(dialogue_encoders):
    model = classifier_of(dialogue_encoders["mpnet"])
    batch = collate(model.encode([["yes"], ["no no"]]), model.pad_id, width=6)
    assert isinstance(batch, Batch)
    assert batch.mask.tolist() == [[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0]]
    assert batch.ids[0, 3:].tolist() == [model.pad_id] * 3
