"""Code that the commands on array files share: options, labels, standard input, warnings."""

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

import click

from kmaps.cli.completing import files
from kmaps.cli.flags import COUNT, Number, say, say_note
from kmaps.errors import ColumnNote, ConfigError, FileNote, InputError, KmapsError, one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kmaps.cli.compiling import Compiled
    from kmaps.io import Reader

# Checked before the slow imports, and read again afterwards.
_FIRST_ROWS = 100
_FIRST_VALUES = 20_000

input_format = click.option(
    "--input-format",
    metavar="FORMAT",
    help="Format of the rows: npy, npz, csv, svm, parquet or arrow. [default: by the name]",
)
memory = click.option(
    "--memory",
    type=Number(1, 1e9),
    default=24,
    metavar="MB",
    help="Memory that the blocks of rows take at one time.",
)

labels = click.option(
    "--labels",
    metavar="FILE",
    shell_complete=files,
    help="True labels of the rows: a .npy, .txt or .csv file, or - for standard input (one label "
    "per line, or csv with --label-column). [default: the labels within the data's file]",
)
label_column = click.option(
    "--label-column",
    metavar="NAME",
    help="Column of the csv, parquet or arrow file, or array of the npz file, that has the labels. "
    "If --labels is a csv file, the column of that file.",
)
zero_based = click.option(
    "--zero-based",
    type=click.Choice(["auto", "true", "false"]),
    default="auto",
    help="Whether indices of svm files count from 0. auto: they do if 0 occurs; with a model they "
    "count from 1 if the model's last index occurs, and other files are refused.",
)
header = click.option(
    "--header",
    type=click.Choice(["auto", "yes", "no"]),
    default="auto",
    help="Whether the first line of a csv file is a header. auto: the file decides, and is refused "
    "where its first line may be either.",
)
keep_large = click.option(
    "--keep-large",
    is_flag=True,
    help="Accept values of more than a million times the median size of the non-zero values in "
    "their column; otherwise they are refused.",
)
n_features = click.option(
    "--n-features",
    type=click.IntRange(1),
    help="Number of columns of svm files. [default: largest index]",
)
normalize = click.option(
    "--normalize",
    type=click.Choice(["none", "l1", "l2", "max", "min-max"]),
    default="none",
    help="Divide each row by its norm (l1, l2), each column by its largest size (max), or take "
    "each column to 0 … 1 (min-max). The scales of columns are those of all rows, those held out "
    "included.",
)


def _use_threads(ctx: click.Context, param: click.Parameter, value: int | None) -> None:
    if value is None:
        return
    import scipy.linalg  # noqa: F401 (threadpoolctl pins the libraries that are loaded)
    from threadpoolctl import threadpool_limits

    from kmaps import threads

    ctx.with_resource(threadpool_limits(value))
    ctx.with_resource(threads(value))


threads = click.option(
    "--threads",
    type=COUNT,
    expose_value=False,
    callback=_use_threads,
    help="Number of threads. [default: KMAPS_NUM_THREADS, OMP_NUM_THREADS, or all processors]",
)


def open_rows(
    path: str | Path,
    form: str | None = None,
    *,
    name: str | None = None,
    label_column: str | None,
    zero_based: str,
    header: str,
    n_features: int | None = None,
    model_names: Sequence[str] | None = None,
    quiet: bool,
) -> "Reader":
    """Open a file of rows by the options of a command; print its notes, unless ``quiet``."""
    from kmaps.io import open_reader

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FileNote)  # they are printed below
        reader = open_reader(
            path,
            form,
            n_features=n_features,
            label_column=label_column,
            zero_based=_choice(zero_based),
            header=_choice(header),
            model_names=model_names,
            name=name,
        )
    if n_features is not None and not reader.certain_base:
        raise InputError(
            f"{reader.name}: neither index 0 nor index {n_features}, the last one, occurs, so its "
            "indices may count from 0 or from 1; pass --zero-based true or --zero-based false"
        )
    if not quiet:
        for note in reader.notes:
            say_note(note)
    return reader


@contextmanager
def noting(quiet: bool) -> Iterator[None]:
    """Print what readers note while the block runs, each note once; if quiet, none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FileNote)
        yield
    notes = []
    others = []
    for warning in caught:
        if warning.category is FileNote:
            notes.append(str(warning.message))
        else:
            others.append(warning)
    if not quiet:
        for note in dict.fromkeys(notes):
            say_note(note)
    for warning in others:
        warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)


def _choice(text: str) -> bool | Literal["auto"]:
    """Return the value of an option with the values auto, true or yes, false or no."""
    return "auto" if text == "auto" else text in ("true", "yes")


def split_label_column(
    label_column: str | None, labels: str | None
) -> tuple[str | None, str | None]:
    """Return the label column of the data, and the column of the file of labels."""
    return (label_column, None) if labels is None else (None, label_column)


def check_paths(target: str, sources: Sequence[str | None], force: bool) -> None:
    """Refuse a target that may not be written or that is one of the sources."""
    from kmaps.io import check_target

    if target == "-":
        return
    for source in sources:
        both_exist = source and os.path.exists(source) and os.path.exists(target)
        if both_exist and os.path.samefile(source, target):
            raise InputError(f"{target}: is the input too; choose another name for OUT")
    check_target(target, force=force)


def look_for(*sources: str | None) -> None:
    """Refuse missing files before the slow imports."""
    for source in sources:
        if source and source != "-" and not os.path.exists(source):
            raise InputError(f"{source}: no such file")


def check_start(reader: "Reader") -> None:
    """Refuse a file whose first rows are wrong before the slow imports."""
    from kmaps.io import finite_block

    first_block = next(iter(reader.blocks(_FIRST_ROWS, _FIRST_VALUES)), None)
    if first_block is not None:
        finite_block(reader, first_block, None)


def check_labelled(reader: "Reader", labels: object) -> None:
    """Refuse rows without labels."""
    if labels is None and not reader.has_labels:
        raise ConfigError(
            f"{reader.name}: holds no labels; name a file with --labels, or the column that has "
            "them with --label-column"
        )


@contextmanager
def labelled_rows(
    source: str,
    target: str,
    *,
    labels: str | None,
    label_column: str | None,
    input_format: str | None,
    zero_based: str,
    header: str,
    n_features: int | None,
    quiet: bool,
) -> Iterator[tuple["Reader", "NDArray | None"]]:
    """Yield rows to train on and their labels, None where they are in the file of the rows.

    Bad rows and labels are refused here; a read error inside the block becomes one line.
    """
    data_column, labels_column = split_label_column(label_column, labels)
    with input_file(source, target, input_format) as (path, name), as_input_error():
        reader = open_rows(
            path,
            input_format,
            name=name,
            label_column=data_column,
            zero_based=zero_based,
            header=header,
            n_features=n_features,
            quiet=quiet,
        )
        check_labelled(reader, labels)
        y = None if labels is None else labels_in(labels, labels_column)
        check_start(reader)
        yield reader, y


@contextmanager
def input_file(source: str, target: str, form: str | None) -> Iterator[tuple[Path, str]]:
    """Yield the file to read and its name; standard input is first copied next to the target.

    On Linux the copy has no name, so that nothing remains of it however the process ends.
    """
    if source != "-":
        yield Path(source), source
        return
    if form is None:
        raise ConfigError("-: name the format of standard input with --input-format")
    folder = None if target == "-" else Path(target).absolute().parent
    if sys.platform == "linux":
        with tempfile.TemporaryFile(dir=folder) as copy:
            _copy_input(copy)
            _check_end(copy, form)
            yield Path(f"/proc/self/fd/{copy.fileno()}"), "standard input"
        return
    with _copied(folder, form) as name:
        yield Path(name), "standard input"


@contextmanager
def _copied(folder: Path | None, form: str, suffix: str = "") -> Iterator[str]:
    """Yield the name of a copy of standard input, closed so that Windows can open it again."""
    with tempfile.TemporaryDirectory(prefix="kmaps-", dir=folder) as temporary:
        with open(os.path.join(temporary, f"input{suffix}"), "w+b") as copy:
            _copy_input(copy)
            _check_end(copy, form)
        yield copy.name


def _copy_input(copy: IO[bytes]) -> None:
    """Copy standard input, which can be read only once."""
    used_inputs = click.get_current_context().meta
    if used_inputs.setdefault(__name__, 0):
        raise ConfigError("-: only one of IN, MODEL and --labels can be standard input")
    used_inputs[__name__] = 1
    shutil.copyfileobj(sys.stdin.buffer, copy, 1 << 20)
    copy.flush()


def _check_end(copy: IO[bytes], form: str) -> None:
    """Warn of a table that ends within a line: a number that was cut off is still a number."""
    if form in ("csv", "svm", "libsvm") and copy.tell():
        copy.seek(-1, os.SEEK_END)
        if copy.read(1) != b"\n":
            say("warning: standard input ends within a line; it may have been cut off", err=True)


@contextmanager
def seekable(source: str, suffix: str) -> Iterator[str]:
    """Yield the name of a file, or for - of a copy that errors call standard input."""
    if source != "-":
        yield source
        return
    with _copied(None, suffix, suffix) as name:
        try:
            yield name
        except KmapsError as error:
            raise type(error)(str(error).replace(name, "standard input")) from None


def labels_in(labels: str, column: str | None, classes: "NDArray | None" = None) -> "NDArray":
    """Return the labels of a file, or of standard input for -."""
    from kmaps.io import read_labels

    with seekable(labels, ".txt" if column is None else ".csv") as path:
        return read_labels(path, column=column, classes=classes)


@contextmanager
def as_input_error() -> Iterator[None]:
    """Turn an error of a map or of scikit-learn into one line that the user can act on."""
    try:
        yield
    except KmapsError:
        raise
    except ValueError as error:
        raise InputError(" ".join(str(error).split())) from error


@contextmanager
def once_each_warning(
    quiet: bool, columns: Sequence[str] | None = None
) -> Iterator[list[warnings.WarningMessage]]:
    """Print the first warning of each kind at the end, instead of one per block; if quiet, none.

    A `ColumnNote` gets the names of the ``columns``, and is a note. Yielded is the list of all
    warnings so far. If quiet, the library says nothing of its progress.
    """
    from kmaps import showing

    silence = showing((lambda *_: None) if quiet else None)
    with silence, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Rows of files are arrays; the columns' names were compared with the model's when opened.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield caught
    if quiet:
        return
    notes: dict[str, None] = {}
    kinds: dict[tuple, list] = {}
    for warning in caught:
        if isinstance(warning.message, ColumnNote):
            notes[one_line(warning.message.naming(columns))] = None
        else:
            kinds.setdefault((warning.filename, warning.lineno), []).append(warning.message)
    for messages in kinds.values():
        blocks = f" (and in {len(messages) - 1} more blocks)" if len(messages) > 1 else ""
        say(f"warning: {one_line(messages[0])}{blocks}", err=True)
    for note in notes:
        say_note(note)


@contextmanager
def compiling(quiet: bool) -> Iterator["Compiled"]:
    """Report that loops are compiled; yield the time that it took."""
    from kmaps.cli.compiling import compile_counter

    def report() -> None:
        if not quiet:
            say("compiling the loops, once (see `kmaps warmup`)", err=True)

    with compile_counter(report) as compiled:
        yield compiled
