"""The ``kmaps`` command: a group that imports a command's module only when it is used.

Every error of the user's own making becomes one ``error: …`` line on standard error and the exit
code its class carries; nobody sees a traceback for a typing mistake.
"""

import codecs
import errno
import gc
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from kmaps import __version__
from kmaps.cli.flags import GIVEN, in_flags, say
from kmaps.errors import KmapsError, Mistakes, one_line, printable, suggest

_KEPT_BEFORE_COLLECTING = 100_000

_TITLE = re.compile(r'"""``kmaps ([a-z-]+)``: (.+?\.)')


def _commands() -> dict[str, str]:
    """Return the help of each command, by its name: the first line of the file of that name.

    So the help of `kmaps` itself imports no command, and a new command is one file.
    """
    found = {}
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
        with open(path, encoding="utf-8") as file:
            title = _TITLE.match(file.readline())
            if title and title[1] == path.stem:
                found[title[1]] = title[2][0].upper() + title[2][1:]
    return found


COMMANDS = _commands()

INTERRUPTED = 130
UNFORESEEN = 70  # what sysexits.h has for a program's own mistakes
BROKEN_PIPE = 141  # what a shell reports for a process ended by SIGPIPE


class LazyGroup(click.Group):
    """A click group whose commands are modules of this package, named as the command is."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = cmd_name in COMMANDS
        return import_module(f"kmaps.cli.{cmd_name}").command if known else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"no command {args[0]!r}{suggest(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parse the arguments, which --help and --version answer; keep them for the records."""
        given = shlex.join(["kmaps", *args])  # parsing takes the arguments out of the list
        with _faults_of_the_system(), _printable_usage():
            context = super().make_context(info_name, args, parent, **extra)
        context.meta[GIVEN] = given
        return context

    def invoke(self, ctx: click.Context) -> object:
        """Run the command and turn errors that the user caused into one line and an exit code."""
        try:
            with _faults_of_the_system(), _printable_usage():
                return super().invoke(ctx)
        except KmapsError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            params = command.get_params(ctx) if command else []
            said = str(error) if isinstance(error, Mistakes) else one_line(error)
            say(f"error: {in_flags(said, params)}", err=True)
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
        place = f"{error.filename}: " if error.filename else ""
        reason = error.strerror or str(error)
        if error.errno == errno.EBADF and not error.filename:
            reason = "standard output is closed: send it to a file, or to /dev/null"
        if not error.filename:  # it may be an error of standard output
            _drop_stdout()
        say(f"error: {one_line(place + reason)}", err=True)
        raise click.exceptions.Exit(KmapsError.exit_code) from None
    except MemoryError as error:
        say(f"error: {str(error) or 'out of memory'}", err=True)
        raise click.exceptions.Exit(KmapsError.exit_code) from None


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


_PLAIN = {"…": "...", "–": "-", "≥": ">=", "≤": "<=", "→": "->", "‖": "||"}
_PLAIN |= {"λ": "lambda", "Λ": "Lambda"}


def _in_plain_letters(error: UnicodeError) -> tuple[str, int]:
    """Return a substitute for characters that a terminal's encoding lacks, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in lacking), error.end


def _say_warning(message: Warning | str, *_: object, **__: object) -> None:
    say(f"warning: {one_line(message)}", err=True)


class _LeanFixes(MetaPathFinder):
    """Finds ``sklearn.utils.fixes`` once, as Python does, and hides unneeded modules from it.

    That module imports scipy.stats, which parses its documentation, and pandas for functions that
    commands hardly ever call: half of scikit-learn's import time. Later users import them.
    """

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        """Return how the module is loaded; None: another module, which others find."""
        if fullname != "sklearn.utils.fixes":
            return None
        sys.meta_path.remove(self)
        found: ModuleSpec | None = find_spec(fullname)
        if found is None or found.loader is None:
            return None
        load = found.loader.exec_module

        def lean(module: ModuleType) -> None:
            # SciPy imports its parts when its attributes are used.
            hidden = {"scipy.stats": ModuleType("scipy.stats"), "pandas": None}
            hidden = {name: of for name, of in hidden.items() if name not in sys.modules}
            sys.modules |= hidden  # None: cannot be imported
            try:
                load(module)
            finally:
                for name in hidden:
                    sys.modules.pop(name, None)

        found.loader.exec_module = lean
        return found


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
    # A command imports a lot and keeps it: looking for garbage as often as Python does by itself
    # takes a tenth of the time until it works.
    gc.set_threshold(_KEPT_BEFORE_COLLECTING, 50, 50)
    sys.meta_path.insert(0, _LeanFixes())
    _fill_closed_streams()
    codecs.register_error("kmaps.plain", _in_plain_letters)  # for terminals of small encodings
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="kmaps.plain")
    warnings.showwarning = _say_warning
    cli(prog_name="kmaps")
