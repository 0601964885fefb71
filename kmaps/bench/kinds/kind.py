"""What measures a kind of experiment: its YAML, its cells, and how each is measured."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmaps.bench.kinds.shown import Shown
from kmaps.bench.records.arrays import Arrays, Correct
from kmaps.bench.run.clock import Timing
from kmaps.bench.spec.cell import Cell
from kmaps.bench.spec.fields import Experiment
from kmaps.bench.spec.positions import Mistake, Node
from kmaps.data import Dataset, Table, draw_split, load_dataset
from kmaps.features import Report


@dataclass(frozen=True)
class Measured:
    """What measuring a cell gives.

    The columns of its record, the arrays that its figures need and, where it is judged by an
    accuracy, which test samples were right.
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
    """

    model: ClassVar[type[Experiment]]
    shown: ClassVar[Shown]
    row_keys: ClassVar[tuple[str, ...]] = ()
    has_images: ClassVar[bool] = False
    chooses_C: ClassVar[bool] = False
    takes_estimators: ClassVar[bool] = False

    def mistakes(self, root: Node, content: dict[str, Any]) -> Iterable[Mistake]:
        """Yield mistakes in the content of a file that its model does not find."""
        return ()

    @abstractmethod
    def cells(self, experiment: Any) -> list[Cell]:
        """Return the cells of an experiment in the order they run."""

    def imports(self, cells: Iterable[Cell]) -> tuple[str, ...]:
        """Return the modules that measuring some cells imports: a run does so once for all."""
        return ()

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

        A ConfigError says that the experiment asks for more data than there is, a DataError that
        the data are missing or damaged.
        """
        return None

    def prepare(
        self, cells: Iterable[Cell], *, skip_bad: bool = False, progress: Report | None = None
    ) -> None:
        """Check and make, once for all cells, what each would otherwise fail on or make again.

        Raises what `draw_splits` does.
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

        ``shared`` is what :meth:`set_up` returned for the batch; ``timing`` takes the times and
        the peak of memory, and adds them to the columns.
        """


class SampledKind(Kind):
    """A kind whose cells have a dataset, features, and a split."""

    has_images: ClassVar[bool] = True

    def draw_splits(self, cells: Iterable[Cell]) -> None:
        """Load the data and draw every split."""
        _draw(cells)

    def prepare(
        self, cells: Iterable[Cell], *, skip_bad: bool = False, progress: Report | None = None
    ) -> None:
        """Load the data, draw every split and extract the features, so that cells only read."""
        from kmaps.bench.work.samples import fill_cache

        dataset, by_split = _draw(cells, skip_bad=skip_bad)
        if isinstance(dataset, Table):
            return
        fill_cache(
            [(cell.feature, cell.protocol, cell.split) for cell in by_split],
            dataset,
            skip_bad=skip_bad,
            progress=progress,
        )

    def set_up(self, cell: Cell, *, skip_bad: bool = False) -> Any:
        """Load the features and labels of the split of a cell."""
        from kmaps.bench.work.samples import load_split

        return load_split(
            cell.source or cell.dataset,
            cell.protocol,
            cell.split,
            cell.feature,
            cell.normalize,
            skip_bad=skip_bad,
        )


def _draw(cells: Iterable[Cell], *, skip_bad: bool = False) -> tuple[Dataset | Table, list[Cell]]:
    """Draw every split, and return the data and one cell of each split."""
    cells = list(cells)
    dataset = load_dataset(cells[0].source or cells[0].dataset, skip_bad=skip_bad)
    by_split = {(str(cell.protocol), cell.split): cell for cell in cells}
    for cell in by_split.values():
        draw_split(dataset, cell.protocol, cell.split)
    return dataset, list(by_split.values())


def choice_columns(choice: Any) -> dict[str, Any]:
    """Return the columns of a record that say which C was chosen, and among which values."""
    return {
        "C": choice.C,
        "cv_C": list(choice.grid),
        "cv_accuracy": list(choice.accuracies),
        "cv_se": list(choice.errors),
    }
