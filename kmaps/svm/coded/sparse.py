r"""Models on codes that keep or drop each feature as a whole, with all of its function.

As in SpAM (Ravikumar, Lafferty, Liu and Wasserman, JRSS B 2009) and COSSO (Lin and Zhang, Annals of
Statistics 2006), the penalty is the sum of the lengths of the features' functions,

.. math::
    \min_f \; \sum_j \|f_j\| + C \sum_i \ell(y_i\, (f_1(x_{i1}) + \dots + f_d(x_{id}) + b)),

each in the norm that its kernel gives it: the length of its weights on the columns of the table.
These columns are groups of `GroupProblem`. Products are sums over codes, one addition per value,
and only the columns of features that are in use are ever floats.
"""

import numpy as np
from numpy.typing import NDArray

from kmaps._loops.codes import count_codes
from kmaps.errors import ConfigError
from kmaps.svm.coded.problem import CodedSolution
from kmaps.svm.coded.training import CodedRows
from kmaps.svm.grouplasso.problem import GroupProblem
from kmaps.svm.losses import Loss
from kmaps.svm.reduction import BinaryProblem


class CodedColumns:
    """The columns of the tables of all features, for some of the rows, as `FeatureColumns`."""

    dtype = np.dtype(np.float32)

    def __init__(self, training: CodedRows, members: NDArray[np.intp]):
        basis, scale = training.layout.basis, training.layout.scale
        if training.layout.name != "low-rank" or basis is None:
            raise ConfigError(
                f"penalty='l1': rows are coded for form={training.layout.name!r}; code them for "
                "form='low-rank'"
            )
        d = training.n_features
        root = np.ones(d) if scale is None else np.sqrt(scale)
        self.rows, self.members, self.zero = training.rows, members, training.zero
        self.table, self.root = basis, root.astype(np.float32)
        self.shape = d, basis.shape[2]

    def __len__(self) -> int:
        return self.shape[0] * self.shape[1]

    def __matmul__(self, values: NDArray) -> NDArray:
        rows, sums = self.rows, np.zeros((self.shape[0], self.table.shape[1]))
        # Codes that are left out map to zero.
        count_codes(rows.codes, rows.bounds, rows.features, self.members, values, sums)
        products = (sums[:, None, :] @ self.table.astype(np.float64))[:, 0]
        return (products * self.root[:, None]).reshape(-1)

    def __getitem__(self, members: NDArray[np.intp]) -> NDArray:
        feature, column = np.divmod(members, self.shape[1])
        taken = np.empty((len(members), len(self.members)), np.float32)
        for j in np.unique(feature):
            own = np.flatnonzero(feature == j)
            values = self.table[j if len(self.table) > 1 else 0][:, column[own]] * self.root[j]
            taken[own] = values[self._codes(j)].T
        return taken

    def _codes(self, feature: int) -> NDArray[np.uint8]:
        rows = self.rows
        if rows.features is None:
            return rows.codes.reshape(-1, self.shape[0])[self.members, feature]
        codes = np.full(len(rows.bounds) - 1, self.zero[0], np.uint8)
        places = np.flatnonzero(rows.features == feature)
        codes[np.searchsorted(rows.bounds, places, side="right") - 1] = rows.codes[places]
        return codes[self.members]


def solve_sparse(
    training: CodedRows,
    problem: BinaryProblem,
    costs: NDArray[np.float64],
    *,
    loss: Loss,
    bias: float,
    tol: float,
    max_iter: int,
    start: NDArray[np.float64] | None,
) -> CodedSolution:
    """Solve one problem, whose rows are the rows of the codes.

    ``start`` is ``alpha`` of the solution where to begin; here it is the weights on the columns.
    """
    columns = CodedColumns(training, problem.rows)
    if start is not None and len(start) != len(columns) + 1:
        start = None
    task = GroupProblem(columns, columns.shape[1], bias, problem.signs, costs, loss, start)
    solution = task.solve(tol, max_iter)
    weights = solution.weights[:-1].reshape(columns.shape) * columns.root[:, None]  # on the tables
    return CodedSolution(
        weights.astype(np.float32),
        float(solution.weights[-1]),
        solution.weights,
        solution.margins,
        solution.objective,
        (1 - solution.gap) * solution.objective,
        solution.n_rounds,
    )
