"""The answer in a language model's text: without its thoughts, and without the marks of its chat template.

Every reader of answers goes through ``answer_in``. Stored texts stay as the models gave them.
"""

import json
import re
from html import unescape
from typing import NamedTuple

from udfs.llm_requests import continuation
from udfs.text_files import UNSEEN

CUT_OFF = "cut_off_in_thought"
NO_ANSWER = "no_answer_after_thought"
EMPTY = "empty_answer"
TOO_LONG = "answer_too_long"
FAULTS = (CUT_OFF, NO_ANSWER, EMPTY, TOO_LONG)
"""Why a text has no answer: the thought does not end, nothing follows it, the text is blank or too long."""
MOST_CHARACTERS = 20_000
"""Longest answer; ten times as many with its thoughts: the expressions that take answers apart need squared time in
the worst case. 1,500 tokens, the longest answer that a prompt asks for, have some 7,000."""

_NAMES = (
    r"(?:(?:ant|seed|inner|internal|my|chain|train|step|private|hidden)[:_ -]?(?:of[_ -])?)?"
    r"(?:think(?:ing)?|thoughts?|reason(?:ing|s)?|rationale|reflect(?:ion)?|scratch_?pad|monologue|analysis|cot"
    r"|deliberation|planning|thought[_ -]process|reasoning[_ -](?:engine|content|process|steps?))"
)
_OPEN = rf"<\s*+{_NAMES}(?:\s[^<>]{{0,100}})?>|(?-i:\[(?:THINK|THINKING|REASONING|THOUGHTS?)\])|◁think▷"
_CLOSE = rf"<\s*+/\s*+{_NAMES}\s*+>|(?-i:\[/(?:THINK|THINKING|REASONING|THOUGHTS?)\])|◁/think▷"
_TAG = re.compile(rf"(?P<close>{_CLOSE})|(?P<open>{_OPEN})", re.IGNORECASE)
_BEGIN = re.compile(
    r"<\|(?:begin_of_thought|start_of_thought|START_THINKING|thinking|think|begin_of_thinking|thought_start)\|>",
    re.IGNORECASE,
)
_END = re.compile(
    r"<\|(?:end_of_thought|END_THINKING|/thinking|/think|end_of_thinking|end_thinking|thought_end)\|>", re.IGNORECASE
)
_CHANNEL = re.compile(
    r"<\|?channel\|?>\s*(?P<name>[a-z_]+)(?:[^\n<>]{0,40})?(?:<\|message\|>|\n|(?=<channel\|>))|<channel\|>",
    re.IGNORECASE,
)
_BARE_CHANNEL = re.compile(
    r"\s*(?:assistant)?analysis(?=[A-Z'\"“])(?P<thought>.*?)assistant(?:final|commentary)", re.DOTALL
)
_BARE_OPEN = re.compile(r"\s*(?:assistant)?analysis(?=(?:We|The|User|I|Need|Let|They|So|Okay|OK|You|It|There)\b)")
_ANSWER = r"(?:answer|response|output|solution|final|final_answer|final_response|result|reply)"
_ANSWER_TAG = re.compile(
    rf"<\s*+(?P<name>{_ANSWER})\s*+>(?P<inside>.*?)(?:<\s*+/\s*+(?P=name)\s*+>|\Z)", re.I | re.DOTALL
)
_ANSWER_LEFT = re.compile(
    rf"<\s*+/?\s*+{_ANSWER}\s*+>|<\|(?:begin|end|start)_of_(?:solution|box|response|answer)\|>"
    r"|<\|(?:START|END)_(?:RESPONSE|TEXT|ANSWER)\|>|</?box(?:ed)?>",
    re.IGNORECASE,
)
_TOOL_CALL = re.compile(r"<\s*+tool_call\s*+>.*?(?:<\s*+/\s*+tool_call\s*+>|\Z)", re.IGNORECASE | re.DOTALL)
"""A call of a function as text, although none was offered: no part of an answer."""
_TURN_END = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end|return|call|eos|endofturn|end_of_turn|end_of_role|user"
    r"|END_OF_TURN_TOKEN|im_start|start_header_id|start_of_role|diff_marker)\|>|<end_of_turn>|<(?:/s|eos)>"
    r"|<[｜|]end[▁_]of[▁_]sentence[｜|]>|<[｜|]User[｜|]>|\[/?INST\]|<start_of_turn>",
    re.IGNORECASE,
)
_TURN_START = re.compile(
    r"\s*+(?:(?:<\|(?:im_start|start|start_header_id|start_of_role|begin_of_text|START_OF_TURN_TOKEN)\|>|<start_of_turn>"
    r"|<s>|\[/INST\])\s*+(?:<\|CHATBOT_TOKEN\|>)?(?:assistant|model|ai)?\s*+"
    r"(?:<\|(?:end_header_id|end_of_role|sep)\|>)?|<\|assistant\|>|<[｜|]Assistant[｜|]>)\s*+",
    re.IGNORECASE,
)


_JSON = re.compile(r"[\[{]\s*[\"'\[{]")
_ENTITY = re.compile(r"&(?:[a-zA-Z]{2,8}|#\d{1,6}|#[xX][0-9a-fA-F]{1,5});")
_BREAK = re.compile(r"<br\s{0,3}/?>", re.IGNORECASE)
_BLOCK = re.compile(r"</?(?:p|div|li|ul|ol|table|thead|tbody|tr|td|th)(?:\s[^<>]{0,100})?/?>", re.IGNORECASE)
_LINE_END = re.compile(r"(?:\\r)?\\n")
_LINE_END_IN_JSON = re.compile(r"(?:\\\\r)?\\\\n")


class ExtractedAnswer(NamedTuple):
    """The answer in a model's text, or why it has none.

    Attributes:
        text: the answer; None without one.
        fault: one of ``FAULTS`` without an answer.
        thought: whether the text had a thought.
    """

    text: str | None
    fault: str | None = None
    thought: bool = False


def answer_in(text: str) -> ExtractedAnswer:
    """Return the answer in a model's text.

    Thoughts are removed wherever they stand: between tags (``<think>``, ``<thinking>``, ``<reasoning>``, ``[THINK]``
    and the like), up to a closing tag without an opening one, or in a channel other than the final one. A thought
    that does not end takes the rest of the text. Tags around the answer are removed, and what follows the end of the
    model's turn.
    """
    if not text.strip():
        return ExtractedAnswer(None, EMPTY)
    said = _extracted(text) if len(text) <= 10 * MOST_CHARACTERS else ExtractedAnswer(None, TOO_LONG)
    return ExtractedAnswer(None, TOO_LONG, said.thought) if len(said.text or "") > MOST_CHARACTERS else said


def _extracted(text: str) -> ExtractedAnswer:
    text = readable(text)
    if not text.strip():
        return ExtractedAnswer(None, EMPTY)
    if not _MARKS.search(text):
        return ExtractedAnswer(text)
    left, open_thought = _final_channel(text)
    thought = left != text
    tagged, unclosed = _untagged(_END.sub("</think>", _BEGIN.sub("<think>", left)))
    unclosed = unclosed or open_thought
    thought = thought or tagged != left
    answer = _without_template(tagged)
    if answer.strip():
        return ExtractedAnswer(answer if thought or answer != text else text, None, thought)
    return ExtractedAnswer(None, (CUT_OFF if unclosed else NO_ANSWER) if thought else EMPTY, thought)


def readable(text: str) -> str:
    """Return a text that a model or its server has packed once too often as it was meant.

    Removed are unseen characters, and the quotes of a text that is one JSON string. Characters and line ends that are
    written as in HTML or JSON (``&quot;``, ``<br>``, a backslash and an n) become what they stand for, and those within
    JSON or within a line become blanks.
    """
    text = UNSEEN.sub("", text)
    body = text.strip()
    if "\\" in body and body[0] == body[-1] == '"':
        try:
            inside = json.loads(body, strict=False)
        except (ValueError, RecursionError):
            inside = None
        text = inside if isinstance(inside, str) else text
    in_json = _JSON.search(text) is not None
    if "&" in text:
        quote = '\\"' if in_json else '"'
        text = _ENTITY.sub(lambda one: quote if unescape(one[0]) == '"' else unescape(one[0]), text)
    line_end = " " if in_json or "\n" in text.strip() else "\n"
    if "<" in text:
        text = _BLOCK.sub(" " if in_json else "\n", _BREAK.sub(line_end, text))
    return _LINE_END_IN_JSON.sub(" ", text) if in_json else _LINE_END.sub(line_end, text)


def whole_answer(answer_start: str, text: str) -> ExtractedAnswer:
    """Return the answer with its dictated start, which a model that has thought first may repeat or go on from."""
    said = answer_in(text)
    if said.text is None:
        return said
    if answer_start and said.text.lstrip().lower().startswith(answer_start.lower()):
        return said
    rest = said.text if said.text == text else continuation(said.text, answer_start)
    return said._replace(text=f"{answer_start}{rest}")


def _untagged(text: str) -> tuple[str, bool]:
    """Return a text without what stands between tags of thoughts, and whether the last thought does not end."""
    kept: list[str] = []
    depth = 0
    start = 0
    for tag in _TAG.finditer(text):
        if tag["open"]:
            if depth == 0:
                kept.append(text[start : tag.start()])
            depth += 1
        else:
            if depth == 0:  # the chat template has opened the thought
                kept = []
            depth = 0
            start = tag.end()
    if depth == 0:
        kept.append(text[start:])
    return "".join(kept), depth > 0


def _final_channel(text: str) -> tuple[str, bool]:
    """Return what stands in the final channel of a text with channels, and whether it ends in another channel."""
    bare = _BARE_CHANNEL.match(text)
    if bare is not None:
        return text[bare.end() :], False
    if _BARE_OPEN.match(text):
        return "", True
    marks = list(_CHANNEL.finditer(text))
    if not marks:
        return text, False
    kept = [text[: marks[0].start()]] if not _TURN_START.fullmatch(text[: marks[0].start()]) else []
    final = False
    for place, mark in enumerate(marks):
        end = marks[place + 1].start() if place + 1 < len(marks) else len(text)
        final = mark["name"] is None or mark["name"].lower() in ("final", "response", "answer")
        if final:
            kept.append(text[mark.end() : end])
    return "".join(kept), not final


def _without_template(text: str) -> str:
    """Return a text without the tags around an answer, and up to the end of the model's turn."""
    begun = _TURN_START.match(text)
    text = text[begun.end() :] if begun else text
    ended = _TURN_END.search(text, len(text) - len(text.lstrip()))
    if ended is not None:
        text = text[: ended.start()]
    text = _TOOL_CALL.sub("", text)
    inside = [found["inside"] for found in _ANSWER_TAG.finditer(text) if found["inside"].strip()]
    return _ANSWER_LEFT.sub("", "\n".join(inside) if inside else text)


_MARKS = re.compile(
    rf"{_OPEN}|{_CLOSE}|{_ANSWER_LEFT.pattern}|{_TURN_END.pattern}|<\|?channel|<\||<start_of_turn>|<s>|◁|[<][｜|]"
    r"|<\s*+tool_call|\A\s*(?:assistant)?analysis",
    re.IGNORECASE,
)
