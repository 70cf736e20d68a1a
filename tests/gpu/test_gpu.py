"""Run the checks and measurements of `make gpu` on the CPU with small models."""

from pathlib import Path

import pytest
import torch

from tests.gpu import __main__ as command
from tests.gpu.checks import Bench, Check, checked
from tests.gpu.models import PAPERS, TRIAL, histories, turns
from tests.gpu.speeds import Speed, embedded, labelled, matrix_speed


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(torch.device("cpu"), TRIAL, tmp_path, 100)


@pytest.mark.long
def test_every_check_holds_on_the_cpu(bench: Bench) -> None:
    found = list(checked(bench))
    wrong = [check for check in found if check.right is False]
    assert wrong == []
    assert sum(check.right is True for check in found) == 9


def test_speeds_are_those_of_the_rows_that_were_answered(bench: Bench) -> None:
    peak = matrix_speed(bench.device, torch.float32)
    embeddings = embedded(bench, "MiniLM", 0.1, peak)
    assert embeddings.ours > 0
    assert embeddings.theirs is not None
    assert 0 < (labelled(bench, "mpnet", 0.1, peak).share or 0) < 1


def test_models_have_the_papers_sizes() -> None:
    """MiniLM has 10.6 million parameters in its matrices, and a token takes two operations for each."""
    assert PAPERS["MiniLM"].operations(1) == 2 * 6 * (4 * 384**2 + 2 * 384 * 1536) == 2 * 10_616_832


def test_texts_are_as_long_as_turns_and_differ() -> None:
    found = turns(2_000)
    assert len(set(found)) == 2_000
    assert sum(len(text.split()) for text in found) / 2_000 == pytest.approx(13, abs=1)
    assert [len(dialogue) for dialogue in histories(5)] == [3] * 5


def test_a_page_keeps_what_was_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "gpu.md"
    page.write_text(f"# On a GPU\n\n{command.BEGIN}\n\nNot yet.\n\n{command.END}\n\n## Before\n")
    monkeypatch.setattr(command, "PAGE", page)
    command.write_page(["1", "2"])
    assert page.read_text() == f"# On a GPU\n\n{command.BEGIN}\n\n1\n2\n\n{command.END}\n\n## Before\n"


def test_tables_show_ratios_and_what_is_wrong() -> None:
    assert command.speed_lines([Speed("turns", 200.0, "turns/s", "theirs", 100.0, 0.25)])[-1] == (
        "| turns | 200 turns/s | theirs 100 | 2.00 | 25% |"
    )
    assert command.check_lines([Check("labels", "98% equal", "99%", False)])[-1] == (
        "| labels | 98% equal | 99% | **no** |"
    )


def test_the_page_has_the_place_of_the_measured_part() -> None:
    text = command.PAGE.read_text("utf-8")
    assert text.index(command.BEGIN) < text.index(command.END)
