"""Figures for Prometheus: read back by its own parser from the file, and received by a gateway."""

from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from conf.errors import InputError
from conf.settings import load_settings
from etl.extras.metrics import StageFigures, observer
from etl.pipeline.lineage import StageEvent, StageLog
from jobs import all_stages

parser = pytest.importorskip("prometheus_client.parser")
pytestmark = pytest.mark.slow
STARTED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def event(stage: str, kind: str, minute: int = 0, **facts: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(StageEvent.__dataclass_fields__)
    own = {"stage": stage, "event": kind, "run_id": "r", "started": STARTED.replace(minute=minute), "seconds": 60.0}
    return nothing | own | facts


COUNTS = {"rows_in": 10, "rows_out": 6, "rows_dropped": 3, "rows_quarantined": 1, "task_seconds": 100.5}
ROWS = [
    event("ingest_subtitles", "started"),
    event("ingest_subtitles", "done", 1, **COUNTS),
    event("choose_uploads", "done", 1, rows_in=5, rows_out=5),
    event("choose_uploads", "failed", 2, run_id="s", detail="canary-word"),
    event("score_turns", "started", 3),
]


def logs() -> dict[str, StageLog]:
    log = StageLog(SimpleNamespace(rows=lambda table: ROWS))  # type: ignore[arg-type]
    return dict.fromkeys((stage.name for stage in all_stages()), log)


def figures(place: str, **more: object) -> StageFigures:
    return observer(place, SimpleNamespace(settings=load_settings("local", [], more)))  # type: ignore[arg-type]


def read_back(text: str) -> dict[tuple[str, ...], float]:
    return {
        (one.name.removeprefix("edos_lakehouse_stage_"), *one.labels.values()): one.value
        for family in parser.text_string_to_metric_families(text)
        for one in family.samples
    }


def test_the_file_has_the_figures_of_every_stage_that_ran(tmp_path: Path) -> None:
    place = tmp_path / "new" / "edos.prom"
    figures(str(place)).closed(logs())
    found = read_back(place.read_text())
    ended = STARTED.replace(minute=2).timestamp()
    assert {key[1:]: value for key, value in found.items() if key[0] == "rows" and "ingest_subtitles" in key} == {
        ("in", "", "ingest_subtitles"): 10,
        ("out", "", "ingest_subtitles"): 6,
        ("dropped", "", "ingest_subtitles"): 3,
        ("quarantined", "", "ingest_subtitles"): 1,
    }
    by_stage = {key: value for key, value in found.items() if key[0] not in ("rows", "runs", "state")}
    assert by_stage == {
        ("finished_timestamp_seconds", "", "ingest_subtitles"): ended,
        ("finished_timestamp_seconds", "", "choose_uploads"): ended,
        ("duration_seconds", "", "ingest_subtitles"): 60,
        ("duration_seconds", "", "choose_uploads"): 60,
        ("task_seconds", "", "ingest_subtitles"): 100.5,
    }
    states = {key[1:]: value for key, value in found.items() if key[0] == "state" and value}
    assert set(states) == {
        ("", "ingest_subtitles", "done"),
        ("", "choose_uploads", "failed"),
        ("", "score_turns", "stopped"),
    }
    assert found["runs", "failed", "", "choose_uploads"] == 1
    assert found["runs", "done", "", "choose_uploads"] == 1
    assert "canary-word" not in place.read_text()
    figures(str(place)).closed(logs())
    assert read_back(place.read_text()) == found
    assert [path.name for path in place.parent.iterdir()] == ["edos.prom"]


class Gateway(BaseHTTPRequestHandler):
    received: ClassVar[list[tuple[str, bytes]]] = []

    def do_PUT(self) -> None:
        self.received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def gateway() -> Iterator[str]:
    one = HTTPServer(("127.0.0.1", 0), Gateway)
    Thread(target=one.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{one.server_port}"
    one.shutdown()
    one.server_close()


def test_a_gateway_receives_them_apart_for_each_set(gateway: str) -> None:
    for own in ("", "pilot"):
        figures(gateway, **{"lakehouse.set": own}).closed(logs())
    assert [path for path, _ in Gateway.received] == [
        "/metrics/job/edos-lakehouse",
        "/metrics/job/edos-lakehouse/set/pilot",
    ]
    assert read_back(Gateway.received[0][1].decode())["rows", "in", "", "ingest_subtitles"] == 10


@pytest.mark.parametrize("place", ["s3://bucket/edos.prom", "dbfs:/edos.prom", "statsd://host:8125"])
def test_a_place_in_a_store_is_refused_before_the_run(place: str) -> None:
    with pytest.raises(InputError, match="neither a local file nor"):
        figures(place)
