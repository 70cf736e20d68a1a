"""What was measured of borders and labels has one source."""

from etl.publishing.dataset_card import measured_limits
from tests.pages import PAGES


def test_readme_says_the_limits_of_cards_and_reports() -> None:
    for limit in measured_limits():
        assert f"- {limit}\n" in PAGES["README.md"]
