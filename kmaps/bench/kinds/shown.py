"""What shows the records of a kind of experiment: judged columns, measures, figures, sections."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from kmaps.bench.records.arrays import Arrays, read_arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.records.gate import Judged
from kmaps.bench.records.times import with_times, without_doubtful_times
from kmaps.errors import DataError, NothingMeasured

Section = tuple[str, str]  # heading and Markdown of a part of a page


@dataclass(frozen=True)
class Figure:
    """A figure of a kind.

    Parameters
    ----------
    draw : callable
        ``draw(records, arrays, path)``: the records that are measured, the arrays of each by its
        key, and the file to write, PNG, SVG or PDF.
    needs_arrays : bool
        Whether the records alone do not suffice.
    """

    draw: Callable[[Sequence[Record], Mapping[str, Arrays], Path], None]
    needs_arrays: bool = False


class Shown(ABC):
    """What shows the records of a kind; `show.py` of its package has one, called ``SHOWN``.

    It imports nothing that measures, so that reading records does not either.

    Attributes
    ----------
    fills : tuple of str
        The columns of a record that measuring fills, besides those that the runner fills.
    judged : tuple of Judged
        Those of them that the gate judges, with their tolerances.
    """

    fills: ClassVar[tuple[str, ...]]
    judged: ClassVar[tuple[Judged, ...]]

    @abstractmethod
    def measures(self, records: Sequence[Record]) -> tuple[str, ...]:
        """Return what tables show unasked.

        Keys of :data:`kmaps.bench.records.measures.MEASURES`.
        """

    def known_figures(self) -> dict[str, Figure]:
        """Return the figures that can be drawn of records of this kind, by name."""
        return {}

    def figures(self, experiment: Any) -> dict[str, Figure]:
        """Return the figures of an experiment by the names of their files, without the suffix."""
        return {}

    def sections(self, records: Sequence[Record]) -> list[Section]:
        """Return the parts of a page that only this kind has."""
        return []


def draw_figures(
    figures: Mapping[str, Figure], records: Sequence[Record], folder: Path, *, again: bool
) -> None:
    """Draw, as PNG files, the figures that are not there, or all ``again``.

    Raises
    ------
    DataError
        When arrays that a figure needs are missing.
    """
    wanted = {
        name: figure
        for name, figure in figures.items()
        if again or not (folder / f"{name}.png").exists()
    }
    measured = [record for record in records if record["status"] == "ok"]
    if not wanted or not measured:
        return
    ok = without_doubtful_times(with_times(measured, folder))
    arrays = figure_arrays(wanted, ok, folder)
    for name, figure in wanted.items():
        # Of some rows alone there may be nothing in one; `kmaps plot --figure` says so.
        with suppress(NothingMeasured):
            figure.draw(ok, arrays, folder / f"{name}.png")


def figure_arrays(
    figures: Mapping[str, Figure], records: Sequence[Record], folder: Path
) -> dict[str, Arrays]:
    """Return the arrays that some figures of records need, by the keys of the records.

    Raises
    ------
    DataError
        When some are not there.
    """
    needy = [name for name, figure in figures.items() if figure.needs_arrays]
    if not needy:
        return {}
    keys = [record["key"] for record in records]
    arrays = read_arrays(folder, keys)
    missing = [key for key in keys if key not in arrays]
    if missing:
        raise DataError(
            f"{folder}: the figure {needy[0]} needs the arrays of {len(missing)} of {len(keys)} "
            "cells, which are not there; measure them again in another folder "
            f"(kmaps run {records[0]['experiment']} --out FOLDER)"
        )
    return arrays
