"""OpenLineage events: what they say of a run, in a file and at a server."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest

from conf.errors import InputError
from conf.settings import LakehouseSettings, load_settings
from etl.edos.tables import INITIAL, WEAK_LABELS
from etl.extras.lineage import FACET, LineageEvents, observer, place_of
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.lineage import StageEvent, package_version
from etl.pipeline.model_loader import NO_MODEL, ResolvedModel
from etl.pipeline.planner import PipelineContext, StagePlan
from etl.pipeline.signatures import Received
from etl.pipeline.stages import Model, RowAccounting, Stage
from etl.pipeline.tables import Table
from etl.subtitles.tables import QUARANTINE
from tests.stages import untyped

pytestmark = pytest.mark.slow
PRODUCER = f"urn:edos-lakehouse:{package_version()}"
TABLE_ID = "3c1f8a52-9d3e-4b9e-8a5e-6a1c1e5b7d10"
STAGE = Stage(
    name="select_emotional",
    function=replace(untyped(lambda: None), received=(Received("edos.weak_label_examples"),)),
    module="jobs.edos.weak_labels",
    about="Choose dialogues.",
    reads=(WEAK_LABELS,),
    writes=INITIAL,
    quarantine=QUARANTINE,
    models=(Model("weak_labeler"), Model("self_labeler")),
    units=RowAccounting("dialogues"),
)
PLAN = StagePlan(
    "first run",
    "0123456789ab",
    {"edos.weak_labels": f"{TABLE_ID}:4"},
    "feed",
    {
        "weak_labeler": ResolvedModel(Path("m"), "models:/edos-weak-labeler/3#abc"),
        "self_labeler": ResolvedModel(Path(), NO_MODEL),
    },
)
DONE = StageEvent(
    stage=STAGE.name,
    run_id=PLAN.run_id,
    event="done",
    started=datetime.now(UTC),
    seconds=1.0,
    slices=1,
    unit="dialogues",
    rows_in=10,
    rows_out=6,
    rows_dropped=3,
    rows_quarantined=1,
    input_versions=PLAN.inputs,
    settings_hash="feed",
    stage_version=1,
    models={},
    output_version=f"{TABLE_ID}:7",
    package_version="0.1.0",
)


class House:
    """A lakehouse as far as events need it."""

    prefix = ""
    spark = SimpleNamespace(version="3.5.9")

    def __init__(self, settings: LakehouseSettings) -> None:
        self.settings = settings

    def path(self, table: Table) -> str:
        return Lakehouse.path(cast(Lakehouse, self), table)

    def own_name(self, table: Table) -> str:
        return Lakehouse.own_name(cast(Lakehouse, self), table)

    def identity(self, table: Table) -> str:
        return f"{table.name}:2"


def events_to(place: str, tmp_path: Path, **lakehouse: Any) -> LineageEvents:
    settings = load_settings("local", [], {"edos.weak_label_examples": str(tmp_path / "labels")})
    house = House(LakehouseSettings(**(lakehouse or {"root": "s3a://my-bucket/lakehouse"})))
    return observer(place, cast(PipelineContext, SimpleNamespace(settings=settings, lakehouse=house)))


def run(
    events: LineageEvents, result: StageEvent | BaseException, stage: Stage = STAGE, plan: StagePlan = PLAN
) -> None:
    events.started(stage, plan)
    events.finished(stage, plan, result)


def events_in(text: str) -> list[dict[str, Any]]:
    events = [json.loads(line) for line in text.splitlines()]
    assert {event["producer"] for event in events} == {PRODUCER}
    return events


def facet(dataset: dict[str, Any], name: str) -> Any:
    return dataset["facets"][name]


def test_a_run_has_an_event_at_its_start_and_its_end(tmp_path: Path) -> None:
    place = tmp_path / "new" / "events.jsonl"
    run(events_to(str(place), tmp_path), DONE)
    start, end = events_in(place.read_text())
    assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
    assert start["run"]["runId"] == end["run"]["runId"]
    assert (end["job"]["namespace"], end["job"]["name"]) == ("edos-lakehouse", "select_emotional")
    about = facet(end["run"], FACET)
    assert (about["rowsIn"], about["rowsOut"], about["rowsDropped"], about["rowsQuarantined"]) == (10, 6, 3, 1)
    assert (about["unit"], about["stageRunId"], about["settingsHash"]) == ("dialogues", "0123456789ab", "feed")
    versions = {(one["namespace"], one["name"]): facet(one, "version")["datasetVersion"] for one in end["inputs"][:2]}
    assert versions == {
        ("s3://my-bucket", "lakehouse/edos/weak_labels"): f"{TABLE_ID}:4",
        ("edos-lakehouse", "models.weak_labeler"): "models:/edos-weak-labeler/3#abc",
    }
    assert [(one["namespace"], one["name"]) for one in end["inputs"][2:]] == [("file", f"{tmp_path}/labels")]
    written = {one["name"]: one for one in end["outputs"]}
    assert list(written) == ["lakehouse/edos/initial", "lakehouse/ops/dropped", "lakehouse/subtitles/quarantine"]
    initial = written["lakehouse/edos/initial"]
    assert facet(initial, "version")["datasetVersion"] == f"{TABLE_ID}:7"
    assert initial["outputFacets"]["outputStatistics"]["rowCount"] == 6


def test_a_failure_is_an_event_without_secrets_and_the_next_attempt_another_run(tmp_path: Path) -> None:
    place = tmp_path / "events.jsonl"
    events = events_to(str(place), tmp_path)
    run(events, ArithmeticError("at https://someone:canary-word@example.org/x\nsecond line"))
    run(events, DONE)
    events.finished(STAGE, None, InputError("edos.weak_labels is not there"))
    assert "canary-word" not in place.read_text()
    _, failed, again, _, unplanned = events_in(place.read_text())
    assert failed["eventType"] == unplanned["eventType"] == "FAIL"
    assert "version" not in unplanned["inputs"][0]["facets"]
    assert again["run"]["runId"] != failed["run"]["runId"]
    message = facet(failed["run"], "errorMessage")["message"]
    assert message.startswith("ArithmeticError: at https://")
    assert "second line" not in message


def test_a_training_writes_a_model(tmp_path: Path) -> None:
    place = tmp_path / "events.jsonl"
    training = replace(STAGE, name="train_weak_labeler", writes=Model("weak_labeler"), models=())
    done = replace(DONE, output_version="models:/edos-weak-labeler/4#def", rows_dropped=0, rows_quarantined=0)
    events = events_to(str(place), tmp_path, catalog="main", schema_prefix="p_")
    run(events, done, training, replace(PLAN, models={}))
    end = events_in(place.read_text())[-1]
    (written,) = end["outputs"]
    assert written["name"] == "models.weak_labeler"
    assert facet(written, "version")["datasetVersion"] == "models:/edos-weak-labeler/4#def"
    assert end["inputs"][0]["name"] == "main.edos.weak_labels"


class Receiver(BaseHTTPRequestHandler):
    received: ClassVar[list[tuple[str, str | None, str]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.received.append((self.path, self.headers.get("Authorization"), body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    one = HTTPServer(("127.0.0.1", 0), Receiver)
    Thread(target=one.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{one.server_port}"
    one.shutdown()
    one.server_close()


def test_a_server_receives_events_with_the_key(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_API_KEY", "a-key-of-the-test")
    run(events_to(server, tmp_path), DONE)
    assert [(path, key) for path, key, _ in Receiver.received] == [("/api/v1/lineage", "Bearer a-key-of-the-test")] * 2
    assert [json.loads(body)["eventType"] for *_, body in Receiver.received] == ["START", "COMPLETE"]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("s3a://bucket/a/b", ("s3://bucket", "a/b")),
        ("s3://bucket", ("s3://bucket", "/")),
        ("abfss://lake@account.dfs.core.windows.net/x", ("abfss://lake@account.dfs.core.windows.net", "x")),
        ("file:///data/x", ("file", "/data/x")),
        ("/Volumes/main/raw", ("file", "/Volumes/main/raw")),
    ],
)
def test_places_are_named_as_the_standard_does(path: str, place: tuple[str, str]) -> None:
    assert place_of(path) == place
