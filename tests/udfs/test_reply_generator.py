"""The response generator: what it reads, its loss beside the library's own, killed trainings, two processes."""

from pathlib import Path

import pytest
import torch
from pyspark.sql import Row, SparkSession
from safetensors.torch import load_file

from conf.errors import InputError
from conf.settings import load_settings
from conf.taxonomy import edos_labels
from etl.replies.settings import ReplyNetwork
from etl.replies.training import history_gain
from etl.training.loop.checkpoints import put_weights, weights_of
from etl.training.loop.process_job import read_rows, write_rows
from etl.training.loop.train import TrainingContext, train_model
from etl.training.processes import train_in_processes
from tests.stages import stage_run
from tests.udfs.reply_generators import OPTIONS, QUIET, rows_of, tiny_generator
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.language.reply_generator import ReplyGenerator, new_generator
from udfs.models.language.reply_tokenizer import ReplyTokenizer
from udfs.models.trainable import EpochMetrics, TrainingResult, TrainingRows


def test_the_papers_sizes_and_the_parameters_that_they_give() -> None:
    class Roberta(ReplyTokenizer):
        def __init__(self) -> None:
            self.pad = 50_265
            self.turn = 50_266
            self.end = 50_267
            self._start = 50_268
            self.intents = ()
            self.size = 50_269

    tied = new_generator(Roberta(), ReplyNetwork())
    config = tied.network.config
    assert (config.encoder_layers, config.decoder_layers, config.d_model) == (4, 4, 300)
    assert (config.encoder_attention_heads, config.decoder_attention_heads) == (6, 6)
    assert (config.encoder_ffn_dim, config.activation_function, config.dropout) == (1200, "gelu", 0.1)
    assert (config.attention_dropout, config.max_position_embeddings) == (0.1, 100)
    assert round(tied.parameter_count() / 1e6, 1) == 25.3
    assert round(new_generator(Roberta(), ReplyNetwork(tied_embeddings=False)).parameter_count() / 1e6, 1) == 55.4


def test_histories_are_cut_from_the_left_and_texts_reach_no_token_of_ours() -> None:
    model = tiny_generator(max_tokens=8)
    tokens = model.tokenizer
    (long,) = tokens.contexts([["how nice that is", "what will you do"]], 8)
    whole = [*tokens.texts(["how nice that is"])[0], tokens.turn, *tokens.texts(["what will you do"])[0], tokens.turn]
    assert long == tuple(whole[-8:])
    assert len(whole) > 8
    (flood,) = tokens.contexts([["red " * 10_000, "x" * 1_000_000]], 8)
    assert len(flood) == 8
    cut, short = model.encode([["so ?"]] * 2, ["what will you do now , and what then ?", "do"], [None, "sad"])
    assert len(cut.reply) == 8
    assert tokens.end not in cut.reply
    assert short.reply[-1] == tokens.end
    assert short.start == tokens.start_of(None) + 1 + edos_labels().index("sad")
    assert model.words([cut, short], ["what will you do now , and what then ?", "do"])[1] == 1
    assert model.words([cut, short], ["what will you do now , and what then ?", "do"])[0] < 9
    odd = "</s> <pad> [SEP] <|im_end|> \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")
    (ids,) = tokens.texts([odd])
    assert max(ids) < tokens.pad
    assert tokens.text(ids) == odd
    with pytest.raises(InputError, match="at least one turn"):
        tokens.contexts([[]], 8)
    with pytest.raises(InputError, match=r"intent 'hangry' is not known: choose one of afraid, angry"):
        model.encode([["so ?"]], ["do"], ["hangry"])


def test_a_tokenizer_that_a_model_brings(tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path / "encoder")
    tokens = ReplyTokenizer.load(folder, edos_labels())
    ids = tokens.texts(["I lost my [SEP] dog"])[0]
    assert max(ids) < tokens.pad
    assert tokens.text([*ids, tokens.end, 5]).startswith("i lost my")
    assert tokens.size == tokens.pad + 4 + 41
    with pytest.raises(InputError, match=r"no tokenizer\.json"):
        ReplyTokenizer.load(tmp_path, edos_labels())


def test_the_loss_is_the_librarys_own() -> None:
    model = tiny_generator()
    rows = rows_of(model)
    model.eval()
    each = []
    for row in rows:
        decoder = torch.tensor([[row.start, *row.reply[:-1]]])
        said = model.network(input_ids=torch.tensor([row.ids]), decoder_input_ids=decoder)
        logits = said.logits[0, :, : model.tokenizer.end + 1]  # start tokens are no output
        each.append(float(torch.nn.functional.cross_entropy(logits, torch.tensor(row.reply), reduction="sum")))
    assert float(model(rows)) == pytest.approx(sum(each), rel=1e-5)
    assert model.nats(rows, 4) == pytest.approx(each, rel=1e-5)
    # The same to the last bit, whatever the neighbours.
    assert model.nats(rows[2:3], 4)[0] == model.nats(rows, 2)[2]
    assert model.counted(rows) == sum(len(row.reply) for row in rows)
    assert float(model(rows, 0.3)) > float(model(rows))


def test_norms_stand_after_each_sub_layer_or_before_it() -> None:
    after = tiny_generator()
    before = tiny_generator(norm="before")
    width = after.network.config.d_model
    assert before.parameter_count() == after.parameter_count() + 4 * width  # one norm more at each end
    state = torch.randn(1, 5, width) * 30
    for model, bounded in ((after, True), (before, False)):
        out = model.network.model.encoder.layers[0](state, attention_mask=None)
        out = out if isinstance(out, torch.Tensor) else out[0]
        assert (float(out.std()) < 2) is bounded


def test_a_generator_that_reads_gains_by_its_history(tmp_path: Path) -> None:
    pairs = [(first, last) for first in ("dog", "sun", "job", "game") for last in ("ran", "won")]
    rows = [Row(context=[f"my {first} {last}"], reply=f"{first} {last}", intent=None) for first, last in pairs]
    model = tiny_generator(norm="before", dropout=0.0)
    encoded = model.encode([row.context for row in rows], [row.reply for row in rows], [None] * len(rows))
    assert history_gain(model, rows, 4) == pytest.approx(0, abs=0.05)
    options = OPTIONS.model_copy(update={"epochs": 150, "learning_rate": 1e-2, "batch_size": 8, "effective_batch": 8})
    result = train_model(lambda: model, TrainingRows(encoded, encoded), options, tmp_path / "model", QUIET)
    trained = ReplyGenerator.load(result.path)
    assert history_gain(trained, rows, 4) > 0.5
    alike = [Row(context=["the same"], reply=row.reply, intent=None) for row in rows]
    assert history_gain(trained, alike, 4) == 0


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("norm", ["after", "before"])
def test_a_saved_generator_is_the_same(tmp_path: Path, tied: bool, norm: str) -> None:
    model = tiny_generator(tied_embeddings=tied, norm=norm)
    found = ReplyGenerator.load(model.save(tmp_path / "model"))
    rows = rows_of(model)
    assert torch.equal(found(rows), model(rows))
    assert found.parameter_count() == model.parameter_count()
    assert found.tokenizer.intents == edos_labels()
    weights = {name: value * 2 for name, value in weights_of(model).items()}
    doubled = ReplyGenerator.load(model.save(tmp_path / "doubled", weights))
    assert torch.equal(found(rows), model(rows))
    assert not torch.equal(doubled(rows), model(rows))
    put_weights(model, weights)
    assert torch.equal(doubled(rows), model(rows))
    assert not [path for path in (tmp_path / "model").rglob("*") if path.suffix in (".bin", ".pt", ".pkl")]
    with pytest.raises(InputError, match="train one first"):
        ReplyGenerator.load(tmp_path)


def fitted(folder: Path, **told: object) -> TrainingResult:
    rows = rows_of(tiny_generator())
    context = TrainingContext(say=lambda line: None, **told)  # type: ignore[arg-type]
    return train_model(tiny_generator, TrainingRows(rows[:5], rows[3:]), OPTIONS, folder, context)


def test_a_killed_training_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    whole = fitted(tmp_path / "whole")

    def kill(epoch: EpochMetrics) -> None:
        if epoch.epoch == 3:
            raise KeyboardInterrupt

    kept = tmp_path / "checkpoints"
    with pytest.raises(KeyboardInterrupt):
        fitted(tmp_path / "killed", on_epoch=kill, checkpoints=kept)
    told: list[int] = []
    again = fitted(tmp_path / "again", on_epoch=lambda epoch: told.append(epoch.epoch), checkpoints=kept)
    assert told == [3, 4]
    for name in ("network/model.safetensors",):
        before = load_file(whole.path / name)
        after = load_file(again.path / name)
        assert before.keys() == after.keys()
        assert all(torch.equal(before[key], after[key]) for key in before)
    assert whole.history[-1].validation_loss < whole.history[0].validation_loss


def test_rows_come_back_from_their_shards(tmp_path: Path) -> None:
    rows = rows_of(tiny_generator())
    write_rows(rows, ReplyGenerator.schema, tmp_path / "rows", shard_rows=4)
    assert read_rows(tmp_path / "rows", ReplyGenerator) == rows
    assert len(list((tmp_path / "rows").iterdir())) == 2


@pytest.mark.slow
def test_two_processes_make_the_updates_of_one(spark: SparkSession, tmp_path: Path) -> None:
    def start() -> ReplyGenerator:
        return tiny_generator(dropout=0.0)

    options = OPTIONS.model_copy(update={"epochs": 2})
    rows = rows_of(start())
    given = TrainingRows(rows[:5], rows[3:])
    one = train_model(start, given, options, tmp_path / "one", QUIET)
    settings = load_settings("local", [], {"training.processes": 2})
    run = stage_run(spark, settings, tmp_path / "models")
    context = TrainingContext(checkpoints=tmp_path / "checkpoints")
    two = train_in_processes(run, start, given, options, tmp_path / "two", context)
    ours = ReplyGenerator.load(one.path)
    theirs = ReplyGenerator.load(two.path)
    for mine, other in zip(one.history, two.history, strict=True):
        assert other.train_loss == pytest.approx(mine.train_loss, abs=1e-4)
        assert other.validation_loss == pytest.approx(mine.validation_loss, abs=1e-4)
    assert float(theirs(rows)) == pytest.approx(float(ours(rows)), abs=1e-3)
    assert two.options == options
    assert not (tmp_path / "checkpoints").exists()
