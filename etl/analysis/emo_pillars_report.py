"""The report on Emo Pillars as one HTML page: size, emotions, diversity, topics, contexts, markers (Emo Pillars 4, "
"7)."""

from html import escape

from etl.analysis import pages
from etl.analysis.findings import Findings, Rows
from etl.analysis.pages import percent
from etl.analysis.pictures import Bar, bars
from etl.analysis.report_making import left_out, made

POLARITIES = {"positive": "three", "negative": "one", "ambiguous": "two", "neutral": "four"}
TOPICS_SHOWN = 20
"""Emo Pillars H names so many."""


def report(findings: Findings) -> str:
    """The whole page.

    Args:
        findings: views of Emo Pillars, and facts of the run.
    """
    sections = [
        ("limits", "Before you use it", limits(findings)),
        ("scale", "Size, beside the paper's", scale(findings)),
        ("emotions", "Which emotions", emotions(findings)),
        ("diversity", "How alike the utterances are", diversity(findings)),
        ("topics", "What one emotion is about", topics(findings)),
        ("query", "The emotions of one topic", topic_emotions(findings)),
        ("changes", "What cleaning and rewriting changed", changes(findings)),
        ("markers", "Words that tell emotions", markers(findings)),
        ("people", "What people say of the labels", people(findings)),
        ("left-out", "What was left out", left_out(findings)),
        ("made", "How it was made", made(findings)),
    ]
    examples = int(value_of(findings, "examples") or 0)
    contextual = int(value_of(findings, "contextual examples") or 0)
    lead = (
        f"{examples:,} utterances that characters of stories could say, each with one to five of 28 emotions; "
        f"{contextual:,} "
        "of them with what led to the words, and in words that need it. A language model made them from plots, by "
        "the method of Emo Pillars (Shvets, 2025), whose figures stand beside ours."
    )
    about = f"{examples:,} utterances with emotions: size, diversity, topics, contexts, markers"
    title = "Emo Pillars: a report on the data set"
    heading = "Emo Pillars: utterances with emotions, in context and out of it"
    return pages.report(title, about, heading, lead, tiles(findings), sections)


def value_of(findings: Findings, criterion: str) -> float | None:
    """A figure of ``analysis.emo_pillars_scale``."""
    return next((row["value"] for row in findings.rows("emo_pillars_scale") if row["criterion"] == criterion), None)


def tiles(findings: Findings) -> str:
    """The few numbers to remember."""
    facts = []
    for row in findings.rows("emo_pillars_scale"):
        if row["criterion"] in ("plots", "examples", "contextual examples", "labels an example, mean"):
            facts.append((row["criterion"], pages.shown(row["value"]), f"paper {pages.shown(row['paper'])}"))
    for row in findings.rows("emo_pillars_similarity"):
        if row["kind"] == "utterances" and row["mean"] is not None:
            facts.append(("similarity of two utterances", f"{row['mean']:.2f}", f"paper {row['paper_mean']}"))
    return pages.tiles(facts)


def limits(findings: Findings) -> str:
    """What must be known before the examples are used."""
    model = next((row["model"] for row in findings.rows("emo_pillars_similarity") if row["model"]), None)
    measured = [] if model is None else [
        f"Similarities are cosines of {model}. The paper's are of all-mpnet-base-v2: another encoder has another scale."
    ]  # fmt: skip
    return (
        '<div class="limits">'
        + pages.items(
            [
                "Utterances, labels and contexts are a language model's; nobody felt or said them.",
                "Emotions that the model named out of the 28 were mapped by hand. The paper's own raters found "
                "most faulty labels there: raw labels and the map are in the tables.",
                "Plots decide what is spoken of, and so which emotions there are. The shares are not those of any "
                "people.",
                *measured,
            ]
        )
        + "</div>"
    )


def scale(findings: Findings) -> str:
    """Emo Pillars 4: sizes."""
    rows = findings.rows("emo_pillars_scale")
    return (
        pages.table(("size", "here", "paper"), [(r["criterion"], r["value"], r["paper"]) for r in rows]) if rows else ""
    )


def emotions(findings: Findings) -> str:
    """Emo Pillars Figures 3 and 4, and the balance."""
    rows = findings.rows("emo_pillars_labels")
    if not any(row["labels"] for row in rows):
        return ""
    total, primary = (sum(row[name] for row in rows) or 1 for name in ("labels", "primary_labels"))
    longest = max(max(row["labels"] / total, row["primary_labels"] / primary) for row in rows)
    body = ""
    for row in rows:
        shares = (row["labels"] / total, row["primary_labels"] / primary)
        drawn = [
            Bar(
                shares[0] / longest, POLARITIES[row["polarity"]], f"{row['label']}, of all labels: {percent(shares[0])}"
            ),
            Bar(shares[1] / longest, "paper", f"{row['label']}, made for it: {percent(shares[1])}"),
        ]
        cells = "".join(f'<td class="n">{percent(share)}</td>' for share in shares)
        body += f'<tr><th scope="row">{escape(row["label"])}</th><td>{bars(drawn, 5, 1)}</td>{cells}</tr>'
    chart = _chart("emotion", ("labels", "made"), body)
    key = pages.key([*((style, name) for name, style in POLARITIES.items()), ("paper", "utterances made for it")])
    balance = findings.rows("emo_pillars_coverage")
    table = pages.table(("balance", "here", "paper"), [(r["measure"], r["value"], r["paper"]) for r in balance])
    how = "Of all labels, how many are of an emotion; and of all utterances, how many were made for it."
    return pages.paragraph(how) + key + chart + (f"<h3>Balance</h3>{table}" if balance else "")


def _chart(what: str, heads: tuple[str, ...], body: str) -> str:
    columns = '<col class="name"/><col/>' + '<col class="share"/>' * len(heads)
    names = "".join(f'<th scope="col" class="n">{escape(name)}</th>' for name in heads)
    return (
        f'<table class="chart"><colgroup>{columns}</colgroup><thead><tr><th scope="col">{escape(what)}</th><td></td>'
        f"{names}</tr></thead><tbody>{body}</tbody></table>"
    )


def diversity(findings: Findings) -> str:
    """Emo Pillars 7 and Table 12: similarities of utterances and of contexts."""
    rows = [row for row in findings.rows("emo_pillars_similarity") if row["pairs"]]
    if not rows:
        return ""
    names = ("pairs", "mean", "paper_mean", "deviation", "paper_deviation", "percentile_99", "paper_percentile_99")
    head = ("what is compared", *(name.replace("_", " ") for name in names))
    table = pages.table(head, [(row["kind"], *(row[name] for name in names)) for row in rows])
    classes = [row for row in findings.rows("emo_pillars_table_12") if row["pairs"]]
    columns = ("utterances", "mean", "paper_mean", "deviation", "paper_deviation", "paper_utterances")
    by_class = pages.table(
        ("main emotion", *(name.replace("_", " ") for name in columns)),
        [(row["label"], *(row[name] for name in columns)) for row in classes],
    )
    how = "Cosines of embeddings over pairs; a low mean says that utterances differ."
    return pages.paragraph(how) + table + (pages.details("By main emotion (Table 12)", by_class) if classes else "")


def topics(findings: Findings) -> str:
    """Emo Pillars H: communities with names where a language model gave them, and with keywords."""
    sizes = findings.rows("emo_pillars_topic_sizes")
    if not sizes:
        return ""
    words = [
        f"{row['utterances']:,} utterances of {row['emotion']} fall into {row['topics']:,} topics, "
        f"{row['topics_of_two_or_more']:,} of them of two utterances or more and {row['large_topics']:,} of 20 or more "
        "(paper: more than 300 in 3,000 utterances of joy, 20 of them large)."
        for row in sizes
    ]
    shown = list(findings.rows("emo_pillars_topics"))[:TOPICS_SHOWN]
    named = {(row["emotion"], row["topic"]): row for row in findings.rows("emo_pillars_named_topics")}
    called = ("name", "category") if named else ()
    nameless: dict[str, str | None] = {}
    table = pages.table(
        (*called, "keywords of the topic", "utterances", "one of them"),
        [
            (
                *(named.get((row["emotion"], row["topic"]), nameless).get(name) or "" for name in called),
                row["keywords"] or "(no word stands out)", row["utterances"], row["example"],
            )
            for row in shown
        ],
    )  # fmt: skip
    by = "names by a language model, as in the paper" if named else "the paper had a language model name them"
    note = f"Communities of the graph of similar utterances (Louvain). Keywords by tf-idf; {by}."
    return pages.paragraph(" ".join(words)) + table + pages.paragraph(note, "quiet")


def topic_emotions(findings: Findings) -> str:
    """Emo Pillars Figure 7."""
    rows = [row for row in findings.rows("emo_pillars_topic_emotions") if row["number"]]
    if not rows:
        return ""
    longest = max(max(row["share"] or 0, row["share_of_all"] or 0) for row in rows) or 1.0
    body = ""
    for row in rows:
        drawn = [
            Bar((row["share"] or 0) / longest, POLARITIES[row["polarity"]], f"here: {percent(row['share'])}"),
            Bar((row["share_of_all"] or 0) / longest, "paper", f"of all: {percent(row['share_of_all'])}"),
        ]
        cells = "".join(f'<td class="n">{percent(row[name])}</td>' for name in ("share", "share_of_all"))
        body += f'<tr><th scope="row">{escape(row["label"])}</th><td>{bars(drawn, 5, 1)}</td>{cells}</tr>'
    positive = sum(row["share"] or 0 for row in rows if row["polarity"] == "positive")
    how = (
        f"The examples nearest to a query on a music performance; {percent(positive)} of their labels are positive "
        f"(paper: "
        "82%). The second bar: the labels of all examples."
    )
    return pages.paragraph(how) + _chart("emotion", ("topic", "all"), body)


def changes(findings: Findings) -> str:
    """Emo Pillars 7: original, cleaned, rewritten."""
    rows = [row for row in findings.rows("emo_pillars_changes") if row["value"] is not None]
    if not rows:
        return ""
    note = (
        "Tokens are NLTK's words and marks. The partial ratio is difflib's, as fuzzywuzzy computes it without its "
        "extension."
    )
    table = pages.table(("measure", "here", "paper"), [(row["measure"], row["value"], row["paper"]) for row in rows])
    return table + pages.paragraph(note, "quiet")


def markers(findings: Findings) -> str:
    """Emo Pillars G, Table 9."""
    rows = findings.rows("emo_pillars_markers")
    if not rows:
        return ""
    how = (
        "Adverbs of which rewriting takes out most, to hide the emotion. Beside each: the emotions that it goes "
        "with more than they go with anything, and their share of its labels."
    )
    table = _table_of(rows, ("word", "emotions", "removed_share", "occurrences"), "All markers")
    overlap = findings.rows("emo_pillars_marker_overlap")
    shared = _table_of(overlap, ("label", "other_label", "shared", "overlap"), "Emotions that share markers")
    return pages.paragraph(how) + table + (f"<h3>Emotions that share markers</h3>{shared}" if overlap else "")


def people(findings: Findings) -> str:
    """Emo Pillars 8 and I: what raters say."""
    rows = [row for row in findings.rows("emo_pillars_human_evaluation") if row["value"] is not None]
    if not rows:
        return pages.paragraph("No sample of the examples has been checked by people yet.")
    return pages.table(("measure", "here", "paper"), [(row["measure"], row["value"], row["paper"]) for row in rows])


def _table_of(rows: Rows, columns: tuple[str, ...], title: str, most: int = 20) -> str:
    """The first rows as a table, all of them behind it where there are more."""
    head = [name.replace("_", " ") for name in columns]
    whole = [[row[name] for name in columns] for row in rows]
    first = pages.table(head, whole[:most])
    more = pages.details(f"{title}: {len(whole)}", pages.table(head, whole)) if len(whole) > most else ""
    return first + more
