"""What all learners share: how they check samples and parameters, and what they train on."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from threading import Lock
from time import monotonic, perf_counter
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from kmaps.checks import check_choice, check_number, check_positive
from kmaps.errors import InputError, KmapsError
from kmaps.estimators import BaseEstimator
from kmaps.svm.losses import PENALTIES, Combined, check_combination

_PATIENCE_S = 5.0  # between two lines on how far a training is


class BlockSource(Protocol):
    """Samples that may be larger than memory, such as `kmaps.io.LabelledRows`."""

    def blocks(self) -> Iterable[Any]:
        """Return all samples from the first on, as blocks of rows, dense or CSR.

        May be called more than once. A block may be overwritten by the next one.
        """

    def sample(self) -> Any:
        """Return some of the rows, drawn at random, for a map that learns from data."""


class LabelledSource(BlockSource, Protocol):
    """Samples that may be larger than memory, with a label for each."""

    def labels(self) -> NDArray:
        """Return the labels, once all samples were read."""


class PreparedRows(Protocol):
    """Samples in the form in which a learner trains on them."""

    @property
    def n_features(self) -> int:
        """Number of features of the samples, before they took this form."""

    def __len__(self) -> int: ...

    def take(self, members: NDArray[np.intp]) -> "PreparedRows":
        """Return some of the samples; what they are made of is not copied."""


def taken(X: Any, members: NDArray[np.intp]) -> Any:
    """Return some of the samples of an array, a CSR matrix or prepared rows."""
    return X[members] if isinstance(X, np.ndarray) or issparse(X) else X.take(members)


class Learner(BaseEstimator):
    """An estimator that is trained with a loss, weighted by ``C``."""

    C: float
    penalty: str = "l2"
    loss: str
    bias: float
    verbose: int = 0
    timings_: dict[str, float]
    predict: Any

    tol: Any  # a number; of LIBLINEAR also None, as max_iter
    max_iter: Any

    _combined: ClassVar[Combined]
    _problem_name = "binary problems"
    _dispatches: ClassVar[bool] = False  # whether it predicts on arrays of other libraries

    @property
    def _checks(self) -> dict[str, Any]:
        """Arguments of scikit-learn's ``validate_data``."""
        return {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._checks.get("accept_sparse"))
        return tags

    def _check_loss(self) -> None:
        """Refuse a C or a bias out of range, and a loss or a penalty that is not combined."""
        check_positive("C", self.C)
        check_bias(self.bias)
        check_choice("penalty", self.penalty, PENALTIES)
        check_choice("loss", self.loss, dict.fromkeys(chain(*self._combined.values())))
        check_combination(type(self).__name__, self._combined, self.penalty, self.loss)

    def _timed(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function and write its seconds down in ``timings_``."""
        started = perf_counter()
        result = function(*arguments)
        self.timings_[name] = perf_counter() - started
        return result

    def to_onnx(
        self, path: str | Path | None = None, *, dtype: str = "float32", force: bool = False
    ) -> Any:
        """Return the fitted model as an ONNX model, as `kmaps.to_onnx` does."""
        from kmaps.onnx_graph import export

        return export([self], path, dtype=dtype, force=force)

    def _counted(self, solve: Callable[..., Any], total: int) -> Callable[..., Any]:
        """Return ``solve``, of one of so many problems; ``verbose``: it prints how many are left.

        With the time that they take, at most every five seconds.
        """
        if not self.verbose:
            return solve
        name, lock, begun = type(self).__name__, Lock(), monotonic()
        print(f"[{name}] {total:,} {self._problem_name}", flush=True)
        done, shown = 0, begun

        def counted(*which: Any) -> Any:
            nonlocal done, shown
            found = solve(*which)
            with lock:
                done, now = done + 1, monotonic()
                if now - shown >= _PATIENCE_S:
                    shown = now
                    minutes, seconds = divmod(round((now - begun) * (total / done - 1)), 60)
                    left = f"about {minutes}:{seconds:02} left"
                    print(f"[{name}] {done:,} of {total:,} solved, {left}", flush=True)
            return found

        return counted

    def _passes(self) -> str:
        """Return what ``max_iter`` counts."""
        return "passes"

    def _easier(self) -> str:
        """Return what makes the problems easier to solve."""
        return f"lower C (now {self.C:g})"

    def _warn_of_gaps(self, gaps: NDArray[np.float64], stacklevel: int, which: str = "") -> None:
        """Warn of relative duality gaps above ``tol``."""
        unfinished = int((gaps > self.tol).sum())
        if unfinished:
            warnings.warn(
                f"the relative duality gap is still {gaps.max():.1e} after "
                f"max_iter={self.max_iter} {self._passes()}, above tol={self.tol:g}, in "
                f"{unfinished} of {len(gaps)} {self._problem_name}{which}: {self._easier()}, or "
                "raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )


def check_bias(bias: object) -> None:
    """Refuse a bias that is not a finite number of at least 0."""
    check_number("bias", bias, at_least=0, note=" (0: no intercept)")


@contextmanager
def input_errors() -> Iterator[None]:
    """Turn scikit-learn's complaints about an array into one-line :class:`InputError`."""
    try:
        yield
    except KmapsError:
        raise
    except ValueError as error:
        first, *rest = str(error).splitlines()
        hint = [line for line in rest if line.startswith("Reshape your data")]
        raise InputError(" ".join([first, *hint])) from None
