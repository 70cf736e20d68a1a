"""The report on AugESC's conversations as one HTML page: filtering, size, diversity and quality (AugESC 4 to 7)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from etl.augesc import tables as augesc
from etl.augesc.pictures import bigrams, distributions, lengths, typical_words
from etl.augesc.settings import FilterSettings, Reading
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.stage_run import StageRun
from etl.publishing import pages
from etl.publishing.dataset_findings import in_plain_words
from etl.publishing.findings import RECORDED, WRITTEN_BY, Findings
from etl.publishing.ledgers import dropped, made
from etl.publishing.pages import joined, percent
from etl.publishing.pictures import Bar, bars
from etl.publishing.reports import findings_with_ledgers, models_in, write_report
from etl.publishing.views import sql_views

if TYPE_CHECKING:
    from markupsafe import Markup

RETENTION = "final_retention"
"""Name of texts that meet every requirement, in analysis.augesc_table_1."""
NAMES = {
    ("people", "esconv"): "people (ESConv)",
    ("people", "failed_esconv"): "people, failed (FailedESConv)",
    ("augmenter", "ed"): "tuned model, ED",
    ("augmenter", "reddit"): "tuned model, Reddit",
    ("untuned", "ed"): "untuned model, ED",
    ("untuned", "reddit"): "untuned model, Reddit",
    ("role_models", "ed"): "two role models, ED",
    ("role_models", "reddit"): "two role models, Reddit",
}
SETS = {
    "esconv": "ESConv",
    "failed_esconv": "FailedESConv",
    "ed": "AugESC-ED",
    "reddit": "AugESC-Reddit",
    "total": "AugESC",
}


def report(findings: Findings) -> str:
    """Return the page from views of AugESC and facts of the run.

    Args:
        findings: views of AugESC and facts of the run.
    """
    kept = int(figure(findings, "total", "both", "sessions") or 0)
    sections = [
        ("limits", "Before you use it", limits(findings)),
        ("table-1", "Requirements", requirements(findings)),
        ("table-2", "Size and length", sizes(findings)),
        ("figure-3", "Lengths of queries and utterances", lengths(findings.rows("augesc_figure_3"))),
        ("figure-4", "Typical words of each set", typical_words(findings.rows("augesc_figure_4"))),
        ("figure-5", "Diversity of words", bigrams(findings.rows("augesc_figure_5"))),
        ("people", "Quality rated by people", ratings(findings)),
        ("bots", "Comparison of two bots", comparison(findings)),
        ("faults", "Measured faults", faults(findings)),
        ("left-out", "Dropped rows", dropped(findings)),
        ("made", "Versions and settings", made(findings)),
    ]
    lead = (
        f"{kept:,} conversations between a person in distress and a supporter. A language model, tuned on a few "
        "sessions of ESConv, wrote them as continuations of first posts. The method is that of AugESC (Zheng, "
        "Sabour, Wen, Zhang and Huang, 2023), whose figures are shown beside ours."
    )
    about = f"{kept:,} generated support conversations: requirements, sizes, diversity, quality, faults"
    heading = "AugESC: support conversations by a model"
    return pages.report("AugESC: a report on the data set", about, heading, lead, tiles(findings), sections)


def figure(findings: Findings, data_set: str, role: str, measure: str, column: str = "value") -> float | None:
    """Return a value of AugESC Table 2; None where it is missing."""
    for row in findings.rows("augesc_table_2"):
        if (row["data_set"], row["role"], row["measure"]) == (data_set, role, measure):
            return None if row[column] is None else float(row[column])
    return None


def tiles(findings: Findings) -> "Markup":
    """Return the key numbers."""
    facts = [("conversations", pages.shown(figure(findings, "total", "both", "sessions")), "paper 102,000")]
    for row in findings.rows("augesc_table_1"):
        if row["requirement"] == RETENTION and row["percent"] is not None:
            beside = f"paper {row['paper_percent']}%" if row["paper_percent"] is not None else "not in the paper"
            facts.append((f"kept of {_name(row)}", f"{row['percent']}%", beside))
    unique = figure(findings, "total", "both", "unique_words")
    if unique is not None:
        facts.append(("different words", f"{unique:,.0f}", "paper 84,000"))
    return pages.tiles(facts)


def limits(findings: Findings) -> "Markup | str":
    """Return the limitations of the conversations."""
    rated = any(row["mean"] is not None for row in findings.rows("augesc_table_3"))
    texts = (
        *((RECORDED,) if findings.recorded else ()),
        "All speakers are generated: no seeker had these experiences, and no supporter is trained. The advice may be "
        "wrong or harmful.",
        "A bot that is trained on these conversations must not support people in distress without supervision. The "
        "paper says the same of its bots, which did not notice when somebody was in danger.",
        "The eight requirements check the form: lengths, turns, words for roles. They do not check the content.",
        "The seeker's story is invented. Facts may change within a conversation, and topics drift (see the measured "
        "faults).",
        "People have rated samples of the sets."
        if rated
        else "No sample of these conversations has been rated by people yet.",
    )
    return pages.limits(texts)


def requirements(findings: Findings) -> "Markup | str":
    """Return AugESC Table 1."""
    rows = [row for row in findings.rows("augesc_table_1") if row["texts"]]
    if not rows:
        return ""
    text = (
        "Percent of the texts that violate each requirement. A text may violate several; texts without any are kept. "
        "Where each line is one utterance (augesc.reading=paper), an answer in JSON fails Format, and a second speaker "
        "on a line violates Role Words; the lenient reading takes both as conversations."
    )
    key = [("emotion", "here"), ("two", "here, each line one utterance"), ("paper", "paper's Table 1")]
    parts = [pages.paragraph(text), pages.key(key)]
    for name in dict.fromkeys((row["method"], row["source"]) for row in rows):
        chosen = [row for row in rows if (row["method"], row["source"]) == name]
        chart = pages.chart(("requirement", "here", "by line", "paper"), map(_requirement, chosen))
        parts += [pages.heading(f"{NAMES.get(name, ' '.join(name))}: {chosen[0]['texts']:,} texts"), chart]
    return joined(parts)


def _requirement(row: Mapping[str, Any]) -> tuple[str, "Markup", list[str]]:
    columns = (
        ("percent", "emotion", "here"),
        ("strict_percent", "two", "by line"),
        ("paper_percent", "paper", "paper"),
    )
    drawn = [
        Bar(row[column] / 100, style, f"{title}: {row[column]}%")
        for column, style, title in columns
        if row[column] is not None
    ]
    name = "kept" if row["requirement"] == RETENTION else row["requirement"].replace("_", " ")
    return name, bars(drawn, 6, 1), ["–" if row[column] is None else f"{row[column]:.1f}%" for column, _, _ in columns]


def sizes(findings: Findings) -> "Markup | str":
    """Return AugESC Table 2 and the figures below it."""
    rows = [row for row in findings.rows("augesc_table_2") if row["value"] is not None]
    if not rows:
        return ""
    table = pages.table(
        ("set", "measure", "here", "paper"),
        [(SETS.get(row["data_set"], row["data_set"]), _measure(row), row["value"], row["paper"]) for row in rows],
    )
    note = (
        "All lengths are in NLTK's word tokens, those of sessions too; only the requirement Session Length counts "
        "tokens of the model. Different words are tokens with a letter, in lower case. Greetings of supporters before "
        "the seeker's first utterance are excluded, as in the paper."
    )
    return table + pages.paragraph(note, "quiet") + distributions(findings.rows("augesc_distributions"))


def ratings(findings: Findings) -> "Markup | str":
    """Return AugESC Table 3 and the raters' agreement."""
    rows = [row for row in findings.rows("augesc_table_3") if row["mean"] is not None]
    if not rows:
        return ""
    text = (
        "Means of people's ratings from 0 to 3, with the paper's in brackets. For ethical risk a low mean is good. A "
        "star marks a mean significantly below the best set by Student's t-test, a cross one below the tuned model on "
        "ED; the paper's crosses (there stars) are shown too. Ethical risk is not tested."
    )
    aspects = list(dict.fromkeys(row["aspect"] for row in rows))
    shown = []
    for name in dict.fromkeys(_name(row) for row in rows):
        cells = {row["aspect"]: _rated(row) for row in rows if _name(row) == name}
        shown.append((name, *map(cells.get, aspects)))
    table = pages.table(("set", *(aspect.replace("_", " ") for aspect in aspects)), shown)
    agreed = [
        (row["aspect"].replace("_", " "), row["samples"], percent(row["share_within_1"]), percent(row["paper_share"]))
        for row in findings.rows("augesc_agreement")
        if row["share_within_1"] is not None
    ]
    head = ("aspect", "conversations", "raters at most one step apart", "paper")
    return pages.paragraph(text) + table + (pages.heading("Agreement") + pages.table(head, agreed) if agreed else "")


def comparison(findings: Findings) -> "Markup | str":
    """Return AugESC Table 4."""
    rows = [row for row in findings.rows("augesc_table_4") if row["pairs"]]
    if not rows:
        return ""
    text = (
        "Participants talked with both bots about the same problem. The table has the percent of pairs in which the "
        "bot that was also tuned on AugESC won or lost, and the p-value of the sign test."
    )
    columns = (
        "aspect",
        "pairs",
        "win_percent",
        "lose_percent",
        "tie_percent",
        "p",
        "paper_win_percent",
        "paper_lose_percent",
        "paper_significance",
    )
    return pages.paragraph(text) + pages.records(rows, columns)


def faults(findings: Findings) -> "Markup | str":
    """Return measures of the faults in AugESC 6.4 (ours)."""
    rows = findings.rows("augesc_faults")
    if not rows:
        return ""
    text = (
        "The paper's authors found two faults by reading: contradictory facts, and topic changes without reason. These "
        "measures are ours, for the comparison of sets. Rules find phrases of the other role; they miss "
        "implicit ones. A topic shift is an utterance whose embedding is far from the previous one and "
        "from all before it; people also change topics. The control is the share of utterances that would count as a "
        "shift in another conversation of the set. Toxicity is measured separately; a list of words finds only coarse "
        "words."
    )
    columns = (
        ("texts", "texts"),
        ("percent_with_mixed_up_roles", "mixed-up roles, %"),
        ("percent_of_pairs_contradictory", "contradictory pairs, %"),
        ("percent_with_topic_shift", "with a topic shift, %"),
        ("percent_of_utterances_shifted", "utterances shifted, %"),
        ("percent_seen_in_another_conversation", "control, %"),
        ("mean_similarity", "similarity to before"),
        ("mean_other_similarity", "to another"),
        ("percent_with_toxicity", "with toxicity, %"),
    )
    table = pages.table(
        ("measure", *(_name(row) for row in rows)), [(title, *(row[name] for row in rows)) for name, title in columns]
    )
    by = next((row["toxic_by"] for row in rows if row["toxic_by"]), None)
    note = "" if by is None else pages.paragraph(f"Toxicity by: {'a list of words' if by == 'none' else by}.", "quiet")
    return pages.paragraph(text) + table + note


def _measure(row: Mapping[str, Any]) -> str:
    measure = row["measure"].replace("_", " ")
    return measure if row["role"] == "both" else f"{row['role']}: {measure}"


def _rated(row: Mapping[str, Any]) -> str:
    marks = ("*" if row["below_best"] else "") + ("†" if row["below_tuned"] else "")
    return f"{row['mean']:.2f}{marks} ({row['paper_mean']:.2f}{'†' if row['paper_below_tuned'] else ''})"


def _name(row: Mapping[str, Any]) -> str:
    return NAMES.get((row["method"], row["source"]), f"{row['method']}, {row['source']}")


AUGESC_VIEWS = tuple(name.removeprefix("analysis.") for name in sql_views() if name.startswith("analysis.augesc_"))


def write_augesc_report(run: StageRun, folder: str | None, filters: FilterSettings, reading: Reading) -> str:
    """Write ``augesc.html``, log it with metrics as an MLflow run if it has changed, and return its path."""
    limits = filters.model_dump(mode="json", exclude={"seeker", "supporter"})
    lakehouse = Lakehouse(run.spark, run.lakehouse)
    rules = {
        WRITTEN_BY: models_in(lakehouse.read(augesc.CONVERSATIONS).select("model")),
        "reading of texts": reading,
        "requirements": ", ".join(f"{name} {in_plain_words(value)}" for name, value in limits.items()),
    }
    tables = (augesc.SESSIONS, augesc.MEASURED_TEXTS, augesc.CONVERSATIONS)
    findings = findings_with_ledgers(run, "augesc_", AUGESC_VIEWS, tables, rules)
    figures = {
        f"{measure}_{data_set}": value
        for data_set in ("ed", "reddit", "total")
        for measure in ("sessions", "session_length", "unique_words")
        if (value := figure(findings, data_set, "both", measure)) is not None
    }
    return write_report(run, "augesc.html", report(findings), folder, findings, figures)
