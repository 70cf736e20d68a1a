"""The annotation page in a real browser: used by keyboard, reloaded, sent, and looked at as people see it."""

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from conf.taxonomy import load_taxonomy
from etl.annotation.page import page_of
from etl.edos.labelling import labelling_batch
from tests.annotation.batches import many_kinds, task
from udfs.answer_files import answers_in

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed (pip install '.[dev]')")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402


class Site(ThreadingHTTPServer):
    """Serves pages by path, and takes what they post."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.posted: list[dict[str, Any]] = []
        self.refuse = 0
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Site

    def _reply(self, status: int, content: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(content.encode())

    def do_GET(self) -> None:
        page = self.server.pages.get(self.path.partition("?")[0])
        self._reply(200 if page else 404, page or "")

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.refuse:
            self.server.refuse -= 1
            return self._reply(503)
        self.server.posted.append(json.loads(content))
        return self._reply(200)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    server = Site()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


@pytest.fixture(scope="module")
def chromium(downloads: Path) -> Iterator[Any]:
    binary = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no chromium with chromedriver on the path (Debian: apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en"):
        options.add_argument(argument)
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield browser
    browser.quit()


@pytest.fixture()
def browser(chromium: Any) -> Iterator[Any]:
    """The browser at a desktop's size; no script may have complained when the test is over."""
    sized(chromium, 1280, 800)
    yield chromium
    severe = [entry["message"] for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"]
    assert not [message for message in severe if "503" not in message and "favicon" not in message], severe


def sized(browser: Any, width: int, height: int) -> None:
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def soon(condition: Callable[[], Any]) -> Any:
    """What a condition gives once it gives something; fails after 20 seconds."""
    deadline = time.monotonic() + 20
    while not (found := condition()):
        assert time.monotonic() < deadline, condition
        time.sleep(0.05)
    return found


def press(browser: Any, *keys: str) -> None:
    for key in keys:
        browser.switch_to.active_element.send_keys(key)


def title(browser: Any) -> str:
    return str(browser.find_element(By.TAG_NAME, "h1").text)


def chosen(browser: Any) -> list[str]:
    return [one.get_attribute("value") for one in browser.find_elements(By.CSS_SELECTOR, "input:checked")]


def click(browser: Any, text: str) -> None:
    browser.find_element(By.XPATH, f"//button[normalize-space()='{text}']").click()


def labelling_page() -> str:
    tasks = [task(hit, place) for hit in ("h1", "h2") for place in range(1, 5)]
    return page_of(labelling_batch(tasks, load_taxonomy("edos")))


def downloaded(folder: Path, name: str) -> bytes:
    try:
        return bytes(soon(lambda: (folder / name).is_file() and (folder / name).read_bytes()))
    except AssertionError:
        there = sorted(path.name for path in folder.iterdir())
        raise AssertionError(f"{name} is not among {there}") from None


def test_a_hit_is_done_by_keyboard_and_survives_a_reload(browser: Any, site: Site, downloads: Path) -> None:
    site.pages["/keys"] = labelling_page()
    browser.get(f"{site.url}/keys#hit=h2")
    browser.find_element(By.ID, "worker").click()
    press(browser, Keys.ENTER)
    assert browser.find_element(By.ID, "error").text == "Enter your worker id first."
    press(browser, "=w 7", Keys.ENTER)
    assert title(browser) == "Dialog 1/4"
    asked = browser.find_elements(By.CSS_SELECTOR, ".lines li")
    assert [" ".join(line.text.split()) for line in asked] == [
        "Where were you?",
        "The statement asked about: I'm so sorry, number 1.",
    ]
    press(browser, Keys.ENTER)  # no answer yet
    assert browser.find_element(By.ID, "error").text == "Choose an answer first."
    assert title(browser) == "Dialog 1/4"
    press(browser, "1", Keys.ARROW_RIGHT, "3", Keys.ARROW_RIGHT)
    assert title(browser) == "Dialog 3/4"
    press(browser, "4", "Lon")  # Other, then the list by its first letters
    assert browser.find_element(By.ID, "label-list").get_attribute("value") == "lonely"
    browser.refresh()  # in the middle: no question, the same place, the same answers
    assert title(browser) == "Dialog 3/4"
    assert browser.find_element(By.ID, "label-list").get_attribute("value") == "lonely"
    press(browser, Keys.ARROW_LEFT)
    assert title(browser) == "Dialog 2/4"
    assert chosen(browser) == ["ashamed"]
    press(browser, "2", Keys.ENTER, Keys.ENTER, "1", Keys.ENTER)
    assert title(browser) == "4 of 4 answered. Thank you."
    click(browser, "Download answers")
    click(browser, "Download as a table (CSV)")
    content = downloaded(downloads, "answers-h2-_w_7.json")
    rows = list(answers_in("a.json", BytesIO(content)))
    assert [(row["item_id"], row["value"], row["other"]) for row in rows] == [
        ("ih21", "guilty", False),
        ("ih22", "sad", False),
        ("ih23", "lonely", True),
        ("ih24", "guilty", False),
    ]
    assert {(row["hit_id"], row["worker_id"]) for row in rows} == {("h2", "=w 7")}
    assert sum(row["seconds"] for row in rows) > 0
    table = downloaded(downloads, "answers-h2-_w_7.csv")
    assert b'"\'=w 7"' in table
    keys = ("item_id", "value", "other", "worker_id", "seconds")
    from_table = list(answers_in("a.csv", BytesIO(table)))
    assert [[row[key] for key in keys] for row in from_table] == [[row[key] for key in keys] for row in rows]


def test_two_workers_do_not_see_each_other_and_a_wrong_hit_is_named(browser: Any, site: Site) -> None:
    site.pages["/two"] = labelling_page()
    for worker in ("ann", "bob"):
        browser.get(f"{site.url}/two?{worker}#hit=h1&worker={worker}")
        assert browser.find_element(By.ID, "worker").get_attribute("value") == worker
        press(browser, Keys.TAB)
        click(browser, "Start")
        assert chosen(browser) == []
        assert title(browser) == "Dialog 1/4"
        press(browser, "2", Keys.ENTER)
    browser.get(f"{site.url}/two?x#hit=h99")
    assert browser.find_element(By.ID, "error").text == "There is no task h99 in this batch."


def test_the_tutorial_opens_and_closes_by_keyboard(browser: Any, site: Site) -> None:
    site.pages["/tutorial"] = labelling_page()
    browser.get(f"{site.url}/tutorial#hit=h1&worker=w")
    click(browser, "Start")
    examples = browser.find_element(By.CSS_SELECTOR, ".examples")
    assert [one.text for one in examples.find_elements(By.TAG_NAME, "dt")] == ["Guilty", "Sad", "Ashamed"]
    press(browser, "t")
    assert len(browser.find_elements(By.CSS_SELECTOR, "dialog[open] dt")) == 41
    press(browser, "1")  # not for what lies behind
    assert chosen(browser) == []
    press(browser, Keys.ESCAPE)
    assert not browser.find_elements(By.CSS_SELECTOR, "dialog[open]")
    press(browser, "1")
    assert chosen(browser) == ["guilty"]


def test_every_kind_of_question_and_sending(browser: Any, site: Site) -> None:
    site.pages["/kinds"] = page_of(many_kinds(f"{site.url}/answers"))
    browser.get(f"{site.url}/kinds#hit=h1&worker=w")
    click(browser, "Start")
    for item in (1, 2):
        hidden = browser.find_element(By.CSS_SELECTOR, ".hidden-part")
        assert not hidden.is_displayed()
        assert browser.find_element(By.CSS_SELECTOR, "[aria-describedby=fluency-note] .note").text.startswith("0 is")
        assert browser.find_element(By.CLASS_NAME, "part").text == "The whole"
        if item == 1:
            click(browser, "Show")
            assert hidden.text == "The story of 1"
        boxes = browser.find_elements(By.CSS_SELECTOR, "[name=fits]")
        for box in boxes[:3]:
            box.click()
        assert chosen(browser) == ["joy", "fear"]  # two at most
        if item == 2:
            boxes[3].click()
            assert chosen(browser) == ["none"]
        browser.find_element(By.TAG_NAME, "h1").click()
        press(browser, "4")  # the first that waits: the scale
        browser.find_element(By.CSS_SELECTOR, "[name=better]").send_keys(Keys.SPACE)
        press(browser, "3")
        if item == 1:
            browser.find_element(By.CSS_SELECTOR, "#mood-list option[value=upset]").click()
        browser.find_element(By.TAG_NAME, "textarea").send_keys("1 =2")
        click(browser, "Next" if item == 1 else "Finish")
    site.refuse = 1
    click(browser, "Send answers")
    soon(lambda: "Sending failed (the server said 503)" in browser.find_element(By.ID, "sent").text)
    click(browser, "Send answers")
    soon(lambda: "were sent" in browser.find_element(By.ID, "sent").text)
    (done,) = site.posted
    first, second = (item["answers"] for item in done["answers"])
    assert first == {
        "context": {"value": True},
        "fits": {"values": ["joy", "fear"]},
        "fluency": {"value": "3"},
        "mood": {"value": "upset"},
        "better": {"value": "tie"},
        "notes": {"value": "1 =2"},
    }
    assert "context" not in second
    assert second["fits"] == {"values": ["none"]}
    assert [row["value"] for row in answers_in("a.json", BytesIO(json.dumps(done).encode()))][:2] == [
        "True",
        "joy|fear",
    ]
