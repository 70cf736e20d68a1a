"""From plots to contextual examples with a server that answers in all styles: nothing lost or invented."""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conf.settings import load_settings
from etl.pipeline.planner import PipelineContext, chosen
from etl.tables import TABLES, Table
from jobs import all_stages
from tests.llm_servers import RecordedServer, Reply, prompt_of
from tests.stages import run_stages

pytestmark = [pytest.mark.usefixtures("tables"), pytest.mark.slow]

MUSING = 'Zounds, let me ponder: 1. The Goat (no person) (fear) "I am a draft" joy 0.9.'
FINAL = "<|start|>assistant<|channel|>final<|message|>"
STYLES = (
    "plain",
    "thought",
    "closing_tag_alone",
    "cut_off_in_thought",
    "channels",
    "fenced_json",
    "bare_json",
    "marks",
    "refusal",
    "no_content",
    "thought_apart",
    "cut_off",
)
SILENT = ("cut_off_in_thought", "refusal", "no_content")
"""Styles whose answers give nothing."""
NAMES = ("Orla Finch", "Bram Quist", "Tilda Roe", "Osric Vale", "Nell Harrow", "Piers Lund", "Greta Moss", "Abel Stone")
TRADES = ("baker", "pilot", "clerk", "miller", "smith", "nurse", "painter", "warden")
WORDS = ("anchor", "bridge", "candle", "door", "engine", "feather", "garden", "hammer", "island", "jacket", "kettle")
EMOTIONS = ("fear", "joy", "sadness", "anger", "surprise")


def number(*keys: str) -> int:
    return int(hashlib.sha256("/".join(keys).encode()).hexdigest()[:12], 16)


def words(key: str) -> str:
    """Seven words that depend on a key."""
    return " ".join(WORDS[number(key, str(place)) % len(WORDS)] for place in range(7))


def plots(total: int) -> str:
    lines = ["title,plot"]
    for n in range(total):
        cast = [f"{NAMES[(n + k) % 8]} the {TRADES[(n * 3 + k) % 8]}" for k in range(3)]
        story = f"In the year {n + 1800} this is the story of {cast[0]} and of {cast[1]}."
        text = f"{story} They look for {cast[2]} by the sea."
        lines.append(f'Story {n},"{text}"')
    return "\n".join(lines) + "\n"


def items_of(step: str, prompt: str) -> list[tuple[str, ...]]:
    """What a model would answer: one tuple an item."""
    if step == "actors":
        return re.findall(r"(?:of|for) ([A-Z][a-z]+ [A-Z][a-z]+) the (\w+)", prompt)
    if step == "utterances":
        key = hashlib.sha256(prompt.encode()).hexdigest()
        return [(emotion, f"We saw the {words(key + emotion)} again today.") for emotion in EMOTIONS[:3]]
    if step == "soft_labels":
        begun = re.findall(r'Your answer begins with "1\. (\w+)"', prompt)[0]
        return [(begun, "0.9"), (next(one for one in EMOTIONS if one != begun), "0.5")]
    key = hashlib.sha256(f"{step}{prompt}".encode()).hexdigest()
    if step == "rewrites":
        return [(f"So much for the {words(key)} then.",)]
    return [(f"They came past the {words(key)} at noon.",), (f"Then the {words(key + 'b')} was gone.",)]


FORMS = {
    "actors": "{0} ({1})",
    "utterances": '({0}) "{1}"',
    "soft_labels": "{0} ({1}) - it is said",
}
FIELDS = {"actors": ("name", "role"), "utterances": ("emotion", "utterance"), "soft_labels": ("label", "level")}
LISTS = {"actors": "characters", "utterances": "utterances", "soft_labels": "labels"}
PROSE = {"contexts": "context", "clean_contexts": "text", "rewrites": "utterance"}


def in_lines(step: str, items: list[tuple[str, ...]], mark: str = "") -> str:
    if step in PROSE:
        return " ".join(one[0] for one in items)
    return "\n".join(f"{place}. {mark}{FORMS[step].format(*one)}" for place, one in enumerate(items, start=1))


def in_json(step: str, items: list[tuple[str, ...]]) -> str:
    if step in PROSE:
        return json.dumps({PROSE[step]: in_lines(step, items)})
    rows = [dict(zip(FIELDS[step], one, strict=True)) for one in items]
    return json.dumps({LISTS[step]: rows})


def message(content: str | None, thought: str, finish: str) -> dict[str, Any]:
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": content, "reasoning_content": thought},
    }
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    whole = {"id": "1", "object": "chat.completion", "created": 0, "model": "recorded", "choices": [choice]}
    return {"response": {**whole, "usage": usage}}


def written(style: str, step: str, items: list[tuple[str, ...]]) -> Reply:
    """An answer with these items in a style."""
    lines = in_lines(step, items)
    if style == "cut_off":
        return {"text": f"{lines} And" if step in PROSE else f"{lines}\n{len(items) + 1}. (An", "finish": "length"}
    if style == "cut_off_in_thought":
        return {"text": f"<think>\n{MUSING}\n{lines}", "finish": "length"}
    if style == "no_content":
        return message(None, MUSING, "length")
    if style == "thought_apart":
        return message(lines, MUSING, "stop")
    return {
        "plain": lines,
        "thought": f"<think>\n{MUSING}\n</think>\n\n{lines}",
        "closing_tag_alone": f"{MUSING}\n</think>\n\n{lines}",
        "channels": f"<|channel|>analysis<|message|>{MUSING}<|end|>{FINAL}{lines}",
        "fenced_json": f"```json\n{in_json(step, items)}\n```",
        "bare_json": in_json(step, items),
        "marks": f"Here you go!\n\n{lines if step in PROSE else in_lines(step, items, '🌊 ')}",
        "refusal": "I'm sorry, but I cannot help with this request.",
    }[style]


STEPS = {
    "Name every character": "actors",
    "Take the part of this character": "utterances",
    "Which labels fit these words best": "soft_labels",
    "Tell, in plain prose": "contexts",
    "Take out such clauses": "clean_contexts",
    "Say it in other words": "rewrites",
}


class Mixed:
    """A server's answers, each in the style that its prompt's hash chooses.

    Attributes:
        said: the items by step, of the answers that give any.
        styles: the styles of each step.
    """

    def __init__(self) -> None:
        self.said: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        self.styles: dict[str, set[str]] = defaultdict(set)

    def reply(self, body: dict[str, Any]) -> Reply:
        prompt = prompt_of(body)
        step = next(step for words, step in STEPS.items() if words in prompt)
        style = STYLES[number(step, prompt) % len(STYLES)]
        items = items_of(step, prompt)
        self.styles[step].add(style)
        if style not in SILENT:
            self.said[step] += [(in_lines(step, items),)] if step in PROSE else items
        return written(style, step, items)


@pytest.fixture(scope="module")
def server() -> Mixed:
    return Mixed()


@pytest.fixture(scope="module")
def place(spark: SparkSession, server: Mixed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PipelineContext]:
    folder = tmp_path_factory.mktemp("trial")
    (folder / "plots.csv").write_text(plots(30), "utf-8")
    with RecordedServer(server.reply).running() as running:
        values = {
            "lakehouse.root": str(folder / "lakehouse"),
            "emo_pillars.plots": str(folder / "plots.csv"),
            "models.generator": "openai:recorded",
            "llm.server.url": running.url,
            "llm.server.dialect": "openai",
            "llm.server.retries": 5,
            "llm.server.concurrency": 4,
            "emo_pillars.context_share": 1.0,
            "pipeline.max_error_share": 0.5,
        }
        done = PipelineContext(spark, load_settings("local", [], values))
        wanted = chosen(all_stages(), to="emo_pillars_contextual_examples")
        run_stages(done, [stage for stage in wanted if stage.name.startswith("emo_pillars_")])
        yield done


def rows(place: PipelineContext, name: str) -> list[Any]:
    return place.lakehouse.read(TABLES[name]).collect()


def test_every_step_was_answered_in_many_styles(place: PipelineContext, server: Mixed) -> None:
    assert set(server.styles) == set(STEPS.values())
    assert {style for styles in server.styles.values() for style in styles} == set(STYLES)
    assert all(len(styles) >= 8 for styles in server.styles.values()), server.styles


def test_what_was_said_is_read_and_nothing_else(place: PipelineContext, server: Mixed) -> None:
    assert sorted((row.name, row.description) for row in rows(place, "emo_pillars.actors")) == sorted(
        server.said["actors"]
    )
    assert sorted((row.raw_label, row.utterance) for row in rows(place, "emo_pillars.utterances")) == sorted(
        server.said["utterances"]
    )
    assert sorted((row.raw_label, f"{row.level:g}") for row in rows(place, "emo_pillars.soft_labels")) == sorted(
        server.said["soft_labels"]
    )
    for table, column in (("contexts", "context"), ("clean_contexts", "context"), ("rewrites", "rewritten")):
        read = sorted(row[column] for row in rows(place, f"emo_pillars.{table}"))
        assert read == sorted(text for (text,) in server.said[table]), table


def test_counts_add_up_at_every_stage(place: PipelineContext) -> None:
    done = [row for row in rows(place, "ops.stage_runs") if row.event == "done"]
    assert len(done) == 16
    for row in done:
        assert row.rows_in == row.rows_out + row.rows_dropped, row.stage
    reasons = {row.reason for row in rows(place, "ops.dropped")}
    assert {"cut_off_in_thought", "nothing_read", "model_failed"} <= reasons
    assert len(rows(place, "emo_pillars.contextual_examples")) == len(rows(place, "emo_pillars.rewrites"))
    assert len(rows(place, "emo_pillars.contextual_examples")) > 20


def test_no_thought_is_in_any_table(place: PipelineContext) -> None:
    written = [stage.writes for stage in chosen(all_stages(), to="emo_pillars_contextual_examples")]
    names = [table.name for table in written if isinstance(table, Table) and table.name.startswith("emo_pillars.")]
    assert len(names) == 10
    for name in [*names, "ops.dropped"]:
        found = [row for row in rows(place, name) if "Zounds" in str(row) or "Goat" in str(row)]
        assert not found, name
    asked = [f"llm.emo_pillars_{step}" for step in STEPS.values()]
    raw = [row for name in asked for row in rows(place, name)]
    assert any("Zounds" in (row.text or "") for row in raw)
    assert not [row for row in raw if row.text is None and "Zounds" in str(row.error)]
