"""The ``kmaps`` command: a group that imports a command's module only when it is used.

Every error of the user's own making becomes one ``error: …`` line on standard error and the exit
code its class carries; nobody sees a traceback for a typing mistake.
"""

import codecs
import errno
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from io import TextIOWrapper
from typing import Any

import click

from kmaps import __version__
from kmaps.cli.flags import COMMAND_LINE, in_flags, say
from kmaps.cli.interrupts import INTERRUPTED
from kmaps.errors import (
    FileNote,
    KmapsError,
    Mistakes,
    one_line,
    printable,
    suggest,
    with_short_quotes,
)

GROUPS = {
    "Models": {
        "encode": "Map an array file to explicit features, block by block.",
        "features": "Turn the images of a dataset into histograms.",
        "train": "Train a kernel SVM on an array file.",
        "predict": "Predict labels with a trained model.",
        "evaluate": "Compare a trained model's labels with the true ones.",
        "explain": "Write a page on the functions that a trained model has learnt.",
        "recommend": "Measure a small grid of models and show the best ones.",
        "error": "Show how far maps are from the kernel, pair by pair.",
    },
    "Experiments": {
        "run": "Run an experiment, or all of them, and record every cell.",
        "table": "Show the records of a run as a table.",
        "plot": "Draw the accuracy of a run's rows over their cost.",
        "report": "Write a page on a run: claims, tables, figures, conditions.",
        "compare": "Show runs side by side, with differences and what changed.",
        "check": "Compare the records of a run with a baseline.",
    },
    "Installation": {
        "download": "Fetch datasets and verify them.",
        "list": "List maps, kernels, datasets and experiments.",
        "info": "Show and check the installation, or show what a model is.",
        "warmup": "Compile the loops now instead of on first use.",
    },
}
"""The commands by the title above them, with their lines in ``kmaps --help``.

The module of a command has its name, and is imported when the command is used.
"""

COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}

RENAMED = {
    "reproduce": ["run", "--all"],
    "time": ["run", "--again"],
    "doctor": ["info", "--check"],
}
"""What the commands of 1.0.0rc1 that are gone are called now; they work until the next release."""

UNFORESEEN = 70  # what sysexits.h has for a program's own mistakes
BROKEN_PIPE = 141  # what a shell reports for a process ended by SIGPIPE


class LazyGroup(click.Group):
    """A click group whose commands are modules of this package, named as the command is."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command and return it."""
        if cmd_name not in COMMANDS and cmd_name != "completion":
            return None
        return import_module(f"kmaps.cli.{cmd_name}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups of commands without importing them."""
        for title, summaries in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(summaries.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple:
        """Return the command that the arguments name, by its new name if it was renamed."""
        name = args[0]
        if name in RENAMED:
            new_words = RENAMED[name]
            if not ctx.resilient_parsing:
                new_command = shlex.join(["kmaps", *new_words])
                say(f"warning: `kmaps {name}` is now `{new_command}`", err=True)
            args = [*new_words, *args[1:]]
        elif name not in COMMANDS and name != "completion" and not name.startswith("-"):
            ctx.fail(f"no command {name!r}{suggest(name, COMMANDS)}")
        return super().resolve_command(ctx, args)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parse the arguments, which --help and --version answer; keep them for the records."""
        command_line = shlex.join(["kmaps", *args])  # parsing takes the arguments out of the list
        with _faults_of_the_system(), _printable_usage():
            context = super().make_context(info_name, args, parent, **extra)
        context.meta[COMMAND_LINE] = command_line
        return context

    def invoke(self, ctx: click.Context) -> object:
        """Run the command and turn errors that the user caused into one line and an exit code."""
        try:
            with _faults_of_the_system(), _printable_usage(), warnings.catch_warnings():
                warnings.showwarning = _warnings_once()
                return super().invoke(ctx)
        except KmapsError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            params = command.get_params(ctx) if command else []
            message = str(error) if isinstance(error, Mistakes) else one_line(error)
            message = with_short_quotes(message)
            say(f"error: {in_flags(message, params)}", err=True)
            ctx.exit(error.exit_code)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if ctx.params["traceback"]:
                raise
            reason = " ".join(str(error).split())
            say(
                f"error: unforeseen, a mistake of kmaps: {type(error).__name__}: {reason}; "
                "`kmaps --traceback COMMAND …` shows its place; please report it",
                err=True,
            )
            ctx.exit(UNFORESEEN)


@contextmanager
def _printable_usage() -> Iterator[None]:
    """Show control characters of arguments in the messages that click prints about them."""
    try:
        yield
    except click.ClickException as error:
        error.message = printable(one_line(error.message))
        raise


@contextmanager
def _faults_of_the_system() -> Iterator[None]:
    """Turn an end by the user or by the system into one line and an exit code."""
    try:
        yield
    except KeyboardInterrupt:
        say("interrupted", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        _drop_stdout()
        raise click.exceptions.Exit(BROKEN_PIPE) from None
    except OSError as error:
        # Users can fix these errors, such as a full disk or a missing permission.
        is_printing = not error.filename and _stdout_fails()
        place = error.filename or ("standard output" if is_printing else "")
        reason = f"{place}: {error.strerror or error}".removeprefix(": ")
        if error.errno == errno.EBADF and not error.filename:
            reason = "standard output is closed: send it to a file, or to /dev/null"
        if not error.filename:  # it may be an error of standard output
            _drop_stdout()
        say(f"error: {one_line(reason)}", err=True)
        raise click.exceptions.Exit(KmapsError.exit_code) from None
    except MemoryError as error:
        say(f"error: {str(error) or 'out of memory'}", err=True)
        raise click.exceptions.Exit(KmapsError.exit_code) from None


def _stdout_fails() -> bool:
    """Return whether printed text cannot be written, as on a full disk."""
    try:
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _drop_stdout() -> None:
    # Buffered text would fail again when Python exits, with another exit code. A stream that a
    # caller put there may have no number.
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fill_closed_streams() -> None:
    """Replace closed standard streams by streams on which writing fails.

    Else the next file that is opened, for instance a model, would get the number of standard output
    and all printed text; and Python drops text that is written to a missing stream.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)  # takes the lowest free number: this one
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, "r")
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w")


_PLAIN = {
    "…": "...",
    "–": "-",
    "≥": ">=",
    "≤": "<=",
    "→": "->",
    "‖": "||",
    "λ": "lambda",
    "Λ": "Lambda",
}


def _in_plain_letters(error: UnicodeError) -> tuple[str, int]:
    """Return a substitute for characters that a terminal's encoding lacks, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in characters), error.end


def _warnings_once() -> Callable[..., None]:
    """Return a function that prints warnings as lines, and no note on a file twice."""
    notes = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        line = one_line(message)
        if not isinstance(message, FileNote):
            say(f"warning: {line}", err=True)
        elif line not in notes:
            notes.add(line)
            say(f"note: {line}", err=True)

    return show


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog="\b\nExample:\n  kmaps run quickstart",
)
@click.version_option(__version__, prog_name="kmaps")
@click.option("--traceback", is_flag=True, help="Show where a mistake of kmaps itself happened.")
def cli(traceback: bool) -> None:
    """Explicit feature maps that turn additive-kernel SVMs into linear ones.

    Exit codes: 0 done, 1 gate failed, 2 usage or configuration, 3 some cells failed, 4 data missing
    or corrupt, 5 nothing measured or baseline incompatible, 70 a mistake of kmaps, 130 interrupted.
    """


def main() -> None:
    """Run the command line of this process."""
    _fill_closed_streams()
    codecs.register_error("kmaps.plain", _in_plain_letters)  # for terminals of small encodings
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="kmaps.plain")
    cli(prog_name="kmaps")
