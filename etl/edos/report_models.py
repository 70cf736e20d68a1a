"""Sections of EDOS's report on trials of its making, and on what learns from it (EDOS 5, Tables 7, 8 and 10, C)."""

from typing import TYPE_CHECKING

from etl.edos.findings import EdosFindings
from etl.publishing import pages

if TYPE_CHECKING:
    from markupsafe import Markup


def weighting(findings: EdosFindings) -> "Markup | str":
    """Return what weighting newer turns more brings the classifier (EDOS C)."""
    text = (
        "Macro-F1 in percent of classifiers with newer turns weighted more, and with all turns weighted alike: means "
        "over pairs of trainings with the same seed. A row without seeds is the paper's alone."
    )
    titles = {
        "trained_on": "trained on",
        "encoder": "our encoder",
        "epochs": "epochs",
        "seeds": "seeds",
        "weighted_f1": "weighted",
        "unweighted_f1": "alike",
        "gain": "gain",
        "gain_sd": "deviation",
        "paper_weighted_f1": "paper, weighted",
        "paper_unweighted_f1": "paper, alike",
        "paper_gain": "paper's gain",
    }
    return pages.explained(findings.rows("edos_weighting"), text, titles)


def thresholds(findings: EdosFindings) -> "Markup | str":
    """Return how many dialogues each threshold of similarity labels (EDOS 3.3.1, Table 8)."""
    rows = findings.rows("edos_similarity_thresholds")
    if not rows:
        return ""
    text = (
        "Dialogues that are similar to a labelled one, by the least cosine; the paper takes 0.92. Of some of them the "
        "matches have several labels. analysis.edos_similarity_thresholds has pairs to read."
    )
    titles = {
        "origin": "similar to",
        "threshold": "least cosine",
        "dialogues": "dialogues",
        "with_rival_label": "of several labels",
    }
    return pages.paragraph(text) + pages.details("By threshold", pages.records(rows, titles))


def generators(findings: EdosFindings) -> "Markup | str":
    """Return the response generators, their floors and their ceiling (EDOS Tables 7 and 10)."""
    scores = findings.rows("edos_table_7")
    if not any(row["examples"] for row in scores):
        return ""
    text = (
        "Response generators on test replies of each set, with floors and people's replies as the ceiling. Distinct-n "
        "is of equally many replies."
    )
    named = {"generator": "generator", "source": "test set", "setting": "setting", "examples": "replies"}
    measures = ("perplexity", "distinct_1", "distinct_2", "similarity")
    beside = {f"{prefix}{name}": f"{said}{name}".replace("_", "-") for prefix, said in PARTS for name in measures}
    table = pages.paragraph(text) + pages.records(scores, named | beside)
    trained = findings.rows("edos_table_10")
    if not trained:
        return table
    columns = ("parameters", "epochs", "hours", "validation_perplexity")
    sizes = {f"{prefix}{name}": f"{said}{name}".replace("_", " ") for prefix, said in PARTS for name in columns}
    training = pages.records(trained, {"generator": "generator"} | sizes)
    return table + pages.heading("Their trainings (Table 10)") + training


PARTS = (("", ""), ("paper_", "paper "))
"""Beginnings of the names and of the titles of our columns and of the paper's."""
