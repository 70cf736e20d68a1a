"""A tuned language model: the loss is of what is learned alone, and what is saved answers prompts."""

from pathlib import Path

import pytest
import torch

from conf.llm_settings import DecodingSettings
from conf.training_options import TrainingOptions
from etl.training.loop.train import TrainingContext, train_model
from tests.udfs.tiny_models import tiny_language_model
from udfs.llm_requests import Request
from udfs.models.language.causal_language_model import CausalLanguageModel, TokenRow
from udfs.models.language.generator import LocalGenerator
from udfs.models.language.language_model import perplexity
from udfs.models.pretrained import unpacked
from udfs.models.trainable import TrainingRows

TALKS = [
    [("you are so", False), (" happy and glad", True)],
    [("i am", True), (" not", False), (" alone", True)],
    [("my dog", False), (" came home", True), (" really", False)],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_language_model(tmp_path_factory.mktemp("base"))


def words(model: CausalLanguageModel, row: TokenRow) -> list[str]:
    return [model.tokenizer.convert_ids_to_tokens(token) for token, learned in zip(*row, strict=True) if learned]


def test_what_is_learned_is_marked_and_the_end_is_where_the_last_piece_is(folder: Path) -> None:
    model = CausalLanguageModel.load(folder)
    rows = model.encode(TALKS)
    assert [words(model, row) for row in rows] == [
        ["happy", "and", "glad", "<|im_end|>"],
        ["i", "am", "alone", "<|im_end|>"],
        ["came", "home"],
    ]
    assert model.counted(rows) == 4 + 3 + 2  # nothing foretells a first token
    assert model.lengths(rows) == [7, 5, 6]


def test_marks_in_a_text_are_no_special_tokens_and_long_texts_are_cut(folder: Path) -> None:
    model = CausalLanguageModel.load(folder, max_tokens=6)
    hostile, long = model.encode([[("yes <|im_end|> no", True)], [("rain " * 20, True)]])
    assert hostile.ids.count(model.tokenizer.eos_token_id) == 1
    assert not model.is_cut(hostile)
    assert (len(long.ids), model.is_cut(long), model.is_cut(model.encode([[("yes", True)]])[0])) == (6, True, False)


def test_the_loss_is_an_independent_computation_s(folder: Path) -> None:
    model = CausalLanguageModel.load(folder)
    rows = model.encode(TALKS)
    expected = 0.0
    for row in rows:  # each alone, token by token, from the probabilities
        for place in range(1, len(row.ids)):
            if row.learned[place]:
                logits = model.network(torch.tensor([row.ids[:place]])).logits[0, -1].double()
                expected -= float(torch.log(torch.exp(logits)[row.ids[place]] / torch.exp(logits).sum()))
    assert float(model(rows)) == pytest.approx(expected, rel=1e-5)
    apart = sum(float(model([row])) for row in rows)
    assert apart == pytest.approx(expected, rel=1e-5)


def test_checkpointing_gives_the_same_gradients(folder: Path) -> None:
    found = []
    for checkpointing in (False, True):
        model = CausalLanguageModel.load(folder, gradient_checkpointing=checkpointing).train()
        model(model.encode(TALKS)).backward()
        found.append([value.grad.clone() for value in model.parameters() if value.grad is not None])
    assert len(found[0]) == len(found[1]) > 5
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(*found, strict=True))


def test_tuning_lowers_the_loss_and_what_is_saved_answers_prompts(folder: Path, tmp_path: Path) -> None:
    model = CausalLanguageModel.load(folder, gradient_checkpointing=True)
    rows = model.encode([[("when did he", False), (" thank my friend", True)]] * 8)
    before = perplexity(model, rows, 4)
    losses: dict[int, float] = {}
    options = TrainingOptions(
        epochs=12, learning_rate=1e-2, batch_size=2, effective_batch=2, warmup_steps=5, keep="last", threads=1
    )
    context = TrainingContext(on_update=losses.__setitem__)
    result = train_model(lambda: model, TrainingRows(rows, rows[:1]), options, tmp_path / "model", context)
    assert result.metrics["perplexity"] < 1.5 < before
    assert list(losses) == list(range(1, 49))
    assert losses[48] < losses[1]
    told = LocalGenerator.load(result.path).answers(
        [Request("when did he")], DecodingSettings(max_new_tokens=9, chat=False)
    )
    assert (told[0].text or "").split() == ["thank", "my", "friend"]
    assert told[0].finish_reason == "stop"
    again = CausalLanguageModel.load(result.path)
    assert perplexity(again, rows, 4) == pytest.approx(result.metrics["perplexity"], rel=1e-4)
    assert {path.suffix for path in result.path.iterdir()} <= {".json", ".safetensors", ".jinja"}


def test_what_was_read_from_gguf_can_be_saved(folder: Path, tmp_path: Path) -> None:
    network = CausalLanguageModel.load(folder).network
    assert unpacked(network) is network
    network.config.tie_word_embeddings = True
    network.tie_weights()
    weights = {name: value.clone() for name, value in network.state_dict().items()}
    network.config.quantization_config = {"quant_method": "gguf"}  # as the library marks what it unpacked
    plain = unpacked(network)
    assert plain is not network
    assert plain.lm_head.weight is plain.model.embed_tokens.weight
    plain.save_pretrained(tmp_path)
    CausalLanguageModel.load(folder).tokenizer.save_pretrained(tmp_path)
    read = CausalLanguageModel.load(tmp_path).network.state_dict()
    assert all(torch.equal(weights[name], value) for name, value in read.items())
