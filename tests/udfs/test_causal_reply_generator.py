"""A generator that starts from a causal language model: its loss, its replies, its tokens, what is saved."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from conf.errors import InputError
from conf.taxonomy import edos_labels
from etl.replies.settings import ReplyDecoding
from etl.training.loop.train import train_model
from tests.udfs.reply_generators import LINES, OPTIONS, QUIET, tiny_generator
from tests.udfs.tiny_models import tiny_language_model
from udfs.models.language.causal_reply_generator import CausalReplyGenerator, causal_generator, load_generator
from udfs.models.language.reply_decoding import write_replies
from udfs.models.language.reply_generator import EncodedReply, ReplyGenerator
from udfs.models.trainable import TrainingRows

CONTEXTS = [["my dog", "is so sad"], ["the rain is dark"], ["we went home"], ["i lost my money", "why", "no game"]]
REPLIES = ["thank you", "i am glad", "what did you do ?", "tell me more about that"]
NONE = [None] * len(CONTEXTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_language_model(tmp_path_factory.mktemp("base"))


@pytest.fixture
def model(folder: Path) -> CausalReplyGenerator:
    return causal_generator(folder, edos_labels(), 24)


def rows_of(model: ReplyGenerator, intents: Sequence[str | None] = NONE) -> list[EncodedReply]:
    return model.encode(CONTEXTS, REPLIES, intents)


def next_logits(model: ReplyGenerator, ids: Sequence[int]) -> torch.Tensor:
    with torch.no_grad():
        return model.network(torch.tensor([ids])).logits[0, -1, : model.tokenizer.end + 1].double()


def test_the_loss_is_of_the_replys_tokens_alone(model: CausalReplyGenerator) -> None:
    rows = rows_of(model, ["sad", None, "questioning", None])
    expected = []
    for row in rows:
        read = [*row.ids, row.start]
        total = 0.0
        for token in row.reply:
            total -= float(torch.log_softmax(next_logits(model, read), -1)[token])
            read.append(token)
        expected.append(total)
    assert float(model(rows)) == pytest.approx(sum(expected), rel=1e-5)
    assert model.nats(rows, 4) == pytest.approx(expected, rel=1e-5)
    assert model.nats(rows[2:3], 8)[0] == model.nats(rows, 2)[2]


def test_greedy_goes_on_from_the_history_and_the_start(model: CausalReplyGenerator) -> None:
    how = ReplyDecoding(method="greedy", blocked_ngrams=0, max_new_tokens=6)
    for row, written in zip(rows_of(model), write_replies(model, CONTEXTS, NONE, how, 2), strict=True):
        read = [*row.ids, row.start]
        ids = list[int]()
        while len(ids) < 6 and model.tokenizer.end not in ids:
            logits = next_logits(model, [*read, *ids])
            logits[[one for one in model.tokenizer.unwritten if one <= model.tokenizer.end]] = float("-inf")
            ids.append(int(logits.argmax()))
        assert written.ids == ids


@pytest.mark.parametrize("method", ["beam", "top_p"])
def test_a_reply_does_not_depend_on_its_neighbours(model: CausalReplyGenerator, method: str) -> None:
    how = ReplyDecoding(method=method, beams=4, max_new_tokens=8)  # type: ignore[arg-type]
    together = write_replies(model, CONTEXTS, NONE, how, 4, [3, 4, 5, 6])
    assert together[1:2] == write_replies(model, CONTEXTS[1:2], [None], how, 8, [4])


def test_ngrams_are_blocked_in_the_reply_and_not_by_the_history(model: CausalReplyGenerator) -> None:
    free = ReplyDecoding(method="greedy", blocked_ngrams=0, max_new_tokens=20)
    (said,) = write_replies(model, [["sun"]], [None], free, 1)
    pairs = list(zip(said.ids, said.ids[1:], strict=False))
    assert len(pairs) > len(set(pairs))
    blocked = free.model_copy(update={"blocked_ngrams": 2})
    (said,) = write_replies(model, [["sun"]], [None], blocked, 1)
    pairs = list(zip(said.ids, said.ids[1:], strict=False))
    assert len(pairs) == len(set(pairs))
    history = [" ".join([said.text] * 3)]
    one = blocked.model_copy(update={"max_new_tokens": 1, "blocked_ngrams": 1})
    (row,) = model.encode([history], ["yes"], [None])
    best = next_logits(model, [*row.ids, row.start])
    best[[one for one in model.tokenizer.unwritten if one <= model.tokenizer.end]] = float("-inf")
    assert write_replies(model, [history], [None], one, 1)[0].ids == [int(best.argmax())]


@pytest.mark.parametrize("kind", ["causal", "transformer"])
def test_intents_begin_as_their_words_and_no_softmax_moves_them(model: CausalReplyGenerator, kind: str) -> None:
    generator = model if kind == "causal" else tiny_generator()
    tokens = generator.tokenizer
    table = generator.network.get_input_embeddings().weight
    generator.begin_intents()
    for intent in ("sad", "angry"):
        words = list(tokens.texts([f" {intent}"])[0])
        assert torch.allclose(table[tokens.start_of(intent)], table[words].mean(dim=0))
    rows = generator.encode(CONTEXTS, REPLIES, ["sad"] * len(CONTEXTS))
    generator(rows).backward()
    assert table.grad is not None
    assert float(table.grad[tokens.start_of("sad")].abs().sum()) > 0
    assert float(table.grad[tokens.start_of("angry")].abs().sum()) == 0


def test_a_saved_generator_is_the_same_and_known_by_its_kind(model: CausalReplyGenerator, tmp_path: Path) -> None:
    model.steered = True
    found = load_generator(model.save(tmp_path / "model"))
    rows = rows_of(model)
    assert type(found) is CausalReplyGenerator
    assert found.steered
    assert found.max_tokens == 24
    assert torch.equal(found(rows), model(rows))
    assert found.parameter_count() == model.parameter_count()
    assert type(load_generator(tiny_generator().save(tmp_path / "small"))) is ReplyGenerator
    with pytest.raises(InputError, match="not a reply_generator"):
        ReplyGenerator.load(tmp_path / "model")
    with pytest.raises(InputError, match=r"no reply_generator\.json"):
        load_generator(tmp_path)


def test_tuning_lowers_the_loss_through_the_loop_of_all_models(model: CausalReplyGenerator, tmp_path: Path) -> None:
    rows = model.encode([[said] for said, _ in LINES], [reply for _, reply in LINES], [None] * len(LINES))
    before = float(model(rows)) / model.counted(rows)
    result = train_model(lambda: model, TrainingRows(rows, rows), OPTIONS, tmp_path / "model", QUIET)
    assert result.metrics["loss"] < 0.8 * before
    assert float(load_generator(result.path)(rows)) / model.counted(rows) == pytest.approx(result.metrics["loss"])


def test_a_network_that_scales_its_logits_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from udfs.models.language import causal_reply_generator

    read = causal_reply_generator.causal_model

    def scaled(*given: object) -> object:
        network, tokenizer = read(*given)  # type: ignore[arg-type]
        network.config.final_logit_softcapping = 30.0
        return network, tokenizer

    monkeypatch.setattr(causal_reply_generator, "causal_model", scaled)
    with pytest.raises(InputError, match="final_logit_softcapping"):
        causal_generator(folder, edos_labels(), 24)
