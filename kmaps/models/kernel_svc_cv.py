"""The exact kernel SVM with a width and a C that are chosen."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from kmaps.models.choice import AUTO
from kmaps.models.widths import choose_width
from kmaps.svm import KernelSVC
from kmaps.svm.learner import counting


@dataclass(eq=False, repr=False)
class KernelSVCCV(KernelSVC):
    """`KernelSVC` whose width and C are chosen by cross-validation.

    Use it where accuracy counts, for up to some ten thousand samples: the most accurate model of
    the family. Distances are computed once for all widths and folds, of 5,000 samples at most.

    Parameters
    ----------
    kernel : str, default="exp-chi2"
        An ``exp-`` kernel of :func:`kmaps.gram`, or rbf.
    C : float or "auto", default="auto"
        Weight of the loss; "auto": chosen together with the width.
    solver, multiclass, gamma
        As in `KernelSVC`.
    sigma : float, None or "auto", default="auto"
        Width of the kernel, > 0; "auto": by the rule of :func:`kmaps.models.choose_width`. None: σ²
        is the mean squared distance between training rows, or 1,000 of them.
    tol, cache_mb, max_iter, class_weight, probability, random_state, n_jobs, verbose
        As in `KernelSVC`.

    Attributes
    ----------
    C_ : float
        The value of C in use.
    width_choice_ : WidthChoice
        The widths and values of C that were compared, with their held-out accuracies.
    best_estimator_ : KernelSVC
        Trained on all samples with both; :meth:`save` writes it.
    timings_ : dict
        The timings of ``best_estimator_``, and ``choose_s``.
    support_, support_vectors_, dual_coef_, duality_gap_, sigma_
        As in `KernelSVC`.

    See Also
    --------
    KernelSVC : With a given C and width.
    LandmarkSVC : The same model approximated, for any number of samples.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> y = np.floor(4 * X[:, 0]) % 2
    >>> model = KernelSVCCV("rbf").fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.9), model.width_choice_.fractions[0]
    (True, 1.0)
    """

    kernel: str = "exp-chi2"
    C: Any = AUTO
    _: KW_ONLY
    sigma: Any = AUTO

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "KernelSVCCV":
        """Choose the width and C, and train on all samples with them, as `KernelSVC.fit`.

        Samples of weight 0 are left out, and every other one counts once in held-out accuracies.
        """
        parameters = self.get_params(deep=False)
        X, labels = self._check_training(X, y, sample_weight)
        kept, classes = counting(X, labels), self.classes_[labels.codes]
        self._check_memory(len(classes))  # before the choice, which takes seconds
        self.timings_: dict[str, float] = {}
        model = KernelSVC(**parameters)
        choose = partial(choose_width, model, sample_weight=labels.weights)
        choice = self._timed("choose_s", choose, kept, classes)
        model.set_params(sigma=choice.sigma, C=choice.C).fit(kept, classes, labels.weights)
        learnt = {name: found for name, found in vars(model).items() if name not in parameters}
        self.__dict__.update(learnt, timings_=self.timings_ | model.timings_)
        self.support_ = model.support_ = labels.places[model.support_]
        if "feature_names_in_" in vars(self):
            model.feature_names_in_ = self.feature_names_in_
        self.best_estimator_ = model
        self.width_choice_ = choice
        self.C_ = choice.C
        return self

    def save(
        self, path: str | Path, *, force: bool = False, record: Mapping[str, Any] | None = None
    ) -> None:
        """Write ``best_estimator_`` to an ``.npz`` file, as `KernelSVC.save` does.

        Parameters
        ----------
        path : str or Path
            The file, which takes its name once it is complete.
        force : bool, default=False
            Whether an existing file is replaced; otherwise it raises InputError.
        record : mapping, optional
            A description of how the model was trained, in what JSON can hold, for `kmaps info`.
        """
        check_is_fitted(self)
        self.best_estimator_.save(path, force=force, record=record)
