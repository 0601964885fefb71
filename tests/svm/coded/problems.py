"""Problems on codes that the tests of several files solve."""

import numpy as np

from kmaps.svm.coded.forms import choose
from kmaps.svm.coded.problem import CodedProblem, make_task
from kmaps.svm.coded.tables import tabulate
from kmaps.svm.coded.training import rows_of
from kmaps.svm.losses import LOSSES

BIAS = 0.7


def drawn(n, d):
    """Codes, signs that they half explain, tables, and the kernel with the bias."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 64, (n, d)).astype(np.uint8)
    signs = np.where(np.sin(codes[:, :4] / 12).sum(axis=1) + rng.normal(0, 0.6, n) > 1, 1.0, -1)
    tables = tabulate("chi2", np.linspace(0, 1, 64)[None])
    matrix = (tables.values @ tables.values.swapaxes(1, 2))[0]
    gram = sum(matrix[codes[:, j][:, None], codes[:, j][None, :]] for j in range(d)) + BIAS**2
    return codes, signs, tables, gram


def stated(codes, y, tables, loss, costs, members=None, bias=BIAS):
    """Return the problem of some rows, by default all, with a loss or the name of one."""
    layout, rows = choose(tables), rows_of(codes, np.empty(0, np.intp))
    members = np.arange(len(y)) if members is None else members
    norms = layout.square_norms(rows)
    loss = LOSSES[loss]() if isinstance(loss, str) else loss
    task = make_task(members, y[members], norms, costs, loss, bias)
    return CodedProblem(rows, layout, task, codes.shape[1] * layout.form.size)
