"""Tell a model's remarks from the text that it was asked for: openings and closings (Emo Pillars 3.4, 3.5).

A remark speaks of the task: of the text, its clauses, the utterance. As characters and stories use most of these words
as well, a remark has to be a whole line, or a label that consists of such words alone.
"""

import re

from etl.emo_pillars.answers import words_of

STATED = frozenset(
    words_of(
        """rewritten rewrite rewriting rewrites rewrote rephrase rephrased rephrasing reworded paraphrase paraphrased
        utterance utterances cleaned cleaning revised revision edited modified updated corrected shortened clause
        clauses emotional emotion emotions"""
    )
)
"""Words of the task that hardly anybody says."""
NAMED = frozenset(
    words_of(
        """text context passage version answer response result output summary background explanation words line lines
        sentence sentences story plot events account description information attempt character happened led way
        clean feelings feeling feels meaning part parts mention mentions wording phrase prose option proposal
        suggestion alternative rest remaining"""
    )
)
"""Words of the task that are common elsewhere."""
_LINKS = frozenset(
    words_of(
        """a an the this that these those my your his her its one another same final possible new brief short given
        original following plain what before after leading up to of for in without with any all explicit out other
        and is are was reads read as follows now be could would might can says say said it i removed taken down
        behind mended remaining longer less more"""
    )
)
"""Words that connect the words of the task in a label."""
MOST_OPENING_LINES = 5
_YES = re.compile(
    r"(?:sure(?: thing)?|certainly|of course|ok|okay|absolutely|gladly|great|al(?:l )?right|understood|no problem|yes)"
    r"(?:[,.!]+\s+|\s*[,.!:]*$)",
    re.IGNORECASE,
)
_HERE = re.compile(r"(?:here(?:['’]s| is| are)|below)\b", re.IGNORECASE)
_GO = re.compile(r"here (?:you go|goes|it is|they are)\b[^\w]*$", re.IGNORECASE)
_TASK = re.compile(
    r"i(?:['’](?:ve|d|ll)| have| would| will| can| could)? (?:also )?(?:remove|rewr[io]te|rewritten|rephrase|take|took"
    r"|leave|left|omit|change|keep|kept|replace|shorten|edit|clean|revise|modif|mend|reword|put|make|made)\w*\b"
    r"|(?:based on|according to)\b",
    re.IGNORECASE,
)
_STATED_TASK = re.compile(r"(?:without|after|to|in|since|as)\b", re.IGNORECASE)
_HEAD = re.compile(r"[^\n:]{1,160}:")
_SENTENCE = re.compile(r"(?<=[.!:])\s+")
_NOTE = re.compile(
    r"[(\[*]*(?:(?:please )?note(?::| that\b)|(?:explanation|reason(?:ing)?|changes?|emotions?|labels?|removed)"
    r"(?: (?:made|of|for)(?: \w+)?)?:|i hope (?:this|that|it) helps|hope (?:this|it) helps|let me know if"
    r"|feel free to|is there anything else (?:you|i can)|-{3,}$)",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"[(\[*]*(?:this|the|these|in this|here,|without|it|by|i)\b", re.IGNORECASE)
_DID = re.compile(
    r"[(\[*]*i(?:['’]ve| have)? (?:also )?(?:removed|rewr\w+|rephrased|taken out|took out|left|left out|omitted|changed"
    r"|kept|replaced|shortened|edited|modified|mended) (?:[\"“'‘]|(?:only )?(?:the|all|any) (?:\w+ )?(?:rest|remaining"
    r"|parts?|sentences?|words?|wording|phrases?|clauses?|mentions?|text|lines?|meaning|utterance|emotions?|feelings?)\b)",
    re.IGNORECASE,
)
_NEXT_TURN = re.compile(r"(?:#{0,4} ?)(?:human|user|assistant|instructions?|system|prompt)\s?:(?=\s|$)", re.IGNORECASE)
"""The name of the next speaker or the next prompt, which models without a chat template write."""
_QUOTE = "\"“«'‘„"


def without_opening(text: str) -> str:
    """Return an answer without the remarks before its text: lines of their own, and a label before the text."""
    text = text.strip()
    for _ in range(MOST_OPENING_LINES):
        line, _, rest = text.partition("\n")
        if not rest.strip() or not _is_remark(line.strip()):
            break
        text = rest.strip()
    return _without_label(text)


def without_closing(text: str) -> str:
    """Return a text up to the first later line that is a remark."""
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if place and _closes(line.strip()):
            return "\n".join(lines[:place]).strip()
    return text


def _is_remark(line: str) -> bool:
    """Return true if a line before others is a remark."""
    sentences = _SENTENCE.split(line)
    if _YES.fullmatch(line) or all(_YES.fullmatch(one) for one in sentences):
        return True
    begun = _without_yes(line)
    last = line[-1:]
    if _GO.match(begun):
        return True
    words = set(words_of(begun))
    if _HERE.match(begun):
        return last in ":.!" and bool(words & (STATED | NAMED))
    if last == ":" and (_is_label(begun[:-1]) or (_TASK.match(begun) and words & NAMED)):
        return True
    begins = _TASK.match(begun) or _STATED_TASK.match(begun)
    return last in ":." and begins is not None and bool(words & STATED)


def _without_yes(text: str) -> str:
    found = _YES.match(text)
    return text[found.end() :] if found else text


def _without_label(text: str) -> str:
    """Return a text without a label on its first line."""
    begun = _without_yes(text)
    head = _HEAD.match(begun)
    if head is None:
        return text
    label = head.group()
    rest = begun[head.end() :].lstrip()
    if not rest or not _is_remark(label):
        return text
    named = rest[0] in _QUOTE or (rest[0].isupper() and re.match(r"I\b", rest) is None)
    return rest if named or set(words_of(label)) & STATED else text


def _is_label(label: str) -> bool:
    """Return true if a label consists of words of the task alone."""
    words = set(words_of(label))
    return bool(words & (STATED | NAMED)) and words <= STATED | NAMED | _LINKS


def _closes(line: str) -> bool:
    """Return true if a line after a text is a remark."""
    if _NOTE.match(line) or _DID.match(line) or _NEXT_TURN.match(line):
        return True
    about = set(words_of(line)) & (STATED | _EMOTION | _PASSAGE | {"version", "meaning", "removed"})
    return _ABOUT.match(line) is not None and len(about) > (0 if line[0] in "([" and line[-1] in ")]" else 1)


_EMOTION = frozenset(words_of("emotion emotions emotional emotionally feeling feelings feel feels"))
_PASSAGE = frozenset(
    words_of(
        """text passage context sentence sentences clause clauses mention mentions mentioned statement statements
        reference references language description descriptions content story"""
    )
)
_NEGATION = re.compile(r"\b(?:no|not|none|nothing|never|without|free|avoids|only)\b|n['’]t\b", re.IGNORECASE)
_AS_IT_WAS = re.compile(
    r"no (?:(?:such|emotional) )?(?:change|edit|modification|clause|sentence)s?(?: (?:to|in) (?:the|this) \w+)?"
    r"(?: (?:is|are|was|were|has been|have been|need|needs?|has|have))?(?: to (?:be )?(?:go|removed?|taken? out|cut))?"
    r"(?: (?:needed|necessary|required|made|present|found|removed))?(?=\W*$|[,;] )"
    r"|nothing (?:(?:needs|has|had) to be|to|was|is)? ?(?:be )?(?:changed?|removed?|taken? out|clean(?:ed)?"
    r"|edit(?:ed)?)(?=\W*$|[,;] | (?:here|from|in) )(?! from the \w+ after)"
    r"|no need to (?:change|remove|edit|clean|take)\b|^\W*(?:unchanged|none)\W*$"
    r"|(?:text|passage|context|it) (?:remains?|stays?|is|was|can stay|can remain|(?:is|was)? ?(?:left|kept))"
    r" (?:unchanged|the same|as it (?:is|was)|as is)(?=\W*$|[,;] )"
    r"|(?:left|kept) the (?:text|passage|context) (?:unchanged|as it)"
    r"|(?:text|passage|context) (?:needs no|does(?: not|n['’]t) need) "
    r"|^i (?:made no changes?|(?:would|did) not change anything)\b",
    re.IGNORECASE,
)
MOST_WORDS_UNCHANGED = 40


def says_unchanged(line: str) -> bool:
    """Return true if a line says that a text has nothing to remove, instead of giving it."""
    first = _SENTENCE.split(line.strip())[0]
    words = set(words_of(first))
    about = bool(words & _EMOTION) and bool(words & _PASSAGE) and _NEGATION.search(first) is not None
    return len(line.split()) <= MOST_WORDS_UNCHANGED and (about or _AS_IT_WAS.search(first) is not None)


def without_unchanged(text: str) -> str:
    """Return a text without the lines that say that nothing was removed; empty if there are no others."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = next((place for place, line in enumerate(lines) if not says_unchanged(line)), len(lines))
    left = lines[first:]
    return "" if first and all(_closes(line) for line in left) else "\n".join(left)
