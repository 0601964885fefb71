"""Samples as codes on the workers of a cluster: what the tasks there do."""

from itertools import islice, pairwise
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed
from distributed import Client, Future
from numpy.typing import NDArray

from kmaps._loops.forms import CodeRows
from kmaps._loops.train import Task
from kmaps.parallel import threads
from kmaps.samples import AnyMatrix
from kmaps.svm.coded.forms import Layout
from kmaps.svm.coded.model import code_counts
from kmaps.svm.coded.problem import make_task
from kmaps.svm.coded.training import CodedRows, block_rows, joined
from kmaps.svm.losses import LOSSES
from kmaps.svm.reduction import binary_problems


def coded_groups(
    client: Client,
    blocks: list[Delayed],
    labels: list[Delayed],
    coding: CodedRows,
    sparse: float,
    classes: NDArray,
    n_groups: int,
) -> tuple[list[Future], list[Future]]:
    """Return the codes and the numbers of the classes of so many groups of neighbouring blocks."""
    learned = dask.delayed(coding, traverse=False)
    rows = [dask.delayed(_coded)(learned, block, sparse) for block in blocks]
    numbers = [dask.delayed(_numbered)(y, classes) for y in labels]
    cuts = np.linspace(0, len(blocks), n_groups + 1).astype(int)
    pairs = list(pairwise(cuts))
    grouped = [dask.delayed(_joined)(rows[start:stop]) for start, stop in pairs]
    known = [dask.delayed(np.concatenate)(numbers[start:stop]) for start, stop in pairs]
    return client.compute(grouped), client.compute(known)


def _coded(coding: CodedRows, X: AnyMatrix, sparse: float) -> CodeRows:
    with threads(1):
        return block_rows(coding, X, sparse)


def _numbered(y: Any, classes: NDArray) -> NDArray[np.intp]:
    return np.searchsorted(classes, np.asarray(y))


def _joined(parts: list[CodeRows]) -> CodeRows:
    """Return rows one after another, in arrays of their own."""
    if parts[0].features is not None:
        return joined(parts)
    lengths = np.concatenate([np.diff(part.bounds) for part in parts])
    codes = np.concatenate([part.codes for part in parts])
    return CodeRows(codes, np.concatenate([[0], np.cumsum(lengths)]), None)


def square_norms(layout: Layout, rows: CodeRows) -> NDArray[np.float64]:
    """Return the kernel of each row with itself."""
    with threads(1):
        return layout.square_norms(rows)


def stated(
    numbers: NDArray[np.intp],
    norms: NDArray[np.float64],
    reduction: str,
    factors: NDArray[np.float64],
    column: int,
    C: float,
    loss: str,
    bias: float,
) -> Task:
    """State a binary problem of the reduction for the rows of a block."""
    problems = binary_problems(numbers, reduction, factors, np.ones(len(numbers)))
    problem = next(islice(problems, column, None))
    costs = C * problem.factors
    return make_task(problem.rows, problem.signs, norms, costs, LOSSES[loss](), bias)


def count_members(task: Task) -> int:
    """Return how many rows of a block take part."""
    return len(task.members)


def counted(rows: CodeRows, shape: tuple[int, int], zero: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return how often each row of the tables occurs."""
    n = len(rows.bounds) - 1
    with threads(1):
        return code_counts(rows, np.arange(n), np.ones(n), shape, zero)


def codes_bytes(rows: CodeRows) -> int:
    """Return the size of the codes of a block."""
    return sum(array.nbytes for array in rows if array is not None)
