"""The reports in a real browser: at three widths, light and dark, and printed."""

import base64
import functools
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from etl.analysis import augesc_report, edos_report, emo_pillars_report
from etl.analysis.findings import Findings
from tests.analysis import test_augesc_report, test_emo_pillars_report, test_report

pytest.importorskip("axe_core_python", reason="axe-core-python is not installed (pip install '.[dev]')")
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed (pip install '.[dev]')")
from selenium.webdriver.common.by import By  # noqa: E402

WIDTHS = (390, 1100, 1920)


def many_examples() -> list[dict[str, Any]]:
    """Forty dialogues of two turns; every fifth is about a boat."""
    return [
        {
            "lowest_confidence_from": number % 4 / 4,
            "place": number // 4 + 1,
            "dialogue_id": f"d{number}",
            "movie_id": "1",
            "turn": turn,
            "text": "I sold my boat ." if number % 5 == 0 else "It rains .",
            "label": ("sad", "questioning")[turn - 1],
            "confidence": 0.4,
        }
        for number in range(40)
        for turn in (1, 2)
    ]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The address of each report."""
    folder = tmp_path_factory.mktemp("reports")
    sentences = [
        {
            "dialogue_id": f"d{number}",
            "source_path": "en.zip!OpenSubtitles/xml/en/1999/9004650/6000616.xml",
            "turn": 1,
            "sentence": 7,
            "start_ms": 61_000,
            "text": "I sold my boat .",
        }
        for number in range(40)
    ]
    views = {**test_report.FULL, "edos_examples": many_examples(), "edos_example_sentences": sentences}
    pages = {
        "edos": edos_report.report(Findings(views)),
        "emo_pillars": emo_pillars_report.report(Findings(test_emo_pillars_report.FULL)),
        "augesc": augesc_report.report(Findings(test_augesc_report.FULL)),
    }
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in pages}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    binary = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no chromium with chromedriver on the path (Debian: apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    browser.set_script_timeout(180)
    yield browser
    browser.quit()


def opened(browser: Any, address: str, width: int, scheme: str = "light") -> Any:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    wanted = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})
    browser.get("about:blank")
    browser.get(address)
    return browser


@functools.cache
def axe_script() -> str:
    return files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (WIDTHS[0], "light"),
        (WIDTHS[1], "dark"),
        (WIDTHS[2], "light"),
        *(
            pytest.param(width, scheme, marks=pytest.mark.slow)
            for width, scheme in zip(WIDTHS, ("dark", "light", "dark"), strict=True)
        ),
    ],
)
@pytest.mark.parametrize("name", ["edos", "emo_pillars", "augesc"])
def test_no_report_has_a_fault(chromium: Any, reports: dict[str, str], name: str, width: int, scheme: str) -> None:
    browser = opened(chromium, reports[name], width, scheme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    for folded in browser.find_elements(By.TAG_NAME, "details"):
        browser.execute_script("arguments[0].open = true", folded)
    browser.execute_script(axe_script())
    found = browser.execute_async_script("axe.run(document).then(arguments[0])")
    told = [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found["violations"]]
    assert not told, told
    assert len(found["passes"]) > 10
    severe = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert not severe, severe


def test_wide_screens_are_used_and_narrow_ones_suffice(chromium: Any, reports: dict[str, str]) -> None:
    widths = {}
    for width in WIDTHS:
        browser = opened(chromium, reports["edos"], width)
        widths[width] = browser.find_element(By.CSS_SELECTOR, "#steps table").rect["width"]
    assert widths[1920] > 1300
    assert widths[390] <= 390 - 2 * 16


def test_a_report_is_printed_as_a_whole_and_light(chromium: Any, reports: dict[str, str], tmp_path: Path) -> None:
    browser = opened(chromium, reports["edos"], 1100, "dark")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not browser.find_element(By.TAG_NAME, "nav").is_displayed()
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(255, 255, 255)"
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert all(one.get_attribute("open") for one in browser.find_elements(By.TAG_NAME, "details"))
    printed = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    assert printed.startswith(b"%PDF")
    assert printed.count(b"/Type /Page\n") >= 3
