"""How replies are found: beams, the likeliest token, chance; and what a line is answered with."""

import io
from pathlib import Path

import pytest
import torch

from conf.errors import InputError
from etl.cli.command_line import main
from etl.cli.reply_shell import Conversation
from etl.replies.settings import ReplyDecoding
from etl.safety.answers import danger_answer, state_answer, withheld_reply
from tests.udfs.reply_generators import LINES, tiny_generator
from udfs.models.language.reply_decoding import Written, write_replies
from udfs.models.language.reply_generator import ReplyGenerator

CONTEXTS = [[said] for said, _ in LINES]
NONE = [None] * len(LINES)


@pytest.fixture(scope="module")
def model() -> ReplyGenerator:
    """Random weights large enough that its distributions are uneven."""
    generator = tiny_generator(seed=5).eval()
    with torch.no_grad():
        for value in generator.parameters():
            value.mul_(6 if value.dim() > 1 else 1)
    return generator


def decoding(**more: object) -> ReplyDecoding:
    return ReplyDecoding(**{"max_new_tokens": 12, "beams": 8, **more})  # type: ignore[arg-type]


def log_likelihood(model: ReplyGenerator, context: list[str], ids: list[int]) -> float:
    (read,) = model.tokenizer.contexts([context], model.max_tokens)
    begun = torch.tensor([[model.tokenizer.start_of(None), *ids[:-1]]])
    with torch.no_grad():
        logits = model.network(input_ids=torch.tensor([read]), decoder_input_ids=begun).logits[0]
    logits[:, model.tokenizer.unwritten] = float("-inf")
    return float(torch.log_softmax(logits, -1)[range(len(ids)), ids].sum())


def test_greedy_takes_the_likeliest_token_each_time(model: ReplyGenerator) -> None:
    greedy = decoding(method="greedy", blocked_ngrams=0)
    found = write_replies(model, CONTEXTS, NONE, greedy, 4)
    for context, written in zip(CONTEXTS, found, strict=True):
        (read,) = model.tokenizer.contexts([context], model.max_tokens)
        ids = [model.tokenizer.start_of(None)]
        while len(ids) <= 12 and ids[-1] != model.tokenizer.end:
            with torch.no_grad():
                said = model.network(input_ids=torch.tensor([read]), decoder_input_ids=torch.tensor([ids]))
            logits = said.logits[0, -1]
            logits[model.tokenizer.unwritten] = float("-inf")
            ids.append(int(logits.argmax()))
        assert written.text == model.tokenizer.text(ids[1:])
        assert written.tokens == len(ids) - 1


def test_beams_find_likelier_replies_than_greed(model: ReplyGenerator) -> None:
    def mean(method: str) -> float:
        how = decoding(method=method, blocked_ngrams=0, length_penalty=0.0, max_new_tokens=5, beams=32)
        ids = [reply.ids for reply in write_replies(model, CONTEXTS, NONE, how, 8)]
        return sum(log_likelihood(model, *pair) for pair in zip(CONTEXTS, ids, strict=True))

    assert mean("beam") >= mean("greedy") - 1e-3


@pytest.mark.parametrize("method", ["beam", "greedy"])
def test_no_four_tokens_stand_twice_in_a_reply(model: ReplyGenerator, method: str) -> None:
    def repeats(blocked: int) -> int:
        how = decoding(method=method, blocked_ngrams=blocked, max_new_tokens=22)
        rows = [tuple(reply.ids) for reply in write_replies(model, CONTEXTS, NONE, how, 4)]
        grams = [[row[n : n + 4] for n in range(len(row) - 3)] for row in rows]
        return sum(len(some) - len(set(some)) for some in grams)

    assert repeats(4) == 0
    if method == "greedy":
        assert repeats(0) > 0


@pytest.mark.parametrize("method", ["beam", "greedy", "top_p"])
def test_a_reply_does_not_depend_on_its_neighbours(model: ReplyGenerator, method: str) -> None:
    how = decoding(method=method, top_p=0.95, temperature=2.0)
    seeds = list(range(len(CONTEXTS)))
    together = write_replies(model, CONTEXTS, NONE, how, 4, seeds)
    assert together[2:3] == write_replies(model, CONTEXTS[2:3], [None], how, 8, seeds[2:3])
    if method == "top_p":
        assert together != write_replies(model, CONTEXTS, NONE, how, 4, [seed + 9 for seed in seeds])


def test_an_intent_is_where_a_reply_begins(model: ReplyGenerator) -> None:
    greedy = decoding(method="greedy")
    asked = write_replies(model, CONTEXTS[:1] * 3, ["sad", "questioning", None], greedy, 4)
    assert len({one.text for one in asked}) == 3
    with pytest.raises(InputError, match="intent 'sadd' is not known"):
        write_replies(model, CONTEXTS[:1], ["sadd"], greedy, 4)
    with pytest.raises(InputError, match="at least one turn"):
        write_replies(model, [[]], [None], greedy, 4)


def test_typed_lines_are_answered(
    model: ReplyGenerator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model.steered = True
    uri = f"file:{model.save(tmp_path / 'steered')}"
    typed = io.StringIO(
        f"my dog ran away\n\n{'sun ' * 10_000}\n/intent hangry\n/intent SAD\nso ?\n/new\n/what\n/quit\n x\n"
    )
    settings = ["--set", f"lakehouse.root={tmp_path}", "replies.decoding.beams=2", "replies.decoding.max_new_tokens=5"]
    settings.append("safety.encoder=null")
    monkeypatch.setattr("sys.stdin", typed)
    assert main(["reply", "--model", uri, "--intent", "Consoling", *settings]) == 0
    warning, hint, *said = (line.removeprefix("> ") for line in capsys.readouterr().out.splitlines())
    assert "only the phrases are used" in warning
    assert hint.startswith("Type a line.")
    assert said[0].startswith("(consoling) ")
    assert said[1] == "! nothing was said: type a line, or /quit"
    assert said[2].startswith("(consoling) ")
    assert said[2].endswith("[only the last 24 tokens were read]")
    assert said[3].startswith("! intent 'hangry' is not known: choose one of afraid, ")
    assert said[4] == "intent: sad"
    assert said[5].startswith("(sad) ")
    assert said[6] == "forgotten"
    assert said[7].startswith("Type a line.")
    assert said[8:] == [""]


def test_a_command_that_cannot_be_done_says_why(
    model: ReplyGenerator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("hello\n"))
    model.steered = False
    plain = f"file:{model.save(tmp_path / 'plain')}"
    root = ["--set", f"lakehouse.root={tmp_path}", "safety.encoder=null"]
    assert main(["reply", "--model", plain, "--intent", "consoling", *root]) == 2
    assert "was not trained with intents" in capsys.readouterr().err
    assert main(["reply", "--model", plain, "--intent", "hangry", *root]) == 2
    assert "intent 'hangry' is not known" in capsys.readouterr().err
    assert main(["reply", "--model", "models:/nobody@champion", *root]) == 2
    assert "train it first" in capsys.readouterr().err


def test_what_was_said_is_remembered(model: ReplyGenerator) -> None:
    model.steered = True
    conversation = Conversation(model, decoding(method="greedy"), intent=" Sad ")
    first = conversation.answer("so ?")
    again = conversation.answer("so ?")
    assert first.startswith("(sad) ")
    assert len(conversation.turns) == 4
    assert conversation.turns[0] == "so ?"
    assert Conversation(model, decoding(method="greedy"), intent="sad").answer("so ?") == first
    assert again == f"(sad) {conversation.turns[3] or '...'}"


def test_no_reply_is_generated_after_a_line_of_danger(model: ReplyGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = Conversation(model, decoding(method="greedy"))
    conversation.answer("hello")
    monkeypatch.setattr("etl.cli.reply_shell.write_replies", lambda *some: pytest.fail("a model was asked"))
    assert conversation.answer("I want to die") == danger_answer()
    assert conversation.answer("/new") == "forgotten"
    assert conversation.answer("hello again") == state_answer()


def test_a_harmful_reply_is_withheld(model: ReplyGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = Conversation(model, decoding(method="greedy"))
    monkeypatch.setattr("etl.cli.reply_shell.write_replies", lambda *some: [Written("you should kill yourself", [1])])
    assert conversation.answer("hello") == withheld_reply()
    assert conversation.turns == []
