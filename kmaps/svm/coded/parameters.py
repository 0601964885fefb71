"""Parameters of models on codes: the names of those in files, and their checks.

A file's parameters are checked without scikit-learn, whose import takes seconds. ``parameters`` is
an estimator, or any object that has its parameters as attributes.
"""

from typing import Any

from kmaps.checks import MAX_LEVELS, check_choice, check_number, check_positive, check_whole
from kmaps.errors import ConfigError
from kmaps.svm.losses import HINGES, INSENSITIVE, LOSSES, Combined
from kmaps.svm.parameters import REDUCTIONS, check_bias, check_loss, check_probability

CODED_SVC: Combined = {"l2": LOSSES, "l1": HINGES}
CODED_SVR: Combined = {"l2": INSENSITIVE}

_CODED = ("n_levels", "bias", "tol", "max_iter", "form", "level_ranges")

STORED_SVC = (
    "C",
    "penalty",
    "loss",
    "multiclass",
    "n_levels",
    "bias",
    "tol",
    "max_iter",
    "calibrate",
    "probability",
    "form",
    "smooth",
    "level_ranges",
)
STORED_SVR = ("C", "epsilon", "loss", *_CODED)
STORED_RIDGE = ("alpha", *_CODED)
"""The parameters in files of `CodedSVC`, `CodedSVR` and `CodedRidge`."""

CAME_LATER = {"level_ranges": "shared"}
"""The values of parameters that older files lack."""


def check_coding(parameters: Any) -> None:
    """Refuse parameters of all models on codes that are out of range."""
    check_positive("tol", parameters.tol)
    check_whole("n_levels", parameters.n_levels, 2, MAX_LEVELS)
    check_whole("max_iter", parameters.max_iter, 1)
    check_choice("level_ranges", parameters.level_ranges, LEVEL_RANGES)


def check_coded_svc(parameters: Any) -> None:
    """Refuse parameters of `CodedSVC` out of range, of those that its files hold."""
    check_loss(parameters, "CodedSVC", CODED_SVC, parameters.penalty)
    if parameters.penalty == "l1" and parameters.form not in ("auto", "low-rank"):
        raise ConfigError(
            f"form={parameters.form!r}: penalty='l1' needs the columns of a table; choose "
            "form='low-rank'"
        )
    check_choice("multiclass", parameters.multiclass, REDUCTIONS)
    check_coding(parameters)
    check_probability(parameters)
    check_number("smooth", parameters.smooth, at_least=0)
    if parameters.smooth and parameters.form in ("local", "two-level"):
        raise ConfigError(
            f"form={parameters.form!r}: smooth={parameters.smooth:g} changes the kernel, which "
            "then has no such form; choose form='auto'"
        )
    if parameters.calibrate and parameters.multiclass == "ovo":
        raise ConfigError("calibrate=True: one-vs-one has no class scores; choose multiclass='ovr'")


def check_coded_svr(parameters: Any) -> None:
    """Refuse parameters of `CodedSVR` out of range."""
    check_loss(parameters, "CodedSVR", CODED_SVR, "l2")
    check_number("epsilon", parameters.epsilon, at_least=0)
    check_coding(parameters)


def check_coded_ridge(parameters: Any) -> None:
    """Refuse parameters of `CodedRidge` out of range."""
    check_positive("alpha", parameters.alpha)
    check_bias(parameters.bias)
    check_coding(parameters)


LEVEL_RANGES = ("auto", "shared", "own")
"""Whether features with one curve share their levels."""

STORED = {"CodedSVC": STORED_SVC, "CodedSVR": STORED_SVR, "CodedRidge": STORED_RIDGE}
CHECKS = {
    "CodedSVC": check_coded_svc,
    "CodedSVR": check_coded_svr,
    "CodedRidge": check_coded_ridge,
}
"""By the name of the estimator in a file."""
