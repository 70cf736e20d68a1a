"""Find refusals in rare words by the kinds of words that a short sentence combines (ours).

`etl.emo_pillars.refusals` knows wordings. Here three kinds of words count, whatever stands between them: names of what
the model was given or asked for, words of failure or lack, and words that speak to the person who asked. A sentence
that a character says seldom has two of these kinds.
"""

import re

_ASKED = (
    r"(?:prompts?|utterances?|re-?writ(?:e|ing|ten)|re-?phras(?:e|ing|ed)|re-?word(?:ing|ed)?|paraphras\w+|excerpts?"
    r"|inputs?|role-?play\w*|plot(?: (?:summary|field|line|description))?|synopsis|passages?|scenarios?|personas?"
    r"|generat(?:e|ed|ing|ion)|instructions?|requests?|requested|summary|storyline|narrative|characters?|dialogues?"
    r"|texts?"
    r"|contexts?|content|sentences?|emotions?|snippets?|placeholder|template|attachments?|links?|fictional|templates?)"
)
"""Names of the prompt's material and of the requested output."""
_OWN = (
    r"(?:language model|ai|chatbot|assistant|the model|this model|my (?:knowledge|training|instructions|guidelines"
    r"|programming|capabilities|abilities|limitations|purpose|role|data)|guidelines?|polic(?:y|ies)|safety"
    r"|i(?:['’]m| am| was) (?:designed|built|made|trained|programmed|meant|here|set up|intended) to)"
)
"""Words with which a model speaks of itself, its training and its rules."""
_LACK = (
    r"(?:no|not|nothing|none|nobody|never|without|only|cannot|unable|impossible|isn['’]t|(?:\w+n['’]t)|lacks?|lacking"
    r"|missing|blank|empty|absent|unclear|unknown|unspecified|insufficient|incomplete|too (?:short|vague|long|little"
    r"|few"
    r"|brief|general)|fail(?:s|ed)?|declin\w+|refus\w+|refrain\w*|abstain\w*|skip|pass on|avoid|un(?:safe|able|suitable"
    r"|readable|available|comfortable|supported)|in(?:appropriate|valid|correct|accessible|sensitive)|irresponsible"
    r"|unethical|harmful|flagged|blocked|filtered|corrupted|garbled|truncated|cut|violat\w+|against"
    r"|beyond|outside|stops?|ends? (?:abruptly|there|mid)|other (?:kinds?|types?|sorts?)|something else|mistake|error"
    r"|wrong|sorry|apolog\w+|unfortunately|regret|afraid|hard to|difficult to)"
)
"""Words of failure or lack."""
_YOU = (
    r"(?:(?:do|did|would|could|can|will|are|were) you\b(?: \w+){0,4}? (?:want|like|prefer|mean|have in mind|ask\w*"
    r"|refer\w*"
    r"|provide|share|paste|send|upload|add|include|give|specify|clarify|confirm|tell me|check|try|looking for)"
    r"|(?:should|shall|may|can|could) i\b|please|you(?:['’]ve| have|['’]d| would)? (?:want|like|mean|meant|intended?"
    r"|provided?|shared?|gave me|given|sent|pasted?|uploaded?|posted|asked|wrote|submitted|supplied|mentioned|need)"
    r"|(?:like|want) me to|you have in mind|if you(?:['’]d| would)?|your (?:prompt|input|message|request"
    r"|instructions?|question|text|story|query)"
    r"|which (?:one|of)|for you\b|as (?:asked|requested|instructed|described|written|stated))"
)
"""Words that speak to the person who asked."""
_DONE = (
    r"(?:respond(?: to)?|complete|answer|writ(?:e|ing)|generat(?:e|ing)|process|produc(?:e|ing)|fulfil+|continue with"
    r"|proceed with|creat(?:e|ing)|work with|assist with|help with|provid(?:e|ing)|comply with|engage (?:with|in)"
    r"|perform|execute|accommodate|support|satisfy|honou?r|role-?play|interpret|rewrite|carry out|deliver)"
)
_THIS = r"(?:this|that|it|these|those|such a thing|this one|that one|the above|any of (?:this|that|it))"
_END = r"(?: (?:for you|here|now|today|at (?:this|the) (?:time|moment)|as (?:asked|requested|written|is)))?\W*$"
_BLUNT = re.compile(
    "|".join(
        (
            rf"\b(?:can(?:not|['’]t| not)|(?:un|not )able to|won['’]t(?: be able to)?|will not|(?:don['’]t"
            rf"|do not) (?:think|believe)"
            rf" i(?: can|['’]m able to)|(?:not|n['’]t) (?:in a position|equipped|willing|allowed|permitted"
            rf"|supposed) to|decline to"
            rf"|refuse to) {_DONE} {_THIS}{_END}",
            rf"\b(?:not|n['’]t) (?:something|anything|one|a thing|content|the kind of thing)(?: that"
            rf"| which)? i(?:['’]m| am)?"
            rf"(?: can| could| will| able to| willing to| allowed to| comfortable)? ?(?:be )?(?:{_DONE}|do)?{_END}",
            rf"\bi(?:['’]ll| will| must| have to| need to| would| should|['’]m going to(?: have to)?)(?: \w+ly)? "
            rf"(?:decline|pass on|skip|refrain from|opt out of|sit out)(?: (?:answering|writing|doing|generating"
            rf"|{_THIS}))?{_END}",
            r"\blet me know (?:how|what|whether|which \w+) you(?:['’]d| would)? (?:like|want"
            r"|prefer)(?: me)? to (?:proceed|do"
            r"|continue|use|write|work|focus)\b",
            r"\b(?:happy|glad|pleased|love) to (?:help|assist)(?: you)? (?:once|as soon as|when|if) you",
            r"\bterms of (?:use|service)\b|^\W*(?:request|prompt|content|output|response|answer) (?:denied|blocked"
            r"|removed"
            r"|withheld|filtered|refused|declined|rejected)\b",
            r"\bi (?:do not|don['’]t|can(?:not|['’]t)) (?:have|feel|experience|possess) (?:any )?(?:real |human "
            r"|personal )?"
            r"(?:emotions|feelings|opinions|beliefs|a body|consciousness)(?: (?:as|like|or|and|so|therefore"
            r"|because)\b|\W*$|,)",
            rf"\b(?:irresponsible|inappropriate|unethical|unwise|wrong|not (?:right|appropriate|possible|feasible)"
            rf"|impossible)"
            rf" (?:of|for) me to {_DONE}\b",
        )
    ),
    re.IGNORECASE,
)
"""Whole refusals that name no material, such as "I cannot do that for you."."""
_PLAIN = (
    r"(?:(?:the|this|that|your|a|any|no) prompts?|utterances?|re-?writ(?:e|ing|ten)(?! (?:the past|history|his|her"
    r"|our|my))"
    r"|re-?phras(?:e|ing|ed)|re-?word(?:ing|ed)?|paraphras\w+|excerpts?|(?<!your )inputs?|role-?play\w*|synopsis"
    r"|personas?|snippets?|placeholder|plot (?:summary|field|line|description|text)"
    r"|(?:specific|given|provided|above|original|supplied|requested|complete) (?:plot|story|text(?! post| message)"
    r"|passage|sentence|character|context"
    r"|scene|dialogue|line|line|version|output|format)"
    r"|(?:in|from|of) (?:the|this|your) (?:plot|passage))"
)
"""Words of ``_ASKED`` that occur beside a failure in none of 16,500 lines of comments and series."""
_GIVEN = (
    r"(?:provided|supplied|specified|included|attached|pasted|uploaded|mentioned|described|listed|stated|defined"
    r"|identified|detected|recogni[sz]ed|extracted|determined|inferred|processed|supported|available|clear|present"
    r"|work(?:ing)? with|appears?|find(?:ing)?|assign)"
)
"""Verbs of giving and finding material, such as "provided" and "mentioned"."""
_MODEL = re.compile(
    r"\b(?:language model|chatbot|i(?:['’]m| am| was) (?:only |just |primarily )?(?:designed|built|trained"
    r"|programmed) (?:to|for)"
    r" (?:assist|help|answer|provid|support|generat|be)|my (?:knowledge|training|programming|capabilities"
    r"|training data)"
    r" (?:does|do|is|are|has|only|cannot)|(?:the|this) (?:model|assistant|system) (?:can(?:not|['’]t)|is (?:not|un)"
    r"|does not"
    r"|doesn['’]t|refuses|declines))",
    re.IGNORECASE,
)
"""The model on itself; in a story a system or a model does other things."""
_KINDS = tuple(re.compile(rf"\b{words}(?!\w)", re.IGNORECASE) for words in (_ASKED, _OWN, _LACK, _YOU, _PLAIN, _GIVEN))
OF_A_STORY = re.compile(
    r"\b(?:text|plot|story|passage|character|summary|content|question|request)"
    r" (?:of|under|message|from|on|said|was already)\b|\banswer for\b|\bwrite to\b",
    re.IGNORECASE,
)
"""Uses of the task's words in stories."""
MOST_WORDS = 24
"""Words of a sentence that is looked at: a longer one has room for words of all kinds by chance."""


def combines_cues(sentence: str) -> bool:
    """Return true if a short sentence names the task or the model, and a failure or the person who asked."""
    if len(sentence.split()) > MOST_WORDS or OF_A_STORY.search(sentence):
        return False
    if _BLUNT.search(sentence) or _MODEL.search(sentence):
        return True
    asked, own, lack, you, plain, given = (len({hit.lower() for hit in kind.findall(sentence)}) for kind in _KINDS)
    if plain and (lack or you):
        return True
    if own and lack:
        return own + asked > 1 or lack > 1 or you > 0
    return (
        (asked > 0 and lack > 0 and (you > 0 or given > 0))
        or (asked > 1 and (lack > 0 or you > 0))
        or (asked > 0 and you > 1)
    )
