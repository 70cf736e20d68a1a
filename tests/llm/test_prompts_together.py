"""Prompts of one plot follow each other, an error that all share stops a stage soon, and fields follow the server."""

import json
from collections import OrderedDict
from itertools import chain, zip_longest
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.llm_settings import DecodingSettings, LlmSettings, ServerSettings
from conf.settings import load_settings
from etl.llm.model_stages import _say_what_the_server_did
from etl.llm.requests import distinct_requests, with_requests
from etl.pipeline.incremental import plan_batches
from etl.pipeline.model_loader import ResolvedModel
from etl.pipeline.stages import Incremental
from jobs import all_stages
from tests.llm_servers import RecordedServer, asking
from udfs.generate import TRIED, answers_of, generate_answers, source_of, spread, used_parameters
from udfs.llm_kinds import ModelSource
from udfs.llm_requests import TOGETHER, UNAVAILABLE, Answer, Request

GREEDY = DecodingSettings(max_new_tokens=20)
CACHE = 380
"""Plots whose computation a server keeps."""
PLOTS = 2_000
ACTORS = 15
TASKS = 8


def hits(groups: list[str]) -> float:
    """Return the share of prompts whose plot is in a cache of the last ones used."""
    kept: OrderedDict[str, None] = OrderedDict()
    found = 0
    for group in groups:
        found += group in kept
        kept[group] = None
        kept.move_to_end(group)
        if len(kept) > CACHE:
            kept.popitem(last=False)
    return found / len(groups)


def sent(requests: DataFrame, incremental: Incremental, grouped: bool) -> list[str]:
    """Return the plots of prompts as a server gets them: batch by batch, the tasks in turns."""
    batches = plan_batches(requests, incremental, core_minutes=TASKS * 10, a_minute=75)
    assert batches.count > 4
    order: list[str] = []
    for number in sorted(batches.work):
        batch = requests.where(batches.number_of(incremental) == number)
        tasks = spread(batch, TASKS) if grouped else batch.repartition(TASKS, "request_id")
        rows = tasks.select(TOGETHER, F.spark_partition_id().alias("task")).collect()
        queues = [[row.together for row in rows if row.task == task] for task in range(TASKS)]
        order += [plot for plot in chain.from_iterable(zip_longest(*queues)) if plot is not None]
    return order


def test_a_cache_of_plots_is_hit_by_most_prompts(spark: SparkSession) -> None:
    units = spark.range(PLOTS * ACTORS).select(
        F.concat(F.lit("p"), F.floor(F.col("id") / ACTORS)).alias("plot_id"), F.col("id").cast("string").alias("said")
    )
    prompts = with_requests(units, F.concat_ws(" ", "plot_id", "said"), GREEDY, together=F.col("plot_id"))
    asked = distinct_requests(prompts).cache()
    before = hits(sent(asked, Incremental("request_id"), grouped=False))
    after = hits(sent(asked, Incremental("request_id", together=TOGETHER), grouped=True))
    asked.unpersist()
    print(f"prompts whose plot is among the last {CACHE}: {before:.2f} ungrouped, {after:.2f} grouped")
    assert before < 0.25
    assert after > 0.9


def test_a_request_that_two_units_share_is_in_one_batch(spark: SparkSession) -> None:
    units = spark.createDataFrame([("b", "p"), ("a", "p"), ("c", "q")], "plot_id string, said string")
    found = distinct_requests(with_requests(units, F.col("said"), GREEDY, together=F.col("plot_id")))
    assert sorted(row.together for row in found.collect()) == ["a", "c"]


def test_batches_are_sized_by_what_the_model_does() -> None:
    (rule,) = (stage.incremental for stage in all_stages() if stage.name == "emo_pillars_ask_utterances")
    assert rule is not None
    local, served = (rule.a_minute({"generator": ResolvedModel(None, identity)}) for identity in ("gguf:x", "openai:x"))
    assert (local, served) == (10, 300)


class Refusing:
    """A generator that fails on some prompts."""

    def __init__(self, fails: Any) -> None:
        self.fails = fails
        self.asked = 0

    def answers(self, requests: Any, decoding: Any) -> list[Answer]:
        self.asked += len(requests)
        return [
            Answer(None, error="refused: unknown field seed") if self.fails(one.prompt) else Answer(one.prompt)
            for one in requests
        ]


def frame(number: int) -> pd.DataFrame:
    rows = [("x" * (1 + place % 50), "", f"h{place}", place) for place in range(number)]
    return pd.DataFrame(rows, columns=["prompt", "answer_start", "prompt_hash", "sample"]).assign(
        parameters=GREEDY.text()
    )


def test_an_error_that_all_share_stops_after_a_few() -> None:
    refusing = Refusing(lambda prompt: True)
    answers, away = answers_of(refusing, frame(400))
    assert refusing.asked == TRIED
    assert away is not None
    assert "fail alike: refused: unknown field seed" in away
    assert len(answers) == 400
    assert all((answer.error or "").startswith(UNAVAILABLE) for answer in answers)


@pytest.mark.parametrize("number", [3, 2 * TRIED, 400])
def test_long_prompts_that_fail_stop_nothing(number: int) -> None:
    refusing = Refusing(lambda prompt: len(prompt) > 20)
    given = frame(number)
    answers, away = answers_of(refusing, given)
    assert away is None
    assert refusing.asked == number
    for prompt, answer in zip(given["prompt"], answers, strict=True):
        assert answer.text == (None if len(prompt) > 20 else prompt)


def test_fields_that_a_server_refuses_are_left_out_and_others_added(spark: SparkSession) -> None:
    decoding = DecodingSettings(max_new_tokens=20, repetition_penalty=1.03, stop=("\n",))
    server = {
        "omitted": ("seed", "top_p", "repetition_penalty"),
        "extra_fields": '{"chat_template_kwargs": {"enable_thinking": false}}',
    }
    units = spark.createDataFrame([("p",)], "p string")
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}
    with RecordedServer(lambda body: {"response": {"model": "other", "choices": [choice]}}).running() as running:
        source = source_of("", "openai:recorded", LlmSettings(server=ServerSettings(url=running.url, **server)))
        asked = with_requests(units, F.col("p"), decoding)
        (row,) = generate_answers(distinct_requests(asked), source, 1).collect()
    (body,) = running.asked
    assert not {"seed", "top_p", "repetition_penalty"} & set(body)
    assert (body["temperature"], body["stop"]) == (0.0, ["\n"])
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    stored = json.loads(row.parameters)
    assert stored["not_sent"] == ["seed", "repetition_penalty"]
    assert stored["extra_fields"] == {"chat_template_kwargs": {"enable_thinking": False}}
    assert (row.text, row.model, stored["answered_by"]) == ("yes", "openai:recorded", "other")
    said: list[str] = []
    answers = spark.createDataFrame([(row.model, row.parameters)], "model string, parameters string")
    _say_what_the_server_did(answers, row.model, SimpleNamespace(say=said.append))  # type: ignore[arg-type]
    assert said == ["1 answers are by other, as the server says, which was asked for openai:recorded"]
    assert row.request_id == asked.first().request_id  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("identity", "dialect", "penalty", "not_sent"),
    [
        ("openai:m", "openai", 1.03, ["repetition_penalty"]),
        ("openai:m", "openai", 1.0, None),
        ("openai:m", "vllm", 1.03, None),
        ("gguf:m", "openai", 1.03, None),
    ],
)
def test_a_penalty_that_a_server_does_not_know_is_said(identity, dialect, penalty, not_sent) -> None:
    source = ModelSource("", identity, LlmSettings(server=ServerSettings(dialect=dialect)))
    parameters = DecodingSettings(repetition_penalty=penalty).text()
    stored = used_parameters(source, parameters)
    assert json.loads(stored).get("not_sent") == not_sent
    assert not_sent is not None or stored == parameters


@pytest.mark.parametrize("fields", ["[1]", "{", '{"seed": 3}'])
def test_extra_fields_that_are_none_are_refused(fields: str) -> None:
    with pytest.raises(InputError, match="extra_fields"):
        load_settings("local", [], {"llm.server.extra_fields": fields})


@pytest.mark.parametrize(
    ("counted", "most"),
    [({"response": {"count": 60}}, 40), ({"response": {"tokens": [1] * 70}}, 30), ((404, "no such path"), 96)],
)
def test_prompts_are_counted_in_the_servers_tokens(counted: Any, most: int) -> None:
    decoding = DecodingSettings(max_new_tokens=1_500, max_total_tokens=100, chat=False)
    with RecordedServer(lambda body: "x" if "max_tokens" in body else counted).running() as running:
        generator = asking("recorded", ServerSettings(url=running.url))
        answers = generator.answers([Request("four words are here")], decoding)
        answers += generator.answers([Request("four words are here")], decoding)
    assert [answer.text for answer in answers] == ["x", "x"]
    assert [body["max_tokens"] for body in running.asked if "max_tokens" in body] == [most, most]
    assert len(running.asked) == (3 if most == 96 else 4)  # who does not count is not asked again
