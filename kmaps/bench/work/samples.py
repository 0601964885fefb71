"""The samples that work is done on: features and labels of a split, kept in the cache."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kmaps.data import Dataset, TableDataset, cache_root, draw_split, load_dataset
from kmaps.errors import InputError
from kmaps.features import MIN_MAX, Extractor, Feature, Matrix, Report, extract, get_normalization

if TYPE_CHECKING:
    from kmaps.data import Manifest, UserFiles

Protocol = Mapping[str, Any]


@dataclass(frozen=True)
class Split:
    """Features, float32, and labels of one split.

    ``n_skipped`` images were left out, because they cannot be used; ``groups_train`` are groups of
    training samples that belong together, where the dataset has some.
    """

    x_train: Matrix
    y_train: NDArray[np.int64]
    x_test: Matrix
    y_test: NDArray[np.int64]
    n_skipped: int = 0
    class_names: tuple[str, ...] = ()
    groups_train: NDArray[np.str_] | None = None

    def normalized(self, name: str) -> "Split":
        """Return the split with rows of one norm, as :func:`kmaps.features.get_normalization`."""
        scale = get_normalization(name)
        return replace(self, x_train=scale(self.x_train.copy()), x_test=scale(self.x_test.copy()))

    @property
    def sizes(self) -> dict[str, int]:
        """The columns of a record that count samples and features."""
        n_train, n_features = self.x_train.shape
        return {
            "n_train": n_train,
            "n_test": self.x_test.shape[0],
            "n_features": n_features,
            "n_skipped": self.n_skipped,
        }


def load_split(
    source: "str | Manifest | UserFiles",
    protocol: Protocol,
    split: int,
    feature: Feature | None,
    normalize: str,
    *,
    skip_bad: bool = False,
) -> Split:
    """Load the features and labels of one split of a dataset.

    Features that learn do so from the training images alone; a table's columns are its features.
    ``skip_bad`` leaves out images that cannot be used; otherwise the first one is an error.
    """
    dataset = load_dataset(source, skip_bad=skip_bad)
    train, test = draw_split(dataset, protocol, split)
    rows = np.concatenate([train, test])
    n = len(train)
    if isinstance(dataset, TableDataset):
        x = _normalized(dataset.X[rows], n, normalize)
        y = dataset.y[rows]
        return _split(dataset, rows, x, y, n)
    if feature is None:
        raise ValueError("images need features: got none")
    bad: list[int] = []
    x = extract(
        dataset,
        feature.name,
        normalize,
        rows=rows,
        on_bad=(lambda row, reason: bad.append(row)) if skip_bad else None,
        train=train,
        cache=features_cache(),
        **asdict(feature),
    )
    if bad:
        good = ~np.isin(rows, bad)
        x = x[good]
        rows = rows[good]
        n = int(good[:n].sum())
    y = dataset.y[rows]
    return _split(dataset, rows, x, y, n, n_skipped=len(bad))


def _split(
    dataset: Dataset | TableDataset,
    rows: NDArray[np.intp],
    x: Matrix,
    y: NDArray[np.int64],
    n_train: int,
    n_skipped: int = 0,
) -> Split:
    """Return the split of the samples ``rows`` of a dataset, the first ``n_train`` to train on."""
    clusters = dataset.clusters
    return Split(
        x_train=x[:n_train],
        y_train=y[:n_train],
        x_test=x[n_train:],
        y_test=y[n_train:],
        n_skipped=n_skipped,
        class_names=tuple(dataset.class_names),
        groups_train=None if clusters is None else clusters[rows[:n_train]],
    )


def _normalized(x: Matrix, n_train: int, normalize: str) -> Matrix:
    """Normalise the rows of a table, or its columns by the range that the training rows have."""
    if normalize != MIN_MAX:
        return get_normalization(normalize)(x)
    from sklearn.preprocessing import MinMaxScaler

    if issparse(x):
        raise InputError(
            f"normalize: {MIN_MAX} would make a dense matrix of a sparse one, as zeros move; scale "
            "the columns before, or use none, l1, l2 or gamma=NUMBER"
        )
    return MinMaxScaler(clip=True).fit(x[:n_train]).transform(x)


def fill_cache(
    splits: Iterable[tuple[Feature, Protocol, int]],
    dataset: Dataset,
    *,
    skip_bad: bool,
    progress: Report | None,
) -> None:
    """Extract the features of some splits, so that measuring them only reads."""

    done = set()
    for feature, protocol, split in splits:
        train, _ = draw_split(dataset, protocol, split)
        # Features that learn nothing are the same for every split.
        learned_from = train.tobytes() if feature.learns else None
        if learned_from not in done:
            done.add(learned_from)
            extractor = Extractor(
                dataset,
                feature,
                train=train,
                cache=features_cache(),
                progress=progress,
                skip_bad=skip_bad,
            )
            extractor.fill_cache()


def features_cache() -> Path:
    """Return the folder that keeps features of images."""
    return cache_root() / "features"
