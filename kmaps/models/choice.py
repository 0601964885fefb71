"""The choice of C by cross-validation, one for all learners, and the values that it compares.

:func:`decide` says, from the scores so far, which value is chosen and which are compared next. A
list of values is compared as it is, and the best one chosen. A rule begins with the powers of √10
from 0.1 to 10 and extends them, a decade at a time. ``"auto"`` extends them on the side on which
the best value is the outermost one, until

- the best value has worse ones on both sides: it is chosen; or
- the edge is flat: what the last decade gained is at most one standard error. The value a decade
  inside the edge is chosen; a rise beyond a plateau of that length is missed; or
- the bounds, a million either way, are reached: the outermost value is chosen, and stands out as
  one at the edge of its grid.

The gain is a difference of scores on the same units, samples or folds, so its standard error is the
one of paired differences, for right and wrong labels McNemar's √(b + c) / n. The standard errors of
the two means are several times as large, and would call edges flat that still rise. For the same
reason the best value is chosen where it is inside, and not the smallest one within a standard error
of it (Breiman et al., 1984), which would leave every row undertuned, and by unequal amounts. Of
equally good values the smallest is the best.

``"path"`` is ``"auto"`` for models that start each value of C where they stopped at the one before:
it also stops when held-out accuracy has fallen, since all values of the last decade are worse than
the best one before by more than one standard error.

``"plateau"`` goes on above a flat top, until two decades are compared beyond the best value, or all
values of the last decade are worse by more than one standard error. It stops, too, where C no
longer binds: no coefficient is as large as C allows, and every larger C gives the same model. The
best value is chosen, which is then no edge. Below, it is ``"auto"``.
"""

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kmaps.checks import check_positive, check_whole
from kmaps.errors import ConfigError, InputError
from kmaps.models.renaming import renamed
from kmaps.progress import showing_part
from kmaps.svm.learner import Learner, taken

if TYPE_CHECKING:
    from kmaps.svm import KernelSVC


AUTO = "auto"
PATH = "path"
PLATEAU = "plateau"
RULES = (AUTO, PATH, PLATEAU)

COMPARED = "values of C compared"

FOLD_TOL = 1e-2
"""The relative duality gap at which models that only choose C stop, if theirs is not larger.

On 6,000 digits of MNIST their held-out accuracies differ by at most 0.2 points from those at 1e-4,
half a standard error, in less than half the time (``python -m benchmarks path``).
"""

_PER_DECADE = 2
_PLATEAU_DECADES = 2  # beyond the best value

Values = Iterable[float] | str  # values of C to compare, or the name of a rule
Scores = Mapping[float, NDArray]  # by C, the scores of the units, which are samples or folds


class Powers(NamedTuple):
    """The values that a grid may have: powers of a base, whose exponents have bounds."""

    base: float
    least: int
    most: int
    start: tuple[int, int]  # the exponents of the values that a rule begins with, both included

    def values(self, exponents: Iterable[int]) -> tuple[float, ...]:
        """Return some of the powers, rounded: the same digits on every computer."""
        return tuple(float(f"{self.base**exponent:.6g}") for exponent in exponents)

    def exponent(self, value: float) -> int:
        """Return the exponent of a power that was rounded."""
        return round(log(value, self.base))

    @property
    def first(self) -> tuple[float, ...]:
        """The values that a rule begins with."""
        low, high = self.start
        return self.values(range(low, high + 1))

    def above(self, value: float) -> tuple[float, ...]:
        """Return the values of the decade above one, within the bounds."""
        top = self.exponent(value)
        return self.values(range(top + 1, min(top + _PER_DECADE, self.most) + 1))

    def below(self, value: float) -> tuple[float, ...]:
        """Return the values of the decade below one, within the bounds."""
        bottom = self.exponent(value)
        return self.values(range(max(bottom - _PER_DECADE, self.least), bottom))


POWERS_OF_C = Powers(10**0.5, -6 * _PER_DECADE, 6 * _PER_DECADE, (-_PER_DECADE, _PER_DECADE))


class Decision(NamedTuple):
    """What scores say about a parameter such as C."""

    chosen: float  # among the values that were compared
    following: tuple[float, ...]  # the values to compare next, ascending; none: it is settled
    has_fallen: bool  # whether a larger value would be no use: scores have fallen beyond the best


def decide(
    scores: Scores, rule: str | None, powers: Powers = POWERS_OF_C, unbound: float = inf
) -> Decision:
    """Say which value is chosen and which are compared next: the one place that does.

    Parameters
    ----------
    scores : mapping of float to ndarray
        By value, the scores of the units, which are the same for all values.
    rule : {"auto", "path", "plateau"} or None
        A rule of this module. None: the values are a list, of which the best one is chosen.
    powers : Powers
        The values there are, two of which count as a decade; by default of C.
    unbound : float
        The least value from which on all larger ones give the same model.

    Returns
    -------
    Decision
        The chosen value, the values to compare next, and whether the scores have fallen.
    """
    grid = sorted(scores)
    best = int(np.argmax([np.mean(scores[value]) for value in grid]))
    fallen = _has_fallen(scores, grid, best)
    if rule is None:
        return Decision(grid[best], (), fallen)
    top = len(grid) - 1
    flat_edge = best in (0, top) and _is_flat(scores, grid, best)
    chosen = grid[best]
    following: tuple[float, ...] = ()
    if rule == PLATEAU and best > 0:
        n_beyond = top - best
        enough = fallen or n_beyond >= _PLATEAU_DECADES * _PER_DECADE
        # One more decade beyond the best, of the same models, shows that it is no edge.
        settled = enough or (grid[top] >= unbound and n_beyond > 0)
        following = () if settled else powers.above(grid[top])
    elif flat_edge:
        chosen = grid[abs(best - _PER_DECADE)]  # a decade inside either edge
    elif best == top:
        following = powers.above(grid[top])
    elif best == 0:
        following = powers.below(grid[0])
    return Decision(chosen, following, fallen)


def rounds(
    values: Values,
    scores: dict[float, NDArray],
    powers: Powers = POWERS_OF_C,
    unbound: Callable[[], float] = lambda: inf,
) -> Iterator[tuple[float, ...]]:
    """Yield the values to compare, ascending, until the choice is settled.

    The caller adds the scores of the values to ``scores`` before it asks for more.
    """
    rule = rule_of(values)
    following = first_values(values, powers)
    while following:
        yield following
        following = decide(scores, rule, powers, unbound()).following


def rule_of(values: Values) -> str | None:
    """Return the rule that a value of ``C`` or ``sigma`` names.

    Parameters
    ----------
    values : iterable of float or str
        Values to compare, or the name of a rule, which is not checked.

    Returns
    -------
    str or None
        The name of the rule; None for values to compare.
    """
    return values if isinstance(values, str) else None


def is_chosen(C: Any) -> bool:
    """Return whether a parameter ``C`` asks for a choice: a rule, or several values."""
    return isinstance(C, str) or np.iterable(C)


def _has_fallen(scores: Scores, grid: Sequence[float], best: int) -> bool:
    """Return whether the best value is better than all those a decade above it, surely."""
    after = grid[best + 1 :][-_PER_DECADE:]
    if len(after) < _PER_DECADE:
        return False
    return not any(gains_little(scores[value], scores[grid[best]]) for value in after)


def _is_flat(scores: Scores, grid: Sequence[float], edge: int) -> bool:
    """Return whether the last decade before an edge gained at most one standard error."""
    if len(grid) <= _PER_DECADE:
        return False
    return gains_little(scores[grid[abs(edge - _PER_DECADE)]], scores[grid[edge]])


def gains_little(before: NDArray, after: NDArray) -> bool:
    """Return whether scores of the same units are better by at most one standard error.

    Parameters
    ----------
    before, after : ndarray, shape (n,)
        Scores of n units, such as whether the label of each sample is right.

    Returns
    -------
    bool
        Whether the gain is at most the standard error of paired differences.
    """
    gains = np.subtract(after, before, dtype=float)
    return bool(gains.sum() <= np.sqrt(gains @ gains))


Places = NDArray[np.intp]  # indices of samples
Predict = Callable[[Sequence[float], Places, Places], Iterable[NDArray]]
"""``predict(grid, train, test)``: for each C, train on samples and yield labels of test samples."""

Output = Literal["predict", "decision_function"]

Score = Callable[[NDArray, NDArray], NDArray]
"""``score(truth, predicted)``: the score of each unit, such as whether each label is right."""


def stratified_order(y: ArrayLike, seed: int) -> NDArray[np.intp]:
    """Return the numbers of the samples class by class, in random order within each class.

    Every m-th of them is a stratified draw: each class has its share, to within one sample. So
    the samples at the places ``k``, ``k + m``, ``k + 2 * m``, … are one of m stratified folds.

    Parameters
    ----------
    y : array-like, shape (n,)
        The label of each sample.
    seed : int
        The seed, ≥ 0, that draws the order; a seed always draws the same one.

    Returns
    -------
    ndarray of intp, shape (n,)
        The number of every sample, from 0 to n - 1, class by class in ascending order of labels.

    Examples
    --------
    >>> y = np.array([1, 0, 1, 0, 1, 1])
    >>> y[stratified_order(y, seed=0)].tolist()
    [0, 0, 1, 1, 1, 1]
    """
    y = np.asarray(y)
    order = np.random.default_rng(seed).permutation(len(y))
    return order[np.argsort(y[order], kind="stable")]


def stratified_sample(y: ArrayLike, samples: int | None, seed: int) -> NDArray[np.intp]:
    """Return the numbers of some samples, drawn so that each class has its share.

    Parameters
    ----------
    y : array-like, shape (n,)
        The label of each sample.
    samples : int or None
        How many samples to draw, ≥ 1; None, or more than there are, means all.
    seed : int
        The seed, ≥ 0, that draws them, as in :func:`stratified_order`.

    Returns
    -------
    ndarray of intp, shape (min(samples, n),)
        The numbers of the drawn samples, in the order of :func:`stratified_order`.

    Examples
    --------
    >>> y = np.array([1, 0, 1, 0, 1, 1])
    >>> y[stratified_sample(y, 3, seed=0)].tolist()
    [0, 1, 1]
    """
    order = stratified_order(y, seed)
    if samples is None:
        return order
    check_whole("samples", samples, 1)
    chosen = min(samples, len(order))
    return order[np.arange(chosen) * len(order) // chosen]


@dataclass(frozen=True)
class Choice:
    """The result of cross-validation.

    Parameters
    ----------
    C : float
        The value chosen by the rule of :mod:`kmaps.models.choice`: the best; among equally good
        values the smallest; at a flat edge of a rule's grid a value inside.
    grid : tuple of float
        The tried values, ascending.
    accuracies : tuple of float
        The part of all samples, from 0 to 1, that a model trained without them gave the right
        label, for each value of the grid; with another ``score`` its mean.
    errors : tuple of float
        The standard error of each of ``accuracies`` over the samples.
    missed : tuple of float, default=()
        The values of the grid with a model whose relative duality gap was above its ``tol`` in the
        end, so that its accuracy says little.
    """

    C: float
    grid: tuple[float, ...]
    accuracies: tuple[float, ...]
    errors: tuple[float, ...]
    missed: tuple[float, ...] = ()

    @property
    def is_at_edge(self) -> bool:
        """Whether the choice is the least or the largest of several values compared."""
        return len(self.grid) > 1 and self.C in (self.grid[0], self.grid[-1])


@renamed(grid="C", folds="cv", seed="random_state")
def cross_validate(
    prepare: Callable[[Places], Predict],
    C: Values,
    y: ArrayLike,
    *,
    cv: int = 3,
    random_state: int = 0,
    samples: int | None = None,
    groups: ArrayLike | None = None,
    score: Score = np.equal,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Choice:
    """Choose C by the accuracy on samples left out, each once, in stratified folds.

    Parameters
    ----------
    prepare : callable
        ``prepare(chosen)`` is called once with the numbers of the samples to use, class by class,
        and makes what all values of C share. It returns ``predict(grid, train, test)``, which
        trains on the places ``train`` among the chosen ones, with each C of the ascending ``grid``
        in turn, and yields the labels predicted for the places ``test``, as :func:`along_c` makes.
    C : iterable of float or {"auto", "path", "plateau"}
        Values of C, or a rule of :mod:`kmaps.models.choice`, which calls ``predict`` again to
        extend them.
    y : array-like, shape (n,)
        Labels.
    cv : int, default=3
        The folds: parts of the samples, of which each is left out once.
    random_state : int, default=0
        Draws the folds, the same for every learner.
    samples : int, optional
        How many samples to use, a stratified draw; by default all.
    groups : array-like, shape (n,), optional
        Groups that no fold divides; folds are then of about the same size, but not stratified.
    score : callable, optional
        ``score(truth, predicted)`` is the score of each unit of a fold, by default whether each
        label is right.
    progress : callable, optional
        ``progress(done, total)`` is called after every C of every fold.

    Returns
    -------
    Choice
        The chosen value, and the held-out accuracies of all that were compared.

    Examples
    --------
    >>> from kmaps import LiblinearSVC
    >>> X = np.random.default_rng(0).standard_normal((90, 2))
    >>> y = np.where(X[:, 0] > 0, "right", "left")
    >>> fit = lambda rows: along_c(LiblinearSVC(), X[rows], y[rows])
    >>> choice = cross_validate(fit, [0.01, 1, 100], y)
    >>> choice.C, [round(accuracy, 2) for accuracy in choice.accuracies]
    (100.0, [0.93, 0.97, 0.99])
    """
    C = C if isinstance(C, str) else first_values(C)
    y = np.asarray(y)
    check_whole("cv", cv, 2)
    check_whole("random_state", random_state, 0)
    chosen = stratified_sample(y, samples, random_state)
    y = y[chosen]
    parts_of_y = splits(y, cv, None if groups is None else np.asarray(groups)[chosen])
    predict = prepare(chosen)
    scores = scores_along_c(predict, C, y, parts_of_y, score, progress)
    return choice_of(scores, rule_of(C), predict.missed if isinstance(predict, Along) else ())


def scores_along_c(
    predict: Predict,
    C: Values,
    y: NDArray,
    parts_of_y: list[tuple[Places, Places]],
    score: Score = np.equal,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[float, NDArray]:
    """Return the scores of all samples by C, fold after fold.

    Parameters
    ----------
    predict : callable
        What ``prepare`` of :func:`cross_validate` returns.
    C, y : iterable of float or the name of a rule; ndarray, shape (n,)
        As for :func:`cross_validate`.
    parts_of_y : list of pairs of ndarray
        The folds, as :func:`splits` makes them.
    score, progress : callable, optional
        As for :func:`cross_validate`.

    Returns
    -------
    dict
        The scores of the units, fold after fold, for each value.
    """
    folds = len(parts_of_y)
    scores: dict[float, NDArray] = {}
    for values in rounds(C, scores, unbound=lambda: _unbound_from(scores, predict)):
        parts: dict[float, list[NDArray]] = {value: [] for value in values}
        before = folds * len(scores)
        total = folds * (len(scores) + len(values))
        for held_out, (train, test) in enumerate(parts_of_y):
            predictions = iter(predict(values, train, test))
            for done, value in enumerate(values, before + held_out * len(values)):
                with showing_part(total, done, COMPARED):
                    parts[value].append(score(y[test], next(predictions)))
                progress(done + 1, total)
        scores.update({value: np.concatenate(parts[value]) for value in values})
    return scores


def _unbound_from(scores: Scores, predict: Predict) -> float:
    """Return the least value that bounds no coefficient in any fold; infinity: none, as known."""
    if not isinstance(predict, Along):
        return inf
    return unbound_from(scores, predict.binding)


def unbound_from(scores: Scores, binding: set[float]) -> float:
    """Return the least compared value above all those that bind a coefficient."""
    largest = max(binding, default=0.0)
    return min((value for value in scores if value > largest), default=inf)


def choice_of(
    scores: Mapping[float, NDArray], rule: str | None, missed: Collection[float] = ()
) -> Choice:
    """Return the choice from the scores of all samples; warn of one whose models missed ``tol``.

    Parameters
    ----------
    scores : mapping of float to ndarray
        The scores by C, as `scores_along_c` returns them.
    rule : str or None
        The rule by which the values were compared; None: they are a list.
    missed : collection of float, optional
        The values with a model that missed its ``tol``.

    Returns
    -------
    Choice
        The chosen value, with the mean scores of all.
    """
    grid = tuple(sorted(scores))
    ascending = [scores[C] for C in grid]
    chosen = decide(scores, rule).chosen
    if chosen in missed:
        warnings.warn(
            f"C = {chosen:g} was chosen, but models that were compared with it missed tol: their "
            "accuracies say little; raise max_iter or tol, or compare smaller values",
            ConvergenceWarning,
            stacklevel=3,
        )
    return Choice(
        chosen,
        grid,
        tuple(float(np.mean(units)) for units in ascending),
        tuple(float(np.std(units, ddof=1) / len(units) ** 0.5) for units in ascending),
        tuple(C for C in grid if C in missed),
    )


def first_values(values: Values, powers: Powers = POWERS_OF_C) -> tuple[float, ...]:
    """Return the values to begin with, ascending; or raise ConfigError."""
    if isinstance(values, str):
        if values not in RULES:
            names = ", ".join(map(repr, RULES))
            raise ConfigError(f"C={values!r}: expected values of C, or a rule: {names}")
        return powers.first
    listed = list(values) if isinstance(values, Iterable) else [values]
    for C in listed:
        check_positive("C", C)
    if not listed:
        raise ConfigError("C=(): expected at least one value")
    return tuple(sorted({float(C) for C in listed}))


def splits(y: NDArray, folds: int, groups: NDArray | None = None) -> list[tuple[Places, Places]]:
    """Return the places to train on and those left out, of every fold of stratified samples.

    Fewer samples or groups than folds, and a fold without which one class alone is left to train
    on, raise InputError.

    Parameters
    ----------
    y : ndarray, shape (n,)
        The labels of the samples, in the order of :func:`stratified_sample`.
    folds : int
        The number of folds, ≥ 2.
    groups : ndarray, shape (n,), optional
        The group of each sample. No fold divides a group; folds are then of about the same size,
        but not stratified.

    Returns
    -------
    list of tuple of ndarray
        For each fold, the places among the n samples to train on, and those left out: two arrays
        of intp, ascending.
    """
    if len(y) < folds:
        raise InputError(f"{len(y)} samples cannot be cut into cv={folds} folds: use fewer")
    fold = np.arange(len(y)) % folds if groups is None else _folds_of(groups, folds)
    for held_out in range(folds):
        left = np.unique(y[fold != held_out])
        if len(left) < 2:
            raise InputError(
                f"cv={folds}: without one fold, only class {left[0]} is left to train on; "
                "cross-validation needs more samples of the other classes"
            )
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)]


def _folds_of(groups: NDArray, folds: int) -> Places:
    """Return the fold of each sample: the largest group first, each into the smallest fold."""
    names, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(names) < folds:
        raise InputError(f"{len(names)} groups cannot be cut into cv={folds} folds: use fewer")
    fold_of, filled = np.empty(len(names), np.intp), np.zeros(folds, np.intp)
    for place in np.argsort(-sizes, kind="stable"):
        fold_of[place] = filled.argmin()
        filled[fold_of[place]] += sizes[place]
    return fold_of[group]


def along_c(
    model: Any, X: Any, y: ArrayLike, output: Output = "predict", *, weights: NDArray | None = None
) -> "Along":
    """Return ``predict`` for :func:`cross_validate`: copies of a learner on one set of rows.

    A learner that has ``warm_start`` starts each model from the model of the C before, so that a
    whole path takes little longer than its largest C alone.

    Parameters
    ----------
    model : estimator
        The learner; copies of it are trained, each with a ``C`` of its own.
    X : ndarray or CSR, shape (n, d), or rows that the learner's ``prepare_rows`` made
        The samples.
    y : array-like, shape (n,)
        Their labels.
    output : {"predict", "decision_function"}, default="predict"
        Whether labels or scores of the samples left out are yielded.
    weights : ndarray, shape (n,), optional
        The weights of the samples in training; by default each counts once.

    Returns
    -------
    callable
        ``predict(grid, train, test)``: an iterator over the labels, or scores, of the samples at
        the places ``test``, for each C of the ascending ``grid``, trained on the places ``train``.
    """

    def rows_of(train: Places, test: Places) -> tuple[Any, Any]:
        return taken(X, train), taken(X, test)

    return Along(model, rows_of, np.asarray(y), output, weights)


def along_c_precomputed(
    model: "KernelSVC",
    matrix: NDArray,
    y: ArrayLike,
    output: Output = "predict",
    *,
    weights: NDArray | None = None,
) -> "Along":
    """Return ``predict`` for :func:`cross_validate`: copies of a learner on one Gram matrix (n, n).

    What the model trains on is made of the matrix once, for all folds and values of C.

    Parameters
    ----------
    model : KernelSVC
        The learner, of kernel "precomputed"; copies of it are trained.
    matrix : ndarray, shape (n, n)
        The Gram matrix of the samples.
    y : array-like, shape (n,)
        Their labels.
    output : {"predict", "decision_function"}, default="predict"
        Whether labels or scores of the samples left out are yielded.
    weights : ndarray, shape (n,), optional
        The weights of the samples in training; by default each counts once.

    Returns
    -------
    callable
        ``predict(grid, train, test)``, as :func:`along_c` returns it.
    """
    rows = model.prepare_rows(matrix)

    def rows_of(train: Places, test: Places) -> tuple[Any, NDArray]:
        return rows.take(train), matrix[np.ix_(test, train)]

    return Along(model, rows_of, np.asarray(y), output, weights)


class Along:
    """``predict`` for :func:`cross_validate`, by copies of a learner.

    ``rows_of(train, test)`` returns the rows to train on and the others, ``binding`` has the values
    of C that bound a coefficient of a model, as far as its learner can say, and ``missed`` those
    with a model whose duality gap is above its ``tol``.
    """

    def __init__(
        self,
        model: Any,
        rows_of: Callable[[Places, Places], tuple[Any, Any]],
        y: NDArray,
        output: Output,
        weights: NDArray | None,
    ) -> None:
        self.model = model
        self.rows_of = rows_of
        self.y = y
        self.output = output
        self.weights = weights
        self.binding: set[float] = set()
        self.missed: set[float] = set()

    def __call__(self, grid: Sequence[float], train: Places, test: Places) -> Iterator[NDArray]:
        """Train with each C in turn, and yield what each model says of the test samples."""
        learner = clone(self.model)
        if "warm_start" in learner.get_params():
            learner.set_params(warm_start=True)
        for_training, for_test = self.rows_of(train, test)
        weights = () if self.weights is None else (self.weights[train],)
        for C in grid:
            fitted = learner.set_params(C=C).fit(for_training, self.y[train], *weights)
            if not isinstance(fitted, Learner) or fitted.c_binds():
                self.binding.add(C)
            gaps = vars(fitted).get("duality_gap_")
            if gaps is not None and (gaps > fitted.tol).any():
                self.missed.add(C)
            yield getattr(fitted, self.output)(for_test)
