"""``python -m jobs fetch-data``, against a server on this machine."""

import gzip
import hashlib
import re
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from conf import resources
from conf.errors import InputError
from conf.settings import load_settings
from etl.cli import fetch_data
from etl.cli.command_line import main
from etl.cli.fetch_data import data_sets, in_folder, unpacked

VOTES = b"Count,Dialog\n" + b"1,What a day .\n" * 5_000
LINES = "Utterance,Speaker\nWo warst du\u2009?,Ana\n".encode()
KNOWN = f"""
votes:
  holds: votes
  licence: CC BY 4.0
  commercial: true
  cite: Nobody (2026)
  address: ADDRESS/votes
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
  address: ADDRESS/lines
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
  address: ADDRESS/films
  files:
    - name: "{{language}}.zip"
      path: "xml/{{language}}.zip"
  settings:
    subtitles.sources: ["{{folder}}/{{language}}.zip"]
    subtitles.languages: ["{{language}}"]
"""


class Server(ThreadingHTTPServer):
    """A server of files.

    Attributes:
        files: content by path.
        asked: paths, in order.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {
            "/votes/Data/1.%20Votes.csv": VOTES,
            "/lines/lines.csv": LINES,
            "/films/xml/de.zip": b"PK" + bytes(5_000),
        }
        self.asked: list[str] = []


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        content = self.server.files.get(self.path)
        self.server.asked.append(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    one = Server()
    text = KNOWN.replace("ADDRESS", f"http://127.0.0.1:{one.server_port}")
    monkeypatch.setattr(resources, "text", lambda name: text)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    threading.Thread(target=one.serve_forever, args=(0.01,), daemon=True).start()
    yield one
    one.shutdown()
    one.server_close()


def fetched(folder: Path, *names: str, **more: Any) -> list[str]:
    said: list[str] = []
    assert fetch_data.fetch_data(names, folder, **{"accept": True, "say": said.append} | more) == 0
    return said


def test_files_come_with_settings_that_name_them(server: Server, tmp_path: Path) -> None:
    said = fetched(tmp_path, "votes", "lines")
    assert said[0] == "votes: votes; 0.1 MB\n  licence: CC BY 4.0; cite Nobody (2026)"
    assert (tmp_path / "votes" / "votes.csv").read_bytes() == VOTES
    said = fetched(tmp_path, "films", language="de")
    assert said[1].endswith(hashlib.sha256(server.files["/films/xml/de.zip"]).hexdigest())
    settings = load_settings("local", [str(tmp_path / "settings.yaml")])
    assert settings.edos.crowd_votes == (f"{tmp_path}/votes/votes.csv",)
    assert settings.subtitles.turn_examples == (f"{tmp_path}/lines",)
    assert settings.subtitles.sources == (f"{tmp_path}/films/de.zip",)
    assert settings.subtitles.languages == ("de",)


def test_what_is_at_hand_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    fetched(tmp_path, "votes")
    said = fetched(tmp_path, "votes", "votes")
    assert said[1].endswith("votes.csv: at hand")
    assert len(server.asked) == 1
    (tmp_path / "votes" / "votes.csv").write_bytes(b"damaged")
    fetched(tmp_path, "votes")
    assert (tmp_path / "votes" / "votes.csv").read_bytes() == VOTES


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "404 .*--from FOLDER uses a copy on disk"),
        (b"<html>Sign in</html>", "votes.csv"),
        (VOTES[:-1] + b"!", "votes.csv"),
    ],
)
def test_another_file_than_the_pinned_one_is_refused(
    server: Server, tmp_path: Path, content: bytes | None, message: str
) -> None:
    server.files = {} if content is None else {"/votes/Data/1.%20Votes.csv": content}
    with pytest.raises(InputError, match=message):
        fetched(tmp_path, "votes")
    assert not (tmp_path / "votes" / "votes.csv").exists()
    assert not (tmp_path / "settings.yaml").exists()


@pytest.mark.parametrize(
    ("place", "content", "right"),
    [
        ("votes.csv", VOTES, True),
        ("deep/er/votes.csv.gz", gzip.compress(VOTES), True),
        ("1. Votes.csv", VOTES, True),
        ("votes.csv", VOTES[:-1], False),
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
        fetched(out, "votes", source=tmp_path / "mine")
        assert (out / "votes" / "votes.csv").read_bytes() == VOTES
    else:
        with pytest.raises(InputError, match=r"votes\.csv of the pinned content is not below"):
            fetched(out, "votes", source=tmp_path / "mine")
    assert server.asked == []


@pytest.mark.parametrize(
    ("names", "more", "message"),
    [
        (("vote",), {}, "does not know vote: it has votes, lines, films"),
        (("films",), {"language": "../de"}, "--language ../de: OPUS names languages"),
        (("votes", "lines"), {"accept": False}, "lines: not for commercial use"),
    ],
)
def test_bad_requests_are_one_line(
    server: Server, tmp_path: Path, names: tuple[str, ...], more: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        fetched(tmp_path, *names, **more)
    assert server.asked == []


def test_a_settings_file_of_another_hand_stays(server: Server, tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text("lakehouse: {root: mine}\n")
    with pytest.raises(InputError, match="was not written by fetch-data: name another file with --write"):
        fetched(tmp_path, "votes")
    assert (tmp_path / "settings.yaml").read_text() == "lakehouse: {root: mine}\n"


def test_the_command_lists_and_fetches(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["fetch-data"]) == 0
    assert "films: films; size told when it begins" in capsys.readouterr().out
    assert main(["fetch-data", "votes"]) == 0
    assert "python -m jobs run --config data/settings.yaml --config my.yaml" in capsys.readouterr().out
    assert yaml.safe_load((tmp_path / "data" / "settings.yaml").read_text()) == {
        "edos": {"crowd_votes": ["data/votes/votes.csv"]}
    }


def test_what_can_be_fetched_is_pinned_and_read_by_known_settings() -> None:
    for one in data_sets("de").values():
        load_settings("local", [], {key: in_folder(value, "data") for key, value in one.settings.items()})
        if one.name == "opensubtitles":
            assert [file.path for file in one.files] == ["xml/de.zip"]
            continue
        for file in one.files:
            address = one.address if not file.unpack else f"{one.address}/{file.path}"
            assert re.fullmatch(r"https://.*/[0-9a-f]{40}(/\w+)*", address), "a commit, not a branch"
            assert file.unpack or re.fullmatch(r"[0-9a-f]{64}", file.sha256 or "")


def test_the_shared_copies_are_the_pinned_ones(shared_data: Path, tmp_path: Path) -> None:
    fetched(tmp_path, "meld", "emorynlp", source=shared_data)
    assert (tmp_path / "meld" / "train_sent_emo.csv").is_file()
    (daily,) = data_sets()["dailydialog"].files
    packed = (shared_data / "dailydialog" / "reccon_dailydialog_train.json.gz").read_bytes()
    assert hashlib.sha256(gzip.decompress(packed)).hexdigest() == daily.sha256


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return path


def test_the_named_folders_of_a_zip_are_unpacked_beside_it(tmp_path: Path) -> None:
    members = {"Corpus-1/withSpkr/a/1.srt": b"one", "Corpus-1/pics/big.png": b"no", "Corpus-1/README.md": b"no"}
    assert unpacked(zipped(tmp_path / "corpus.zip", members), ("withSpkr",)) == 1
    assert (tmp_path / "withSpkr" / "a" / "1.srt").read_bytes() == b"one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.zip", "withSpkr"]


@pytest.mark.parametrize("name", ["Corpus-1/withSpkr/../../../evil.txt", "Corpus-1/withSpkr/..\\evil.txt"])
def test_a_zip_that_leads_out_of_its_folder_is_not_unpacked(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(InputError, match="leads out of its folder"):
        unpacked(zipped(tmp_path / "in" / "corpus.zip", {name: b"evil"}), ("withSpkr",))
    assert [path.name for path in tmp_path.rglob("*evil*")] == []


def test_a_damaged_zip_is_named(tmp_path: Path) -> None:
    (tmp_path / "corpus.zip").write_bytes(b"PK but no zip")
    with pytest.raises(InputError, match=r"corpus\.zip cannot be unpacked"):
        unpacked(tmp_path / "corpus.zip", ("withSpkr",))
