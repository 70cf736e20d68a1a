"""The pictures of AugESC's report: Figures 3, 4 and 5, and the distributions under Table 2."""

from collections.abc import Sequence
from html import escape

from etl.analysis import pages
from etl.analysis.findings import Rows
from etl.analysis.pictures import Bar, bars, histogram
from etl.analysis.plots import Series, lines, scatter

STYLES = {"ed": "one", "reddit": "two", "esconv": "three", "failed_esconv": "four", "total": "four"}
SET_NAMES = {"ed": "AugESC-ED", "reddit": "AugESC-Reddit", "esconv": "ESConv", "failed_esconv": "FailedESConv",
             "total": "AugESC, both"}  # fmt: skip
METHODS = {"augmenter": "tuned model", "untuned": "untuned model", "role_models": "two role models"}
MARKED = 3
"""A z above it is highly significant (AugESC 5.3)."""
LONGEST_BIN = {"utterances_per_session": 50, "utterance_length": 100}


def lengths(rows: Rows) -> str:
    """AugESC Figure 3: a query's tokens and the mean of the utterances after it."""
    sets = list(dict.fromkeys((row["method"], row["source"]) for row in rows))
    if not sets:
        return ""
    limits = (60.0, max(_high([row["mean_utterance_tokens"] for row in rows]), 1.0))
    pictures = ""
    for method, source in sets:
        own = [row for row in rows if (row["method"], row["source"]) == (method, source)]
        name = f"{METHODS.get(method, method)}, {source.replace('ed', 'ED').replace('rEDdit', 'Reddit')}"
        points = [(float(row["query_tokens"]), float(row["mean_utterance_tokens"])) for row in own]
        title = f"{name}: {len(own):,} texts"
        picture = scatter(
            Series(points, STYLES.get(source, "four"), title), "tokens of the query", "tokens of an utterance after it",
            own[0]["mean_of_all"], limits,
        )  # fmt: skip
        pictures += f"<figure><h3>{escape(title)}</h3>{picture}</figure>"
    how = (
        "Each point is a generated text before any filtering. The paper saw that longer queries lead to longer "
        "utterances, and took none of more than 60 tokens."
    )
    return pages.paragraph(how) + f'<div class="beside">{pictures}</div>'


def typical_words(rows: Rows) -> str:
    """AugESC Figure 4: the ten words most typical of each set, seekers and supporters apart."""
    if not rows:
        return ""
    most = max(row["z"] for row in rows) or 1.0
    parts = [
        pages.paragraph(
            "Log-odds of a word in one set against all others, with a prior, as a z-score; above 3 the word is "
            "typical beyond chance. The paper found the times of a pandemic in ESConv, daily life in ED, mental "
            "health in Reddit."
        )
    ]
    for role in ("seeker", "supporter"):
        made = ""
        for name in ("esconv", "ed", "reddit"):
            own = [row for row in rows if (row["data_set"], row["role"]) == (name, role)]
            made += (
                f"<div><h3>{escape(f'{SET_NAMES[name]}, {role}s')}</h3>{_words(own, most, name)}</div>" if own else ""
            )
        parts.append(f'<div class="beside">{made}</div>')
    return "".join(parts)


def _words(rows: Rows, most: float, name: str) -> str:
    body = "".join(
        f'<tr><th scope="row">{escape(row["word"])}</th>'
        f"<td>{bars([Bar(row['z'] / most, STYLES[name] if row['z'] > MARKED else 'neutral', row['word'])], 8)}</td>"
        f'<td class="n">{row["z"]:.0f}</td></tr>'
        for row in rows
    )
    return (
        '<table class="chart"><colgroup><col class="name"/><col/><col class="share"/></colgroup><thead><tr>'
        f'<th scope="col">word</th><td></td><th scope="col" class="n">z</th></tr></thead><tbody>{body}</tbody></table>'
    )


def bigrams(rows: Rows) -> str:
    """AugESC Figure 5: different bigrams by number of conversations."""
    names = list(dict.fromkeys(row["data_set"] for row in rows))
    if not names:
        return ""
    series = [
        Series(
            [(0.0, 0.0), *((float(row["sessions"]), float(row["unique_bigrams"])) for row in rows
                           if row["data_set"] == name)],
            STYLES.get(name, "four"), SET_NAMES.get(name, name),
        )
        for name in names
    ]  # fmt: skip
    last = {name: [row for row in rows if row["data_set"] == name][-1] for name in names}
    picture = lines(series, "conversations", "different bigrams", "Different bigrams by number of conversations")
    table = pages.table(
        ("set", "conversations", "different bigrams"),
        [(SET_NAMES.get(name, name), row["sessions"], row["unique_bigrams"]) for name, row in last.items()],
    )
    key = pages.key([(one.style, one.title) for one in series])
    return key + f"<figure>{picture}</figure>" + table


def distributions(rows: Rows) -> str:
    """The figures under AugESC Table 2: utterances a conversation, and lengths of utterances."""
    parts = ""
    for measure, title, step in (
        ("utterances_per_session", "utterances of a role in a conversation", 1),
        ("utterance_length", "tokens of an utterance", 5),
    ):
        own = [row for row in rows if row["measure"] == measure and row["data_set"] in ("esconv", "ed", "reddit")]
        pictures = ""
        for role in ("seeker", "supporter"):
            for name in ("esconv", "ed", "reddit"):
                shares = [row for row in own if (row["data_set"], row["role"]) == (name, role)]
                if shares:
                    picture = _distribution(shares, LONGEST_BIN[measure], step, f"{SET_NAMES[name]}, {role}s: {title}")
                    pictures += f"<figure><h3>{escape(f'{SET_NAMES[name]}, {role}s')}</h3>{picture}</figure>"
        parts += f'<h3>{escape(title.capitalize())}</h3><div class="beside">{pictures}</div>' if pictures else ""
    return pages.details("Distributions", parts) if parts else ""


def _distribution(rows: Rows, most: int, step: int, title: str) -> str:
    shares = [0.0] * (most // step + 1)
    for row in rows:
        shares[min(int(row["from_value"]) // step, len(shares) - 1)] += row["share"]
    highest = max(shares) or 1.0
    style = STYLES[rows[0]["data_set"]]
    columns = []
    for place, share in enumerate(shares):
        upper = "" if place < len(shares) - 1 else " and more"
        columns.append(Bar(share / highest, style, f"{place * step}{upper}: {pages.percent(share)}"))
    marks = [(place * step / (most + step), str(place * step)) for place in range(0, len(shares), len(shares) // 5)]
    return histogram(columns, marks, [], [(1.0, pages.percent(highest))], title, 150)


def _high(values: Sequence[float], share: float = 0.99) -> float:
    """The value that so many do not exceed: a few endless texts must not flatten the picture."""
    ordered = sorted(values)
    return float(ordered[min(int(len(ordered) * share), len(ordered) - 1)]) if ordered else 0.0
