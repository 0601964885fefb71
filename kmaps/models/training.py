"""Training from files: some rows held out, C chosen by cross-validation, and the record of it."""

import warnings
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kmaps.errors import InputError
from kmaps.matrices import stacked
from kmaps.models.choice import AUTO, along_c, cross_validate, stratified_sample
from kmaps.models.coded_path import choose_along_path
from kmaps.progress import showing
from kmaps.svm import CodedSVC
from kmaps.svm.learner import LabelledSource

if TYPE_CHECKING:
    from kmaps.models.mapped_svc import MappedSVC

Report = Callable[[str, int, int], None]  # (name of a stage, part done, total)
FOLDS = 3
_WIDTH_ROWS = 5000

_SIZES = ("n_frequencies", "n_landmarks", "model_bytes")
_NOT_RECORDED = ("features", "classes", "levels", "sigma", "C", *_SIZES)
_TIMES = ("code_s", "encode_s", "cv_s", "train_s", "sample_train_s")


def train_model(
    model: "CodedSVC | MappedSVC",
    source: LabelledSource,
    costs: list[float] | str,
    *,
    folds: int | None = None,
    hold_out: float | None = None,
    sample: int | None = None,
    seed: int = 0,
    check_labels: Callable[[NDArray], object] = lambda y: None,
    report: Report = lambda stage, done, total: None,
    clock: Callable[[], float] = perf_counter,
) -> dict[str, Any]:
    """Read rows, hold some out, choose C, and train the model; return the facts about it.

    Parameters
    ----------
    model : CodedSVC, RandomFeatureSVC or LandmarkSVC
        With ``sigma="auto"`` the width is chosen on up to 5,000 rows, together with C.
    source : object
        An object with ``blocks()``, ``sample()`` and ``labels()``, such as `kmaps.io.LabelledRows`.
    costs : list of float, "path", "auto" or "plateau"
        Values of C; several are compared, and one is when ``folds`` are given.
    folds, hold_out
        Parts of the rows in cross-validation, three by default; the part of the rows of each class
        that is only used to measure the accuracy.
    sample : int, optional
        Train first on so many of the rows, drawn class by class, with the C that is chosen, and
        measure that model on the rows held out too; ``hold_out`` is needed.
    seed : int
        The seed that draws the folds, the rows held out and the sample.
    check_labels : callable
        Called with the labels once all rows are read; may refuse them.
    report, clock : callable
        As `Report`; returns seconds.

    Returns
    -------
    dict
        As :func:`training_facts`, in what JSON can hold. ``train_s`` is the training with the
        chosen C alone; ``cv_s`` the choice.
    """
    start = clock()
    with showing(report):
        if not isinstance(model, CodedSVC) and model.sigma == AUTO:
            model.set_params(
                sigma=_width(model, source, costs, folds, hold_out, seed, check_labels)
            )
        rows: Any = model.prepare_rows(source)
    y = source.labels()
    check_labels(y)
    held = None
    if hold_out is not None:
        members, left_out = _parts(y, hold_out, seed)
        held = rows.take(left_out), y[left_out]
        rows, y = rows.take(members), y[members]
    read = clock()
    with showing(report):
        compared = _choose_c(model, rows, y, costs, folds, seed)
        chosen = clock()
        sample_facts = None
        if held is not None and sample is not None:
            sample_facts = _trained_on_sample(model, rows, y, sample, seed, held, clock)
        started = clock()
        unfinished = fit_and_warn(model, rows, y)
    trained = clock()
    facts = training_facts(model, len(rows), compared, (folds or FOLDS) if compared else None)
    if held is not None:
        right = model.predict(held[0]) == held[1]
        facts["hold_out"] = {"rows": len(held[1]), "accuracy": float(right.mean())}
        if sample_facts is not None:
            right_of_sample = sample_facts.pop("right")
            facts["sample_train_s"] = sample_facts.pop("train_s")
            facts["sample"] = sample_facts | {
                "accuracy": float(right_of_sample.mean()),
                "right_of_all_alone": int((right & ~right_of_sample).sum()),
                "right_of_sample_alone": int((right_of_sample & ~right).sum()),
            }
    reading = "encode_s" if "sigma" in facts else "code_s"
    times = {reading: read - start, "cv_s": chosen - read, "train_s": trained - started}
    return facts | {"unfinished": unfinished} | times


def _trained_on_sample(
    model: Any,
    rows: Any,
    y: NDArray,
    n_rows: int,
    seed: int,
    held: tuple[Any, NDArray],
    clock: Callable[[], float],
) -> dict[str, Any]:
    """Train a copy of the model on some rows; return their number, the time, and what is right."""
    members = np.sort(stratified_sample(y, n_rows, seed))
    started = clock()
    small = clone(model)
    fit_and_warn(small, rows.take(members), y[members])
    train_s = clock() - started
    held_rows, held_labels = held
    return {
        "rows": len(members),
        "train_s": train_s,
        "right": small.predict(held_rows) == held_labels,
    }


def training_facts(
    model: Any, n_rows: int, compared: list[dict[str, float]], folds: int | None
) -> dict[str, Any]:
    """Return the facts about a trained model, and the accuracy of each C compared.

    Parameters
    ----------
    model : CodedSVC, RandomFeatureSVC or LandmarkSVC
        The fitted model.
    n_rows : int
        The number of rows that it was trained on.
    compared : list of dict
        For each C compared, ``C`` and its held-out ``accuracy``, and ``missed_tol`` where the gap
        of a model stayed above its ``tol``; empty when none were compared.
    folds : int or None
        The number of folds in which they were compared; None: none were.

    Returns
    -------
    dict
        The keys are ``rows``, ``features`` and ``classes`` (numbers of them), ``levels`` and
        ``codes_bytes`` of a model on codes, else ``n_landmarks`` or ``n_frequencies``, ``sigma``
        and ``encoded_bytes``; ``duality_gap`` (the largest) and ``passes`` (the most), where the
        model has them; ``model_bytes``, ``C``, ``cv`` (as ``compared``), ``folds``, and
        ``hold_out``, which is None.
    """
    facts: dict[str, Any] = {
        "rows": n_rows,
        "features": model.n_features_in_,
        "classes": len(model.classes_),
    }
    if not isinstance(model, CodedSVC):
        if "n_landmarks" in model.get_params():
            facts["n_landmarks"] = model.map_.n_outputs_
        else:
            facts["n_frequencies"] = len(model.map_.frequency_indices_)
        facts |= {"sigma": model.sigma_, "encoded_bytes": model.encoded_bytes_}
    else:
        facts |= {"levels": model.levels_.shape[1], "codes_bytes": model.codes_bytes_}
    gaps = vars(model).get("duality_gap_")
    if gaps is not None:
        facts |= {"duality_gap": float(gaps.max()), "passes": int(model.n_iter_.max())}
    facts |= {"model_bytes": model.model_bytes_, "C": model.C}
    return facts | {"cv": compared, "folds": folds, "hold_out": None}


def training_record(facts: Mapping[str, Any], **of_the_data: Any) -> dict[str, Any]:
    """Return the record of a training for its model file, without times, so that files agree.

    Parameters
    ----------
    facts : mapping
        What :func:`train_model` or :func:`training_facts` returned.
    **of_the_data
        Facts about the data, such as the name of the file, in what JSON can hold.

    Returns
    -------
    dict
        The facts about the data, then those of the training without times and without what the
        file holds elsewhere, such as its classes and C.
    """
    recorded = {name: fact for name, fact in facts.items() if name not in _NOT_RECORDED + _TIMES}
    return {**of_the_data, **recorded}


def _width(
    model: "MappedSVC",
    source: LabelledSource,
    costs: Any,
    folds: int | None,
    hold_out: float | None,
    seed: int,
    check_labels: Callable[[NDArray], object],
) -> float:
    """Return the width that is chosen on some thousand of the rows that are not held out."""
    from kmaps.models.mapped_rows import single
    from kmaps.models.widths import choose_width  # imports much, and other models do not need it

    for _ in source.blocks():
        pass  # the labels are known after all rows were read
    y = source.labels()
    check_labels(y)
    members = np.arange(len(y)) if hold_out is None else _parts(y, hold_out, seed)[0]
    chosen = np.sort(members[stratified_sample(y[members], _WIDTH_ROWS, seed)])
    found, start = [], 0
    for block in source.blocks():
        inside = chosen[(chosen >= start) & (chosen < start + block.shape[0])] - start
        found += [single(block[inside])] if len(inside) else []
        start += block.shape[0]
    choice = choose_width(
        model, stacked(found), y[chosen], costs, cv=folds or FOLDS, random_state=seed
    )
    return choice.sigma


def _parts(y: NDArray, part: float, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the numbers of the rows to train on, and of a stratified part that is held out."""
    left_out = np.sort(stratified_sample(y, max(1, round(part * len(y))), seed))
    members = np.setdiff1d(np.arange(len(y)), left_out)
    gone = np.setdiff1d(y[left_out], y[members])
    if len(gone):
        raise InputError(f"hold_out={part:g}: class {gone[0]} has no row left; hold out fewer")
    return members, left_out


def fit_and_warn(model: Any, rows: Any, y: NDArray) -> list[str]:
    """Train; return the problems that did not converge, which are warned of as well."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(rows, y)
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return [
        str(warning.message)
        for warning in caught
        if issubclass(warning.category, ConvergenceWarning)
    ]


def _choose_c(
    model: "CodedSVC | MappedSVC", rows: Any, y: NDArray, costs: Any, folds: int | None, seed: int
) -> list[dict[str, float]]:
    """Give the model the best C; return the accuracy of each, of a single one only with folds."""
    single = not isinstance(costs, str) and len(costs) == 1
    if single and folds is None:
        model.set_params(C=costs[0])
        return []
    folds = folds or FOLDS
    # A choice compares models that stop early; what a single C reaches is measured as it trains.
    if isinstance(model, CodedSVC) and not single:
        choice = choose_along_path(model, rows, y, costs, cv=folds, random_state=seed)
    else:
        choice = cross_validate(
            lambda of: along_c(model, rows.take(of), y[of]), costs, y, cv=folds, random_state=seed
        )
    model.set_params(C=choice.C)
    tried = zip(choice.grid, choice.accuracies, strict=True)
    return [
        {"C": C, "accuracy": accuracy} | ({"missed_tol": True} if C in choice.missed else {})
        for C, accuracy in tried
    ]
