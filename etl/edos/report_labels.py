"""Sections of EDOS's report on labels: their frequencies and their order in dialogues (EDOS 4, Figures 2 and 3)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from etl.edos.findings import EdosFindings
from etl.publishing import pages
from etl.publishing.findings import Rows
from etl.publishing.pages import joined, percent
from etl.publishing.pictures import Bar, bars

if TYPE_CHECKING:
    from markupsafe import Markup

PAPER = "paper"
CORPORA = {"EDOS": "EDOS, ours", PAPER: "EDOS, the paper's Table 9", "EmpatheticDialogues": "EmpatheticDialogues"}
"""Titles of the sets of ``analysis.edos_emotions_by_turn``."""
WHOLE_SET_NATS = 0.2675
"""KL divergence of the paper's Table 9 from the labels of all of EmpatheticDialogues, by our formula."""
PAIRS_SHOWN = 12


def labels(findings: EdosFindings) -> "Markup | str":
    """Return EDOS Figure 2 with the paper's Table 9, and the KL divergence."""
    rows = list(findings.rows("edos_label_distribution"))
    if not rows or not findings.turns:
        return ""
    compared = any(row["empathetic_turns"] for row in rows)
    rows.sort(key=lambda row: (-(row["share"] or 0), row["label"]))
    top = rows[0]
    intents = sum(row["share"] or 0 for row in rows if row["kind"] == "intent")
    paper_intents = sum(row["paper_share"] or 0 for row in rows if row["kind"] == "intent")
    text = (
        f"The most frequent label is {top['label']} with {percent(top['share'])} of the turns (paper: "
        f"{percent(top['paper_share'])})."
    )
    kinds = {row["kind"] for row in rows}
    if "intent" in kinds:
        text += f" The intents together have {percent(intents)} (paper: {percent(paper_intents)})."
    text += _accepted_words(rows)
    parts: list[Markup | str] = [pages.paragraph(text)]
    key = [(kind, f"{kind}, here") for kind in ("emotion", "intent", "neutral") if kind in kinds]
    key.append(("paper", "paper's Table 9"))
    parts.append(pages.key([*key, ("empathetic", "EmpatheticDialogues (ED)")] if compared else key))
    parts += [
        pages.heading(title) + _label_chart([row for row in rows if row["kind"] in chosen], compared)
        for title, chosen in (
            ("Intents and neutral" if "intent" in kinds else "Neutral", {"intent", "neutral"}),
            ("Emotions, on another scale", {"emotion"}),
        )
        if kinds & chosen
    ]
    parts.append(_divergence(findings))
    return joined(parts)


def _accepted_words(rows: Rows) -> str:
    """Return how many of the labels are accepted, which the charts do not say; nothing where it is not known."""
    known = [row for row in rows if row["accepted_turns"] is not None]
    emotions = [row for row in known if row["kind"] == "emotion"]
    if not known:
        return ""
    share, of_emotions = (
        percent(sum(row["accepted_turns"] for row in some) / (sum(row["turns"] for row in some) or 1))
        for some in (known, emotions)
    )
    return f" Accepted are {share} of the labels and {of_emotions} of the emotions; the charts count all."


def _label_chart(rows: Rows, compared: bool) -> "Markup":
    """Return bars of the labels' shares, scaled to the longest one."""
    series = {"share": "here", "paper_share": "paper"} | ({"empathetic_share": "ED"} if compared else {})
    longest = max((row[name] or 0.0 for row in rows for name in series), default=0.0) or 1.0
    lines = []
    for row in rows:
        drawn = [
            Bar(
                (row[name] or 0) / longest,
                row["kind"] if name == "share" else name.removesuffix("_share"),
                f"{row['label']}, {source}: {percent(row[name])}",
            )
            for name, source in series.items()
        ]
        lines.append((row["label"], bars(drawn, 5, 1), [percent(row[name]) for name in series]))
    return pages.chart(("label", *series.values()), lines)


def _divergence(findings: EdosFindings) -> "Markup | str":
    rows = [row for row in findings.rows("edos_kl_divergence") if row["nats"] is not None]
    if not rows:
        return ""
    text = (
        "KL divergence of a distribution p from a reference q: the sum over the labels of p ln(p/q), in nats, with "
        "half a count added to each label. EmpatheticDialogues is counted by utterances, with the labels of Welivita "
        "and Pu. The paper reports 0.2447 for its data set; its Table 9 gives 0.2675 by this formula"
    )
    of_paper = [row["nats"] for row in rows if row["distribution"] == CORPORA[PAPER]]
    if of_paper and abs(of_paper[0] - WHOLE_SET_NATS) > 0.0005:
        text += f" against the whole of EmpatheticDialogues, and {of_paper[0]:.4g} against the part of it that is here"
    text += "."
    table = pages.records(rows, {"distribution": "labels of", "reference": "against", "nats": "nats", "paper": "paper"})
    return joined([pages.heading("Divergence of the label shares"), table, pages.paragraph(text, "quiet")])


def flow(findings: EdosFindings) -> "Markup | str":
    """Return EDOS Figure 3 as bars: the most frequent pairs of labels of a first turn and its answer."""
    parts: list[Markup | str] = []
    for corpus in ("EDOS", "EmpatheticDialogues"):
        first = [row for row in findings.rows("edos_flow") if row["corpus"] == corpus and row["position"] == 1]
        answered = sorted(
            (row for row in first if row["to_label"]),
            key=lambda row: (-row["dialogues"], row["label"], row["to_label"]),
        )[:PAIRS_SHOWN]
        if not answered:
            continue
        kinds = findings.taxonomy.kinds
        parts += [pages.heading(CORPORA[corpus]), pages.paragraph(_flow_words(first, kinds))]
        most = answered[0]["dialogues"]
        lines = []
        for row in answered:
            pair = f"{row['label']} → {row['to_label']}"
            bar = Bar(row["dialogues"] / most, kinds.get(row["label"], "neutral"), pair)
            lines.append((pair, bars([bar], 10), [pages.shown(row["dialogues"])]))
        parts.append(pages.chart(("first turn → second turn", "dialogues"), lines))
    return joined(parts) if parts else ""


def by_turn(findings: EdosFindings) -> "Markup | str":
    """Return the kinds of labels and their valence by turn: whether emotions give way to intents (EDOS 4)."""
    rows = findings.rows("edos_emotions_by_turn")
    if not any(row["corpus"] == "EDOS" for row in rows):
        return ""
    kinds = ("emotions", "intents", "neutral")
    parts: list[Markup | str] = []
    text = (
        "The paper says that emotions de-escalate as dialogues go on, in both sets, without numbers. Its Table 9 has "
        "the labels of first turns and of all turns; the rest are those of later turns. Valence is the mean over turns "
        "with an emotion that has one, from -1 to 1; which emotions are positive is ours."
    )
    parts += [pages.paragraph(text), pages.key((kind.removesuffix("s"), kind) for kind in kinds)]
    for corpus, title in CORPORA.items():
        chosen = [row for row in rows if row["corpus"] == corpus and row["all_lengths"]]
        lines = []
        for row in chosen:
            drawn = [Bar(row[kind] or 0.0, kind.removesuffix("s"), f"{kind}: {percent(row[kind])}") for kind in kinds]
            valence = "" if row["valence"] is None else f"{row['valence']:+.2f}"
            later = " and later" if corpus == PAPER and row["position"] > 1 else ""
            numbers = [percent(row["emotions"]), percent(row["intents"]), valence]
            lines.append((f"turn {row['position']}{later}", bars(drawn, 5, 1), numbers))
        if lines:
            parts.append(pages.heading(title))
            parts.append(pages.chart(("turn", "emotions", "intents", "valence"), lines, ("name", "word")))
            titles = {"position": "turn", **{kind: kind for kind in kinds}, "valence": "valence", "turns": "turns"}
            parts.append(pages.details(f"{title} as a table", pages.records(chosen, titles)))
    return joined(parts)


def _flow_words(ours: Rows, kinds: Mapping[str, str]) -> str:
    """Return the shares of dialogues that open with an emotion, and of those answered with an intent."""
    first = [row for row in ours if row["position"] == 1]
    emotional = [row for row in first if kinds.get(row["label"]) == "emotion"]
    answered = [row for row in emotional if row["to_label"]]
    by_intent = [row for row in answered if kinds.get(row["to_label"]) == "intent"]
    return (
        f"{_share(emotional, first)} of the dialogues open with an emotion; "
        f"{_share(by_intent, answered)} of those are answered with an intent."
    )


def _share(some: Rows, rows: Rows) -> str:
    total = sum(row["dialogues"] for row in rows)
    return percent(sum(row["dialogues"] for row in some) / total if total else None)
