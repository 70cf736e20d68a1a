"""The report on AugESC's conversations as one HTML page: what was kept, how large, how diverse, how good (AugESC 4 "
"to 7)."""

from collections.abc import Mapping
from html import escape
from typing import Any

from etl.analysis import pages
from etl.analysis.augesc_pictures import bigrams, distributions, lengths, typical_words
from etl.analysis.findings import Findings, Rows
from etl.analysis.pages import percent
from etl.analysis.pictures import Bar, bars
from etl.analysis.report_making import left_out, made

RETENTION = "final_retention"
"""The name that analysis.augesc_table_1 gives to texts that meet every requirement."""
NAMES = {
    ("people", "esconv"): "people (ESConv)", ("people", "failed_esconv"): "people, failed (FailedESConv)",
    ("augmenter", "ed"): "tuned model, ED", ("augmenter", "reddit"): "tuned model, Reddit",
    ("untuned", "ed"): "untuned model, ED", ("untuned", "reddit"): "untuned model, Reddit",
    ("role_models", "ed"): "two role models, ED", ("role_models", "reddit"): "two role models, Reddit",
}  # fmt: skip
SETS = {"esconv": "ESConv", "failed_esconv": "FailedESConv", "ed": "AugESC-ED", "reddit": "AugESC-Reddit",
        "total": "AugESC"}  # fmt: skip


def report(findings: Findings) -> str:
    """The whole page.

    Args:
        findings: views of AugESC, and facts of the run.
    """
    kept = int(figure(findings, "total", "both", "sessions") or 0)
    sections = [
        ("limits", "Before you use it", limits(findings)),
        ("table-1", "Which texts are conversations", requirements(findings)),
        ("table-2", "Size and length", sizes(findings)),
        ("figure-3", "Longer queries, longer utterances", lengths(findings.rows("augesc_figure_3"))),
        ("figure-4", "What each set speaks of", typical_words(findings.rows("augesc_figure_4"))),
        ("figure-5", "How diverse the words are", bigrams(findings.rows("augesc_figure_5"))),
        ("people", "What people say of the quality", ratings(findings)),
        ("bots", "Two bots compared", comparison(findings)),
        ("faults", "Faults, measured", faults(findings)),
        ("left-out", "What was left out", left_out(findings)),
        ("made", "How it was made", made(findings)),
    ]
    lead = (
        f"{kept:,} conversations between somebody in distress and somebody who supports, written by a language model "
        f"that "
        "was tuned on a few sessions of ESConv and went on from a first post. Made by the method of AugESC (Zheng, "
        "Sabour, Wen, Zhang and Huang, 2023), whose figures stand beside ours."
    )
    about = f"{kept:,} generated support conversations: requirements, sizes, diversity, quality, faults"
    heading = "AugESC: support conversations by a model"
    return pages.report("AugESC: a report on the data set", about, heading, lead, tiles(findings), sections)


def figure(findings: Findings, data_set: str, role: str, measure: str, column: str = "value") -> float | None:
    """A figure of Table 2."""
    for row in findings.rows("augesc_table_2"):
        if (row["data_set"], row["role"], row["measure"]) == (data_set, role, measure):
            return None if row[column] is None else float(row[column])
    return None


def tiles(findings: Findings) -> str:
    """The few numbers to remember."""
    facts = [("conversations", pages.shown(figure(findings, "total", "both", "sessions")), "paper 102,000")]
    for row in findings.rows("augesc_table_1"):
        if row["requirement"] == RETENTION and row["percent"] is not None:
            beside = f"paper {row['paper_percent']}%" if row["paper_percent"] is not None else "paper: not said"
            facts.append((f"kept of {_name(row)}", f"{row['percent']}%", beside))
    unique = figure(findings, "total", "both", "unique_words")
    if unique is not None:
        facts.append(("different words", f"{unique:,.0f}", "paper 84,000"))
    return pages.tiles(facts)


def limits(findings: Findings) -> str:
    """What must be known before the conversations are used."""
    rated = any(row["mean"] is not None for row in findings.rows("augesc_table_3"))
    return (
        '<div class="limits">'
        + pages.items(
            [
                "Nobody in these conversations is a person: no seeker lived through it, no supporter is trained. "
                "What is advised may be wrong or harmful.",
                "A bot that learns from them must not be left alone with people in distress: the paper says so of "
                "its own, and found that they miss when somebody is in danger.",
                "The eight requirements look at form: lengths, turns, words for roles. They do not look at what is "
                "said.",
                "The seeker's story is made up as it goes. Facts may change within a talk, and topics drift (see the "
                "measured faults).",
                "People have rated samples of the sets." if rated else
                "No sample of these conversations has been rated by people yet.",
            ]
        )
        + "</div>"
    )  # fmt: skip


def requirements(findings: Findings) -> str:
    """AugESC Table 1."""
    rows = [row for row in findings.rows("augesc_table_1") if row["texts"]]
    if not rows:
        return ""
    how = "Percent of the texts that violate each requirement; a text may violate several. One without any is kept."
    parts = [pages.paragraph(how), pages.key([("emotion", "here"), ("paper", "paper's Table 1")])]
    for name in dict.fromkeys((row["method"], row["source"]) for row in rows):
        own = [row for row in rows if (row["method"], row["source"]) == name]
        texts, title = own[0]["texts"], NAMES.get(name, " ".join(name))
        parts.append(f"<h3>{escape(title)}: {texts:,} texts</h3>{_requirement_chart(own)}")
    return "".join(parts)


def _requirement_chart(rows: Rows) -> str:
    body = ""
    for row in rows:
        drawn = [Bar((row["percent"] or 0) / 100, "emotion", f"here: {row['percent']}%")]
        if row["paper_percent"] is not None:
            drawn.append(Bar(row["paper_percent"] / 100, "paper", f"paper: {row['paper_percent']}%"))
        name = "kept" if row["requirement"] == RETENTION else row["requirement"].replace("_", " ")
        cells = "".join(
            f'<td class="n">{"–" if value is None else f"{value:.1f}%"}</td>'
            for value in (row["percent"], row["paper_percent"])
        )
        body += f'<tr><th scope="row">{escape(name)}</th><td>{bars(drawn, 6, 1)}</td>{cells}</tr>'
    return (
        '<table class="chart"><colgroup><col class="name"/><col/><col class="share"/><col class="share"/></colgroup>'
        '<thead><tr><th scope="col">requirement</th><td></td><th scope="col" class="n">here</th>'
        f'<th scope="col" class="n">paper</th></tr></thead><tbody>{body}</tbody></table>'
    )


def sizes(findings: Findings) -> str:
    """AugESC Table 2 and the figures under it."""
    rows = [row for row in findings.rows("augesc_table_2") if row["value"] is not None]
    if not rows:
        return ""
    table = pages.table(
        ("set", "measure", "here", "paper"),
        [(SETS.get(row["data_set"], row["data_set"]), _measure(row), row["value"], row["paper"]) for row in rows],
    )  # fmt: skip
    note = (
        "Lengths in NLTK's word tokens, a session's in the tokens of the model that wrote it. What supporters say "
        "before the seeker's first words is left out, as in the paper."
    )
    return table + pages.paragraph(note, "quiet") + distributions(findings.rows("augesc_distributions"))


def ratings(findings: Findings) -> str:
    """AugESC Table 3 and the raters' agreement."""
    rows = [row for row in findings.rows("augesc_table_3") if row["mean"] is not None]
    if not rows:
        return ""
    how = (
        "Means of people's ratings from 0 to 3, the paper's in brackets; of ethical risk a low one is good. A "
        "star: significantly below the best set by Student's t-test; a cross: below the tuned model on ED. Ethical "
        "risk is not tested."
    )
    aspects = list(dict.fromkeys(row["aspect"] for row in rows))
    shown = []
    for name in dict.fromkeys(_name(row) for row in rows):
        own = {row["aspect"]: row for row in rows if _name(row) == name}
        shown.append((name, *(_rated(own[aspect]) if aspect in own else None for aspect in aspects)))
    table = pages.table(("set", *(aspect.replace("_", " ") for aspect in aspects)), shown)
    agreed = [
        (row["aspect"].replace("_", " "), row["samples"], percent(row["share_within_1"]), percent(row["paper_share"]))
        for row in findings.rows("augesc_agreement")
        if row["share_within_1"] is not None
    ]
    head = ("aspect", "conversations", "raters at most one step apart", "paper")
    return pages.paragraph(how) + table + ("<h3>Agreement</h3>" + pages.table(head, agreed) if agreed else "")


def comparison(findings: Findings) -> str:
    """AugESC Table 4."""
    rows = [row for row in findings.rows("augesc_table_4") if row["pairs"]]
    if not rows:
        return ""
    how = (
        "Participants talked with both bots about the same problem. Percent of the pairs in which the bot that was "
        "tuned on AugESC, too, won or lost, and p of the sign test."
    )
    columns = ("aspect", "pairs", "win_percent", "lose_percent", "tie_percent", "p", "paper_win_percent",
               "paper_lose_percent", "paper_significance")  # fmt: skip
    head = [name.replace("_", " ") for name in columns]
    return pages.paragraph(how) + pages.table(head, [[row[name] for name in columns] for row in rows])


def faults(findings: Findings) -> str:
    """AugESC 6.4, with measures of ours."""
    rows = findings.rows("augesc_faults")
    if not rows:
        return ""
    how = (
        "The paper found two faults by reading: facts that change, and topics that change without ground. These "
        "measures are ours, for comparing sets. Rules see facts stated in plain patterns, and phrases of the other "
        "role; they miss what takes understanding. A topic shift is an utterance whose embedding is far from the "
        "one before and from all before; people shift, too. The control tells what share of the utterances would "
        "be seen as a shift if they stood in another conversation of the set. Toxicity is apart: by a list of "
        "words it sees coarse words alone."
    )
    columns = (
        ("texts", "texts"), ("percent_with_contradicted_facts", "contradicted facts, %"),
        ("percent_with_mixed_up_roles", "mixed-up roles, %"),
        ("percent_of_pairs_contradictory", "contradictory pairs, %"),
        ("percent_with_topic_shift", "with a topic shift, %"),
        ("percent_of_utterances_shifted", "utterances shifted, %"),
        ("percent_seen_in_another_conversation", "control, %"), ("mean_similarity", "similarity to before"),
        ("mean_other_similarity", "to another"), ("percent_with_toxicity", "with toxicity, %"),
    )  # fmt: skip
    table = pages.table(
        ("measure", *(_name(row) for row in rows)), [(title, *(row[name] for row in rows)) for name, title in columns]
    )
    by = next((row["toxic_by"] for row in rows if row["toxic_by"]), None)
    note = "" if by is None else pages.paragraph(f"Toxicity by: {'a list of words' if by == 'none' else by}.", "quiet")
    return pages.paragraph(how) + table + note


def _measure(row: Mapping[str, Any]) -> str:
    measure = row["measure"].replace("_", " ")
    return measure if row["role"] == "both" else f"{row['role']}: {measure}"


def _rated(row: Mapping[str, Any]) -> str:
    marks = ("*" if row["below_best"] else "") + ("†" if row["below_tuned"] else "")
    return f"{row['mean']:.2f}{marks} ({row['paper_mean']:.2f})"


def _name(row: Mapping[str, Any]) -> str:
    return NAMES.get((row["method"], row["source"]), f"{row['method']}, {row['source']}")
