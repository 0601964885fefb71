"""Digits and tables that scikit-learn ships: nothing is downloaded or stored."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.data.formats.format import Format, Samples, sha256
from kmaps.data.manifest import Manifest, tree_digest
from kmaps.errors import DataError


def _load_digits(manifest: Manifest, folder: Path, paths: list[str]) -> Samples:
    from sklearn.datasets import load_digits

    bunch = load_digits()
    images = bunch.images.astype(np.uint8)
    return images, *_labels_of_dependency(manifest, "images", images, bunch.target)


def _load_breast_cancer(manifest: Manifest, folder: Path, paths: list[str]) -> Samples:
    from sklearn.datasets import load_breast_cancer

    return _rows_of_dependency(manifest, load_breast_cancer())


def _load_wine(manifest: Manifest, folder: Path, paths: list[str]) -> Samples:
    from sklearn.datasets import load_wine

    return _rows_of_dependency(manifest, load_wine())


def _rows_of_dependency(manifest: Manifest, bunch: Any) -> Samples:
    X = bunch.data.astype("<f4")
    return X, *_labels_of_dependency(manifest, "rows", X, bunch.target)


def _labels_of_dependency(
    manifest: Manifest, role: str, samples: NDArray, y: NDArray
) -> tuple[NDArray[np.int64], NDArray[np.str_]]:
    """Return the labels and groups, once the samples and labels are those of the manifest."""
    parts = {role: samples.tobytes(), "labels": y.astype(np.uint8).tobytes()}
    digest = tree_digest({role: sha256(part) for role, part in parts.items()})
    if digest != manifest.digest:
        raise DataError(
            f"{manifest.name}: expected sha256 {manifest.digest}, got {digest}: this scikit-learn "
            "has other samples than kmaps was tested with"
        )
    return y.astype(np.int64), np.full(len(y), "")


def _no_roles(manifest: Manifest) -> set[str]:
    return set()


DIGITS = Format(_load_digits, _no_roles, True)
BREAST_CANCER = Format(_load_breast_cancer, _no_roles, False, tabular=True)
WINE = Format(_load_wine, _no_roles, False, tabular=True)
