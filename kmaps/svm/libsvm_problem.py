"""One binary problem on a Gram matrix, solved by LIBSVM: the official one, or scikit-learn's."""

import ctypes
import re
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from kmaps.svm.clib import NodeRows, blank, captured, gram_of, pointer_to
from kmaps.svm.reduction import BinaryProblem

_STEPS = re.compile(rb"optimization finished, #iter = (\d+)")


class Machine(NamedTuple):
    """One trained binary problem: support rows, their coefficients c_i, the intercept b.

    ``steps`` is 0 until the number that LIBSVM prints is known.
    """

    support: NDArray[np.intp]
    dual: NDArray[np.float64]
    intercept: float
    steps: int = 0


class Solver:
    """Solves binary problems, each on one thread.

    Parameters
    ----------
    tol, C, cache_mb : float
    max_iter : int, optional
        Most steps; by default LIBSVM's own limit.
    """

    def __init__(self, tol: float, C: float, cache_mb: float, max_iter: int | None):
        from libsvm.svm import libsvm

        self.options = {"eps": tol, "C": C, "cache_size": cache_mb}
        self.max_iter, self._library = max_iter, libsvm
        # It sees LIBSVM's OpenMP only once it is loaded, hence after the import.
        self._pools = ThreadpoolController()

    def solve(self, rows: NodeRows, problem: BinaryProblem) -> Machine:
        """Return the machine of a problem whose rows are among those of a Gram matrix."""
        # OpenMP has a limit for each thread.
        with (
            self._pools.limit(limits=1, user_api="openmp"),
            captured(self._library.svm_set_print_string_function) as printed,
        ):
            if self.max_iter or problem.side_factors is None:
                return _train_by_sklearn(rows, problem, self.options, self.max_iter)
            machine = _train(rows, problem, self.options)
            return machine._replace(steps=_steps(b"".join(printed)))


def _steps(printed: bytes) -> int:
    """Return the number of steps that LIBSVM prints."""
    steps = _STEPS.search(printed)
    return int(steps[1]) if steps else 0


def _train(rows: NodeRows, problem: BinaryProblem, options: dict[str, float]) -> Machine:
    from libsvm import svm as lib

    addresses = rows.addresses[problem.rows]
    labels, factors = np.array([1, -1], np.int32), np.array(problem.side_factors)
    parameters = blank(
        lib.svm_parameter,
        svm_type=lib.svm_forms.C_SVC,
        kernel_type=lib.kernel_names.PRECOMPUTED,
        shrinking=1,
        nr_weight=len(labels),
        weight_label=pointer_to(labels, ctypes.c_int),
        weight=pointer_to(factors, ctypes.c_double),
        **options,
    )
    task = blank(
        lib.svm_problem,
        l=len(problem.rows),
        y=pointer_to(problem.signs, ctypes.c_double),
        x=pointer_to(addresses, ctypes.POINTER(lib.svm_node)),
    )
    trained = lib.libsvm.svm_train(ctypes.byref(task), ctypes.byref(parameters))
    try:
        model = trained.contents
        # The coefficients are positive for the label LIBSVM lists first, whichever that is.
        direction = model.label[0]
        dual = direction * np.ctypeslib.as_array(model.sv_coef[0], (model.l,))
        support = problem.rows[np.ctypeslib.as_array(model.sv_indices, (model.l,)) - 1]
        return Machine(support, dual, -direction * model.rho[0])
    finally:
        lib.libsvm.svm_free_and_destroy_model(ctypes.byref(trained))


def _train_by_sklearn(
    rows: NodeRows, problem: BinaryProblem, options: dict[str, float], max_iter: int | None
) -> Machine:
    """Train with scikit-learn's LIBSVM: the official one has no weights of samples and no limit."""
    from sklearn.svm import SVC

    machine = SVC(
        kernel="precomputed",
        C=options["C"],
        tol=options["eps"],
        cache_size=options["cache_size"],
        max_iter=max_iter or -1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # told of all problems at once
        own = rows.take(problem.rows)
        machine.fit(gram_of(own, own), problem.signs, problem.factors)
    return Machine(
        problem.rows[machine.support_],
        machine.dual_coef_[0],
        float(machine.intercept_[0]),
        int(machine.n_iter_.max()),
    )
