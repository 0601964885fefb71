"""The measuring half of a kind of experiment: its YAML, its cells, and their measurement."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmaps.bench.kinds.shown import Shown
from kmaps.bench.records import defaults
from kmaps.bench.records.arrays import Arrays, Correct, in_order_of
from kmaps.bench.records.row import Row, in_words
from kmaps.bench.run.clock import Timing
from kmaps.bench.spec.fields import FIRST_SPLIT, Experiment
from kmaps.bench.spec.positions import Mistake, Node
from kmaps.data import Dataset, TableDataset, draw_split, load_dataset
from kmaps.features import Feature, Report, make_feature
from kmaps.maps import MAP_VERSION, MAPS, resolved

if TYPE_CHECKING:
    from kmaps.data import Manifest, UserFiles


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One measurement of an experiment; its fields are columns of its record.

    ``row`` stands for the columns of the row, and ``C``, how C is chosen, for those that begin with
    ``C_``. ``source`` locates a dataset that does not come with kmaps; only its digest enters the
    key, and it is not recorded. The name of the experiment does not enter the key either, nor does
    ``chosen``: the columns of the choice of C where that was made on another split.
    """

    kind: str
    experiment: str
    row: Row
    kernel: str = ""
    setting: str = ""
    dataset: str = ""
    source: "Manifest | UserFiles | None" = None
    protocol: dict[str, Any] = field(default_factory=dict)
    feature_name: str = ""
    feature_params: dict[str, Any] = field(default_factory=dict)
    normalize: str = ""
    split: int | None = None
    draw: int | None = None
    reduction: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    C: dict[str, Any] = field(default_factory=dict)
    chosen: Mapping[str, Any] = field(default_factory=dict)

    @property
    def first(self) -> "Cell | None":
        """The cell on the first split, where that chooses the C of this one."""
        elsewhere = self.split and self.C.get("chosen_on") == FIRST_SPLIT
        return replace(self, split=0) if elsewhere else None

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of the cell's record that are known before it is measured."""
        no_columns = ("row", "C", "chosen", "source", "feature_name")
        columns = {name: value for name, value in vars(self).items() if name not in no_columns}
        columns["features"] = self.features
        choice = {f"C_{name}": value for name, value in self.C.items()}
        version = self.feature.version if self.feature else None
        return {**columns, **self.row.columns, **choice, "feature_version": version}

    @property
    def features(self) -> str:
        """The features in words, with the parameters that the experiment gives; else ``""``."""
        return self.feature_name and f"{self.feature_name}{in_words(self.feature_params)}"

    @property
    def feature(self) -> Feature | None:
        """The features, made with published defaults where the experiment names no value."""
        if not self.feature_name:
            return None
        table = defaults.OF_FEATURES.get(self.feature_name, {})
        return make_feature(self.feature_name, defaults.filled(table, self.feature_params))

    @property
    def seed(self) -> int:
        """Seed of the map and the solver: the same for every solver, so that all of them have the
        same map, and independent of the other cells."""
        row = Row(self.row.method, self.row.params)
        return seed_of(*self._data(), self.kernel, row.label, self.reduction)

    @property
    def choice_seed(self) -> int:
        """Seed of the samples and folds C is chosen on: the same for every method."""
        return seed_of(*self._data())

    def _data(self) -> tuple:
        protocol = json.dumps(self.protocol, sort_keys=True)
        return "C", self.dataset, protocol, self.features, self.normalize, self.split

    def key(self, digest: str) -> str:
        """Return the sha256 of the resolved configuration, of the data's ``digest`` and of the
        versions.

        Configurations have all parameters of maps and features, but those that came after records
        were published, at the value that these have (:mod:`kmaps.bench.records.defaults`); of
        estimators those that the experiment names.
        """
        config = self.columns | {"digest": digest, "map_version": MAP_VERSION}
        del config["experiment"], config["features"]
        table = defaults.of_method(self.row.method)
        if self.row.method in MAPS:
            params = resolved(self.row.method, self.kernel, self.row.all_params)
            config["params"] = defaults.in_keys(table, params)
        else:
            config["params"] = defaults.named(table, self.row.params)
        if self.feature:
            of_features = defaults.OF_FEATURES.get(self.feature.name, {})
            config["feature"] = self.feature.name
            config["feature_params"] = defaults.in_keys(of_features, asdict(self.feature))
        return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()


def seed_of(*names: object) -> int:
    """Return a seed below 2**31 that depends on the names alone."""
    words = np.frombuffer(hashlib.sha256(repr(names).encode()).digest(), np.uint32)
    return int(np.random.SeedSequence(words.tolist()).generate_state(1)[0]) % 2**31


@dataclass(frozen=True)
class Measured:
    """What measuring a cell gives: columns of its record, arrays that its figures need and, where
    it is judged by an accuracy, which test samples were right."""

    columns: Mapping[str, Any]
    arrays: Arrays = field(default_factory=dict)
    correct: Correct | None = None


class Kind(ABC):
    """The measuring half of a kind; `measure.py` of its package has one, called ``KIND``."""

    model: ClassVar[type[Experiment]]  # the keys of its YAML files
    shown: ClassVar[Shown]  # its other half
    row_keys: ClassVar[tuple[str, ...]] = ()  # keys of `maps`, not of its maps
    has_images: ClassVar[bool] = False  # --skip-bad may leave some of them out
    chooses_C: ClassVar[bool] = False  # then its cells can be measured with another C
    takes_estimators: ClassVar[bool] = False  # third-party estimators, as rows
    work: ClassVar[tuple[str, ...]] = ()  # modules that measuring imports

    def mistakes(self, root: Node, content: dict[str, Any]) -> Iterable[Mistake]:
        """Yield mistakes in the content of a file that its model does not find."""
        return ()

    @abstractmethod
    def cells(self, experiment: Any) -> list[Cell]:
        """Return the cells of an experiment in the order they run."""

    def imports(self, cells: Iterable[Cell]) -> tuple[str, ...]:
        """Return the modules that measuring some cells imports: a run does so once for all."""
        return self.work

    def solvers(self, cells: Iterable[Cell]) -> set[str]:
        """Return which of liblinear and libsvm, packages of their own, some cells train with."""
        return {cell.row.solver for cell in cells} & {"liblinear", "libsvm"}

    def with_C(self, cell: Cell, C: float | None, searched: dict[str, Any] | None = None) -> Cell:
        """Return a cell that is measured with a given C and search, and chooses none."""
        return cell

    def batches(self, cells: Sequence[Cell]) -> list[list[Cell]]:
        """Return the cells in batches that share a set-up; a batch runs in one process."""
        return [[cell] for cell in cells]

    def digest(self, cell: Cell) -> str:
        """Return the sha256 of the data that a cell is measured on."""
        from kmaps.data import Manifest, content_digest, load_manifest

        if isinstance(cell.source, Manifest):
            return content_digest(cell.source)
        if cell.source is not None:
            return cell.source.digest
        return content_digest(load_manifest(cell.dataset)) if cell.dataset else ""

    def draw_splits(self, cells: Iterable[Cell]) -> None:
        """Draw every split of some cells, to see whether there are so many samples: a
        ConfigError says that there are fewer than asked for, a DataError that the data are
        missing or damaged."""
        return None

    def prepare(
        self, cells: Iterable[Cell], *, skip_bad: bool = False, progress: Report | None = None
    ) -> None:
        """Check and make, once for all cells, what each would otherwise fail on or make again; it
        raises what `draw_splits` does."""
        self.draw_splits(cells)

    def tested(self, cells: Iterable[Cell]) -> dict[int, NDArray[np.integer]]:
        """Return which samples of the dataset each split tests, class by class as `Correct`;
        nothing where splits test the same ones."""
        return {}

    def set_up(self, cell: Cell, *, skip_bad: bool = False) -> Any:
        """Return the objects that the cells of one batch share, such as the samples of a split."""
        return None

    def warm_up(self, cell: Cell, shared: Any) -> None:
        """Compile and load all that a cell needs, along the path that its measurement takes."""
        return None

    @abstractmethod
    def measure(self, cell: Cell, shared: Any, timing: Timing) -> Measured:
        """Measure one cell: ``shared`` is what `set_up` returned for its batch; ``timing`` adds the
        times and the peak of memory to the columns."""


class SampledKind(Kind):
    """A kind whose cells have a dataset, features, and a split."""

    has_images: ClassVar[bool] = True

    def draw_splits(self, cells: Iterable[Cell]) -> None:
        """Draw every split of some cells, to see whether there are so many samples."""
        _draw(cells)

    def prepare(
        self, cells: Iterable[Cell], *, skip_bad: bool = False, progress: Report | None = None
    ) -> None:
        """Check and make, once for all cells, what each would otherwise fail on or make again."""
        from kmaps.bench.work.samples import fill_cache

        dataset, by_split = _draw(cells, skip_bad=skip_bad)
        if not isinstance(dataset, TableDataset):
            splits = [(cell.feature, cell.protocol, cell.split) for cell in by_split]
            fill_cache(splits, dataset, skip_bad=skip_bad, progress=progress)

    def tested(self, cells: Iterable[Cell]) -> dict[int, NDArray[np.integer]]:
        """Return which samples of the dataset each split tests; nothing where two splits test the
        same ones, or there is one split."""
        dataset, one_of_each_split = _draw(cells)
        dtype = np.min_scalar_type(len(dataset.y))
        tested = {
            cell.split: draw_split(dataset, cell.protocol, cell.split)[1]
            for cell in one_of_each_split
        }
        n_distinct = len({samples.tobytes() for samples in tested.values()})
        if n_distinct == 1 or n_distinct < len(one_of_each_split):
            return {}
        return {
            split: in_order_of(dataset.y[samples], samples.astype(dtype))
            for split, samples in tested.items()
        }

    def set_up(self, cell: Cell, *, skip_bad: bool = False) -> Any:
        """Return what the cells of one batch share."""
        from kmaps.bench.work.samples import load_split

        return load_split(
            cell.source or cell.dataset,
            cell.protocol,
            cell.split,
            cell.feature,
            cell.normalize,
            skip_bad=skip_bad,
        )


def _draw(
    cells: Iterable[Cell], *, skip_bad: bool = False
) -> tuple[Dataset | TableDataset, list[Cell]]:
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
