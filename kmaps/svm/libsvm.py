"""Kernel SVM by LIBSVM, on its own copy of a Gram matrix."""

import ctypes
import re
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from kmaps.svm.clib import NodeRows, blank, captured, pointer_to, solver_library
from kmaps.svm.reduction import BinaryProblem, SupportVectors

_STEPS = re.compile(rb"optimization finished, #iter = (\d+)")


def trainer(
    rows: NodeRows, *, C: float, tol: float, cache_mb: float, max_iter: int | None
) -> Callable[[BinaryProblem, int], SupportVectors]:
    """Return a function that trains a binary problem; other solvers use its second argument."""
    library = solver_library("libsvm.svm").libsvm
    # It finds LIBSVM's OpenMP only after the import has loaded it.
    pools = ThreadpoolController()
    options = {"eps": tol, "C": C, "cache_size": cache_mb}

    def train(problem: BinaryProblem, _: int) -> SupportVectors:
        # Each thread has a limit of OpenMP.
        with (
            pools.limit(limits=1, user_api="openmp"),
            captured(library.svm_set_print_string_function) as printed,
        ):
            if max_iter or problem.side_factors is None:
                return _train_by_sklearn(rows, problem, options, max_iter)
            return _train(rows, problem, options, printed)

    return train


def _train(
    rows: NodeRows, problem: BinaryProblem, options: dict[str, float], printed: list[bytes]
) -> SupportVectors:
    lib = solver_library("libsvm.svm")
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
        sign = model.label[0]
        dual = sign * np.ctypeslib.as_array(model.sv_coef[0], (model.l,))
        support = problem.rows[np.ctypeslib.as_array(model.sv_indices, (model.l,)) - 1]
        steps = _STEPS.search(b"".join(printed))
        return SupportVectors(support, dual, -sign * model.rho[0], int(steps[1] if steps else 0))
    finally:
        lib.libsvm.svm_free_and_destroy_model(ctypes.byref(trained))


def _train_by_sklearn(
    rows: NodeRows, problem: BinaryProblem, options: dict[str, float], max_iter: int | None
) -> SupportVectors:
    """Train with scikit-learn's LIBSVM: the official one has no weights of samples and no limit."""
    from sklearn.svm import SVC

    model = SVC(
        kernel="precomputed",
        C=options["C"],
        tol=options["eps"],
        cache_size=options["cache_size"],
        max_iter=max_iter or -1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # one warning covers all problems
        own = rows.take(problem.rows)
        model.fit(own.against(own), problem.signs, problem.factors)
    return SupportVectors(
        problem.rows[model.support_],
        model.dual_coef_[0],
        float(model.intercept_[0]),
        int(model.n_iter_.max()),
    )
