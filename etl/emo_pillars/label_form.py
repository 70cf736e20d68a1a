"""Make the questionnaire on labels: options, neutrality, and a context on demand (Emo Pillars 8, I.1)."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from random import Random
from typing import Any, NamedTuple

from conf.errors import InputError
from conf.taxonomy import EmotionTaxonomy
from etl.annotation.batch import Batch, Choice, Hit, Item, Lesson, Line, Panel, Question
from etl.annotation.exports import Form
from etl.annotation.hits import batch_id_of, hits_of

LETTERS = "ABCDEF"
NONE = "G"
MOST_LABELS = 3
MOST_RELATED = 3
MOST_PLAUSIBLE = 5
EMOTIONS = 6
OPTIONS = 6
JOINED = " & "


class LabelTask(NamedTuple):
    """A row of ``emo_pillars.evaluation_tasks``."""

    hit_id: str
    position: int
    item_id: str
    utterance_id: str
    shown: str
    rewritten: bool
    context: str
    options: list[str]
    answer: str
    ranked: bool
    neutral: str


def neutrality(labels: Sequence[str], neutral: str) -> str:
    """Return ``alone`` if neutral is the only label, ``beside`` if it is one of several, otherwise ``none``."""
    return "none" if neutral not in labels else "alone" if len(labels) == 1 else "beside"


def options_of(labels: Sequence[str], ranked: bool, random: Random, taxonomy: EmotionTaxonomy) -> tuple[list[str], str]:
    """Return six options and the letter of the right one (Emo Pillars I.1).

    The right option has the strongest labels, at most three, without neutral. The other five options have the same
    size. Their emotions are drawn from six: those of the right option, up to three others of the same groups (at most
    five in total), and random ones. The emotions of an option are shuffled, except for a ranked right option. If
    neutral is the only label, six random options of a random size (ours) are all wrong.

    Args:
        labels: labels, the strongest first.
        ranked: whether to keep the right option's order.
        taxonomy: of at least six emotions.
    """
    groups = taxonomy.groups
    right = [label for label in labels if label != taxonomy.neutral][:MOST_LABELS]
    near = sorted({groups[one] for one in right})
    related = sorted(label for label, group in groups.items() if group in near and label not in right)
    more = random.sample(related, min(MOST_RELATED, MOST_PLAUSIBLE - len(right), len(related))) if right else []
    rest = sorted(set(groups) - {*right, *more})
    chosen = [*right, *more, *random.sample(rest, EMOTIONS - len(right) - len(more))]
    size = len(right) or random.randint(1, MOST_LABELS)
    others = [one for one in combinations(sorted(chosen), size) if set(one) != set(right)]
    made = [random.sample(one, size) for one in random.sample(others, OPTIONS - bool(right))]
    if right:
        made.append(list(right) if ranked else random.sample(right, size))
    random.shuffle(made)
    letter = next((LETTERS[place] for place, one in enumerate(made) if right and set(one) == set(right)), NONE)
    return [JOINED.join(one) for one in made], letter


def chosen_examples(
    rows: Iterable[Mapping[str, Any]], examples: int, alone: float, beside: float, neutral: str
) -> list[Mapping[str, Any]]:
    """Choose the first examples, with the paper's shares of neutral ones as far as available.

    Args:
        rows: ``emo_pillars.contextual_examples`` in an order that depends on content.
        alone, beside: shares of examples with neutral alone, and with neutral among other labels.
        neutral: the label of utterances without an emotion.
    """
    by_kind: dict[str, list[Mapping[str, Any]]] = {"alone": [], "beside": [], "none": []}
    for row in rows:
        by_kind[neutrality([one["label"] for one in row["labels"]], neutral)].append(row)
    taken = by_kind["alone"][: round(alone * examples)] + by_kind["beside"][: round(beside * examples)]
    return taken + by_kind["none"][: examples - len(taken)]


def label_tasks(
    rows: Sequence[Mapping[str, Any]],
    *,
    per_hit: int,
    ranked_share: float,
    rewritten_share: float,
    seed: int,
    taxonomy: EmotionTaxonomy,
) -> list[LabelTask]:
    """Return the questionnaire's items, shuffled by content (Emo Pillars I.1).

    Args:
        rows: result of ``chosen_examples``.
        ranked_share: share of items with ranked labels, which are the first items.
        rewritten_share: share of items whose rewritten utterance is shown, by hash.

    Raises:
        InputError: the taxonomy has fewer emotions than an item offers.
    """
    if len(taxonomy.emotions) < EMOTIONS:
        raise InputError(
            f"emo_pillars.taxonomy {taxonomy.name} has {len(taxonomy.emotions)} emotions, and an item of the "
            f"questionnaire offers {EMOTIONS}: evaluate labels of a larger taxonomy"
        )
    ordered = sorted(rows, key=lambda row: _digest(seed, "order", row["utterance_id"]))
    number = round(ranked_share * len(ordered))
    tasks = []
    for start in range(0, len(ordered), per_hit):
        items = ordered[start : start + per_hit]
        hit_id = "e" + _digest(seed, "hit", *(row["utterance_id"] for row in items))[:12]
        for position, row in enumerate(items, 1):
            name = row["utterance_id"]
            random = Random(int(_digest(seed, "options", name), 16))
            ranked = start + position <= number
            labels = [one["label"] for one in row["labels"]]
            options, answer = options_of(labels, ranked, random, taxonomy)
            rewritten = int(_digest(seed, "rewritten", name)[:8], 16) < rewritten_share * 16**8
            tasks.append(
                LabelTask(
                    hit_id,
                    position,
                    "i" + _digest(seed, "item", name)[:12],
                    name,
                    row["rewritten"] if rewritten else row["utterance"],
                    rewritten,
                    row["context"],
                    options,
                    answer,
                    ranked,
                    neutrality(labels, taxonomy.neutral),
                )
            )
    return tasks


def _digest(seed: int, of: str, *keys: str) -> str:
    return hashlib.sha256("\u0001".join((f"{seed} {of}", *keys)).encode()).hexdigest()


def _emotions(taxonomy: EmotionTaxonomy) -> tuple[Choice, ...]:
    return tuple(Choice(value=label, text=label.capitalize()) for label in sorted(taxonomy.emotions))


def questions(taxonomy: EmotionTaxonomy) -> dict[str, tuple[str, ...] | None]:
    """Return the valid answers of each question; None for any text."""
    labels = tuple(sorted(taxonomy.emotions))
    return {
        "neutral": ("yes", "no"),
        "choice": (*LETTERS, NONE),
        "context": ("true",),
        "unfit": labels,
        "other_emotion": labels,
        "other_words": None,
        "no_emotion": ("yes",),
    }


REQUIRED = 2
"""The number of required questions, which come first."""
INTRODUCTION = (
    "You will read what characters of stories could say. Say of each utterance whether it could be neutral, and "
    "which set of emotions suits it best: what would somebody feel who says this? Answer the second question also "
    "where you find the utterance neutral.",
    "A program wrote utterances and contexts. Emotions in a set are in random order. Consult the context only when "
    "you are in doubt; you may change your answer afterwards.",
)


def label_batch(tasks: Sequence[Mapping[str, Any]], post_to: str | None = None, *, taxonomy: EmotionTaxonomy) -> Batch:
    """Return the page's batch. It does not reveal the data set's labels.

    Args:
        tasks: rows of ``emo_pillars.evaluation_tasks``.
    """
    yes = Choice(value="yes", text="Yes")
    asked = (
        Question(
            id="neutral",
            kind="choice",
            prompt="Could the utterance be neutral?",
            options=(yes, Choice(value="no", text="No")),
        ),
        Question(id="choice", kind="choice", prompt="Which emotions suit it best?"),
        Question(id="context", kind="reveal", prompt="I consulted the context", required=False),
        Question(
            id="unfit",
            kind="pick",
            prompt="One emotion of my choice does not fit:",
            options=_emotions(taxonomy),
            required=False,
            section="If you like",
            note="Only where there is no better choice.",
        ),
        Question(
            id="other_emotion",
            kind="pick",
            prompt="Another emotion suits better, this one:",
            options=_emotions(taxonomy),
            required=False,
        ),
        Question(id="other_words", kind="text", prompt="Another emotion, in your words", required=False, most=100),
        Question(
            id="no_emotion",
            kind="several",
            prompt="I see no shade of any emotion (with none of these)",
            options=(yes,),
            required=False,
        ),
    )
    lessons = tuple(
        Lesson(value=label, name=label.capitalize(), about=taxonomy.definitions[label], example="")
        for label in sorted(taxonomy.emotions)
    )
    return Batch(
        batch_id=batch_id_of(tasks),
        title="Check the emotions of utterances",
        unit="Utterance",
        introduction=INTRODUCTION,
        questions=asked,
        tutorial=lessons,
        post_to=post_to,
        hits=tuple(Hit(id=name, items=tuple(map(_item, rows))) for name, rows in hits_of(tasks)),
    )


def _item(task: Mapping[str, Any]) -> Item:
    options = [
        Choice(value=letter, text=text[0].upper() + text[1:])
        for letter, text in zip(LETTERS, task["options"], strict=True)
    ]
    return Item(
        id=task["item_id"],
        panels=(Panel(lines=(Line(text=task["shown"][:5000]),)),),
        options=(*options, Choice(value=NONE, text="None of these")),
        hidden=task["context"],
    )


def label_form(taxonomy: EmotionTaxonomy) -> Form:
    """Return the questionnaire on labels of a taxonomy."""
    facts = "utterance_id string, rewritten boolean, answer string, ranked boolean, neutral string"
    return Form("emo-pillars-labels", facts, partial(label_batch, taxonomy=taxonomy))
