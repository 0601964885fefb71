"""Classifiers on codes that are trained without some of the samples, one for each part left out.

All binary problems of all of them are solved in parallel, so that two threads are of use for two
classes too. They share the codes. At the next larger value of C each begins at the dual variables
where it stopped, so that along a path the last value takes less time than alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from kmaps._loops.train import Task
from kmaps.progress import ProgressReporter
from kmaps.svm.coded.classifier import CodedSVC
from kmaps.svm.coded.descent import solve
from kmaps.svm.coded.problem import CodedProblem, make_task
from kmaps.svm.coded.training import CodedRows, weights_in_memory
from kmaps.svm.losses import Floats, Hinge
from kmaps.svm.newton import single_threaded_blas
from kmaps.svm.reduction import BinaryProblem, Places, combine_scores, winners
from kmaps.thread_pool import for_blocks, num_threads

Split = tuple[Places, Places]  # the samples to train on, and the samples left out


@dataclass
class _Fold:
    """A model that is trained without some of the rows."""

    learner: CodedSVC
    problems: list[BinaryProblem]
    held_out: Places
    duals: list[Floats | None] = field(init=False)

    def __post_init__(self) -> None:
        self.duals = [None] * len(self.problems)


class FoldModels:
    """Models along C, each a copy of ``model`` without ``probability``, trained without one fold.

    Each split names the samples to train on and those that are left out; the ``weights`` of all
    samples are above 0.
    """

    def __init__(
        self,
        model: CodedSVC,
        rows: CodedRows,
        y: ArrayLike,
        splits: Sequence[Split],
        weights: Floats,
    ):
        self.rows, y = rows, np.asarray(y)
        self.members = np.arange(len(rows)) if rows.members is None else rows.members
        self.norms = rows.layout.square_norms(rows.rows)
        self.folds = [self._fold(model, y, weights, *split) for split in splits]
        self.jobs = [(fold, k) for fold in self.folds for k in range(len(fold.problems))]
        self.seed = check_random_state(model.random_state).randint(np.iinfo(np.int32).max)
        self.last_C = 0.0
        self.missed = False  # whether a model of the last C missed ``tol``

    def _fold(
        self, model: CodedSVC, y: NDArray, weights: Floats, train: Places, held_out: Places
    ) -> _Fold:
        learner = clone(model).set_params(probability=None)
        problems = learner.problems_of(self.rows.take(train), y[train], weights[train])
        return _Fold(learner, problems, self.members[held_out])

    def predict(self, C: float) -> list[NDArray]:
        """Train every model with one C; return the labels that it gives its held-out samples.

        A ConvergenceWarning with the largest gap says when ``max_iter`` passes were not enough.
        """
        for fold in self.folds:
            fold.learner.set_params(C=C)
            if self.last_C > C:  # going back takes as long as starting again
                fold.duals = [None] * len(fold.problems)
        self.last_C = C
        n_weights = self.rows.n_features * self.rows.layout.form.size
        n_models = min(num_threads(), len(self.jobs))
        with weights_in_memory(n_weights, n_models), single_threaded_blas():
            train = ProgressReporter("", len(self.jobs)).counted(partial(self._train, n_weights))
            trained = for_blocks(train, len(self.jobs), 1)
        gaps = np.array([gap for _, gap in trained])
        self.missed = bool((gaps > self.folds[0].learner.tol).any())
        self.folds[0].learner._warn_of_gaps(gaps, 3, " without held-out samples")
        columns = iter(scores for scores, _ in trained)
        labels = []
        for fold in self.folds:
            scores = np.stack([next(columns) for _ in fold.problems], 1)
            classes = fold.learner.classes_
            decision = combine_scores(scores, len(classes), fold.learner.multiclass)
            labels.append(classes[winners(decision)])
        return labels

    def _train(self, n_weights: int, job: int, _: int) -> tuple[Floats, float]:
        """Solve one problem; return its scores of the held-out rows, and its gap."""
        fold, k = self.jobs[job]
        learner, problem = fold.learner, fold.problems[k]
        if learner.penalty == "l1":
            solution = learner.solve_sparse_problem(self.rows, problem, fold.duals[k])
            weights = self.rows.layout.laid_out(solution.weights)
        else:
            solution = solve(
                self._problem(learner.task_of(problem, self.norms), n_weights),
                tol=learner.tol,
                max_iter=learner.max_iter,
                seed=(self.seed, k),
                alpha=fold.duals[k],
            )
            weights = solution.weights
        fold.duals[k] = solution.alpha
        ones = np.ones(len(fold.held_out))
        task = make_task(fold.held_out, ones, self.norms, ones, Hinge(), learner.bias)
        scores = self._problem(task, n_weights).margins(weights, solution.constant)
        if learner.calibrate:
            slope, shift = learner.log_odds_of(problem, solution)
            scores = slope * scores + shift
        return scores, solution.gap

    def _problem(self, task: Task, n_weights: int) -> CodedProblem:
        return CodedProblem(self.rows.rows, self.rows.layout, task, n_weights)
