"""The models' part of Emo Pillars' report: Tables 1, 2, 3, 5, 6, 7, 8 and 10, the paper's figures beside ours."""

from typing import TYPE_CHECKING

from etl.publishing import pages
from etl.publishing.findings import Findings, Rows
from etl.publishing.pages import joined

if TYPE_CHECKING:
    from markupsafe import Markup

TASKS = {
    "synthetic": "Encoders on the data set's own test split (Table 1)",
    "goemotions": "GoEmotions (Table 2)",
    "isear": "ISEAR (Table 3)",
    "emocontext": "EmoContext (Tables 6 and 7)",
}
EXAMPLES = 10
"""Dialogues of Table 8 on the page, of each model."""
SCORES = {
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "paper_precision": "paper P",
    "paper_recall": "paper R",
    "paper_f1": "paper F1",
}


def own_tests(findings: Findings) -> "Markup | str":
    """Return Emo Pillars Tables 1 and 5."""
    text = (
        "Macro averages over the labels that occur in the test set. A dash stands for what was not trained or not "
        "printed. The gain of a model that reads contexts is over the same model without them; significant at 1% by "
        "Welch's t-test and Mann-Whitney's U, with each passage's F1 as a sample."
    )
    titles = {"learner": "model", "tested_on": "tested on", "passages": "passages", **SCORES}
    more = {"gain": "gain", "significant": "significant", "majority_f1": "floor: most frequent label"}
    return pages.explained(findings.rows("emo_pillars_intra_dataset"), text, titles | more)


def transfer(findings: Findings) -> "Markup | str":
    """Return Emo Pillars Tables 1 (other encoders), 2, 3, 6 and 7."""
    rows = [row for row in findings.rows("emo_pillars_transfer") if row["average"] == "macro"]
    if not rows:
        return ""
    text = (
        "Models as they are, and tuned on sets that people labelled; macro averages, mean over the trials. Rows "
        "without our model are the paper's alone. IEMOCAP (Table 4) needs CORECT, a separate model, and is not there."
    )
    titles = {
        "scored": "scored",
        "model": "model",
        "tuned": "tuned",
        "variant": "others",
        "trials": "trials",
        "paper_model": "paper's model",
        **SCORES,
        "f1_sd": "deviation of F1",
        "paper_f1_sd": "paper's",
        "gain_over_plain": "gain over the encoder",
        "majority_f1": "floor: most frequent class",
    }
    parts = [pages.paragraph(text)]
    for task, name in TASKS.items():
        if chosen := [row for row in rows if row["task"] == task]:
            parts += [pages.heading(name), pages.records(chosen, titles)]
    return joined([*parts, _by_class(findings.rows("emo_pillars_transfer_classes"))])


def _by_class(rows: Rows) -> "Markup | str":
    """Return Emo Pillars Table 10, of the model that the paper prints."""
    chosen = [
        row
        for row in rows
        if row["task"] == "goemotions" and row["tuned"] and row["model"] in (None, "emo_pillars_contextless")
    ]
    if not chosen:
        return ""
    titles = {
        "class": "label",
        "trials": "trials",
        **SCORES,
        "goemotions_f1": "GoEmotions F1",
        "gain_over_goemotions": "gain",
        "paper_gain": "paper's gain",
    }
    table = pages.details("By label (Table 10)", pages.records(chosen, titles))
    return pages.heading("GoEmotions by label") + table


def other_labels(findings: Findings) -> "Markup | str":
    """Return Emo Pillars Table 8: the dialogues whose emotion a model does not give most strongly."""
    rows = findings.rows("emo_pillars_table_8")
    text = (
        "Dialogues of EmoContext whose emotion a model does not give, with the labels that it gives; the surest ones "
        "first. A person has to say which labels fit better."
    )
    learners = list(dict.fromkeys(row["learner"] for row in rows))
    shown = [row for name in learners for row in [one for one in rows if one["learner"] == name][:EXAMPLES]]
    titles = {
        "learner": "model",
        "context": "context",
        "utterance": "last turn",
        "truth": "emotion",
        "labels": "labels of the model",
    }
    return pages.explained(shown, text, titles)
