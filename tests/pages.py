"""README and the guides, and the blocks in them."""

import re
import shlex
from pathlib import Path

import sqlparse

ROOT = Path(__file__).resolve().parents[1]


PAGES = {
    str(path.relative_to(ROOT)): path.read_text("utf-8")
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "notebooks/README.md", *ROOT.glob("docs/**/*.md")]
}


def fenced(text: str, language: str) -> list[str]:
    """The contents of a language's fenced blocks."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def spans(text: str) -> list[str]:
    """What stands in backticks within a line, fenced blocks aside."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))


def commands(text: str) -> list[str]:
    """Command lines: those of console blocks, continued lines joined, and those in backticks."""
    blocks = "\n".join(fenced(text, "console")).replace("\\\n", " ")
    return [line.strip() for line in [*blocks.splitlines(), *spans(text)] if line.strip()]


def job_commands(text: str) -> list[list[str]]:
    """The arguments of each ``python -m jobs`` and of each ``spark-submit jobs/__main__.py``."""
    found = []
    for line in commands(text):
        line = re.sub(r"^source <\((.+)\)$", r"\1", line)
        words = shlex.split(line, comments=True) if "jobs" in line or "edos-lakehouse " in line else []
        if words[:3] == ["python", "-m", "jobs"]:
            found.append(words[3:])
        if words[:1] == ["edos-lakehouse"]:
            found.append(words[1:])
        for place, word in enumerate(words):
            if words[0] == "spark-submit" and word.startswith("jobs/"):
                assert word == "jobs/__main__.py", line
                found.append(words[place + 1 :])
    return [words for words in found if words and words[0] not in ("STAGE", "COMMAND|STAGE")]


def queries(text: str) -> list[str]:
    """The SQL statements of the blocks for Spark, and those that commands give to ``sql -e``.

    The set ``trusted`` is named as the one without a name, which tests have.
    """
    text = text.replace("_trusted.", ".")
    inline = [words[words.index("-e") + 1] for words in job_commands(text) if "-e" in words]
    statements = [statement for block in fenced(text, "sql") for statement in sqlparse.split(block)]
    return [*statements, *(sql for sql in inline if sql.startswith("SELECT"))]
