"""Sections of EDOS's report on reliability: limitations, confidence, examples, checks by people (EDOS 3.2, Table 6)."""

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from etl.common.spelling import detokenised_text
from etl.edos.findings import UNSURE, EdosFindings
from etl.edos.label_thresholds import shown_label
from etl.publishing import pages
from etl.publishing.dataset_card import measured_limits
from etl.publishing.findings import Rows
from etl.publishing.pages import joined, part, percent
from etl.publishing.pictures import Bar, bars

if TYPE_CHECKING:
    from markupsafe import Markup

MORE_VIEWS = (
    ("edos_models", "The models on held-out rows"),
    ("edos_table_5", "The classifier on held-out turns"),
    ("edos_origins", "Where the training labels come from"),
)
"""Existing views that are shown without changes."""
MOST_ROWS = 12


def limits(findings: EdosFindings) -> "Markup":
    """Return the limitations of the labels."""
    f1 = findings.classifier.get("macro_f1")
    size = f" It was trained from {findings.size}." if findings.size else ""
    quality = (
        f" On held-out turns labelled by people, its macro-F1 is {100 * f1:.1f} and its accuracy "
        f"{100 * findings.classifier.get('accuracy', 0):.1f} of 100 (paper, on another fifth and from BERT-base with "
        f"RoBERTa's weights: 63.86 and 65.00).{size}"
        if f1 is not None
        else " Its metrics on held-out turns are not available here."
    )
    unsure = findings.unsure_share
    weak = (
        ""
        if unsure is None
        else f" {percent(unsure)} of the turns have a confidence under 50%: filter by label_accepted."
    )
    return pages.limits(
        (
            "The labels were given by a model and not by people." + quality + weak,
            "The speakers are unknown. The beginning of a turn is inferred from dashes, speaker names and a "
            f"classifier. A silence of more than {findings.silence_seconds:g} s ends a dialogue.",
            findings.choice,
            "The dialogues come from films: they are written and acted, often end at a turn that cleaning removed, and "
            "can be crude.",
            f"{findings.origins.owners} Share labels with references instead of texts unless you have cleared the "
            "rights.",
            *(limit.replace("`", "") for limit in measured_limits()),
        )
    )


def confidence(findings: EdosFindings) -> "Markup | str":
    """Return the shares of turns by the classifier's confidence, in tenths."""
    rows = findings.rows("edos_confidence")
    if not rows:
        return ""
    highest = max(row["share"] for row in rows)
    lines = []
    for row in rows:
        band = f"{row['from_confidence']:.1f} to {row['to_confidence']:.1f}"
        style = "neutral" if row["to_confidence"] <= UNSURE else "emotion"
        bar = Bar(row["share"] / highest, style, f"{band}: {row['turns']:,} ({percent(row['share'])})")
        lines.append((band, bars([bar], 10), [percent(row["share"]), pages.shown(row["turns"])]))
    sure = sum(row["share"] for row in rows if row["from_confidence"] >= 0.9)
    text = (
        f"{percent(sure)} of the turns have a confidence of 0.9 or more, {percent(findings.unsure_share)} less than "
        f"0.5. With {len(findings.taxonomy.labels)} classes a label with a low confidence can be right: the paper has "
        "an example with a right label at 0.01."
    )
    return pages.paragraph(text) + pages.chart(("confidence", "share", "turns"), lines)


def accepted(findings: EdosFindings) -> "Markup | str":
    """Return how often labels are right on the test turns that the classifier is surest of, and what is accepted."""
    curve = findings.rows("edos_label_curve")
    rows = findings.rows("edos_accepted_labels")
    if not curve or not rows:
        return ""
    lines = []
    for row in curve:
        share = f"{row['surest_share']:.0%}"
        right = percent(row["accuracy"])
        drawn = [Bar(row["accuracy"], "emotion", f"the surest {share}: {right} right, {row['turns']:,} turns")]
        lines.append((f"the surest {share}", bars(drawn, 10), [right, f"{row['least_confidence']:.2f}"]))
    text = (
        "Of the crowd's test turns, which nothing was trained or chosen on. As many turns at random would be right as "
        f"often as all are, {percent(curve[-1]['accuracy'])}."
    )
    found = findings.accepted
    if found:
        text += (
            f" label_accepted marks the labels whose confidence reaches a threshold of their own: {percent(found[0])} "
            f"of the test turns, {percent(found[1])} of them right."
        )
    text += " Labels of other dialogues may be right less often. The last column is the least confidence."
    titles = {
        "label": "label",
        "least_confidence": "least confidence",
        "turns": "test turns",
        "accuracy": "right",
        "accepted": "accepted",
        "accepted_accuracy": "of them right",
    }
    table = pages.details("By label, as a table", pages.records(rows, titles))
    return pages.paragraph(text) + pages.chart(("turns", "right", "from"), lines) + table


def classes(findings: EdosFindings) -> "Markup | str":
    """Return precision, recall and F1 by label on held-out rows, the best label first, and the run that has them."""
    rows = sorted(findings.classes, key=lambda row: (-(row["f1"] or 0), row["label"]))
    if not rows:
        return ""
    kinds = findings.taxonomy.kinds
    lines = []
    for row in rows:
        title = f"F1 of {row['label']}: {percent(row['f1'])}"
        drawn = [Bar(row["f1"] or 0.0, kinds.get(row["label"], "neutral"), title)]
        lines.append((row["label"], bars(drawn, 10), [percent(row["f1"]), pages.shown(row["support"])]))
    text = "F1 on turns that people labelled and the classifier did not learn from; rows counts these turns."
    if findings.training:
        text += f" The MLflow run {findings.training} has them, too: python -m jobs mlflow shows it in a browser."
    titles = {"label": "label", "f1": "F1", "precision": "precision", "recall": "recall", "support": "rows"}
    table = pages.details("With precision and recall, as a table", pages.records(rows, titles))
    return pages.paragraph(text) + pages.chart(("label", "F1", "rows"), lines) + table


def dialogues(findings: EdosFindings, most: int) -> "Markup | str":
    """Return dialogues with labels and confidences, from low to high confidence (EDOS Table 6)."""
    shown = shown_dialogues(findings, most)
    if not shown:
        return ""
    cards: defaultdict[float, list[Mapping[str, Any]]] = defaultdict(list)
    for (quarter, name), rows in shown.items():
        turns = [_turn(row, findings.taxonomy.kinds) for row in rows]
        cards[quarter].append({"id": name, "turns": turns})
    text = (
        "Selected by the hash of their ids; dialogues marked profane are not shown. A label in brackets, with a grey "
        "bar, is not accepted."
    )
    labels = sorted({row["label"] for rows in shown.values() for row in rows if row["label"]})
    return joined(
        [
            pages.paragraph(text, "quiet"),
            part(pages.PARTS, "label_filter", labels),
            *(
                part(
                    pages.PARTS, "dialogues", f"Lowest confidence between {quarter:.2f} and {quarter + 0.25:.2f}", group
                )
                for quarter, group in sorted(cards.items())
            ),
        ]
    )


def shown_dialogues(findings: EdosFindings, most: int) -> dict[tuple[float, str], list[Mapping[str, Any]]]:
    """Return the turns of the first ``most`` dialogues of each quarter, by (quarter, dialogue_id)."""
    found: defaultdict[tuple[float, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in findings.rows("edos_examples"):
        if row["place"] <= most:
            found[row["lowest_confidence_from"], row["dialogue_id"]].append(row)
    return dict(found)


def _turn(row: Mapping[str, Any], kinds: Mapping[str, str]) -> Mapping[str, Any]:
    confidence = f"{row['confidence']:.2f}"
    style = "neutral" if row["label_accepted"] is False else kinds.get(row["label"], "neutral")
    bar = bars([Bar(row["confidence"], style, confidence)], 8)
    text = detokenised_text(row["text"] or "")
    label = row["label"] or "–"
    shown = shown_label(label, row["label_accepted"])
    return {"bar": bar, "label": label, "shown": shown, "confidence": confidence, "text": text}


def people(findings: EdosFindings) -> "Markup":
    """Return EDOS Table 4, the classifier on held-out turns, and the origins of the training labels."""
    parts: list[Markup | str] = []
    crowd = findings.rows("edos_table_4")
    if any(row["value"] for row in crowd):
        parts.append(pages.paragraph("Three workers labelled each turn with its history; two must agree."))
        titles = {"criterion": "the crowd", "value": "here", "paper": "paper", "paper_recount": "its released votes"}
        parts.append(pages.records(crowd, titles))
    parts += [_view(findings.rows(view), title) for view, title in MORE_VIEWS]
    return joined(parts)


def _view(rows: Rows, title: str) -> "Markup | str":
    """Return a view as a table; a long one is folded."""
    if not rows:
        return ""
    whole = pages.records(rows, [name for name in rows[0] if name != "place"])
    return pages.heading(title) + (whole if len(rows) <= MOST_ROWS else pages.details(f"All {len(rows)} rows", whole))
