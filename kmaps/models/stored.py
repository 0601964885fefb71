"""The content of files of models on a map of all features, checked."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.checks import check_whole, is_number
from kmaps.errors import InputError
from kmaps.maps import MAP_VERSION
from kmaps.maps.frequencies import FREQUENCY_VERSION
from kmaps.maps.parameters import check_generalized, check_random_fourier
from kmaps.svm.losses import MAX_FEATURES
from kmaps.svm.model_file import ModelFile, n_rows
from kmaps.svm.reduction import Probabilities, count_problems, read_curves
from kmaps.svm.stored import read_parameters

_VERSIONS = {"frequency_version": FREQUENCY_VERSION, "map_version": MAP_VERSION}


@dataclass(frozen=True, eq=False)
class StoredLinear:
    """A model that is linear on the outputs of a map: weights, and the arrays of the map."""

    given: Any  # has the parameters as attributes
    classes: NDArray
    curves: Probabilities | None
    n_features: int
    sigma: float
    coef: NDArray  # (P, outputs)
    intercept: NDArray  # (P,)
    key: int = 0  # the key of random frequencies
    landmarks: Any = None  # (m, d): `Parts`


def read_random_features(file: ModelFile) -> StoredLinear:
    """Return the content of a file of `RandomFeatureSVC`."""
    _check_versions(file)
    given = read_parameters(file)
    classes = file.labels()
    curves = read_curves(file, given, classes)
    n_problems = count_problems(len(classes), given.multiclass)
    coef = file.array("coef", np.float32, (n_problems, 2 * given.n_frequencies))
    intercept = file.array("intercept", coef.dtype, (n_problems,))
    file.check_all_taken()
    n_features = file.whole("n_features", 1, MAX_FEATURES)
    key, sigma = file.text("key"), file.fitted.get("sigma")
    if not (key.isascii() and key.isdigit() and len(key) <= 20):
        raise file.damaged(f"key is {key!r}, expected a whole number")
    if not is_number(sigma) or given.sigma not in (None, sigma):
        raise file.damaged(f"sigma is {sigma!r}, expected the width that was trained with")
    with file.checking():
        of_map = SimpleNamespace(**vars(given) | {"sigma": sigma, "random_state": 0})
        check = check_random_fourier if given.kernel == "rbf" else check_generalized
        of_map.additive = None
        check(of_map)
        check_whole("key", int(key), 0, 2**64 - 1)
    return StoredLinear(
        given, classes, curves, n_features, float(sigma), coef, intercept, key=int(key)
    )


def _check_versions(file: ModelFile) -> None:
    """Refuse a model whose frequencies or map this version of kmaps makes otherwise."""
    for name, known in _VERSIONS.items():
        if file.fitted.get(name) != known:
            raise InputError(
                f"{file.path}: was trained with {name.replace('_', ' ')} {file.fitted.get(name)}, "
                f"but this kmaps has {known} and makes other frequencies; train it again, or use "
                "the kmaps that wrote it"
            )


def read_landmarks(file: ModelFile) -> StoredLinear:
    """Return the content of a file of `LandmarkSVC`."""
    given, sigma = read_parameters(file), file.fitted.get("sigma")
    if not (is_number(sigma) and sigma > 0) or given.sigma not in (None, sigma):
        raise file.damaged(f"sigma is {sigma!r}, expected the width that was trained with")
    classes = file.labels()
    n_features = file.whole("n_features", 1, MAX_FEATURES)
    floats = np.float32, np.float64
    landmarks = file.matrix("landmarks", floats, (None, n_features))
    if n_rows(landmarks) > given.n_landmarks:
        raise file.damaged(f"landmarks has {n_rows(landmarks)} rows, more than {given.n_landmarks}")
    curves = read_curves(file, given, classes)
    n_problems = count_problems(len(classes), given.multiclass)
    coef = file.array("landmark_coef", np.float64, (n_problems, n_rows(landmarks)))
    intercept = file.array("intercept", np.float64, (n_problems,))
    file.check_all_taken()
    return StoredLinear(
        given, classes, curves, n_features, float(sigma), coef, intercept, landmarks=landmarks
    )
