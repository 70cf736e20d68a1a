"""One way from a path to a URI and back."""

import sqlite3
from pathlib import Path

import pytest

from conf.places import file_uri, is_uri, local_path, sqlite_uri
from etl.pipeline.model_loader import model_folder
from udfs.opus.files import local_path as source_path

NAMES = (
    "a b",
    "Téléch argéments",
    "日本",
    "e\u0301",
    "a#b",
    "q?x=1",
    "{a}",
    "a%20b",
    "%C3%A9",
    "100%",
    "[x]y",
    "a\\b",
    "`t`",
    "it's",
    "a:b",
    "a&b;c",
    "$HOME",
    "-x",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_path_survives_the_way_to_its_uri_and_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert local_path(file_uri(path)) == str(path)
    path.mkdir()
    assert local_path(file_uri(path)) == str(path)
    assert local_path(f"file:{path}") == str(path)
    assert source_path(str(path)) == source_path(f"file:{path}") == str(path)
    assert model_folder(f"file:{path}") == model_folder(f"file://{path}") == path


@pytest.mark.parametrize("name", NAMES)
def test_the_address_of_a_sqlite_file_names_that_file(tmp_path: Path, name: str) -> None:
    from sqlalchemy import create_engine, text

    folder = tmp_path / name
    folder.mkdir()
    engine = create_engine(sqlite_uri(folder / "m.db"))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE t (a int)"))
    engine.dispose()
    assert sqlite3.connect(folder / "m.db").execute("SELECT name FROM sqlite_master").fetchall() == [("t",)]


@pytest.mark.parametrize(
    ("place", "uri"),
    [
        ("s3://bucket/a b", True),
        ("dbfs:/x", True),
        ("file:/x", True),
        ("a:b/c", False),
        ("/a:b", False),
        ("C#1/x", False),
    ],
)
def test_a_scheme_is_followed_by_a_slash(place: str, uri: bool) -> None:
    assert is_uri(place) is uri


def test_a_store_has_no_local_path() -> None:
    assert local_path("s3://bucket/a b") is None
    assert local_path("dbfs:/lake") is None
