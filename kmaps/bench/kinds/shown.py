"""The showing half of a kind of experiment: judged columns, measures, figures, sections."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from kmaps.bench.records.arrays import Arrays, read_arrays
from kmaps.bench.records.columns import Record
from kmaps.bench.records.gate import Judged
from kmaps.bench.records.times import with_times, without_doubtful_times
from kmaps.bench.report.document import Section
from kmaps.errors import DataError, NothingMeasured

SIZES = ("n_train", "n_test", "n_features", "n_skipped")
CHOICE = ("C", "cv_C", "cv_accuracy", "cv_se", "cv_s")
SEARCH = ("search_chosen", "search_values", "search_accuracy")
TIMES = ("fit_s", "encode_s", "convert_s", "train_s", "predict_s")
"""Columns that several kinds fill: of samples, choices of C, searches, the phases of a cell."""


@dataclass(frozen=True)
class Figure:
    """A figure of a kind: its function ``draw(records, path)``, or the place of one, which is
    imported when it is used.

    The records are measured ones, and the path ends in .png, .svg or .pdf. With ``needs_arrays`` it
    is ``draw(records, arrays, path)``, with the arrays of each record by its key.
    """

    draw: str | Callable[..., None]
    needs_arrays: bool = False

    def write(self, name: str, records: Sequence[Record], folder: Path, path: Path) -> None:
        """Draw the figure, called ``name``, of records that were measured into a folder.

        A DataError says that arrays are not there, NothingMeasured that no record belongs into it.
        """
        arrays = [_arrays_of(records, folder, name)] if self.needs_arrays else []
        draw = self.draw
        if isinstance(draw, str):
            module, _, name = draw.rpartition(".")
            draw = getattr(import_module(module), name)
        draw(records, *arrays, path)


def _arrays_of(records: Sequence[Record], folder: Path, name: str) -> dict[str, Arrays]:
    keys = [record["key"] for record in records]
    arrays = read_arrays(folder, keys)
    missing = [key for key in keys if key not in arrays]
    if missing:
        raise DataError(
            f"{folder}: the figure {name} needs arrays, which {len(missing)} of {len(keys)} cells "
            "lack; measure them again in another folder "
            f"(kmaps run {records[0]['experiment']} --out FOLDER)"
        )
    return arrays


class Shown:
    """The showing half of a kind; `show.py` of its package has one, called ``SHOWN``.

    It imports nothing that measures, so that reading records does not either.
    """

    fills: ClassVar[tuple[str, ...]]
    judged: ClassVar[tuple[Judged, ...]]
    measured: ClassVar[tuple[str, ...]]  # keys of `kmaps.bench.records.measures.MEASURES`
    known_figures: ClassVar[Mapping[str, Figure]] = {}

    def measures(self, records: Sequence[Record]) -> tuple[str, ...]:
        """Return the measures that tables show by default."""
        return self.measured

    def figures(self, experiment: Any) -> dict[str, Figure]:
        """Return the figures of an experiment by the names of their files, without the suffix:
        those that its key ``figures`` names, or all where it has no such key."""
        names = self.known_figures
        if "figures" in type(experiment).model_fields:
            names = experiment.figures
        return {name: self.known_figures[name] for name in names}

    def sections(self, records: Sequence[Record]) -> list[Section]:
        """Return the parts of a page that only this kind has."""
        return []


def draw_figures(
    figures: Mapping[str, Figure], records: Sequence[Record], folder: Path, *, again: bool
) -> None:
    """Draw, as SVG files, the figures that are not there, or all ``again``.

    Raises
    ------
    DataError
        When arrays that a figure needs are missing.
    """
    wanted = {
        name: figure
        for name, figure in figures.items()
        if again or not (folder / f"{name}.svg").exists()
    }
    measured = [record for record in records if record["status"] == "ok"]
    if not wanted or not measured:
        return
    ok = without_doubtful_times(with_times(measured, folder))
    for name, figure in wanted.items():
        # A figure of some rows alone may be empty; `kmaps plot --figure` reports it.
        with suppress(NothingMeasured):
            figure.write(name, ok, folder, folder / f"{name}.svg")
