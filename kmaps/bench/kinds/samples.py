"""What the kinds share that measure on the samples of a dataset."""

from collections.abc import Iterable
from typing import Any, ClassVar

from kmaps.bench.kinds.kind import Kind
from kmaps.bench.records.row import in_words
from kmaps.bench.spec.cell import Cell
from kmaps.data import Dataset, Table, draw_split, load_dataset
from kmaps.features import Report


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
    """Return the columns of a record that say which C was chosen, and among which values.

    Parameters
    ----------
    choice : kmaps.models.Choice
    """
    return {
        "C": choice.C,
        "cv_C": list(choice.grid),
        "cv_accuracy": list(choice.accuracies),
        "cv_se": list(choice.errors),
    }


def sample_columns(experiment: Any) -> dict[str, Any]:
    """Return the fields of cells that follow from an experiment's dataset and features."""
    features = experiment.features
    name = f"{features.name}{in_words(features.parameters)}"
    return {
        "kind": experiment.kind,
        "experiment": experiment.experiment,
        "dataset": experiment.dataset.title,
        "source": experiment.dataset.source,
        "features": name if experiment.dataset.has_images else "",
        "feature_params": features.parameters,
        "normalize": features.normalize,
    }
