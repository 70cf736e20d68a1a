"""Every notebook: committed clean, opens on Databricks, its SQL fits the views, and it runs from top to bottom."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from etl.publishing import notebooks
from jobs import all_stages
from tests.stand_ins import StandIns

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
every = pytest.mark.parametrize("name", NAMES)


def code(name: str) -> list[str]:
    content = json.loads((FOLDER / f"{name}.ipynb").read_text("utf-8"))
    assert content["nbformat"] == 4
    assert content["metadata"]["language_info"]["name"] == "python"
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]


def run(name: str, **given: Any) -> list[Any]:
    """Run the cells as a notebook does, and return what each shows."""
    scope: dict[str, Any] = {"__name__": "__main__", **given}
    shown = []
    for cell in code(name):
        body = ast.parse(cell).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), name, "exec"), scope)
        if last is not None:
            shown.append(eval(compile(ast.Expression(last.value), name, "eval"), scope))
    return shown


class Stood:
    """A session whose SQL goes to stand-ins of the tables."""

    def __init__(self, stand_ins: StandIns) -> None:
        self.stand_ins = stand_ins

    def sql(self, query: str) -> Any:
        if query.startswith("SHOW TABLES"):
            return self.stand_ins.spark.sql(query.replace("edos", "default"))
        return self.stand_ins.spark.sql(self.stand_ins.sql(query))


def titles(figure: Any) -> tuple[str, str, str]:
    """Return a chart's title and those of its axes."""
    (axes,) = figure.axes
    return axes.get_title(), axes.get_xlabel(), axes.get_ylabel()


@every
def test_it_has_a_picture_with_a_title(name: str) -> None:
    calls = [
        node
        for cell in code(name)
        for node in ast.walk(ast.parse(cell))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("bars", "picture")
    ]
    assert calls
    for call in calls:
        title = call.args[3 if getattr(call.func, "id", "") == "bars" else 0]
        assert isinstance(title, ast.Constant | ast.JoinedStr)


def test_a_bar_chart_has_names_values_and_titles() -> None:
    frame = pd.DataFrame({"label": ["sad", "joyful", "none"], "turns": [3, 1.5, None]})
    figure = notebooks.bars(frame, "label", "turns", "Labels", "number of turns")
    assert titles(figure) == ("Labels", "number of turns", "label")
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["sad", "joyful"]
    assert [text.get_text() for text in figure.axes[0].texts] == ["3", "1.5"]
    assert notebooks.bars("not there yet", "label", "turns", "Labels", "turns") == "not there yet"
    assert notebooks.bars(frame[2:], "label", "turns", "Labels", "number of turns") == "Labels: no rows yet"


def test_a_line_chart_has_a_line_for_each_set() -> None:
    frame = pd.DataFrame({"data_set": ["ed", "ed", "reddit"], "sessions": [1, 2, 1], "unique_bigrams": [5, 7, 4]})
    figure = notebooks.lines(frame, "sessions", "unique_bigrams", "data_set", "Bigrams")
    assert titles(figure) == ("Bigrams", "sessions", "unique bigrams")
    assert [list(line.get_ydata()) for line in figure.axes[0].get_lines()] == [[5, 7], [4]]
    assert notebooks.lines("not there yet", "sessions", "unique_bigrams", "data_set", "Bigrams") == "not there yet"


def test_what_is_not_there_comes_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    class Absent:
        def sql(self, query: str) -> Any:
            raise RuntimeError(f"[{query}] The table or view cannot be found")

    monkeypatch.setattr(notebooks.Lakehouse, "register", lambda *_: None)
    monkeypatch.delenv("EDOS_ROOT", raising=False)
    tables = notebooks.Tables(Absent())  # type: ignore[arg-type]
    assert tables.shown("TABLE_OR_VIEW_NOT_FOUND", "a_stage").startswith(
        "not there yet: python -m jobs run --to a_stage "
    )
    with pytest.raises(RuntimeError):
        tables.shown("PARSE_SYNTAX_ERROR", "a_stage")


def test_texts_are_shown_to_their_end() -> None:
    text = "word " * 60
    with pd.option_context("display.max_colwidth", 50):
        notebooks.whole_texts()
        assert text.strip() in pd.DataFrame({"text": [text]}).to_html()


def test_there_are_six_and_the_page_lists_them() -> None:
    assert len(NAMES) == 6
    page = (FOLDER / "README.md").read_text("utf-8")
    assert sorted(re.findall(r"^\| `(\w+)\.ipynb`", page, re.MULTILINE)) == NAMES


@every
def test_it_is_committed_without_outputs_and_compiles(name: str) -> None:
    content = json.loads((FOLDER / f"{name}.ipynb").read_text("utf-8"))
    for cell in content["cells"]:
        assert cell["cell_type"] == "markdown" or (not cell["outputs"] and cell["execution_count"] is None)
    for cell in code(name):
        compile(cell, name, "exec")


@every
def test_the_stages_that_it_names_exist(name: str) -> None:
    known = {stage.name for stage in all_stages()}
    named = {match for cell in code(name) for match in re.findall(r'"((?:emo_pillars|augesc)_\w+)"\)', cell)}
    assert named <= known, named - known


@pytest.mark.parametrize("name", ["first_look", "emo_pillars", "augesc"])
def test_it_runs_where_a_session_is_given(
    name: str, spark: SparkSession, stand_ins: StandIns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebooks.Lakehouse, "register", lambda *_: None)
    stand_ins.give("ops.dropped", spark.sql("SELECT 'clean_dialogues' AS stage, 'turn' AS unit, 'too_long' AS reason"))
    shown = run(name, spark=Stood(stand_ins))
    frames = [one for one in shown if isinstance(one, pd.DataFrame)]
    assert len(frames) >= 6
    if name == "first_look":
        assert any("too_long" in frame.to_string() for frame in frames)
    else:
        assert any("paper" in column for frame in frames for column in frame.columns)


def test_trainings_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from conf.settings import load_settings
    from etl.training.registry import model_store
    from etl.training.tracking import tracked_run

    monkeypatch.setenv("EDOS_ROOT", str(tmp_path))
    store = model_store(load_settings("local", [], {"lakehouse.root": str(tmp_path)}))
    for seed, f1 in ((13, 0.5), (14, 0.9)):
        tags = {"kind": "dialogue_classifier", "data.edos.training_dialogues": f"abc:{seed}"}
        with tracked_run(store, "crowd", {"seed": seed, "epochs": 2}, tags) as tracked:
            tracked.log_metrics({"macro_f1": f1}, "held_out_")
            tracked.log_classes([{"label": label, "f1": f1 * share} for label, share in (("sad", 1), ("joy", 0.1))])
    client = store.client()
    client.create_registered_model("m")
    version = client.create_model_version("m", str(tmp_path), run_id=tracked.run_id, tags={"promotion": "was first"})
    client.set_registered_model_alias("m", "champion", version.version)
    by_figure, figures, runs, read, by_class, classes, champions = run("comparing_runs")
    assert titles(by_figure) == ("Trainings by macro-F1 on held-out rows", "macro-F1, from 0 to 1", "run")
    assert by_class.axes[0].get_title().startswith("F1 by class of crowd, ")
    assert list(runs["run"]) == ["crowd", "crowd"]
    assert "seed" in figures.columns
    assert "epochs" not in figures.columns
    assert set(figures["macro_f1"]) == {0.5, 0.9}
    assert {"edos.training_dialogues v13-abc", "edos.training_dialogues v14-abc"} == set(read["inputs"])
    assert list(classes.index) == ["sad", "joy"]
    assert abs(classes.loc["sad", "difference"]) == pytest.approx(0.4)
    assert list(champions["reason"]) == ["was first"]


def test_tables_are_read_without_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import deltalake
    import pyarrow as pa

    monkeypatch.setenv("EDOS_ROOT", str(tmp_path))
    turn = {"text": "Hello .", "label": "sad", "confidence": 0.5}
    turns = pa.array([[turn, turn]], pa.list_(pa.struct({"text": "string", "label": "string", "confidence": "float"})))
    spoken = pa.array(
        [[{"start_ms": 0, "end_ms": 1, "sentence_first": place, "sentence_last": place} for place in (0, 1)]]
    )
    key = {"dialogue_id": ["7-0"], "movie_id": ["1"]}
    source = {"year": [1999], "genres": [["Drama"]], "language": ["en"], "release": ["v1"], "source_path": ["x.xml"]}
    certain = {
        "certainties": [[0.9, 0.8]],
        "borders": [["silence", "model"]],
        "border_certainties": [[1.0, 0.9]],
        "speakers": pa.array([[None, None]], pa.list_(pa.string())),
        "certainty": [0.7],
    }
    accepted = {"accepted": [[True, False]]}
    weak = {"dialogue_id": ["7-0"], "turn": [0], "label": ["joy"], "confidence": [0.9]}
    dropped = {"stage": ["s"], "unit": ["turn"], "reason": ["too_long"], "id": ["1"], "detail": [""]}
    for name, columns in {
        "edos/dialogues": {**key, **accepted, "turns": turns},
        "edos/weak_labels": weak,
        "ops/dropped": dropped,
        "subtitles/clean_dialogues": {**key, **source, **certain, "turns": spoken},
    }.items():
        deltalake.write_deltalake(str(tmp_path / name), pa.table(columns))
    chart, labels, reasons, head, (version, _), rows = run("without_spark")[:6]
    assert titles(chart) == ("The ten most frequent labels", "turns", "label")
    assert labels.values.tolist() == [["sad", 2, 0.5]]
    assert list(reasons["reason"]) == ["too_long"]
    assert list(head["dialogue_id"]) == ["7-0"]
    assert (version, rows) == (0, 1)
