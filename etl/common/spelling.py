"""One spelling for all texts: OPUS and EDOS have tokens between blanks, EmpatheticDialogues has plain English.

Texts are stored as they came. What people read, what is published and what generators learn is detokenised.
"""

import re
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

# Each pattern means the same to Java, with its flag (?U), and to Python. Those without a group take out blanks.
_RULES: tuple[tuple[str, str], ...] = (
    (r"\s+", " "),
    (r"^ | $", ""),
    (r"(?<=\w)- -(?= |$)", "--"),
    # don 't, don ' t, I 'm, she 's; ma 'am, c 'mon, o 'clock, y 'all; O 'Hara, d 'Or; gon na
    (r"(?<=[^\W_]) (['’`´]) (?=(?i:s|t|m|d|ll|re|ve)(?!\w))", r"\1"),
    (r"(?<=[^\W_]) (?=['’`](?i:s|t|m|d|ll|re|ve|st)(?!\w))", ""),
    (r"(?i)(?<=\bma) (?=['’]am\b)|(?<=\bc) (?=['’]mon\b)|(?<=\bo) (?=['’]clock\b)|(?<=\by) (?=['’]all\b)", ""),
    (r"(?<=\b[OD]) (?=['’][^\W\d_])|(?<=\b[dl]) (?=['’][^\W\d_]{2})", ""),
    (r"(?i)(?<=\bgon) (?=na\b)|(?<=\bwan) (?=na\b)|(?<=\bgot) (?=ta\b)|(?<=\bgim) (?=me\b)|(?<=\blem) (?=me\b)", ""),
    # get ' em, ' tis
    (r"(?:^|(?<= ))(['’]) (?=(?:em|til|[Tt]is|[Tt]was)(?: |$))", r"\1"),
    # quotation marks: pairs, then those without a partner at either end; the apostrophe of goin ' and boys '
    (r"\" ?([^\"]*?) ?\"(?=\W|$)", r'"\1"'),
    (r"^\" (?=\w)", '"'),
    (r" (?=\"$)", ""),
    (r"(?:^|(?<=[^\Wnos'] )|(?<=[,:] ))' (?=[^' ][^']* '(?: |$))", "'"),
    (r"(?<=\S) (?=['’](?: |$))", ""),
    # marks that stand close to the word before, or to the one after
    (r"(?<=\S) (?!:[()DP](?:\W|$))(?=[.,;:!?%…)\]}]+(?:[\"' .,;:!?…)\]}]|$))", ""),
    (r"^(\.{2,4}|…) (?=[^\W_])", r"\1"),
    (r"(?<=(?<!:)[(\[{]) |(?<=[$£€#]) (?=\d)|(?<=\d:) (?=\d\d(?!\d))", ""),
    (r"(?<=\d) / (?=\d)", "/"),
)
_COMPILED = tuple((re.compile(pattern), replacement) for pattern, replacement in _RULES)


def detokenised_text(text: str) -> str:
    """Return a tokenised English text as it is written: ``don 't know .`` as ``don't know.``; plain text stays."""
    return reduce(lambda sofar, rule: rule[0].sub(rule[1], sofar), _COMPILED, text)


def detokenised(text: Column) -> Column:
    """Return the column of ``detokenised_text``; null for null."""
    return reduce(
        lambda sofar, rule: F.regexp_replace(sofar, f"(?U){rule[0]}", rule[1].replace("\\", "$")), _RULES, text
    )
