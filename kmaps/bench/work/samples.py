"""The features of a cell's pictures, kept in the cache beside the datasets."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kmaps.bench.kinds.grid import Cell
from kmaps.data import Dataset, cache_root, draw_split
from kmaps.features import Extractor, Matrix, Report, extract, make_feature


def split_features(
    cell: Cell, dataset: Dataset, *, skip_bad: bool
) -> tuple[Matrix, NDArray[np.int64], int, int]:
    """Return the features and labels of a cell's training pictures, followed by the test pictures'.

    Features that learn do so from the training pictures alone.

    Parameters
    ----------
    cell : Cell
    dataset : Dataset
    skip_bad : bool
        Whether to leave out pictures that cannot be used; otherwise the first one is an error.

    Returns
    -------
    x : ndarray or csr_array of float32
    y : ndarray of int64
    n_train : int
        How many of the rows are training pictures.
    n_skipped : int
        How many pictures were left out.
    """
    train, test = draw_split(dataset, cell.protocol, cell.split)
    rows, n_train = np.concatenate([train, test]), len(train)
    bad: list[int] = []
    x = extract(
        dataset,
        cell.feature_name,
        cell.normalize,
        rows=rows,
        on_bad=(lambda row, reason: bad.append(row)) if skip_bad else None,
        train=train,
        cache=features_cache(),
        **cell.feature_params,
    )
    if bad:
        good = ~np.isin(rows, bad)
        x, rows, n_train = x[good], rows[good], int(good[:n_train].sum())
    return x, dataset.y[rows], n_train, len(bad)


def fill_cache(
    cells: Iterable[Cell], dataset: Dataset, *, skip_bad: bool, progress: Report | None
) -> None:
    """Extract the features of some cells of an experiment, so that measuring them only reads."""
    done = set()
    for cell in cells:
        feature = make_feature(cell.feature_name, cell.feature_params)
        # What learns nothing is the same for every split.
        split = cell.split if feature.learns else None
        if split not in done:
            done.add(split)
            train, _ = draw_split(dataset, cell.protocol, cell.split)
            Extractor(
                dataset,
                feature,
                train=train,
                cache=features_cache(),
                progress=progress,
                skip_bad=skip_bad,
            ).fill_cache()


def features_cache() -> Path:
    """Return the folder where features are kept."""
    return cache_root() / "features"
