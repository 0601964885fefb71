"""The learners of a trade-off, by name; nothing is imported until one trains."""

from collections.abc import Callable
from typing import Any

from kmaps import svm

LEARNERS: dict[str, Callable[[float], Any]] = {
    "dense": lambda C: svm.LiblinearSVC(C, loss="hinge", tol=0.3),
    "sparse-svm": lambda C: svm.LiblinearSVC(C, penalty="l1", tol=0.01),
    "sparse-lr": lambda C: svm.LiblinearSVC(C, penalty="l1", loss="logistic", tol=0.01),
    "group": lambda C: svm.GroupLassoSVC(C, tol=1e-2),
    "group-hinge": lambda C: svm.GroupLassoSVC(C, loss="hinge", tol=1e-2),
}
"""genrbf's SVM dense, SVM sparse and LR sparse (eq. 15-17), and the group lasso (eq. 18) with the
squared hinge and, as printed, the hinge. The sparse ones stop at LIBLINEAR's default tolerances, as
the paper's may have."""

GROUPS = ("group", "group-hinge")  # learners that LIBLINEAR does not train

CHOOSERS = ("strongest", "resampled")  # choose frequencies by a dense pilot, or by `resample`
