"""What measures a kind of experiment: its YAML, its cells, and how each is measured."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmaps.bench.kinds.shown import Shown
from kmaps.bench.records.arrays import Arrays, Correct
from kmaps.bench.spec.cell import Cell
from kmaps.bench.spec.fields import Experiment
from kmaps.bench.spec.positions import Mistake, Node
from kmaps.bench.work.timing import Timing
from kmaps.features import Report


@dataclass(frozen=True)
class Measured:
    """What measuring a cell gives.

    Parameters
    ----------
    columns : mapping
        Columns of its record.
    arrays : mapping
        What its figures need.
    correct : Correct or None
        Which test samples were right, where it is judged by an accuracy on them.
    """

    columns: Mapping[str, Any]
    arrays: Arrays = field(default_factory=dict)
    correct: Correct | None = None


class Kind(ABC):
    """What measures a kind of experiment; `measure.py` of its package has one, called ``KIND``.

    Attributes
    ----------
    model : type of Experiment
        The keys of its YAML files.
    shown : Shown
        Its other half: the columns that measuring fills, which of them are judged, what is shown.
    row_keys : tuple of str
        Keys of an entry of ``maps`` that are not parameters of its map.
    has_images : bool
        Whether its cells have images, some of which ``--skip-bad`` may leave out.
    chooses_C : bool
        Whether its cells choose C, so that they can be measured with another one.
    takes_estimators : bool
        Whether its rows may be third-party estimators.
    imports : tuple of str
        Modules that measuring imports, which the processes of a run import once for all.
    """

    model: ClassVar[type[Experiment]]
    shown: ClassVar[Shown]
    row_keys: ClassVar[tuple[str, ...]] = ()
    has_images: ClassVar[bool] = False
    chooses_C: ClassVar[bool] = False
    takes_estimators: ClassVar[bool] = False
    imports: ClassVar[tuple[str, ...]] = ()

    def mistakes(self, root: Node, content: dict[str, Any]) -> Iterable[Mistake]:
        """Yield mistakes in the content of a file that its model does not find."""
        return ()

    @abstractmethod
    def cells(self, experiment: Any) -> list[Cell]:
        """Return the cells of an experiment in the order they run."""

    def with_C(self, cell: Cell, C: float) -> Cell:
        """Return a cell that is measured with a given C, and chooses none."""
        return cell

    def batches(self, cells: Sequence[Cell]) -> list[list[Cell]]:
        """Return the cells in batches that share a set-up; a batch runs in one process."""
        return [[cell] for cell in cells]

    def digest(self, cell: Cell) -> str:
        """Return the sha256 of the data that a cell is measured on."""
        from kmaps.data import load_manifest

        if cell.source is not None:
            return cell.source.digest
        return load_manifest(cell.dataset).digest if cell.dataset else ""

    def draw_splits(self, cells: Iterable[Cell]) -> None:
        """Draw every split of some cells, to see whether there are so many samples.

        Raises
        ------
        ConfigError
            When the experiment asks for more data than there is.
        DataError
            When the data are missing or damaged.
        """
        return None

    def prepare(
        self, cells: Iterable[Cell], *, skip_bad: bool = False, progress: Report | None = None
    ) -> None:
        """Check and make, once for all cells, what each would otherwise fail on or make anew.

        Raises
        ------
        ConfigError
            When the experiment asks for more data than there is.
        DataError
            When the data are missing or damaged.
        """
        return None

    def set_up(self, cell: Cell, *, skip_bad: bool = False) -> Any:
        """Return what the cells of one batch share, such as the samples of a split."""
        return None

    def warm_up(self, cell: Cell, shared: Any) -> None:
        """Compile and load what a cell needs, along the path that its measurement takes."""
        return None

    @abstractmethod
    def measure(self, cell: Cell, shared: Any, timing: Timing) -> Measured:
        """Measure one cell.

        Parameters
        ----------
        cell : Cell
        shared : object
            What :meth:`set_up` returned for the batch.
        timing : Timing
            Takes the times and the peak of memory; what it took is added to the columns.
        """
