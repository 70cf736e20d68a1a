"""Every view describes its columns, where its query is."""

from collections.abc import Mapping, Sequence
from functools import cache

import duckdb
import pytest

from conf.papers import meanings_in
from conf.taxonomy import load_taxonomy
from etl.pipeline.tables import TABLES
from etl.publishing.duckdb_sql import duckdb_view
from etl.publishing.views import all_views, read_view
from etl.publishing.without_spark import add_empty

VIEWS = all_views(load_taxonomy("edos"))
FILE = """-- Words of the lemmas,
-- each once.
--
-- word: word as it stands in the text
-- n: how often: of all words
--
-- lemma: this is a note.
SELECT word, count(*) AS n -- of all
FROM subtitles.lemmas GROUP BY word
"""


@cache
def real_columns() -> dict[str, list[str]]:
    """The names of each view's columns in their order, as DuckDB finds them over empty tables."""
    with duckdb.connect() as connection:
        for name in TABLES:
            add_empty(connection, name)
        found = {}
        for name, view in VIEWS.items():
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name.split('.')[0]}")
            connection.execute(f"CREATE VIEW {name} AS {duckdb_view(name, view.sql)}")
            found[name] = [str(row[0]) for row in connection.execute(f"DESCRIBE {name}").fetchall()]
    return found


def faults(meanings: Mapping[str, str], real: Sequence[str]) -> list[str]:
    """What is wrong with a description of columns."""
    found = [f"{name} has no meaning" for name in real if name not in meanings]
    found += [f"{name} is no column" for name in meanings if name not in real]
    if not found and list(meanings) != list(real):
        found.append(f"the order of the columns is {', '.join(real)}")
    said = {name: meaning.strip().lower() for name, meaning in meanings.items()}
    return found + [f"{name} is not explained" for name in said if said[name] in ("", name, name.replace("_", " "))]


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_describes_its_columns_in_their_order(name: str) -> None:
    assert faults(VIEWS[name].columns, real_columns()[name]) == []


@pytest.mark.parametrize(
    ("meanings", "said"),
    [
        ({"word": "in the text", "left_in": "times"}, []),
        ({"word": "in the text"}, ["left_in has no meaning"]),
        ({"word": "in the text", "left_in": "times", "n": "all"}, ["n is no column"]),
        ({"wrod": "in the text", "left_in": "times"}, ["word has no meaning", "wrod is no column"]),
        ({"left_in": "times", "word": "in the text"}, ["the order of the columns is word, left_in"]),
        ({"word": " ", "left_in": "Left in"}, ["word is not explained", "left_in is not explained"]),
    ],
)
def test_a_wrong_description_is_found(meanings: dict[str, str], said: list[str]) -> None:
    assert faults(meanings, ["word", "left_in"]) == said


def test_a_file_is_a_comment_meanings_notes_and_a_query() -> None:
    view = read_view(FILE, "analysis.words")
    assert view.comment == "Words of the lemmas, each once."
    assert view.columns == {"word": "word as it stands in the text", "n": "how often: of all words"}
    assert view.sql.startswith("SELECT word, count(*) AS n -- of all\n")


@pytest.mark.parametrize("line", ["n", "n:", "n: ", "n is how often", "- n: how often", "word: again"])
def test_a_line_that_is_no_meaning_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"analysis\.words: .* is not one column and its meaning"):
        meanings_in(["word: in the text", line], "analysis.words")
