"""The choice among candidates: agreement with the others, the last turn, the asked intent."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from conf.reply_settings import ReplyDecoding
from tests.udfs.reply_generators import tiny_generator
from udfs.models.language.reply_decoding import write_replies
from udfs.models.reranking import Reranker

WORDS = ("dog", "cat", "rain", "sad")


class Encoder:
    """Counts words."""

    def embed(self, texts: Sequence[str], batch_size: int) -> Any:
        return np.array([[text.split().count(word) + 1e-6 for word in WORDS] for text in texts], dtype=np.float32)


class Classifier:
    """Reads sadness in the word alone."""

    labels = ("sad", "proud")

    def probabilities(self, rows: Sequence[Sequence[str]], batch_size: int) -> Any:
        sad = torch.tensor([float("sad" in row[-1]) for row in rows])
        return torch.stack([sad, 1 - sad], dim=1)


def reranker() -> Reranker:
    return Reranker(Encoder(), Classifier())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("context", "intent", "candidates", "best"),
    [
        (["my dog"], None, ["rain", "dog", "cat"], 1),  # it is about the last turn
        (["hm"], None, ["rain", "dog", "cat", "cat"], 2),  # the others agree, the first of equal ones
        (["my dog"], "sad", ["dog", "sad", "rain"], 1),  # it has the asked intent
        (["my dog"], "proud", ["sad", "dog", "rain"], 1),
        (["my dog"], None, ["", " ", "rain"], 2),  # text before none
    ],
)
def test_the_best_candidate(context: list[str], intent: str | None, candidates: list[str], best: int) -> None:
    assert reranker().best([context], [intent], [candidates], 1.0) == [best]


def test_each_history_has_its_own_candidates() -> None:
    given = [["rain", "dog"], ["rain", "dog"]]
    assert reranker().best([["my dog"], ["rain again"]], [None, None], given, 1.0) == [1, 0]


def test_a_reranked_reply_is_one_of_those_that_were_drawn() -> None:
    model = tiny_generator()
    how = ReplyDecoding(method="rerank", candidates=4, max_new_tokens=5)
    contexts = [["my dog ran away"], ["it rains again"]]
    found = write_replies(model, contexts, [None, None], how, 4, [1, 2], reranker())
    plain = how.model_copy(update={"method": "top_p"})
    for place, one in enumerate(found):
        drawn = write_replies(
            model, contexts[place : place + 1] * 4, [None] * 4, plain, 4, [(place + 1) * 4 + n for n in range(4)]
        )
        assert one in drawn
        assert len({each.text for each in drawn}) > 1
    assert found[1:] == write_replies(model, contexts[1:], [None], how, 4, [2], reranker())
