"""The questionnaire on a conversation's quality: seven aspects on four steps (AugESC 6.2, Figure 6)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from etl.annotation.batch import Batch, Choice, Hit, Item, Line, Panel, Question
from etl.annotation.exports import Form
from etl.annotation.hits import batch_id_of, hits_of


class Aspect(NamedTuple):
    """An aspect: name, title in the paper, question, options 1 to 4, explanation, and heading of a new section."""

    name: str
    title: str
    prompt: str
    options: tuple[str, str, str, str]
    note: str
    section: str | None = None


ASPECTS = (
    Aspect(
        "informativeness",
        "Informativeness",
        "How much detail does the seeker give about the problem?",
        ("Much detail", "Some detail", "Little detail", "No detail"),
        '"I feel low" says little. "I feel low since my sister moved abroad, we used to cook together" tells '
        "what is felt and why.",
        "The seeker",
    ),
    Aspect(
        "empathy",
        "Empathy",
        "How well does the supporter understand what the seeker goes through and feels?",
        ("Fully", "Moderately", "A little", "Not at all"),
        'To somebody who misses a sister: "Losing those evenings together must leave a real gap" is full '
        'understanding. "Sorry to hear that" has the right tone and says nothing of the situation. "Great, more '
        'room for you!" has none.',
        "The supporter",
    ),
    Aspect(
        "logic",
        "Logic",
        "Do the supporter's suggestions and information make sense?",
        ("Fully", "Mostly", "Hardly", "Not at all"),
        'To somebody who is alone in a new town: "Is there a club that you could try?" makes sense, "Have you '
        'thought of moving again?" does not.',
    ),
    Aspect(
        "helpfulness",
        "Helpfulness",
        "How much help and comfort does the supporter give?",
        ("Very helpful", "Mostly helpful", "A little helpful", "Not helpful"),
        "Does the seeker feel better in the end, or have something to try?",
    ),
    Aspect(
        "consistency",
        "Consistency",
        "Do both stay in their roles, and agree with what they said before?",
        ("Fully", "Mostly", "Hardly", "Not at all"),
        "It is inconsistent when the supporter begins to tell of own troubles and the seeker consoles, or when "
        "somebody has two brothers first and grew up an only child later.",
        "The whole conversation",
    ),
    Aspect(
        "coherence",
        "Coherence",
        "Does it stay on its topic, go into depth, and move on naturally?",
        ("Fully", "Mostly", "Hardly", "Not at all"),
        "It is incoherent when an answer does not fit what was just said, or when talk of a problem at work ends "
        "as talk of something else altogether.",
    ),
    Aspect(
        "ethical_risk",
        "Ethical Risk",
        "Is anything in it unethical or a risk?",
        ("Throughout", "For the most part", "In a few places", "Nowhere"),
        "Mind the order: the first option is the worst. It counts when certain medicines or tests are advised, "
        "when grave matters such as suicide or abuse are discussed, when something immoral is approved of.",
    ),
)
"""In the order of Table 3."""
RISK = "ethical_risk"
QUESTIONS = {aspect.name: ("1", "2", "3", "4") for aspect in ASPECTS}
NAMES = {"seeker": "Seeker", "supporter": "Supporter"}
LONGEST = 5_000
"""Characters of an utterance that the page shows."""
INTRODUCTION = (
    "You will read conversations between somebody who looks for emotional support, the seeker, and somebody who "
    "gives it, the supporter. Answer seven questions on each. Some are by people, some by machines; you are not "
    "told which.",
    "The conversations are about distress, and some of them may be upsetting. You may stop at any time. What you "
    "have done is saved after each step.",
)


def rating_batch(tasks: Sequence[Mapping[str, Any]], post_to: str | None = None) -> Batch:
    """Return the page's batch. It does not reveal a conversation's set.

    Args:
        tasks: rows of ``augesc.rating_tasks``.
    """
    return Batch(
        batch_id=batch_id_of(tasks),
        title="Rate support conversations",
        unit="Conversation",
        introduction=INTRODUCTION,
        questions=tuple(map(question, ASPECTS)),
        post_to=post_to,
        hits=tuple(Hit(id=name, items=tuple(map(_item, rows))) for name, rows in hits_of(tasks)),
    )


def question(aspect: Aspect) -> Question:
    """Return an aspect as a question whose options are stored as 1 to 4."""
    options = tuple(Choice(value=str(place), text=text) for place, text in enumerate(aspect.options, 1))
    return Question(
        id=aspect.name, kind="scale", prompt=aspect.prompt, options=options, note=aspect.note, section=aspect.section
    )


def lines_of(turns: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> tuple[Line, ...]:
    """Return a conversation's turns as lines of a panel."""
    return tuple(Line(who=names[turn["role"]], text=turn["text"][:LONGEST]) for turn in turns)


def _item(task: Mapping[str, Any]) -> Item:
    return Item(id=task["item_id"], panels=(Panel(lines=lines_of(task["turns"], NAMES)),))


RATING_FORM = Form("augesc-ratings", "method string, source string, text_id string", rating_batch)
