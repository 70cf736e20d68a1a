"""The page as a file: nothing from outside becomes markup, nothing secret is in it, nothing is fetched."""

import json
import re

import pytest
from pydantic import ValidationError

from conf.errors import InputError
from conf.taxonomy import load_taxonomy
from etl.annotation.batch import Batch, Choice, Item, Line, Panel, Question
from etl.annotation.page import page_of, safe_json
from etl.edos.labelling import labelling_batch
from tests.annotation.batches import many_kinds, task

TAXONOMY = load_taxonomy("edos")
HOSTILE = "</script><script>alert(1)</script><!-- {{script}} \u2028 & 'x' \"y\""


def batch_in(page: str) -> dict:
    found = re.search(r'<script type="application/json" id="batch">(.*?)</script>', page, re.DOTALL)
    assert found
    parsed: dict = json.loads(found[1])
    return parsed


def test_hostile_text_stays_text() -> None:
    batch = labelling_batch([task("h1", 1, turns=[HOSTILE])], TAXONOMY)
    page = page_of(batch)
    assert "alert(1)</script>" not in page
    assert "<!-- {{" not in page
    assert page.count("<script") == page.count("</script>") == 2
    assert batch_in(page)["hits"][0]["items"][0]["panels"][0]["lines"][0]["text"] == " ".join(HOSTILE.split())
    assert json.loads(safe_json(json.dumps(HOSTILE))) == HOSTILE


def test_the_page_tells_neither_right_answers_nor_which_items_are_quiz() -> None:
    tasks = [task("h1", 1), task("h1", 2, dialogue_id="hit:1_conv:2", quiz_label="ashamed", label=None, turn=0)]
    page = page_of(labelling_batch(tasks, TAXONOMY))
    for secret in ("quiz", "77-1", "hit:1_conv:2", "0.93"):
        assert secret not in page, secret
    first, second = batch_in(page)["hits"][0]["items"]
    assert first.keys() == second.keys()


def test_nothing_is_fetched_and_only_the_own_script_runs() -> None:
    page = page_of(many_kinds())
    assert not re.findall(r"""(?:src|href)\s*=\s*["']""", page.partition("<script>")[0])
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy
    assert "default-src &#x27;none&#x27;" in policy[1]
    assert "connect-src" not in policy[1]
    posting = page_of(many_kinds("https://answers.example:8443/in?x=1"))
    assert (
        "connect-src https://answers.example:8443;" in posting or 'connect-src https://answers.example:8443"' in posting
    )


def test_the_same_batch_is_the_same_page() -> None:
    tasks = [task("h2", 1), task("h1", 2), task("h1", 1)]
    page = page_of(labelling_batch(tasks, TAXONOMY))
    assert page == page_of(labelling_batch(list(reversed(tasks)), TAXONOMY))
    assert [hit["id"] for hit in batch_in(page)["hits"]] == ["h1", "h2"]
    assert [item["id"] for item in batch_in(page)["hits"][0]["items"]] == ["ih11", "ih12"]


def test_workers_see_the_form_of_figure_4() -> None:
    batch = labelling_batch([task("h1", 1)], TAXONOMY)
    (question,) = batch.questions
    assert (batch.title.lower(), batch.unit) == ("annotate dialog emotions", "Dialog")
    assert "above statement" in question.prompt
    assert "whole dialog" in question.prompt
    assert [choice.value for choice in question.other] == list(TAXONOMY.names)
    assert question.own_words
    assert question.from_tutorial


def test_every_label_has_a_lesson() -> None:
    lessons = TAXONOMY.labels
    assert len(lessons) == 41
    assert all(len(one.about) > 10 and len(one.example) > 10 for one in lessons)
    assert len({one.example for one in lessons}) == len(lessons)


def test_tokens_are_joined_as_people_write() -> None:
    batch = labelling_batch([task("h1", 1, turns=["Don 't go , Jim ."])], TAXONOMY)
    assert batch.hits[0].items[0].panels[0].lines[0].text == "Don't go, Jim."


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://a b", "http://x';script-src *", "ftp://x", ""])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="not an http or https address"):
        labelling_batch([task("h1", 1)], TAXONOMY, url)


def test_faulty_questions_and_batches_are_refused() -> None:
    with pytest.raises(ValidationError, match="needs options of its own"):
        Question(id="q", kind="scale", prompt="How?")
    with pytest.raises(ValidationError, match="has no options"):
        Question(id="q", kind="text", prompt="What?", options=(Choice(value="a", text="A"),))
    with pytest.raises(ValidationError, match="not among its options"):
        Question(id="q", kind="several", prompt="Which?", none="x", options=(Choice(value="a", text="A"),))
    with pytest.raises(ValidationError):
        Item(id="<b>", panels=(Panel(lines=(Line(text="x"),)),))
    whole = many_kinds()
    with pytest.raises(ValidationError, match="question notes appears twice"):
        Batch.model_validate(whole.model_dump() | {"questions": [*whole.questions, whole.questions[-1]]})
    with pytest.raises(ValidationError, match="HIT h1 appears twice"):
        Batch.model_validate(whole.model_dump() | {"hits": [*whole.hits, *whole.hits]})
