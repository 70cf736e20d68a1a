"""Generators in executors: a request that fails has its error, and the others their answers."""

from pathlib import Path

from pyspark.sql import SparkSession

from etl.replies.settings import ReplyDecoding
from tests.udfs.reply_generators import rows_of, tiny_generator
from udfs.models.language.reply_decoding import write_replies
from udfs.replies import generate_replies, score_replies

REQUESTS = "request_id string, source string, context array<string>, expected string, intent string"
HOW = ReplyDecoding(method="greedy", max_new_tokens=5)


def test_what_fails_has_its_error_and_the_rest_their_answers(spark: SparkSession, tmp_path: Path) -> None:
    model = tiny_generator().eval()
    path = str(model.save(tmp_path / "model"))
    given = [
        ("a", "os", ["so ?", "my dog ran away"], "oh no , i am sorry", None),
        ("b", "os", [], "yes", None),
        ("c", "edos", ["so ?"], "yes", "hangry"),
        ("d", "edos", ["so ?"], "how nice", "sad"),
    ]
    requests = spark.createDataFrame(given, REQUESTS)
    found = {
        row.request_id: row
        for row in generate_replies(requests, path, HOW, batch_size=2, threads=1, partitions=2).collect()
    }
    wanted = write_replies(model, [given[0][2], given[3][2]], [None, "sad"], HOW, 2)
    for key, written in zip("ad", wanted, strict=True):
        assert (found[key].reply, found[key].tokens, found[key].error) == (written.text, written.tokens, None)
    assert (found["b"].reply, found["b"].tokens) == (None, None)
    assert found["b"].context == []
    assert found["b"].error == "InputError: a reply needs at least one turn before it"
    assert found["c"].error.startswith("InputError: intent 'hangry' is not known")
    scored = {
        row.request_id: row for row in score_replies(requests, path, batch_size=2, threads=1, partitions=1).collect()
    }
    (row,) = rows_of(model, [("my dog ran away", "oh no , i am sorry")])
    assert scored["a"].nats == round(model.nats([row], 2)[0], 4)
    assert (scored["a"].words, scored["a"].tokens) == (6, len(row.reply))
    assert scored["b"].nats is None
    assert scored["b"].words is None
    assert scored["b"].source == "os"
