"""Sections of the report on labels: how often each occurs, and which follows which (EDOS 4, Figures 2 and 3)."""

from collections.abc import Mapping
from html import escape

from etl.analysis import pages
from etl.analysis.findings import Findings, Rows
from etl.analysis.flow import frequent_labels, grouped_flow
from etl.analysis.pages import percent
from etl.analysis.pictures import Bar, bars, sankey


def labels(findings: Findings) -> str:
    """EDOS Figure 2 with the paper's Table 9 beside it, and the divergence."""
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
    parts = [pages.paragraph(text)]
    key = [
        ("emotion", "emotion, here"),
        ("intent", "intent, here"),
        ("neutral", "neutral, here"),
        ("paper", "paper's Table 9"),
    ]
    key = [one for one in key if one[0] in (*kinds, "paper")]
    parts.append(pages.key([*key, ("empathetic", "EmpatheticDialogues (ED)")] if compared else key))
    parts += [
        f"<h3>{escape(title)}</h3>" + _label_chart([row for row in rows if row["kind"] in chosen], compared)
        for title, chosen in (
            ("Intents and neutral" if "intent" in kinds else "Neutral", {"intent", "neutral"}),
            ("Emotions, on a longer scale", {"emotion"}),
        )
        if kinds & chosen
    ]
    parts.append(_divergence(findings))
    return "".join(parts)


def _label_chart(rows: Rows, compared: bool) -> str:
    """Labels of a kind by our share, on a scale of their own."""
    series = [("share", "here"), ("paper_share", "paper")] + ([("empathetic_share", "ED")] if compared else [])
    longest = max((row[name] or 0.0 for row in rows for name, _ in series), default=0.0) or 1.0
    body = ""
    for row in rows:
        drawn = [
            Bar((row[name] or 0) / longest, row["kind"] if name == "share" else name.removesuffix("_share"),
                f"{row['label']}, {who}: {percent(row[name])}")
            for name, who in series
        ]  # fmt: skip
        cells = "".join(f'<td class="n">{percent(row[name])}</td>' for name, _ in series)
        body += f'<tr><th scope="row">{escape(row["label"])}</th><td>{bars(drawn, 5, 1)}</td>{cells}</tr>'
    head = "".join(f'<th scope="col" class="n">{who}</th>' for _, who in series)
    columns = '<col class="name"/><col/>' + '<col class="share"/>' * len(series)
    return (
        f'<table class="chart"><colgroup>{columns}</colgroup><thead><tr><th scope="col">label</th><td></td>{head}</tr>'
        f"</thead><tbody>{body}</tbody></table>"
    )


def _divergence(findings: Findings) -> str:
    rows = [row for row in findings.rows("edos_kl_divergence") if row["nats"] is not None]
    if not rows:
        return ""
    how = (
        "KL divergence of a distribution p from a reference q: the sum over the labels of p ln(p/q), in nats, half "
        "a count added to each label. EmpatheticDialogues is counted by its utterances, with the labels that Welivita "
        "and Pu gave it. The paper says 0.2447 for its own set; its Table 9 gives 0.2675 by this formula."
    )
    return "<h3>How far the label shares are apart</h3>" + pages.table(
        ("labels of", "against", "nats", "paper"),
        [(row["distribution"], row["reference"], row["nats"], row["paper"]) for row in rows],
    ) + pages.paragraph(how, "quiet")  # fmt: skip


def flow(findings: Findings, most: int) -> str:
    """EDOS Figure 3: Sankey diagrams of the first four turns."""
    rows = findings.rows("edos_flow")
    ours = [row for row in rows if row["corpus"] == "EDOS"]
    if not ours:
        return ""
    shown, kinds = frequent_labels(ours, most), findings.taxonomy.kinds
    how = (
        " A band is as thick as the dialogues that go from one label to the next; a node whose right side is not full "
        "has dialogues that end there. Labels that are rarer are together."
    )
    parts = [pages.paragraph(_flow_words(ours, kinds) + how)]
    parts.append(pages.key([("emotion", "emotion"), ("neutral", "neutral"), ("intent", "intent")]))
    parts.append(pages.paragraph("The pictures go on to the right: move them sideways.", "hint quiet"))
    for corpus in ("EDOS", "EmpatheticDialogues"):
        own = [row for row in rows if row["corpus"] == corpus]
        if own:
            columns, links = grouped_flow(own, kinds, shown)
            heads = [f"turn {place}" for place in range(1, len(columns) + 1)]
            name = "EDOS, ours" if corpus == "EDOS" else corpus
            picture = sankey(columns, links, f"Labels of the first turns in {name}", heads=heads)
            parts.append(f'<figure><h3>{escape(name)}</h3><div class="wide" tabindex="0">{picture}</div></figure>')
    often = sorted((row for row in ours if row["to_label"]), key=lambda row: (-row["dialogues"], row["position"]))
    table = pages.table(
        ("from turn", "label", "to label", "dialogues"),
        [(row["position"], row["label"], row["to_label"], row["dialogues"]) for row in often[:20]],
    )
    return "".join(parts) + pages.details("The 20 most frequent steps as a table", table)


def _flow_words(ours: Rows, kinds: Mapping[str, str]) -> str:
    """The paper's observation in numbers: emotions come first, intents answer."""
    first = sum(row["dialogues"] for row in ours if row["position"] == 1)
    emotional = sum(row["dialogues"] for row in ours if row["position"] == 1 and kinds.get(row["label"]) == "emotion")
    answered = [
        row for row in ours if row["position"] == 1 and kinds.get(row["label"]) == "emotion" and row["to_label"]
    ]
    total = sum(row["dialogues"] for row in answered)
    by_intent = sum(row["dialogues"] for row in answered if kinds.get(row["to_label"]) == "intent")
    return (
        f"{percent(emotional / first if first else None)} of the dialogues open with an emotion; "
        f"{percent(by_intent / total if total else None)} of those are answered with an intent."
    )
