r"""Rows of codes as the features of Newton's method: sums over codes, and counts of pairs of codes.

Feature j has the columns :math:`\Psi_j` (L × r_j) on its levels, with :math:`r_j` the rank of the
map on the levels that the rows have. What depends on rows are sums over codes, (d, L), and the pair
counts :math:`N[(j, l), (k, l')]`, the sum of D over the rows with code l of feature j and l' of
feature k. Counting takes d (d + 1) / 2 additions a row, whatever the levels and the columns; where
these are few, or few rows have D > 0, multiplying the rows as a matrix takes less time.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import pair_counts as counts
from kmaps._loops.codes import count_codes
from kmaps._loops.forms import CodeRows
from kmaps._loops.vectors import aligned_zeros
from kmaps.checks import present
from kmaps.svm.coded.forms import Layout
from kmaps.svm.coded.problem import CodedProblem
from kmaps.svm.losses import Floats
from kmaps.svm.newton import COPY_NS, LARGE_NS, direction_ns
from kmaps.thread_pool import for_blocks

_DEPENDENT = 1e-10  # part of a feature's largest eigenvalue below which its columns are dependent
_BLOCK_ROWS = 1 << 14  # rows that are added up by themselves, whatever the number of threads
_MOST_PARTS = 16  # of the rows: each has sums of its own
_EXPANDED = 1 << 22  # values of rows that are expanded at once
_MOST_TABLES = 1 << 27  # values of the columns of all features
# Nanoseconds, on one core with AVX-512: of a pair that is counted, and of a multiply-add of small
# matrices.
_COUNT_NS, _SMALL_NS = 0.8, 0.1
# In a pass of the dual, of a row and of a code; and of a code in a sum over rows.
_ROW_NS, _LOGISTIC_ROW_NS, _CODE_NS = 80.0, 400.0, 0.8
_SUM_NS = 1.5
_OVERHEAD_NS = 5e5  # of a step
_BLOCK_SOLVE_NS = 15e3  # of a feature's block of the preconditioner: a call of LAPACK
_SMOOTH_STEPS, _HINGE_STEPS, _CONJUGATE_STEPS = 5, 12, 100


class LevelColumns(NamedTuple):
    """The columns of each feature's levels, in one array: feature j has L × ``widths[j]``."""

    values: Floats
    starts: NDArray[np.int64]
    widths: NDArray[np.int64]
    offsets: NDArray[np.int64]  # (d,): the first of each feature's weights

    @property
    def n_weights(self) -> int:
        """Number of the weights of all features, without the constant one."""
        return int(self.widths.sum())


def _counting_ns(n_rows: int, n_features: int, n_levels: int, n_weights: int) -> float:
    pairs = n_features * (n_features + 1) / 2
    projected = n_levels**2 * n_weights / n_features
    return pairs * (n_rows * _COUNT_NS + projected * _SMALL_NS)


def _multiplying_ns(n_rows: int, n_weights: int) -> float:
    return n_rows * n_weights * (n_weights * LARGE_NS / 2 + COPY_NS)


class CodeDesign:
    """The members of a task as rows of codes, with independent columns for each feature."""

    def __init__(
        self,
        rows: CodeRows,
        members: NDArray[np.int64],
        columns: LevelColumns,
        n_levels: int,
        usual: int,
    ):
        self.rows, self.members = rows, members
        self.columns, self.n_levels, self.usual = columns, n_levels, usual
        self.n_features = len(columns.widths)
        self.n_weights = columns.n_weights

    def scores(self, weights: Floats, places: NDArray[np.intp] | None = None) -> Floats:
        """Return w·φ(x_i) for some rows, or for all."""
        chosen = self.members if places is None else self.members[places]
        functions = np.empty((self.n_features, self.n_levels))
        counts.evaluate_columns(*self.columns, weights, functions)
        scores = np.zeros(len(chosen))

        def add(start: int, stop: int) -> None:
            members = chosen[start:stop]
            counts.add_functions(*self.rows, members, functions, scores[start:stop])

        for_blocks(add, len(scores), _BLOCK_ROWS)
        return scores

    def weighted_sum(self, factors: Floats, places: NDArray[np.intp] | None = None) -> Floats:
        """Return Σ factor_i φ(x_i) over some rows, or over all."""
        chosen = self.members if places is None else self.members[places]

        def sums_of(start: int, stop: int) -> Floats:
            sums = np.zeros((self.n_features, self.n_levels))
            members = chosen[start:stop]
            count_codes(*self.rows, members, factors[start:stop], sums)
            return sums

        n = len(chosen)
        block = max(_BLOCK_ROWS, -(-n // _MOST_PARTS))
        sums = sum(for_blocks(sums_of, n, block), np.zeros((self.n_features, self.n_levels)))
        total = np.empty(self.n_weights)
        counts.project_sums(*self.columns, sums, total)
        return total

    def second_moments(self, factors: Floats, places: NDArray[np.intp]) -> Floats:
        """Return Σ factor_i φ(x_i) φ(x_i)' over some of the rows, right up to the diagonal."""
        m = self.n_weights
        moments = np.zeros((m, m))
        if m == 0:
            return moments
        counting = _counting_ns(len(places), self.n_features, self.n_levels, m)
        if counting > _multiplying_ns(len(places), m):
            root = np.sqrt(factors)
            block = max(1, _EXPANDED // m)
            for first in range(0, len(places), block):
                outputs = self.expanded(places[first : first + block])
                outputs *= root[first : first + block, None]
                moments += outputs.T @ outputs
            return moments
        codes = self._codes(places)

        def add(j: int, _: int) -> None:
            counts.add_pair_counts(codes, factors, *self.columns, self.n_levels, j, moments)

        for_blocks(add, self.n_features, 1)
        return moments

    def moments_ns(self, n_rows: int) -> float:
        """Return about how long :meth:`second_moments` takes, in nanoseconds."""
        counting = _counting_ns(n_rows, self.n_features, self.n_levels, self.n_weights)
        return min(counting, _multiplying_ns(n_rows, self.n_weights))

    def expanded(self, places: NDArray[np.intp]) -> Floats:
        """Return the features φ(x_i) of some rows."""
        outputs = np.empty((len(places), self.n_weights))
        counts.expand_rows(self._codes(places), *self.columns, outputs)
        return outputs

    def block_places(self) -> list[NDArray[np.intp]]:
        """Return the weights of each feature: an array (k, r) for the k features with r weights."""
        offsets = self.columns.offsets
        return [
            offsets[features][:, None] + np.arange(width)
            for width, features in self._features_by_width()
        ]

    def block_moments(self, factors: Floats, places: NDArray[np.intp]) -> list[Floats]:
        """Return the diagonal blocks of :meth:`second_moments`, (k, r, r), as `block_places`."""
        sums = np.zeros((self.n_features, self.n_levels))
        count_codes(*self.rows, self.members[places], factors, sums)
        if self.rows.features is not None:
            sums[:, self.usual] += factors.sum() - sums.sum(axis=1)
        blocks = []
        for width, features in self._features_by_width():
            size = self.n_levels * width
            block = np.empty((len(features), width, width))
            step = max(1, _EXPANDED // size)
            for first in range(0, len(features), step):
                chosen = features[first : first + step]
                starts = self.columns.starts[chosen]
                values = self.columns.values[starts[:, None] + np.arange(size)]
                tables = values.reshape(-1, self.n_levels, width)
                scaled = tables * sums[chosen][:, :, None]
                np.matmul(tables.transpose(0, 2, 1), scaled, out=block[first : first + step])
            blocks.append(block)
        return blocks

    def _features_by_width(self) -> list[tuple[int, NDArray[np.intp]]]:
        """Return the features that have the same number of weights, for each number above 0."""
        widths = self.columns.widths
        return [
            (int(width), np.flatnonzero(widths == width)) for width in np.unique(widths[widths > 0])
        ]

    def _codes(self, places: NDArray[np.intp]) -> NDArray[np.uint8]:
        codes = np.empty((self.n_features, len(places)), np.uint8)

        def gather(start: int, stop: int) -> None:
            members = self.members[places[start:stop]]
            counts.gather_columns(*self.rows, members, self.usual, codes[:, start:stop])

        for_blocks(gather, len(places), _BLOCK_ROWS)
        return codes


def expected_passes(problem: CodedProblem) -> float:
    """Return about how many passes of the dual take as long as Newton's method; infinity: never.

    Estimated from sizes alone, so that the same problem is solved in the same way everywhere.
    """
    layout, task = problem.layout, problem.task
    features: NDArray[np.floating] = present(
        layout.basis if layout.features is None else layout.features, "features"
    )
    _, n_levels, r = features.shape
    n_features = n_features_of(problem)
    if n_features * n_levels * r > _MOST_TABLES:
        return np.inf
    n_weights = n_features * min(r, n_levels)
    n_rows = len(task.members)
    if task.logistic:
        n_steps, n_curved = _SMOOTH_STEPS, n_rows
    elif (task.ridge == 0).any():
        n_steps, n_curved = _HINGE_STEPS, n_rows // 5
    elif task.two_sided and task.epsilon == 0:
        n_steps, n_curved = 1, n_rows
    else:
        n_steps, n_curved = _SMOOTH_STEPS, n_rows // 2
    codes_per_row = len(problem.rows.codes) / max(1, len(problem.rows.bounds) - 1)
    row_ns = _LOGISTIC_ROW_NS if task.logistic else _ROW_NS
    pass_ns = n_rows * (row_ns + codes_per_row * _CODE_NS)
    sum_ns = n_rows * codes_per_row * _SUM_NS
    counting = _counting_ns(n_curved, n_features, n_levels, n_weights)
    moments = min(counting, _multiplying_ns(n_curved, n_weights))
    direction = direction_ns(n_curved, n_weights, moments)
    if direction == np.inf:
        product_ns = 2 * sum_ns * n_curved / n_rows + n_features * _BLOCK_SOLVE_NS
        direction = _CONJUGATE_STEPS * product_ns
    tables = 2 * n_features * n_levels * r * COPY_NS
    step = direction + 2 * sum_ns + tables + _OVERHEAD_NS
    return n_steps * step / pass_ns


def design_of(problem: CodedProblem) -> tuple[CodeDesign, list[Floats]] | None:
    """Return the rows of a problem for Newton's method, and the rotations of `independent_columns`.

    None: the columns of all features take too much memory.
    """
    features = features_of(problem.layout)
    if n_features_of(problem) * features.shape[1] * features.shape[2] > _MOST_TABLES:
        return None
    occurs = count_members(problem, features) > 0
    columns, rotations = independent_columns(features, problem.layout.scale, occurs)
    return design_on(problem, features, columns), rotations


def features_of(layout: Layout) -> Floats:
    """Return the features of the levels, (1 or d, L, r), before √scale."""
    if layout.features is not None:
        return layout.features
    return present(layout.basis, "the basis").astype(np.float64)


def n_features_of(problem: CodedProblem) -> int:
    """Return how many features the rows of a problem have codes of."""
    return problem.n_weights // problem.layout.form.size


def count_members(problem: CodedProblem, features: Floats) -> Floats:
    """Return how often each code is listed among the members of a problem, (d, L)."""
    members = problem.task.members
    listed = np.zeros((n_features_of(problem), features.shape[1]))
    count_codes(*problem.rows, members, np.ones(len(members)), listed)
    return listed


def design_on(problem: CodedProblem, features: Floats, columns: LevelColumns) -> CodeDesign:
    """Return the rows of a problem with the columns of `independent_columns`."""
    # Codes that rows leave out map to zero for all features.
    zeros = np.flatnonzero(~features.any(axis=(0, 2)))
    usual = int(zeros[0]) if len(zeros) else 0
    return CodeDesign(problem.rows, problem.task.members, columns, features.shape[1], usual)


def laid_out(layout: Layout, rotations: list[Floats], weights: Floats) -> NDArray[np.float32]:
    """Return weights of Newton's columns as those of the layout."""
    to_weights, size = layout.to_weights, layout.form.size
    out = aligned_zeros(len(rotations) * size)
    first = 0
    for j, rotation in enumerate(rotations):
        feature_weights = rotation @ weights[first : first + rotation.shape[1]]
        first += rotation.shape[1]
        if to_weights is not None:
            feature_weights = to_weights[j if len(to_weights) > 1 else 0] @ feature_weights
        out[j * size : j * size + len(feature_weights)] = feature_weights
    return out


def independent_columns(
    columns: Floats, scale: Floats | None, occurs: NDArray[np.bool_]
) -> tuple[LevelColumns, list[Floats]]:
    """Return the columns of each feature, rotated and without those that depend on others.

    ``columns`` (1 or d, L, r) are those of a map, and ``occurs`` (d, L) says which levels the rows
    have: a feature with few levels needs few columns. Also returns the rotations (r, r_j), scaled:
    they turn weights of the new columns into those of the old ones, times √scale.
    """
    rotations: list[Floats] = []
    tables: list[Floats] = []
    bases: dict[tuple[int, bytes], Floats] = {}
    for j in range(len(occurs)):
        number = j if len(columns) > 1 else 0
        key = number, occurs[j].tobytes()
        if key not in bases:
            occurring = columns[number][occurs[j]]
            values, vectors = np.linalg.eigh(occurring.T @ occurring)
            independent = values > _DEPENDENT * max(values[-1], 0)
            bases[key] = np.ascontiguousarray(vectors[:, independent][:, ::-1])
        root = 1.0 if scale is None else float(np.sqrt(scale[j]))
        rotation = bases[key] if root > 0 else bases[key][:, :0]
        rotations.append(root * rotation)
        tables.append((root * columns[number] @ rotation).reshape(-1))
    widths = np.array([rotation.shape[1] for rotation in rotations], np.int64)
    sizes = np.array([table.size for table in tables], np.int64)
    starts = np.cumsum(sizes) - sizes
    offsets = np.cumsum(widths) - widths
    return LevelColumns(np.concatenate(tables), starts, widths, offsets), rotations
