"""Parameters in files, and the content of a file of `KernelSVC`, checked without scikit-learn."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.svm.losses import CHECKS, STORED, check_kernel_svc
from kmaps.svm.model_file import ModelFile, Parts, n_rows
from kmaps.svm.reduction import Probabilities, count_problems, read_curves

_MOST_FEATURES = 2**31 - 1


@dataclass(frozen=True, eq=False)
class StoredKernel:
    """A kernel SVM: support vectors and their coefficients."""

    given: Any  # has the parameters as attributes
    classes: NDArray
    curves: Probabilities | None
    n_features: int
    sigma: float | None
    vectors: Parts  # (s, d)
    dual: Parts  # (P, s)
    support: NDArray[np.int64]  # (s,)
    intercept: NDArray[np.float64]  # (P,)


def read_parameters(file: ModelFile) -> Any:
    """Return the parameters in a file as attributes, or refuse them."""
    file.check_parameters(STORED[file.estimator])
    parameters = SimpleNamespace(**file.parameters)
    with file.checking():
        CHECKS[file.estimator](parameters)
    return parameters


def read_kernel_svc(file: ModelFile) -> StoredKernel:
    """Return the content of a file of `KernelSVC`."""
    file.check_parameters(STORED["KernelSVC"])
    given, sigma = SimpleNamespace(**file.parameters), file.fitted.get("sigma")
    if given.sigma not in (None, sigma):
        raise file.damaged(f"sigma is {sigma!r}, expected the width that was trained with")
    with file.checking():
        check_kernel_svc(given, sigma)
    classes = file.labels()
    n_features = file.whole("n_features", 1, _MOST_FEATURES)
    curves = read_curves(file, given, classes)
    vectors = file.matrix("support_vectors", (np.float32, np.float64), (None, n_features))
    n_problems, n_vectors = count_problems(len(classes), given.multiclass), n_rows(vectors)
    stored = StoredKernel(
        given=given,
        classes=classes,
        curves=curves,
        n_features=n_features,
        sigma=None if sigma is None else float(sigma),
        vectors=vectors,
        dual=file.matrix("dual_coef", np.float64, (n_problems, n_vectors)),
        support=file.array("support", np.int64, (n_vectors,), 0),
        intercept=file.array("intercept", np.float64, (n_problems,)),
    )
    file.check_all_taken()
    return stored
