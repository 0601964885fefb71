"""Code that commands share: printed text, options in groups, the library's errors as options."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile, is_zipfile

import click
from click.core import ParameterSource

from kmaps.errors import ConfigError, InputError, printable

if TYPE_CHECKING:
    from kmaps.bench.spec.fields import Experiment

Command = Callable[..., Any]

COUNT = click.IntRange(1, 2**16)  # of threads, processes or repeats
PATH = click.Path(path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)

COMMAND_LINE = "kmaps.cli.main.command_line"
"""The key of the command line, as the user typed it, in the meta of click's context."""
_FEW = 5


def say(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Print text as `kmaps.errors.printable` shows it; bytes, which are no text, as they are."""
    click.echo(text if isinstance(text, bytes) else printable(str(text)), err=err, nl=nl)


def say_note(text: str) -> None:
    """Print a note of the library on standard error, with the options of the command in it."""
    params = click.get_current_context().command.params
    say(f"note: {in_flags(text, params)}", err=True)


class GroupedCommand(click.Command):
    """A command whose ``--help`` shows options in ``groups``, each with a title."""

    def __init__(self, *args: Any, groups: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._titles: dict[str, str] = {}
        for title, option_names in (groups or {}).items():
            self._titles |= dict.fromkeys(option_names.split(), title)

    def group_of(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the title above an option."""
        return self._titles.get(param.name or "", "Options")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                groups.setdefault(self.group_of(param, ctx), []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)


class Number(click.FloatRange):
    """A finite number within a range; click's accepts nan, and inf where there is no limit."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; refuse nan and infinity."""
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


class RunPath(click.Path):
    """The records of a run, or the folder they are in; a model's file is refused by its name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, after a look at what it is."""
        path = Path(value)
        if _is_model(path):
            raise InputError(
                f"{path}: is a model, not a run: `kmaps info {path}` describes it, "
                "`kmaps evaluate` and `kmaps explain` show more"
            )
        return super().convert(value, param, ctx)


RUN = RunPath(path_type=Path)
RUN_FOLDER = RunPath(file_okay=False, path_type=Path)


def _is_model(path: Path) -> bool:
    """Return whether a file is a model, by the names of the arrays in it."""
    if not path.is_file() or not is_zipfile(path):
        return False
    with ZipFile(path) as archive:
        return "header.npy" in archive.namelist()


def refuse_run(path: str) -> None:
    """Refuse a run where a model is expected, and name the commands that read runs."""
    if Path(path).suffix == ".jsonl" or Path(path, "records.jsonl").is_file():
        raise InputError(
            f"{path}: is a run, not a model: `kmaps table {path}` shows it, `kmaps plot` and "
            "`kmaps report` draw it; `kmaps train` writes models"
        )


def refuse_options(names: Collection[str], reason: str) -> None:
    """Refuse options that were given on the command line, by the names of their values."""
    context = click.get_current_context()
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name in names and source is ParameterSource.COMMANDLINE:
            raise ConfigError(f"{max(option.opts, key=len)}: {reason}")


def megabytes(n_bytes: float) -> str:
    """Return a size in MB, or in kB and bytes where MB would hide it.

    Examples
    --------
    >>> megabytes(2_345_000), megabytes(45_000), megabytes(512)
    ('2.3 MB', '45.0 kB', '512 bytes')
    """
    if n_bytes < 1000:
        return f"{n_bytes:.0f} bytes"
    if n_bytes < 100_000:
        return f"{n_bytes / 1000:.1f} kB"
    return f"{n_bytes / 1e6:.1f} MB"


def few_of(texts: Sequence[str]) -> str:
    """Return the first texts, joined, and the number of the others."""
    phrases = list(texts[:_FEW])
    if len(texts) > _FEW:
        phrases.append(f"and {len(texts) - _FEW} more")
    return "; ".join(phrases)


def in_flags(message: str, params: Iterable[click.Parameter]) -> str:
    """Return a message with ``argument=value`` as the option that gives the argument.

    Examples
    --------
    >>> force = click.Option(["--force"], is_flag=True)
    >>> order = click.Option(["--order"], type=int)
    >>> in_flags("out.npy: exists already; force=True replaces it", [force, order])
    'out.npy: exists already; --force replaces it'
    >>> in_flags("order=0: expected a whole number of at least 1", [force, order])
    '--order 0: expected a whole number of at least 1'
    """
    for param in params:
        if isinstance(param, click.Option) and param.name:
            flag = max(param.opts, key=len)
            assignment = rf"(?<![\w.-]){re.escape(param.name)}=('[^']*'|[^\s,:;()]+)"
            words = param.type.choices if isinstance(param.type, click.Choice) else ()
            message = re.sub(
                assignment,
                lambda match, flag=flag, words=words: _option(flag, match[1], words),
                message,
            )
    return message


def _option(flag: str, value: str, words: Sequence[str] = ()) -> str:
    """Return the option for a value; ``words`` are those that it takes for True and False."""
    spellings = {"True": ("true", "yes"), "False": ("false", "no")}
    for word in spellings.get(value, ()):
        if word in words:
            return f"{flag} {word}"
    if value == "True":
        return flag
    unquoted = value.strip("'")
    return f"{flag} {unquoted}"


def allowing(command: Command) -> Command:
    """Add the options ``--allow`` and ``--allow-code`` to a command."""
    package = click.option(
        "--allow",
        multiple=True,
        metavar="PACKAGE",
        help="Let rows name estimators of this installed package; scikit-learn, LightGBM, "
        "interpret and kmaps are always allowed. Repeat for several.",
    )
    code = click.option(
        "--allow-code",
        is_flag=True,
        help="Let rows name estimators in modules of the experiment's folder, which are run.",
    )
    return package(code(command))


def say_imports(
    experiment: "Experiment", allow: Collection[str], allow_code: bool, *, quiet: bool
) -> None:
    """Say on standard error which code the rows of an experiment import, and from where."""
    from kmaps.bench.kinds import KINDS
    from kmaps.bench.run.plan import imports_of

    cells = KINDS[experiment.kind].cells(experiment)
    packages = []
    for item in imports_of(cells, experiment, allow, allow_code):
        place = item.folder or "installed"
        if not item.folder and find_spec(item.package) is None:
            place = "not installed"
        flag = "--allow-code" if item.folder else f"--allow {item.package}"
        needs = "" if item.is_allowed else f", needs {flag}"
        packages.append(f"{item.package} ({place}{needs})")
    if packages and not quiet:
        say(f"rows of this experiment import code: {', '.join(packages)}", err=True)
