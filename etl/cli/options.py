"""The options of each command, and what ``--help`` shows."""

import argparse
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import NoReturn

from conf.errors import InputError
from conf.section import Counts
from conf.settings import PROFILES, Settings
from etl.cli.setting_texts import leaves, shown
from etl.pipeline.stages import Model, Stage

PROGRAM = "edos-lakehouse"
COMMANDS = {
    "run": "run stages with work to do; manual ones only if named",
    "plan": "print which stages would run, and why",
    "status": "show each stage's last run",
    "check-tables": "look for damaged tables, and say how to restore them",
    "check": "check the last runs: age, rows, shares, nulls, labels",
    "maintain": "join small files and delete what no run reads any more",
    "estimate": "estimate the work ahead from what was measured",
    "sql": "open a SQL shell with the tables and views by name",
    "register": "write the names of tables and views into a cluster's catalog",
    "withdraw": "take films or files out of every table",
    "read": "print dialogues as a person reads them, and what was decided",
    "trace": "show where a dialogue comes from, and what depends on it",
    "reply": "reply to typed lines with a response generator (EDOS 5)",
    "chat": "talk with a support chatbot (AugESC), under supervision",
    "demo": "make the demo corpus and run the whole pipeline on it",
    "mlflow": "serve MLflow's pages and print the link of the runs' comparison",
    "restore-text": "restore the texts of an export that refers to OPUS",
    "doctor": "print what a local run finds on this machine, with cures",
    "fetch-data": "fetch data sets to learn from, at pinned versions",
    "fetch-jars": "fetch the jars of local sessions (part of make install)",
    "completion": "print a script that completes commands, stages and options",
}
TRACE = ("--verbose", "--traceback")
SHELLS = ("bash", "zsh")
POSITIONAL = {"trace": " DIALOGUE_ID", "fetch-data": " [NAME...]", "completion": " [bash|zsh]"}
"""Words that a command takes beside its options, for its usage line."""


ALL_FILES = 3_700_000
"""Files of OpenSubtitles v2018 in all languages; 446,612 of them are English."""
FACT_LINES = 25
"""Lines of tables, models and settings in a stage's help, so that it fits a screen; sections are shortened for it."""
LINE_WIDTH = 100
"""Lines of a stage's help are not longer, and no longer than the terminal's."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see {self.prog} --help)")


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command or stage, as ``command``, and its options.

    Raises:
        InputError: no command or stage is named, or an option is unknown.
    """
    first = arguments[0] if arguments else ""
    if first in COMMANDS or first.startswith("-"):
        options, unknown = _commands().parse_known_args(arguments)
        if unknown:
            raise InputError(f"unrecognized arguments: {' '.join(unknown)} (see {PROGRAM} {first} --help)")
        return options
    if not first:
        raise InputError(f"name a command or a stage: {', '.join(COMMANDS)} (see {PROGRAM} --help)")
    options = stage_options(_stage_named(first)).parse_args(arguments[1:])
    options.command = first
    return options


def stage_options(stage: Stage) -> argparse.ArgumentParser:
    """Return the parser of a stage's options; its help shows description, inputs, output and settings."""
    parser = _Parser(
        prog=f"{PROGRAM} {stage.name}",
        usage=f"{PROGRAM} {stage.name} [options]",
        description="\n".join(textwrap.wrap(stage.about, _width(), break_on_hyphens=False)),
        epilog="\n".join(_facts(stage)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _again(parser)
    _common(parser)
    return parser


def _commands() -> argparse.ArgumentParser:
    known = COMMANDS | {"STAGE": "run one stage (plan lists them)"}
    names = "\n".join(f"  {name:14s}{text}" for name, text in known.items())
    parser = _Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} COMMAND|STAGE [options]",
        description="Spark jobs from subtitle files to emotion-labelled dialogues.",
        epilog=f"commands:\n{names}\n\nCOMMAND --help shows its options.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, prog=PROGRAM, help=argparse.SUPPRESS)
    options: dict[str, tuple[Callable[[argparse.ArgumentParser], None], ...]] = {
        "run": (_choice, _again, _common),
        "demo": (_choice, _again, _common),
        "plan": (_choice, _json, _common),
        "status": (_choice, _json, _common),
        "check-tables": (_aside, _common),
        "check": (_choice, _check, _common),
        "maintain": (_maintain, _common),
        "estimate": (_choice, _files, _common),
        "sql": (_sql, _common),
        "withdraw": (_withdraw, _common),
        "read": (_read, _common),
        "trace": (_trace, _common),
        "register": (_register, _common),
        "reply": (_reply, _common),
        "chat": (_chat, _common),
        "mlflow": (_mlflow, _common),
        "restore-text": (_common,),
        "doctor": (_common,),
        "fetch-data": (_fetch_data, _traceback),
        "fetch-jars": (_traceback,),
        "completion": (_shell,),
    }
    for name, text in COMMANDS.items():
        own = commands.add_parser(
            name,
            usage=f"{PROGRAM} {name}{POSITIONAL.get(name, '')} [options]",
            description=f"{text[0].upper()}{text[1:]}.",
        )
        for add in options[name]:
            add(own)
    return parser


def words() -> dict[str, list[str]]:
    """Return the options of each command and stage, for completion."""
    from jobs import all_stages

    parsers = dict(_subparsers())
    of_stages = stage_options(all_stages()[0])
    return {name: _names(parser) for name, parser in parsers.items()} | {
        stage.name: _names(of_stages) for stage in all_stages()
    }


def _subparsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in _commands()._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _names(parser: argparse.ArgumentParser) -> list[str]:
    """Return the long options of a parser."""
    return [name for action in parser._actions for name in action.option_strings if name.startswith("--")]


def _common(parser: argparse.ArgumentParser) -> None:
    own = parser.add_argument_group("settings")
    own.add_argument("--profile", default="local", metavar="NAME", help=f"{', '.join(PROFILES)} (default local)")
    own.add_argument("--demo", action="store_true", help="with the settings of `demo`: what it made is found in demo/")
    own.add_argument("--config", action="append", default=[], metavar="FILE", help="YAML file over the profile")
    own.add_argument(
        "--set", action="append", nargs="+", default=[], metavar="KEY=VALUE", help="section.key=value over the files"
    )
    _traceback(parser)


def _traceback(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(*TRACE, dest="traceback", action="store_true", help="print the traceback of a failure")


def _choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", metavar="STAGE[,STAGE]", help="only these stages and those they need")
    parser.add_argument("--from", dest="start", metavar="STAGE", help="only this stage and those after it")
    parser.add_argument("--only", metavar="STAGE", help="only this stage")


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON list with one object per stage")


def _aside(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set-aside", action="store_true", help="move damaged tables that a run makes again out of the way"
    )


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object with all checks")


def _maintain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="print what would be done, and change nothing")


def _shell(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, nargs="?", default="bash", help="the shell (default bash)")
    _traceback(parser)


def _again(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--again", action="store_true", help="run the selected stages again from their inputs")
    parser.add_argument(
        "--accept-loss",
        action="append_const",
        dest="set",
        const=["pipeline.accept_loss=true"],
        default=[],
        help="go on where a run is refused because too many files are gone or unreadable",
    )


def _files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--files", type=int, default=ALL_FILES, help="files of the larger run (default %(default)d)")
    parser.add_argument(
        "--pilot",
        action="store_true",
        help="measure first, on subtitles.sample and on a quarter of it, in tables under _pilot",
    )


def _sql(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-e",
        "--execute",
        metavar="SQL",
        action="append",
        help="run SQL statements, separated by ; and exit; may be repeated",
    )
    parser.add_argument("--csv", action="store_true", help="with -e: print all rows as CSV")
    parser.add_argument(
        "--engine", choices=("duckdb", "spark"), help="default: duckdb for the shell on a local folder, spark for -e"
    )


def _register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--catalog", choices=("glue", "hive"), default="hive", help="kind of catalog (default hive)")


def _withdraw(parser: argparse.ArgumentParser) -> None:
    for name, what in (("--film", "a movie_id: all files of this film"), ("--file", "a source_path: this file")):
        parser.add_argument(name, action="append", default=[], metavar="ID", help=f"{what}; may be repeated")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why, for ops.dropped")
    parser.add_argument("--undo", action="store_true", help="take the withdrawal back")


def _read(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--film", metavar="ID", help="a movie_id: its dialogues in order; default: of all films")
    parser.add_argument("--n", type=int, default=20, help="clean dialogues to print (default %(default)d)")
    parser.add_argument("--label", metavar="LABEL", help="dialogues with a turn of this label, weak or final")
    parser.add_argument("--reason", metavar="REASON", help="dialogues that lost a turn, or were dropped, for it")
    parser.add_argument("--seed", type=int, default=0, help="another number draws others (default %(default)d)")


def _trace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dialogue_id", metavar="DIALOGUE_ID", help="as `read` and the tables name it")


def _reply(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        default="models:/edos-reply-steered@champion",
        help="a response generator's URI (default %(default)s)",
    )
    parser.add_argument("--intent", metavar="LABEL", help="intent of the replies, one of the labels; default: any")


def _chat(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bot", choices=("esconv", "augesc"), default="esconv", help="which of the study's two bots")
    parser.add_argument("--model", metavar="URI", help="another model, as models:/augesc-chatbot@champion")
    parser.add_argument("--save", metavar="FILE", help="append the conversation to this file of JSON Lines")
    parser.add_argument(
        "--pair", metavar="NAME", help="with --save: the name of the participant's pair of conversations"
    )


def _fetch_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", metavar="NAME", nargs="*", help="data sets; without names they are listed")
    parser.add_argument("--out", default="data", metavar="FOLDER", help="where to (default %(default)s)")
    parser.add_argument("--write", metavar="FILE", help="settings that name them (default: settings.yaml in --out)")
    parser.add_argument("--from", dest="source", metavar="FOLDER", help="take files that are on disk already")
    parser.add_argument("--language", default="en", metavar="CODE", help="of opensubtitles (default %(default)s)")
    parser.add_argument("--address", metavar="URL", help="another place with the same files, in a folder for each set")
    parser.add_argument("--accept", action="store_true", help="my use of what is not for commercial use is allowed")


def _mlflow(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=5000, help="of the server, on this machine (default %(default)d)")
    parser.add_argument("--link", action="store_true", help="only print the link: a server runs already")


def _stage_named(name: str) -> Stage:
    from etl.pipeline.planner import chosen
    from jobs import all_stages

    stages = all_stages()
    like = get_close_matches(name, COMMANDS, n=1)
    if like and name not in {stage.name for stage in stages}:
        raise InputError(f"command {name!r} is not known: did you mean {like[0]}? `python -m jobs --help` lists them")
    (stage,) = chosen(stages, only=name)
    return stage


def _facts(stage: Stage) -> list[str]:
    """Return lines of a stage's inputs, models, output and settings with their defaults."""
    facts = list(_tables_and_models(stage))
    keys = [*stage.keys(Counts.VALUE, Counts.FILES), *([stage.enabled_if] if stage.enabled_if else [])]
    if keys:
        facts.append("settings (default):")
        facts += _listed(_settings(keys, FACT_LINES - len(facts)))
    return facts


def _tables_and_models(stage: Stage) -> Iterator[str]:
    yield "reads:"
    outside = [f"the files of {key}" for key in stage.keys(Counts.FILES)] or (
        ["the sources"] if stage.fingerprint else []
    )
    yield from _listed([*(table.name for table in stage.reads), *outside])
    if stage.models:
        yield "uses:"
        yield from _listed(f"models.{model.name}" for model in stage.models)
    yield "writes:"
    made = f"models.{stage.writes.name}" if isinstance(stage.writes, Model) else getattr(stage.writes, "name", None)
    yield from _listed([made or stage.shows.replace("`", "")])


def _listed(names: Iterable[str]) -> list[str]:
    return [f"  {name}" for name in names] or ["  nothing"]


def _settings(keys: Sequence[str], most_lines: int) -> list[str]:
    """Return a line for each setting; above `most_lines`, one for each section that is named as a whole."""
    found = {key: list(leaves(Settings(), key)) for key in keys}
    long = sum(map(len, found.values())) > most_lines
    lines = []
    for key, own in found.items():
        if long and len(own) > 1:
            lines.append(f"{key}.*: {len(own)} settings (docs/settings.md)")
            continue
        for name, about, value in own:
            text = f"{name} ({shown(value)}){': ' if about else ''}{about}"
            most = _width() - len("  ")
            lines.append(text if len(text) <= most else f"{text[: most - 3]}...")
    return lines


def _width() -> int:
    return min(LINE_WIDTH, shutil.get_terminal_size().columns)
