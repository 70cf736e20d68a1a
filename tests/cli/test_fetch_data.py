"""``python -m jobs fetch-data``, against a server on this machine."""

import gzip
import hashlib
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from conf import resources
from conf.errors import InputError
from conf.settings import load_settings
from etl.cli import fetch_data
from etl.cli.command_line import main
from etl.cli.fetch_data import Wanted, data_sets

VOTES = b"Count,Dialog\n" + b"1,What a day .\n" * 5_000
LINES = "Utterance,Speaker\nWo warst du\u2009?,Ana\n".encode()
KNOWN = f"""
votes:
  holds: votes
  licence: CC BY 4.0
  commercial: true
  cite: Nobody (2026)
  address: https://authors.invalid/votes
  files:
    - name: votes.csv
      path: Data/1. Votes.csv
      bytes: {len(VOTES)}
      sha256: {hashlib.sha256(VOTES).hexdigest()}
  settings:
    edos.crowd_votes: ["{{folder}}/votes.csv"]
lines:
  holds: lines
  licence: CC BY-NC 4.0
  commercial: false
  cite: Somebody (2026)
  address: https://authors.invalid/lines
  files:
    - name: lines.csv
      path: lines.csv
      bytes: {len(LINES)}
      sha256: {hashlib.sha256(LINES).hexdigest()}
  settings:
    subtitles.turn_examples: ["{{folder}}"]
films:
  holds: films
  licence: none
  commercial: true
  cite: Everybody (2026)
  address: https://authors.invalid/films
  files:
    - name: "{{language}}.zip"
      path: "xml/{{language}}.zip"
  settings:
    subtitles.sources: ["{{folder}}/{{language}}.zip"]
    subtitles.languages: ["{{language}}"]
"""


class Server(ThreadingHTTPServer):
    """A server of files that breaks off, fails and refuses as it is told.

    Attributes:
        files: content by path.
        break_after: bytes after which each of the next answers ends, in order.
        fail: statuses of the next answers, in order.
        ranges: the ranges that were asked for.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.break_after: list[int] = []
        self.fail: list[int] = []
        self.ranges: list[str | None] = []
        self.takes_ranges = True

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        content = self.server.files.get(self.path)
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        if self.server.fail or content is None:
            self.send_error(self.server.fail.pop(0) if self.server.fail else 404)
            return
        found = re.fullmatch(r"bytes=(\d+)-", asked or "")
        start = int(found[1]) if found and self.server.takes_ranges else 0
        if start and start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        most = self.server.break_after.pop(0) if self.server.break_after else len(content)
        self.wfile.write(content[start : start + most])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(resources, "text", lambda name: KNOWN)
    monkeypatch.setattr(fetch_data.time, "sleep", lambda seconds: None)
    one = Server()
    one.files = {"/votes/votes.csv": VOTES, "/lines/lines.csv": LINES, "/films/de.zip": b"PK" + bytes(5_000)}
    thread = threading.Thread(target=one.serve_forever, daemon=True)
    thread.start()
    yield one
    one.shutdown()
    one.server_close()


def fetched(server: Server, folder: Path, *names: str, **more: object) -> list[str]:
    said: list[str] = []
    values = {"address": server.address, "accept": True, **more}
    assert fetch_data.fetch_data(Wanted(names, folder, folder / "settings.yaml", **values), said.append) == 0  # type: ignore[arg-type]
    return said


def test_files_come_with_settings_that_name_them(server: Server, tmp_path: Path) -> None:
    said = fetched(server, tmp_path, "votes", "lines")
    assert said[0] == "votes: votes; 0.1 MB\n  licence: CC BY 4.0; cite Nobody (2026)"
    assert (tmp_path / "votes" / "votes.csv").read_bytes() == VOTES
    fetched(server, tmp_path, "films", language="de")
    settings = load_settings("local", [str(tmp_path / "settings.yaml")])
    assert settings.edos.crowd_votes == (f"{tmp_path}/votes/votes.csv",)
    assert settings.subtitles.turn_examples == (f"{tmp_path}/lines",)
    assert settings.subtitles.sources == (f"{tmp_path}/films/de.zip",)
    assert settings.subtitles.languages == ("de",)
    assert not list(tmp_path.rglob("*.part"))


def test_what_is_at_hand_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    fetched(server, tmp_path, "votes")
    asked = len(server.ranges)
    said = fetched(server, tmp_path, "votes", "votes")
    assert said[1].endswith("votes.csv: at hand")
    assert len(server.ranges) == asked
    (tmp_path / "votes" / "votes.csv").write_bytes(b"damaged")
    fetched(server, tmp_path, "votes")
    assert (tmp_path / "votes" / "votes.csv").read_bytes() == VOTES


def test_a_file_that_broke_off_goes_on(server: Server, tmp_path: Path) -> None:
    server.break_after = [1_000, 2_000]
    server.fail = []
    fetched(server, tmp_path, "votes")
    assert server.ranges == [None, "bytes=1000-", "bytes=3000-"]
    assert (tmp_path / "votes" / "votes.csv").read_bytes() == VOTES


def test_a_call_that_was_killed_goes_on(server: Server, tmp_path: Path) -> None:
    (tmp_path / "votes").mkdir()
    (tmp_path / "votes" / "votes.csv.part").write_bytes(VOTES[:700])
    fetched(server, tmp_path, "votes")
    assert server.ranges == ["bytes=700-"]


def test_a_server_that_knows_no_ranges_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.takes_ranges = False
    server.break_after = [1_000]
    fetched(server, tmp_path, "votes")
    assert (tmp_path / "votes" / "votes.csv").read_bytes() == VOTES


@pytest.mark.parametrize("statuses", [[500], [503, 429], [408]])
def test_a_server_that_fails_for_a_while_is_asked_again(server: Server, tmp_path: Path, statuses: list[int]) -> None:
    server.fail = list(statuses)
    fetched(server, tmp_path, "votes")
    assert len(server.ranges) == len(statuses) + 1


@pytest.mark.parametrize(
    ("statuses", "broken", "message"),
    [
        ([404], [], "404 Not Found; --from FOLDER takes a copy"),
        ([403], [], "403 Forbidden"),
        ([503] * 9, [], "cannot be fetched .503 Service Unavailable.: run again to go on"),
        ([], [10] * 9, "cannot be fetched .50 of 75,013 bytes came."),
    ],
)
def test_a_server_that_fails_is_told(
    server: Server, tmp_path: Path, statuses: list[int], broken: list[int], message: str
) -> None:
    server.fail = statuses
    server.break_after = broken
    with pytest.raises(InputError, match=message):
        fetched(server, tmp_path, "votes")
    assert not (tmp_path / "votes" / "votes.csv").exists()
    assert not (tmp_path / "settings.yaml").exists()


@pytest.mark.parametrize("content", [b"<html>Sign in</html>", VOTES[:-1] + b"!", VOTES + b"more", b""])
def test_another_file_than_the_pinned_one_is_refused(server: Server, tmp_path: Path, content: bytes) -> None:
    server.files["/votes/votes.csv"] = content
    with pytest.raises(InputError, match=r"is not the pinned file|bytes came"):
        fetched(server, tmp_path, "votes")
    assert not (tmp_path / "votes" / "votes.csv").exists()


def test_a_part_of_another_file_is_thrown_away(server: Server, tmp_path: Path) -> None:
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "de.zip.part").write_bytes(bytes(9_000))
    said = fetched(server, tmp_path, "films", language="de")
    content = server.files["/films/de.zip"]
    assert (tmp_path / "films" / "de.zip").read_bytes() == content
    assert said[1].endswith(f"fetched, not pinned: sha256 {hashlib.sha256(content).hexdigest()}")


@pytest.mark.parametrize(
    ("place", "content", "right"),
    [
        ("votes.csv", VOTES, True),
        ("deep/er/Votes.CSV.gz", gzip.compress(VOTES), True),
        ("renamed.data", VOTES, True),
        ("1. Votes.csv", VOTES, True),
        ("votes.csv", VOTES[:-1], False),
        ("votes.csv.gz", gzip.compress(VOTES)[:-20], False),
    ],
)
def test_files_on_disk_are_found_by_their_content(
    server: Server, tmp_path: Path, place: str, content: bytes, right: bool
) -> None:
    there = tmp_path / "mine" / place
    there.parent.mkdir(parents=True)
    there.write_bytes(content)
    out = tmp_path / "data"
    if right:
        fetched(server, out, "votes", source=tmp_path / "mine")
        assert (out / "votes" / "votes.csv").read_bytes() == VOTES
    else:
        with pytest.raises(InputError, match=r"votes\.csv of the pinned content is not below"):
            fetched(server, out, "votes", source=tmp_path / "mine")
    assert server.ranges == []


def test_what_is_not_for_commercial_use_asks_first(server: Server, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^lines: not for commercial use.*--accept"):
        fetched(server, tmp_path, "votes", "lines", accept=False)
    assert server.ranges == []


@pytest.mark.parametrize(
    ("names", "more", "message"),
    [
        (("vote",), {}, "knows no vote: it has votes, lines, films"),
        (("films",), {"language": "../de"}, "--language ../de: OPUS names languages"),
        (("votes",), {"source": Path("nowhere")}, "--from nowhere is no folder"),
        (("votes",), {"address": "http://example.org"}, "only https addresses"),
        (("votes",), {"address": "file:///etc"}, "only https addresses"),
    ],
)
def test_bad_requests_are_one_line(
    server: Server, tmp_path: Path, names: tuple[str, ...], more: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        fetched(server, tmp_path, *names, **more)


def test_a_settings_file_of_another_hand_stays(server: Server, tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text("lakehouse: {root: mine}\n")
    with pytest.raises(InputError, match="was not written by fetch-data: name another file by --write"):
        fetched(server, tmp_path, "votes")
    assert (tmp_path / "settings.yaml").read_text() == "lakehouse: {root: mine}\n"


def test_a_full_disk_is_told_before(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_data, "SPARE", 10**18)
    with pytest.raises(InputError, match="do not fit on the disk"):
        fetched(server, tmp_path, "votes")


def test_the_command_lists_and_fetches(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["fetch-data"]) == 0
    assert "films: films; size told when it begins" in capsys.readouterr().out
    assert main(["fetch-data", "votes", "--address", server.address]) == 0
    assert "python -m jobs run --config data/settings.yaml --config my.yaml" in capsys.readouterr().out
    assert yaml.safe_load((tmp_path / "data" / "settings.yaml").read_text()) == {
        "edos": {"crowd_votes": ["data/votes/votes.csv"]}
    }


def test_what_can_be_fetched_is_pinned_and_read_by_known_settings() -> None:
    for one in data_sets("de").values():
        assert one.address.startswith("https://")
        assert one.licence
        values = {key: fetch_data._in_folder(value, "data") for key, value in one.settings.items()}
        load_settings("local", [], values)
        if one.name == "opensubtitles":
            assert [file.path for file in one.files] == ["xml/de.zip"]
            continue
        assert re.search(r"/[0-9a-f]{40}$", one.address), "a commit, not a branch"
        for file in one.files:
            assert re.fullmatch(r"[0-9a-f]{64}", file.sha256 or "")
            assert (file.size or 0) > 10_000


def test_the_shared_copies_are_the_pinned_ones(shared_data: Path, tmp_path: Path) -> None:
    names = ("meld", "emorynlp")
    wanted = Wanted(names, tmp_path, tmp_path / "settings.yaml", source=shared_data, accept=True)
    assert fetch_data.fetch_data(wanted, lambda line: None) == 0
    assert (tmp_path / "meld" / "train_sent_emo.csv").is_file()
