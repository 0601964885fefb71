"""From one array file to another, through a map, in bounded memory."""

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kmaps.checks import check_whole
from kmaps.errors import FileNote, InputError
from kmaps.io.atomic import atomic_file, check_source, refuse_terminal, standard_output
from kmaps.io.content import check_content
from kmaps.io.reader import LARGEST_WIDTH, Reader, finite_block
from kmaps.io.writers import WRITERS, Writer
from kmaps.matrices import AnyMatrix, issparse, stacked
from kmaps.plugins import Registry

READERS: Registry[Callable[..., Reader]] = Registry(
    {
        "npy": "kmaps.io.numpy_files.NpyReader",
        "npz": "kmaps.io.numpy_files.open_npz",
        "csv": "kmaps.io.csv_files.CsvReader",
        **dict.fromkeys(("svm", "libsvm"), "kmaps.io.svm_files.SvmReader"),
        **dict.fromkeys(("parquet", "arrow", "feather"), "kmaps.io.arrow_files.ArrowReader"),
    }
)
_WITHOUT_NAMES = ("npy", "svm", "libsvm")  # formats without names of columns
SAMPLE_ROWS = 10_000
SAMPLE_BYTES = 32 << 20
MEMORY = 24 << 20  # bytes for the blocks in memory at one time
Rows: TypeAlias = AnyMatrix


def format_of(path: str | Path, formats: Collection[str], form: str | None = None) -> str:
    """Return the format that was named, or else the one of the extension."""
    name = form or Path(path).suffix.lower().removeprefix(".")
    if name in formats:
        return name
    listed = ", ".join(formats)
    if not name:
        raise InputError(f"{path}: has no extension for a format; add one ({listed})")
    raise InputError(f"{path}: unknown format {name!r} ({listed})")


def output_format(path: str | Path, form: str | None = None, *, labels: bool = False) -> str:
    """Return the format that :func:`open_writer` writes ``path`` in, with ``labels`` or without.

    Parameters
    ----------
    path : str or Path
        The file to write; ``-`` is standard output.
    form : str, optional
        The format; by default the one of the extension.
    labels : bool
        Whether labels are written with the rows.

    Returns
    -------
    str

    Raises
    ------
    InputError
        For an unknown format, bytes on a terminal, or labels in a format without a place for them.

    Examples
    --------
    >>> output_format("faces.NPY")
    'npy'
    """
    chosen = format_of(path, WRITERS, form)
    if str(path) == "-" and not WRITERS[chosen].streams:
        refuse_terminal(chosen)
    if labels and not WRITERS[chosen].keeps_labels:
        raise InputError(f"{path}: {chosen} has no place for labels; write .npz, .csv or .svm")
    return chosen


def open_reader(
    path: str | Path,
    form: str | None = None,
    *,
    n_features: int | None = None,
    label_column: str | None = None,
    aside: Sequence[str] = (),
    zero_based: bool | Literal["auto"] = "auto",
    header: bool | Literal["auto"] = "auto",
    model_names: Sequence[str] | None = None,
    name: str | None = None,
) -> Reader:
    """Open an array file for reading block by block.

    Parameters
    ----------
    path : str or Path
    form : str, optional
        One of :data:`READERS`; by default by the extension.
    n_features : int, optional
        Columns of a svm file; by default those up to its largest index.
    label_column : str, optional
        The column that has labels, by its name; of a npz file the array, by default one named y
        next to one named X.
    aside : sequence of str
        Columns, or arrays of a npz file, that are no features: blocks have them apart, as text.
    zero_based : bool or "auto"
        Whether the indices of a svm file count from 0; "auto": they do when 0 occurs.
    header : bool or "auto"
        Whether the first line of a csv file is a header; "auto": the file decides, and is refused
        where its first line may be either.
    model_names : sequence of str, optional
        The names of the columns that a model was trained on: in a csv file a first line of these is
        a header, and none of these columns is left out.
    name : str, optional
        What messages call the file; by default its path.

    Returns
    -------
    Reader
        Its ``notes`` are the lines that a user should see; they are warnings (`FileNote`) too.

    Raises
    ------
    InputError
        When the file is missing, of an unknown format, compressed, damaged, or holds no matrix of
        numbers; for a label column that there is not; where it can be read in two ways.
    """
    shown = name or str(path)
    check_source(path)
    check_content(path, shown, form or Path(path).suffix.lower().removeprefix("."))
    chosen = format_of(path, READERS, form)
    check_whole("n_features", n_features, 1, LARGEST_WIDTH, or_none=True)
    named = [f"label_column={label_column}"] if label_column is not None else list(aside)
    if named and chosen in _WITHOUT_NAMES:
        raise InputError(f"{shown}: {chosen} has no columns with names; leave {named[0]} out")
    opened = READERS[chosen]
    if chosen == "npy":
        reader = opened(Path(path), shown)
    elif chosen in ("svm", "libsvm"):
        reader = opened(Path(path), shown, n_features, zero_based)
    elif chosen == "csv":
        reader = opened(
            Path(path), shown, label_column, aside, header=header, model_names=model_names
        )
    elif chosen == "npz":
        reader = opened(Path(path), shown, label_column, aside)
    else:
        reader = opened(Path(path), shown, label_column, aside, model_names=model_names)
    for note in reader.notes:
        warnings.warn(note, FileNote, stacklevel=2)
    return reader


@contextmanager
def open_writer(
    path: str | Path,
    form: str | None = None,
    *,
    n_rows: int | None = None,
    force: bool = False,
    known: Mapping[str, type[Writer]] = WRITERS,
) -> Iterator[Writer]:
    """Open an array file for writing block by block; it appears when the block ends well.

    Parameters
    ----------
    path : str or Path
        ``-`` for standard output, which takes any format unless it is a terminal; csv and svm
        arrive block by block, the others at the end.
    form : str, optional
        One of the formats that are ``known``; by default by the extension.
    n_rows : int, optional
        Rows to come, when known.
    force : bool
        Whether an existing file may be replaced.
    known : mapping of str to type of Writer
        The formats, by their names.

    Yields
    ------
    Writer
    """
    form = format_of(path, known, form)
    kind = known[form]
    if str(path) == "-":
        with standard_output(form, streams=kind.streams) as (file, target):
            writer = kind(file, target, n_rows)
            yield writer
            writer.finish()
        return
    with atomic_file(path, force=force) as file:
        writer = kind(file, Path(path).absolute(), n_rows)
        yield writer
        writer.finish()


def read_blocks(
    reader: Reader,
    *,
    dtype: np.dtype | None = None,
    memory: int = MEMORY,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[tuple[Rows, NDArray | None]]:
    """Yield the rows of a file, block by block, with their labels (None where it has none).

    Parameters
    ----------
    reader : Reader
    dtype : dtype, optional
        Type to which the values are converted; by default none.
    memory : int
        Bytes for the blocks in memory at one time; one row is the least.
    progress : callable
        Called with the part done and the total after every block.

    Raises
    ------
    InputError
        When a value is not finite or a line is not as it should be.
    """
    for block in reader.blocks(*_limits(reader, 0, dense=False, memory=memory)):
        yield finite_block(reader, block, dtype), block.y
        progress(reader.done, reader.total)


def read_whole(
    reader: Reader,
    *,
    dtype: np.dtype | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[Rows, NDArray | None, dict[str, NDArray]]:
    """Return all rows of a file (n, d), their labels, and the columns that were set aside, as text.

    Labels are None where there are none, and text if the file is text. :func:`read_blocks`
    describes the parameters and errors.

    Parameters
    ----------
    reader : Reader
        As `open_reader` returns it.
    dtype : dtype, optional
        Type to which the values are converted; by default none.
    progress : callable
        Called with the part done and the total after every block.

    Returns
    -------
    X : ndarray or CSR matrix, shape (n, d)
    y : ndarray, shape (n,), or None
    aside : dict of str to ndarray of str, shape (n,)
    """
    parts: list[Rows] = []
    labels: list[NDArray] = []
    aside: dict[str, list[NDArray]] = {}
    for block in reader.blocks(*_limits(reader, 0, dense=False, memory=MEMORY)):
        X = finite_block(reader, block, dtype)
        # Blocks may be overwritten by the next one.
        parts.append(X.copy() if X is block.X else X)
        labels += [] if block.y is None else [block.y]
        for column, texts in block.aside.items():
            aside.setdefault(column, []).append(texts)
        progress(reader.done, reader.total)
    return (
        stacked(parts),
        np.concatenate(labels) if labels else None,
        {column: np.concatenate(texts) for column, texts in aside.items()},
    )


def sample_rows(
    reader: Reader,
    *,
    dtype: np.dtype | None = None,
    rows: int = SAMPLE_ROWS,
    memory: int = SAMPLE_BYTES,
    seed: int = 0,
) -> Rows:
    """Draw rows of a file without replacement, each set of rows equally likely.

    Every row gets a random number and those with the smallest ones are kept, so the sample does not
    depend on how the file is cut into blocks. There are at most ``rows`` of them, in the order of
    the file, and when dense at most ``memory`` bytes, but at least one row. :func:`read_blocks`
    describes the other parameters and errors.

    Parameters
    ----------
    reader : Reader
        As `open_reader` returns it.
    dtype : dtype, optional
        Type to which the values are converted; by default none.
    rows : int
        Most rows.
    memory : int
        Most bytes of dense rows.
    seed : int
        It decides which rows are drawn.

    Returns
    -------
    ndarray or CSR matrix, shape (at most ``rows``, d)
    """
    rng = np.random.default_rng(seed)
    if not reader.sparse:
        rows = min(rows, max(1, memory // (8 * reader.n_features)))
    sample: Rows | None = None
    draws = np.empty(0)
    for X, _ in read_blocks(reader, dtype=dtype, memory=MEMORY):
        draws = np.concatenate([draws, rng.random(X.shape[0])])
        sample = X.copy() if sample is None else stacked([sample, X])
        if len(draws) > rows:
            chosen = np.sort(np.argpartition(draws, rows)[:rows])
            sample = sample[chosen]
            draws = draws[chosen]
    return sample


def first_row(reader: Reader, dtype: np.dtype | None = None) -> Rows:
    """Return the first row of a file, for maps that only need to know its shape.

    Parameters
    ----------
    reader : Reader
        As `open_reader` returns it.
    dtype : dtype, optional
        Type to which the values are converted; by default none.

    Returns
    -------
    ndarray or CSR matrix, shape (1, d)
    """
    return finite_block(reader, next(reader.blocks(1, 1)), dtype)[:1]


def encode_file(
    reader: Reader,
    writer: Writer,
    encode: Callable[[Rows], Rows],
    *,
    labels: NDArray | None = None,
    dtype: np.dtype | None = None,
    memory: int = MEMORY,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Encode a file into another, block by block.

    Parameters
    ----------
    reader : Reader
    writer : Writer
    encode : callable
        From rows (n, d) to rows (n, columns).
    labels : ndarray, shape (n,), optional
        Labels to be written with the rows; by default the labels of the file.
    dtype : dtype, optional
        Type to which the values are converted before they are encoded; by default none.
    memory : int
        Bytes for the blocks in memory at one time.
    progress : callable
        Called with the part done and the total after every block.

    Raises
    ------
    InputError
        When there are not as many labels as rows, and as :func:`read_blocks`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first row is read again
        encoded = encode(first_row(reader, dtype))
    # Labels that are given have their type already.
    writer.labels_typed = labels is not None or reader.labels_typed
    keeps_sparse = issparse(encoded) and writer.keeps_sparse
    limits = _limits(reader, encoded.shape[1], dense=not keeps_sparse, memory=memory)
    n_rows = 0
    for block in reader.blocks(*limits):
        n_rows = block.start + block.X.shape[0]
        if labels is not None and len(labels) < n_rows:
            raise InputError(f"{len(labels)} labels, but {reader.name} has more rows")
        y = block.y if labels is None else labels[block.start : n_rows]
        writer.write(encode(finite_block(reader, block, dtype)), y)
        progress(reader.done, reader.total)
    if labels is not None and len(labels) != n_rows:
        raise InputError(f"{len(labels)} labels, but {reader.name} has {n_rows} rows")


def _limits(reader: Reader, n_columns: int, *, dense: bool, memory: int) -> tuple[int, int]:
    """Return how many rows, and how many stored values, make a block that fits in memory."""
    # 8 bytes per value of input and output, because no type is wider.
    values = memory // (16 * (1 + -(-n_columns // reader.n_features)))
    row = 8 * n_columns if dense or not reader.sparse else 0
    if not reader.sparse:
        row += reader.row_bytes + 8 * reader.n_features
    return max(1, memory // max(row, 64)), max(1, values)
