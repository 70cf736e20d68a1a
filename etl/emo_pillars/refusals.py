"""Tell a model's refusals and requests for more material from what a character says (ours).

A refusal speaks of the model itself, or of the material and the request. "I can't do that to her" does neither.
"""

import re

from etl.emo_pillars.quotes import words_of

MOST_CHARACTERS = 300
"""Part of an answer that is looked at, as a refusal comes at once."""

_MATERIAL = r"(?:plot|story|text|passage|excerpt|context|prompt|message|input|utterance|character|title)s?"
_TASK = (
    r"(?:request|prompt|task|instruction|utterance|plot|passage|excerpt|context|character|scenario|role-? ?play|persona"
    r"|guideline)s?\b"
)
_PRODUCT = (
    r"(?:content|story|text|question|dialogue|information|material|scene|version|output|name|emotion|line|detail"
    r"|sentence|word|answer)s?\b"
)
_GIVEN = r"(?: (?:(?:that )?(?:you(?:['’]ve| have)? )?(?:provided|given|gave|shared)|here|summary|itself)){0,2}"
_THE = r"(?:the|this|your|that|given|provided|no) (?:(?:given|provided|original|above) )?"
_IS = r"(?:is|was|are|were|seems?(?: to be)?|appears?(?: to be)?|has been|have been) (?:\w+ )?"
_DOES_NOT = r"(?:does not|doesn['’]t|do not|don['’]t|did not)"
_I_CANNOT = (
    r"i(?:['’]m| am)?(?: \w+ly| just| also)?,? (?:can(?:not|['’]?t| not)|could(?: not|n['’]t)|won['’]t|will not"
    r"|(?:unable|not (?:able|allowed|permitted|going|programmed|designed)) to|not comfortable(?: with)?"
    r"|(?:must|have to|need to)(?: \w+ly)? (?:decline|refuse)(?: to| this| your| the)?|prefer not to"
    r"|do not|don['’]t|did not|didn['’]t)"
)
_CANNOT = (
    rf"(?:{_I_CANNOT}|i(?:['’]d| would) rather not|i decline to|unable to|cannot|can only"
    r"|(?:not (?:be )?possible|impossible|(?:in|not (?:be )?)appropriate|not clear)(?: for me)?(?: to| from))"
)
_MAKE = (
    r"(?:re-?writ|rephras|reword|generat|produc|provid|creat|process|extract|identif|list|determin|assign|describ"
    r"|reproduc|summari[sz]|fulfil|decline|paraphras)\w*"
)
_DO = (
    rf"(?:{_MAKE}|writ\w+|complete|continue|answer|see|find|clean|edit|speak (?:for|as)|assist|help|engage\w*"
    r"|participate|take (?:part|on)|play|proceed|comply|discuss|access|have (?:enough|any|access to)|be \w+ed|express"
    r"|pretend|tell what|follow|from)"
)
_SELF = (
    r"\b(?:as|i am|i['’]m|being|speaking as)(?: just| only)? an? (?:ai\b|artificial intelligence"
    r"|(?:large )?language model|(?:ai |virtual )assistant|assistant (?:developed|designed|created|trained))",
    r"\bi (?:am|was|have been|['’]m)(?: \w+)? (?:programmed|designed|trained) to (?:avoid|be (?:helpful|safe))",
    r"\bi (?:am|was|have been|['’]m)(?: \w+)? (?:programmed|designed|trained) not to (?:produce|generate|write|create)",
    r"\b(?:guidelines?|polic(?:y|ies)|programming|training) (?:do|does|did)(?: not|n['’]t) (?:allow|permit)",
    r"\bviolat\w+ (?:the|our|my|usage|content) (?:policy on|(?:usage |content )?polic)",
    r"(?:against|violates?|with) (?:my|our) (?:\w+ )?(?:guidelines|programming)\b",
    r"\bgenerating (?:such|this|that|these)\b|\bi refuse to (?:generate|write|produce)\b",
    r"\bcreated by (?:alibaba|openai|anthropic|google|meta|mistral)|^chatgpt\b",
    r"\bhow (?:can|may) i (?:help|assist) you (?:today|with (?:this|the|your) \w+)\W*$",
    r"\banything else (?:that )?i can (?:help|assist) you with",
    r"\bhave personal (?:emotion|feeling|experience|opinion)s",
    r"\b(?:do not|don['’]t) have the ability to (?:feel|read|access|see|view|imagine)\b",
    r"(?:beyond|outside)(?: of)? (?:what i(?:['’]m| am| can)|my (?:capabilit|abilit))",
    r"\bi can only (?:help|work|assist) with (?:text|stories|material|content|requests)",
    r"\bi(?:['’]m| am) not in a position to (?:re-?write|provide|generate|summari[sz]e|assess)",
    r"\b(?:help|assist)\b.*\bnot with this (?:request|one|task)\b",
)
"""Words of the model on itself."""
_UNABLE = (
    rf"{_CANNOT} (?:be able to )?(?:assist(?: you)?(?: with (?:that|this|your|the)\b.*)?"
    r"|comply(?: with (?:it|this|that))?|(?:help|assist)(?: you)? with (?:that|this)(?: one\b.*| (?:request|task)\b.*)?"
    r"|help(?: you)? with (?:re-?writ|gener|creat|produc)\w+.*"
    r"|(?:fulfil+|re-?write|rephrase|generate|produce|write|create) (?:this|that|it|such))\s*(?:[.,;!]|$)",
    r"something (?:that )?i (?:can(?:not|['’]t)|can) (?:help|assist)(?: you)? with",
    r"\bi(?:['’]m| am) (?:not able|unable) to do (?:that|this)\b",
    rf"{_CANNOT} (?:\w+ly )?{_MAKE}\b.*\b{_PRODUCT}",
    rf"{_CANNOT}(?: \w+){{0,3}} {_DO}\b.*\b{_TASK}",
    rf"{_CANNOT} (?:request|prompt|task)\b",
    rf"{_CANNOT} (?:the|this) {_MATERIAL}\b (?:who|what|which|whether)",
    rf"{_CANNOT} (?:\w+ ){{0,3}}(?:write|continue|complete|answer|decline|refuse)(?: to write)? (?:\w+ )?"
    r"(?:content|dialogue|scenes?|text|material|versions?|(?:those|such) words|such things|script"
    r"|(?:this|the) (?:story|request|task|scene))\b",
    rf"{_CANNOT} (?:proceed|continue|help|answer|do (?:this|that|it)) without (?:the|a|more|any) (?:\w+ )?"
    rf"(?:{_MATERIAL}|information|details)\b",
    r"(?:cannot|can['’]t|can not) be (?:determined|answered|identified|inferred|re-?written|cleaned|completed)\b",
    r"^(?:unable to|cannot|can['’]t) (?:answer|process|identify|determine|complete|comply|generate|assist|extract"
    r"|re-?write)\b",
)
"""Sentences that say what the model cannot do: verbs and nouns of the task."""
_FAULTY = (
    rf"\b{_THE}{_MATERIAL}{_GIVEN} {_DOES_NOT} (?:mention|contain|include|provide|name|give|specify|state|describe"
    r"|indicate|seem to|appear in (?:the|this)(?: given| provided)? (?:plot|story|text)"
    r"|have (?:any|enough|such|a character|named))",
    rf"\b{_THE}{_MATERIAL}{_GIVEN} {_IS}(?:empty|blank|missing|unclear|incomplete|too (?:short|vague|long)|insufficient"
    r"|cut off|left out|not (?:provided|included|given|clear|in your)|contradictory)",
    rf"\b{_THE}{_MATERIAL}{_GIVEN} (?:has|gives?|contains?|includes?|names?|lists?) no (?:\w+ )?"
    r"(?:characters?|information|mention|details?|names?|dialogue|context)",
    rf"\b(?:request|prompt|task|instructions?|question|information given|{_MATERIAL} given) (?:\w+ )?"
    r"(?:is|are|cannot|can['’]t|may|might|requires?|violates?) (?:not |too |be |also )?(?:vague|unclear|insufficient"
    r"|inappropriate|contradictory|completed|answered|clear|processed|violate|information)",
)
"""Sentences that say what the material lacks."""
_NO = (
    r"\b(?:(?:there(?:['’]s| is| are| was| were)(?:n['’]t|(?: not)?)|have|has|see|find|it seems|appears) ?"
    r"(?:any|no|enough|not enough)|no|none of the|not enough|insufficient|nobody) (?:\w+ )?"
    rf"(?:{_MATERIAL}|information|names?|emotions) (?:\w+ )?"
)
_MISSING = (
    rf"{_NO}(?:is |was |were |has been |have been |to |are )*(?:given|provided|mentioned|named|listed|found|included"
    r"|identified|determine|answer|clean|summari[sz]e|re-?write|write|extract)",
    rf"{_NO}in (?:the|this|your)(?: \w+)? (?:plot|story|text|passage|prompt|message)",
    r"^(?:n/a|not enough (?:information|context)|insufficient (?:information|context))\b",
    r"\bi (?:have no|see no|find no|do(?: not|n['’]t) have(?: any| enough)?)(?: access to)? ?(?:a|any|the)? ?"
    rf"(?:information about (?:this|the|that)|{_TASK}|(?:the|any) (?:story|text))",
    rf"\b(?:does not|doesn['’]t) (?:appear|seem) to be (?:a|an|any) (?:question|{_MATERIAL})\b",
    rf"\b{_MATERIAL} (?:seems? to |appears? to )?contains? (?:an error|errors|a mistake)\b",
    r"\bwithout (?:reading|seeing|knowing) the (?:\w+ )?(?:plot|story|text|context|passage)\b",
    r"^nobody is (?:mentioned|named)|\bno mention of (?:such )?(?:a|any|this|the) character",
)
"""Material that is not there."""
_ASK = (
    r"\b(?:(?:please|kindly)(?: also)?|(?<!how )(?:can|could|would|will) you(?: please)?(?: mind)?"
    r"|i(?:['’]d| would| will|['’]ll)?(?: also)? need(?: to (?:see|know))?(?: you to)?|if you (?:gave|give|provide))"
    r" (?:\w+ )?(?:provid\w+|shar\w+|past\w+|giv\w+(?: me)?|specif\w+|clarif\w+|supply\w*|send\w*|more|additional|the"
    rf"|see|rephrase)\b.*\b(?:(?!message|title){_MATERIAL}|emotions|information about|details about)\b",
    r"\b(?:more|additional|further) (?:context|information|details?) (?:is|are) (?:needed|required|necessary)"
    r"(?! to read)",
    rf"\bdo you have (?:more|any|the) (?:details|information) (?:about|on) (?:the|this) {_MATERIAL}\b",
    rf"^(?:what|which) {_MATERIAL} (?:are you referring|do you mean)",
    rf"\btell me (?:more )?about the {_MATERIAL}\b",
    r"\bwhat you(?: are|['’]re) asking (?:me )?(?:for|to do)",
    r"\bunderstand (?:the|your|this) (?:question|task|request|prompt|instructions?)\b",
    r"\blet me know if you(?:['’]d| would) like me to|\bfeel free to (?:provide|share)\b",
)
"""Requests for more."""
_TASK_WORDS = frozenset(
    words_of(
        """utterance utterances prompt excerpt input ai scenario speaker summary passage text plot context request
        requests character characters content task tasks information instructions story question dialogue rules
        rewrite rewriting rewritten generate generating generated write writing assist create provide provided
        supplied given identify identified mentioned named summarize determine sent pasted relate complete elaborate
        describe described material sentence line lines statements emotions produce guidelines policy persona
        model language format details specified extract process"""
    )
)
"""Words of the task: two of them in a short answer that denies something are no speech."""
_SPOKEN_WORDS = frozenset(words_of("given provide provided named sent write writing described line lines complete"))
"""Words of the task that are common in speech, of which two are not enough."""
_DENIAL = re.compile(
    r"\b(?:no|not|cannot|without|lacks?|lacking|missing|empty|blank|impossible|unable|unclear|insufficient|error|none"
    r"|incomplete|avoid|against|beyond|outside|cut off|nothing)\b|n['’]t\b",
    re.IGNORECASE,
)
_OF_A_STORY = re.compile(
    r"\b(?:text|plot|story|passage|character|summary|content|question|request)"
    r" (?:of|under|message|from|on|said|was already)\b|\banswer for\b|\bwrite to\b",
    re.IGNORECASE,
)
"""Uses of the task's words in stories."""
MOST_WORDS = 30
"""Words of an answer in which the words of the task are counted."""
_REFUSAL = re.compile("|".join((*_SELF, *_UNABLE, *_FAULTY, *_MISSING, *_ASK)), re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?…])\s+")


def refuses(text: str) -> bool:
    """Return true if a model refuses to answer, or asks for more."""
    sentences = _SENTENCE.split(text[:MOST_CHARACTERS])
    short = len(text.split()) <= MOST_WORDS
    return any(_REFUSAL.search(one) or (short and _denies_the_task(one)) for one in sentences)


def _denies_the_task(sentence: str) -> bool:
    """Return true if a sentence has a denial and two words of the task."""
    words = set(words_of(sentence)) & _TASK_WORDS
    enough = len(words) > 1 and bool(words - _SPOKEN_WORDS)
    return enough and _DENIAL.search(sentence) is not None and _OF_A_STORY.search(sentence) is None
