"""Parquet files and Arrow (Feather) files, read block by block."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError, KmapsError
from kmaps.io import tables
from kmaps.io.labels import check_label, check_labels, find_column
from kmaps.io.reader import Block, Reader

_FEW_ROWS = 20
_BUFFER = 1 << 16  # bytes of a column that are read at a time; without it, a row group is


def pyarrow(name: str) -> Any:
    """Return the module, or say how to install it for the file that needs it."""
    try:
        import pyarrow
    except ImportError:
        raise InputError(
            f"{name}: needs pyarrow, which is not installed: pip install pyarrow"
        ) from None
    return pyarrow


class ArrowReader(Reader):
    """A ``.parquet``, ``.arrow`` or ``.feather`` file whose columns are numbers.

    Needs pyarrow, which the extra ``parquet`` installs. The index that pandas writes as a column is
    no feature.
    """

    n_rows: int

    def __init__(
        self,
        path: Path,
        name: str,
        label_column: str | None = None,
        aside: Sequence[str] = (),
        *,
        model_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(path, name, label_column, aside)
        with self._opened() as file:
            self.n_rows = file.n_rows
            schema = file.schema
            self._texts = {
                column: find_column(schema.names, column, name) for column in self._named
            }
            self._places = [
                place for place in range(len(schema.names)) if place not in self._texts.values()
            ]
            self._leave_out_index(schema, model_names or ())
            types = [self._number_type(schema.field(place)) for place in self._places]
            self.columns = [schema.names[place] for place in self._places]
        if not types:
            raise self._refuse("has no column of numbers")
        self._take_shape(np.result_type(*types), (self.n_rows, len(types)))
        self.row_bytes = 2 * self.n_features * self.dtype.itemsize

    def _leave_out_index(self, schema: Any, model_names: Sequence[str]) -> None:
        """Leave out the columns that hold a row index, and note it.

        The metadata that pandas writes say which; without them the names of columns do.
        """
        import pyarrow as pa

        stated = _index_of(schema)
        features = [schema.names[place] for place in self._places]
        by_name = tables.index_columns([name for name in features if name not in stated])
        unstated = [place for place in self._places if schema.names[place] not in stated]
        places_by_name = [unstated[number] for number in by_name]
        left_out = []
        for place in self._places:
            column = schema.names[place]
            if column in stated:
                left_out.append(place)
                self._note(
                    f"column {place + 1} ({column!r}) is the index of a data frame and left out "
                    "(reset_index() makes it a column)"
                )
            elif place in places_by_name and column not in model_names:
                left_out.append(place)
                # The values of such a column may be fractions.
                is_float = pa.types.is_floating(schema.field(place).type)
                values = self._first_texts(place) if is_float else []
                self._note(tables.index_note(self.name, column, place, values))
        self._places = [place for place in self._places if place not in left_out]

    def _first_texts(self, place: int) -> list[str]:
        """Return the first values of a column as text."""
        with self._opened() as file:
            batch = next(iter(file.batches(_FEW_ROWS)), None)
        values = [] if batch is None else batch.column(place).to_pylist()
        return [repr(value) for value in values]

    def _number_type(self, field: Any) -> np.dtype:
        """Return the type of the values of a column; refuse one that holds no numbers."""
        import pyarrow as pa

        dtype = field.type
        if pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_boolean(dtype):
            return np.dtype(dtype.to_pandas_dtype())
        raise self._refuse(
            f"column {field.name!r} holds {_shown(dtype)}, expected numbers; leave it out of the "
            "file, or name it as the labels (label_column=NAME)"
        )

    @contextmanager
    def _opened(self) -> Iterator["_Parquet | _Ipc"]:
        """Open the file; whatever is wrong with it is one line."""
        pa = pyarrow(self.name)
        try:
            with open(self.path, "rb") as file:
                is_parquet = file.read(4) == b"PAR1"
            yield _Parquet(self.path) if is_parquet else _Ipc(self.path)
        except KmapsError:
            raise
        except (pa.ArrowException, OSError, ValueError, KeyError, EOFError) as error:
            raise self._refuse(f"is not a whole Parquet or Arrow file ({_shown(error)})") from None

    def blocks(self, rows: int, values: int) -> Iterator[Block]:
        """Read from the start, at most ``rows`` rows a time."""
        self.done = 0
        with self._opened() as file:
            for batch in file.batches(rows):
                # Arrow trusts a file about the places of its texts.
                batch.validate(full=True)
                texts = {column: self._text(batch, column) for column in self._texts}
                y = None if self._label_column is None else texts.pop(self._label_column)
                aside = {column: values.astype(str) for column, values in texts.items()}
                block = Block(self.done, self._numbers(batch), y, aside=aside)
                self.done += batch.num_rows
                yield block

    def _numbers(self, batch: Any) -> NDArray:
        X = np.empty((batch.num_rows, self.n_features), self.dtype)
        for j, place in enumerate(self._places):
            column = batch.column(place)
            if column.null_count:
                self._refuse_missing(column, batch.schema.names[place], "a number")
            X[:, j] = column.to_numpy(zero_copy_only=False)
        return X

    def _text(self, batch: Any, name: str) -> NDArray:
        """Return the labels or the set-aside column of a batch: numbers or text."""
        import pyarrow as pa

        column = batch.column(self._texts[name])
        if column.null_count:
            self._refuse_missing(column, name, "a text or a number")
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        dtype = column.type
        if pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_boolean(dtype):
            numbers = column.to_numpy(zero_copy_only=False)
            check_labels(numbers, f"{self.name}: {name}")
            return numbers.astype(np.int64) if numbers.dtype.kind == "b" else numbers
        if not (pa.types.is_string(dtype) or pa.types.is_large_string(dtype)):
            raise self._refuse(f"column {name!r} holds {_shown(dtype)}, expected text or numbers")
        texts = column.to_pylist()
        for text in set(texts):
            check_label(text, self.name, self._called(name))
        return np.array(texts)

    def _refuse_missing(self, column: Any, name: str, expected: str) -> None:
        row = self.done + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise self._refuse(f"column {name!r} has no value in row {row}, expected {expected}")


def _index_of(schema: Any) -> list[str]:
    """Return the columns that hold the index of a table of pandas'."""
    about = schema.pandas_metadata
    columns = about.get("index_columns") if isinstance(about, dict) else None
    if not isinstance(columns, list):
        return []
    # A range of numbers is described by a dictionary and is no column.
    return [column for column in columns if isinstance(column, str)]


def _shown(what: object) -> str:
    """Return a type or an error in one line, of a length."""
    return " ".join(str(what).split())[:200]


class _Parquet:
    """A Parquet file, in batches."""

    def __init__(self, path: Path) -> None:
        from pyarrow.parquet import ParquetFile

        self._file = ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)
        self.schema = self._file.schema_arrow
        self.n_rows = self._file.metadata.num_rows

    def batches(self, rows: int) -> Iterator[Any]:
        yield from self._file.iter_batches(batch_size=rows, use_threads=False)


class _Ipc:
    """An Arrow file, or an Arrow stream in a file, in batches."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        self._source = pa.memory_map(str(path))
        self._is_file = self._source.read(6) == b"ARROW1"
        reader = self._reader()
        self.schema = reader.schema
        self.n_rows = sum(batch.num_rows for batch in self._whole(reader))

    def _reader(self) -> Any:
        import pyarrow as pa

        self._source.seek(0)
        if self._is_file:
            return pa.ipc.open_file(self._source)
        return pa.ipc.open_stream(self._source)

    def _whole(self, reader: Any) -> Iterator[Any]:
        """Yield the batches as they are in the file; they are mapped, not read."""
        if self._is_file:
            yield from (reader.get_batch(number) for number in range(reader.num_record_batches))
        else:
            yield from reader

    def batches(self, rows: int) -> Iterator[Any]:
        for batch in self._whole(self._reader()):
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows)
