"""The commands with their options; each imports what it needs when it is called, so that ``--help`` is quick."""

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from conf.errors import InputError
from conf.settings import PROFILES, Settings, load_settings

if TYPE_CHECKING:
    from etl.pipeline.stages import Stage

PROGRAM = "edos-lakehouse"
COMPLETE = "_EDOS_LAKEHOUSE_COMPLETE"
"""The variable by which a shell asks what a word may be completed to."""

STEERED = "models:/edos-reply-steered@champion"
FOLDER = click.Path(path_type=Path)
ONE_PROFILE = f"One of {', '.join(PROFILES)} (default local)."
Function = Callable[..., Any]


def _stage_names(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    from jobs import all_stages

    return [CompletionItem(stage.name) for stage in all_stages() if stage.name.startswith(begun)]


def _profiles(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in PROFILES if name.startswith(begun)]


def _option(*names: str, **more: Any) -> click.Option:
    return click.Option(list(names), **more)


VERBOSE = _option("--verbose", "--traceback", is_flag=True, expose_value=False, help="Print tracebacks.")
SETTINGS = (
    _option("--profile", default="local", metavar="NAME", shell_complete=_profiles, help=ONE_PROFILE),
    _option("--demo", is_flag=True, help="Use the settings and results of `demo`, in demo/."),
    _option("--config", multiple=True, type=click.Path(), metavar="FILE", help="YAML file; overrides the profile."),
    _option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="section.key=value ...; overrides files."),
    VERBOSE,
)
CHOICE = (
    _option("--to", metavar="STAGE,...", shell_complete=_stage_names, help="Only these stages and those they need."),
    _option(
        "--from", "start", metavar="STAGE", shell_complete=_stage_names, help="Only it and those that depend on it."
    ),
    _option("--only", metavar="STAGE", shell_complete=_stage_names, help="Only this stage."),
)
AGAIN = (
    _option("--again", is_flag=True, help="Run the selected stages again from their inputs."),
    _option("--accept-loss", is_flag=True, help="Continue although too many files are gone or unreadable."),
)
JSON = _option("--json", "as_json", is_flag=True, help="Print JSON.")


class Program(click.Group):
    """The commands, and a command for each stage."""

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return a command, or that of a stage.

        Raises:
            InputError: there is neither.
        """
        try:
            return self.commands.get(name) or _stage_command(name)
        except InputError:
            if context.resilient_parsing:
                return None
            raise

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the commands in the order of this module."""
        return list(self.commands)

    def shell_complete(self, context: click.Context, begun: str) -> list[CompletionItem]:
        """Return the commands and stages that a word may be completed to."""
        found = super().shell_complete(context, begun)
        return found if begun.startswith("-") else [*found, *_stage_names(context, context.command.params[0], begun)]


def _stage_command(name: str) -> click.Command:
    from etl.cli.stage_help import StageCommand
    from etl.pipeline.planner import chosen
    from jobs import all_stages

    stages = all_stages()
    like = get_close_matches(name, program.commands, n=1)
    if like and name not in {stage.name for stage in stages}:
        raise InputError(f"command {name!r} is not known: did you mean {like[0]}? `python -m jobs --help` lists them")
    (stage,) = chosen(stages, only=name)
    return StageCommand(stage, with_settings(_run_stage(name)), [*AGAIN, *SETTINGS])


program = Program(
    PROGRAM,
    params=[VERBOSE],
    help="Spark jobs from subtitle files to emotion-labelled dialogues.",
    epilog="The name of a stage runs this stage alone; `plan` lists them.",
    subcommand_metavar="COMMAND|STAGE [OPTIONS]...",
)


def with_settings(function: Function) -> Function:
    """Return a function that gets settings, and stages, in place of the options that name and choose them."""

    def call(profile: str, demo: bool, config: Iterable[str], overrides: Iterable[str], **own: Any) -> Any:
        if own.pop("accept_loss", False):
            overrides = ("pipeline.accept_loss=true", *overrides)
        settings = settings_of(profile, config, overrides, demo)
        if "only" in own:
            choice = {name: own.pop(name) for name in ("to", "start", "only")}
            own["stages"] = chosen_stages(settings, **choice)
        return function(settings, **own)

    return call


def settings_of(profile: str, config: Iterable[str], overrides: Iterable[str], demo: bool) -> Settings:
    """Return the settings that the options name."""
    if not demo:
        return load_settings(profile, list(config), list(overrides))
    from etl.cli.demo import demo_settings

    return demo_settings(profile, config, overrides)


def declare(name: str, about: str, function: str | Function, *options: click.Parameter, settings: bool = True) -> None:
    """Declare a command.

    Args:
        function: ``module:function``, imported when the command is called, or a function.
        options: its own, named as the function's arguments.
        settings: whether the function receives settings, and the command has the options that name them.
    """
    called = imported(function) if isinstance(function, str) else function
    program.add_command(
        click.Command(
            name,
            callback=with_settings(called) if settings else called,
            params=[*options, *(SETTINGS if settings else [VERBOSE])],
            help=about,
        )
    )


def imported(path: str) -> Function:
    """Return a function that imports ``module:function`` when it is called."""
    module, _, name = path.partition(":")

    def call(*values: Any, **options: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*values, **options)

    return call


def stages_of(settings: Settings) -> "list[Stage]":
    """Return all stages, as they are with these settings."""
    from jobs import all_stages

    return [stage.under(settings) for stage in all_stages()]


def chosen_stages(
    settings: Settings, to: str | None = None, start: str | None = None, only: str | None = None
) -> "list[Stage]":
    """Return the stages that ``--to``, ``--from`` and ``--only`` select; without them, those that always run."""
    from etl.pipeline.planner import chosen

    return _of_the_set(chosen(stages_of(settings), to=to, start=start, only=only), settings)


def _of_the_set(stages: "list[Stage]", settings: Settings) -> "list[Stage]":
    """Return the stages; with ``lakehouse.set``, those that make this set."""
    from etl.pipeline.planner import in_sets

    return in_sets(stages) if settings.lakehouse.set else stages


def _run_stage(name: str) -> Function:
    def run_stage(settings: Settings, again: bool) -> int:
        from etl.cli.running import run
        from etl.pipeline.planner import chosen

        return run(settings, _of_the_set(chosen(stages_of(settings), only=name), settings), again)

    return run_stage


def _maintain(settings: Settings, dry_run: bool) -> int:
    from etl.cli.maintain import maintain

    return maintain(settings, [stage.name for stage in stages_of(settings)], dry_run)


def _withdraw(settings: Settings, film: Sequence[str], file: Sequence[str], reason: str, undo: bool) -> int:
    from etl.cli.withdraw import withdraw

    return withdraw(settings, stages_of(settings), {"film": list(film), "file": list(file)}, reason, undo)


def _chat(settings: Settings, bot: str, model: str | None, save: str | None, pair: str | None) -> int:
    from etl.cli.chat import open_chat, typed_lines

    return open_chat(settings, bot, typed_lines(sys.stdin), model, save, pair)


def _demo(**given: Any) -> int:
    from etl.cli.demo import demo_corpus

    demo_corpus()
    return _run(**given)


def _run(**given: Any) -> int:
    status: int = with_settings(imported("etl.cli.running:run"))(**given)
    return status


def _plan(**given: Any) -> int:
    print("reads the stages, then starts Spark", file=sys.stderr, flush=True)  # each takes some seconds
    status: int = with_settings(imported("etl.cli.overviews:plan"))(**given)
    return status


def _fetch_jars() -> int:
    from etl.cli.jars import fetch_jars, make_archive
    from etl.pipeline.java_homes import java_home

    print(f"{fetch_jars()} jars ready")
    if not make_archive(java_home()):
        print("the archive of their classes could not be made: sessions will start more slowly")
    return 0


def _completion(shell: str) -> int:
    kind = get_completion_class(shell)
    assert kind is not None
    print(kind(program, {}, PROGRAM, COMPLETE).source())
    return 0


declare(
    "run",
    "Run stages that have work to do; manual ones only if named.",
    _run,
    *CHOICE,
    *AGAIN,
    *SETTINGS[:-1],
    settings=False,
)
declare("plan", "Print which stages would run, and why.", _plan, *CHOICE, JSON, *SETTINGS[:-1], settings=False)
declare("status", "Show each stage's last run.", "etl.cli.overviews:status", *CHOICE, JSON)
declare(
    "check-tables",
    "Look for damaged tables and say how to restore them.",
    "etl.cli.check_tables:check_tables",
)
declare("check", "Check the last runs: state, age, rows, shares.", "etl.cli.check:check", *CHOICE, JSON)
declare(
    "maintain",
    "Join small files and delete what no run needs any more.",
    _maintain,
    _option("--dry-run", is_flag=True, help="Print what would be done, and change nothing."),
)
declare(
    "estimate",
    "Predict the time and size of a run from past runs.",
    "etl.cli.estimate:estimate",
    *CHOICE,
    _option("--files", type=int, help="Files of the larger run (default: those in subtitles.sources)."),
    _option("--pilot", is_flag=True, help="First measure subtitles.sample and a quarter of it, under _pilot."),
)
declare(
    "sql",
    "Open a SQL shell on the tables and views.",
    "etl.cli.sql_shell:open_sql",
    _option(
        "-e",
        "--execute",
        "statements",
        multiple=True,
        callback=lambda context, option, given: ";\n".join(given) or None,
        metavar="SQL",
        help="Run these statements, separated by ;, and exit. May be repeated.",
    ),
    _option("--csv", "as_csv", is_flag=True, help="With -e: print all rows as CSV."),
    _option(
        "--engine",
        type=click.Choice(["duckdb", "spark"]),
        help="Default: duckdb for tables in a local folder, spark for others and for what duckdb cannot do.",
    ),
)
declare(
    "register",
    "Enter tables and views in a cluster's catalog.",
    "etl.cli.register:register",
    _option("--catalog", type=click.Choice(["glue", "hive"]), default="hive", help="Kind of catalog (default hive)."),
)
declare(
    "withdraw",
    "Remove films or files from every table.",
    _withdraw,
    _option("--film", multiple=True, metavar="ID", help="movie_id of a film to remove; may be repeated."),
    _option("--file", multiple=True, metavar="ID", help="source_path of a file to remove; may be repeated."),
    _option("--reason", default="", metavar="TEXT", help="Reason to record in ops.dropped."),
    _option("--undo", is_flag=True, help="Take the withdrawal back."),
)
declare(
    "read",
    "Print dialogues to read, with what was decided on them.",
    "etl.cli.read_shell:open_read",
    _option("--film", metavar="ID", help="movie_id: print its dialogues in order (default: all films)."),
    _option("--n", "number", type=int, default=20, help="How many clean dialogues to print (default 20)."),
    _option("--seed", type=int, default=0, help="Seed of the random choice (default 0)."),
)
declare(
    "reply",
    "Reply to your lines with a response generator (EDOS 5).",
    "etl.cli.reply_shell:open_replies",
    _option("--model", "uri", default=STEERED, metavar="URI", help=f"A response generator (default {STEERED})."),
    _option("--intent", metavar="LABEL", help="A label that the replies should have (default: any)."),
)
declare(
    "chat",
    "Talk with a support chatbot (AugESC), under supervision.",
    _chat,
    _option("--bot", type=click.Choice(["esconv", "augesc"]), default="esconv", help="Which of the study's two bots."),
    _option("--model", metavar="URI", help="Another model, such as models:/augesc-chatbot@champion."),
    _option("--save", type=click.Path(), metavar="FILE", help="Append the conversation to this JSON Lines file."),
    _option("--pair", metavar="NAME", help="With --save: name of the participant's two conversations."),
)
declare(
    "demo",
    "Make the demo corpus and run the pipeline on it.",
    _demo,
    *CHOICE,
    *AGAIN,
    *(
        _option("--demo", is_flag=True, default=True, hidden=True) if one.name == "demo" else one
        for one in SETTINGS[:-1]
    ),
    settings=False,
)
declare(
    "mlflow",
    "Serve MLflow, and print a link that compares the runs.",
    "etl.cli.mlflow_pages:open_mlflow",
    _option("--port", type=int, default=5000, help="Port of the server on this machine (default 5000)."),
    _option("--link", "link_only", is_flag=True, help="Only print the link, for a server that is already running."),
)
declare(
    "restore-text",
    "Restore the texts of an export that only refers to OPUS.",
    "etl.cli.restore_text:restore_text",
)
declare("doctor", "Check this machine for local runs, and say what to fix.", "etl.cli.doctor:doctor")
declare(
    "fetch-data",
    "Fetch data sets to learn from; without NAME, list them.",
    "etl.cli.fetch_data:fetch_data",
    click.Argument(["names"], nargs=-1, metavar="[NAME]..."),
    _option("--out", default="data", type=FOLDER, metavar="FOLDER", help="Folder to write to (default data)."),
    _option(
        "--write",
        "config",
        type=FOLDER,
        metavar="FILE",
        help="Settings file to write (default: settings.yaml in --out).",
    ),
    _option("--from", "source", type=FOLDER, metavar="FOLDER", help="Use files that are already on disk."),
    _option("--language", default="en", metavar="CODE", help="Language of opensubtitles (default en)."),
    _option("--accept", is_flag=True, help="Confirm that your use of non-commercial data is allowed."),
    settings=False,
)
declare("fetch-jars", "Fetch the jars for local sessions (part of make install).", _fetch_jars, settings=False)
declare(
    "completion",
    "Print a shell script for tab completion.",
    _completion,
    click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"]), default="bash"),
    settings=False,
)


def spread(arguments: Iterable[str]) -> Iterator[str]:
    """Yield the arguments with ``--set`` before each of several settings that follow one."""
    of_set = False
    for one in arguments:
        if of_set and not one.startswith("-"):
            yield from ("--set", one)
            continue
        of_set = one == "--set"
        if not of_set:
            yield one
