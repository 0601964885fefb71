"""What shows the records of a kind of experiment: judged columns, measures, figures, sections."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.records.gate import Judged

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
