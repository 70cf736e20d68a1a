"""What a card and a report say of the subtitles that a set was made from."""

import pytest

from etl.edos.card import card
from etl.edos.findings import EdosFindings
from etl.edos.origins import Origins
from etl.edos.report import report
from etl.edos.settings import PublishingSettings
from etl.publishing.dataset_card import measured_limits

OWN = Origins(opus=False, forms=("srt", "vtt"), numbered=False, named=True)
OF_OPUS = ("OPUS", "OpenSubtitles", "opensubtitles", "IMDb", "v2018")


@pytest.mark.parametrize("text", ["included", "references"])
def test_a_card_of_own_files_names_no_opus(text: str) -> None:
    findings = EdosFindings({}, origins=OWN)
    publishing = PublishingSettings(text=text)
    whole = card(findings, publishing, rows={"train": 2}, films={"train": 1}, languages=("en",))
    told = whole.partition("## Restoring")[0] + whole.partition("## Labels")[2]
    assert [word for word in OF_OPUS if word in told] == []
    assert "`file:` and the name of its file" in told
    assert "were read from subtitle files of the set's makers (srt, vtt)." in told
    assert "| validation | 0 | – |" in told
    assert "no film is in validation and test" in told
    assert "welivita2021edos" in told


def test_a_card_of_opus_says_so() -> None:
    told = card(EdosFindings({}), PublishingSettings(), rows={"train": 2}, languages=("en",))
    assert "were read from OPUS OpenSubtitles." in told
    assert "| movie_id | the film's IMDb number |" in told
    assert "lison2016opensubtitles" in told


def test_both_are_named_where_both_were_read() -> None:
    both = Origins(opus=True, forms=("srt",), numbered=True, named=True)
    assert both.source == "OPUS OpenSubtitles and subtitle files of the set's makers (srt)"
    assert both.film.startswith("the film's IMDb number; `file:`")


def test_a_report_of_own_files_names_no_opus() -> None:
    page = report(EdosFindings({}, origins=OWN))
    assert [word for word in OF_OPUS if word in page] == []
    assert "The texts have copyright owners. Share" in page
    assert "they come from OpenSubtitles through OPUS" in report(EdosFindings({}))


def test_what_was_measured_stands_in_card_and_report() -> None:
    findings = EdosFindings({})
    told = card(findings, PublishingSettings(), rows={"train": 2}, languages=("en",))
    page = report(findings)
    for limit in measured_limits():
        assert limit in told
        assert limit.replace("`", "") in page
