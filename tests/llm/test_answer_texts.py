"""What is an answer in a model's text: thoughts, channels and marks of chat templates are none of it."""

import time

import pytest

from udfs.answer_texts import CUT_OFF, EMPTY, NO_ANSWER, answer_in, whole_answer


@pytest.mark.parametrize(
    "text",
    [
        "<think>The goat is not a person.</think>\n1. Ada (keeper)",
        "<think>\n\n</think>\n\n1. Ada (keeper)",
        "The goat is not a person. So only Ada.\n</think>\n\n1. Ada (keeper)",
        "<thinking>The goat?</thinking><answer>1. Ada (keeper)</answer>",
        "<reasoning>The goat?</reasoning>\n<output>\n1. Ada (keeper)\n</output>",
        "<thought>a</thought>1. Ada (keeper)",
        "<antThinking>a</antThinking>1. Ada (keeper)",
        "<seed:think>a</seed:think>1. Ada (keeper)",
        "<think>a<think>b</think>1. Ada (keeper)",
        "<think>a</think>1. Ada (keeper)<think>b</think>",
        "1. Ada (keeper)\n<think>Is there another",
        "[THINK]The goat?[/THINK]1. Ada (keeper)",
        "◁think▷The goat?◁/think▷1. Ada (keeper)",
        "<|channel|>analysis<|message|>The goat?<|end|><|start|>assistant"
        "<|channel|>final<|message|>1. Ada (keeper)<|return|>",
        "<|channel>thought\nThe goat?<channel|>1. Ada (keeper)",
        "analysisWe need characters. The goat?assistantfinal1. Ada (keeper)",
        "<|START_THINKING|>The goat?<|END_THINKING|><|START_RESPONSE|>1. Ada (keeper)<|END_RESPONSE|>",
        "<|begin_of_thought|>a<|end_of_thought|><|begin_of_solution|>1. Ada (keeper)<|end_of_solution|>",
        "<|im_start|>assistant\n1. Ada (keeper)<|im_end|>\n<|im_start|>user\nAnd the goat?",
        "1. Ada (keeper)</s>",
        '<tool_call>\n{"name": "list_people", "arguments": {}}\n</tool_call>\n1. Ada (keeper)',
    ],
)
def test_only_the_answer_is_read(text: str) -> None:
    said = answer_in(text)
    assert (said.text or "").strip() == "1. Ada (keeper)"
    assert said.fault is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<think>\nNeed ambiguous words. The goat", CUT_OFF),
        ("<|channel|>analysis<|message|>We need", CUT_OFF),
        ("analysisWe need to name", CUT_OFF),
        ("<think>Only this.</think>", NO_ANSWER),
        ("So only this.\n</think>\n", NO_ANSWER),
        (" \n ", EMPTY),
        ("<|im_end|>", EMPTY),
        ('<tool_call>\n{"name": "list_people", "arguments": {"of": ["story"]}}\n</tool_call>', EMPTY),
        ('<tool_call>{"name": "list_peo', EMPTY),
    ],
)
def test_a_text_without_an_answer_has_a_reason(text: str, fault: str) -> None:
    assert answer_in(text)[:2] == (None, fault)


@pytest.mark.parametrize(
    "text",
    [
        "Thinking of you makes me cry.",
        "Reasoning with him is useless.",
        "Analysis of the tide tables told her nothing.",
        "Thinking: that is all I do up here.",
        "I think </3 says it all.",
        "<b>Ada</b> & <i>Piet</i>",
        "He wrote [think] on the wall.",
    ],
)
def test_words_about_thinking_are_kept(text: str) -> None:
    assert answer_in(text).text == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1. Ada\\n2. Piet", "1. Ada\n2. Piet"),
        ("1. Ada\\r\\n2. Piet", "1. Ada\n2. Piet"),
        ('1. "A ship\\nis here"\n2. Piet', '1. "A ship is here"\n2. Piet'),
        ('"1. Ada\\n2. \\"Piet\\""', '1. Ada\n2. "Piet"'),
        ('"{\\"name\\": \\"Ada\\"}"', '{"name": "Ada"}'),
        ('{"text": "He sat.\\nShe stood."}', '{"text": "He sat.\\nShe stood."}'),
        ('{"text": "He sat.\\\\nShe stood."}', '{"text": "He sat. She stood."}'),
        ('{"text": "&quot;Sit,&quot; he said &amp; sat.<br>"}', '{"text": "\\"Sit,\\" he said & sat. "}'),
        ("{&quot;name&quot;: &quot;Ada&quot;}", '{"name": "Ada"}'),
        ("1. Ada<br/>2. Piet", "1. Ada\n2. Piet"),
        ("<ol><li>Ada</li><li>Piet &amp; Jo</li></ol>", "\n\nAda\n\nPiet & Jo\n\n"),
        ("\ufeffAda\u200b sat.", "Ada sat."),
        ("<think>Hm\\n</think>\\n1. Ada", "\n1. Ada"),
        ("He said AT&T; I said no.", "He said AT&T; I said no."),
    ],
)
def test_a_text_that_was_packed_once_too_often_is_unpacked(text: str, said: str) -> None:
    assert answer_in(text).text == said


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ('"1. anger (0.9)\\n2. fear (0.2)"', "1. joy\n1. anger (0.9)\n2. fear (0.2)"),
        (" (0.9)\n2. fear (0.2)", "1. joy (0.9)\n2. fear (0.2)"),
        ("<think>High.</think>1. Joy (0.9)\n2. fear (0.2)", "1. Joy (0.9)\n2. fear (0.2)"),
        ("<think>High.</think> (0.9)\n2. fear (0.2)", "1. joy (0.9)\n2. fear (0.2)"),
        ("<think>High", None),
    ],
)
def test_a_dictated_start_counts_once_around_a_thought(text: str, whole: str | None) -> None:
    assert whole_answer("1. joy", text).text == whole


@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 3_000,
        "</think>" * 3_000,
        "<" * 20_000,
        "<answer>" * 2_500,
        "analysis" * 2_500,
        "<think " * 3_000,
        "[ " * 10_000,
        "*" * 20_000,
        " " * 19_999 + "a",
        "\n" * 19_999 + "a",
        "<|channel|>a" * 1_500,
        "<answer>a</" * 1_800,
        '"' + "\\n" * 9_999 + '"',
        "<p " * 6_600,
        "&a" * 9_999,
    ],
    ids=range(15),
)
def test_hostile_texts_are_read_in_time(text: str) -> None:
    began = time.process_time()
    answer_in(text)
    assert time.process_time() - began < 3
