"""From a dataset to a matrix: the stages of a feature, kept in a cache."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from kmaps.errors import ConfigError, DataError, InputError, suggest
from kmaps.features.base import Arrays, Feature, LearnedFeature, Picture
from kmaps.features.bow import DenseSiftBow, Phow
from kmaps.features.hog import HogPyramid
from kmaps.features.intensity import Intensity
from kmaps.features.normalize import Matrix, get_normalization
from kmaps.features.phog import Phog
from kmaps.features.pictures import Images, as_grey, load_picture, picture_name
from kmaps.features.store import Report, Stage, key_of, write_whole

FEATURES: dict[str, type[Feature]] = {
    feature.name: feature for feature in (Intensity, HogPyramid, Phog, DenseSiftBow, Phow)
}

Bad = tuple[int, str]  # a picture that cannot be used, and why
OnBad = Callable[[int, str], object]


def make_feature(name: str, parameters: Mapping[str, Any] | None = None) -> Feature:
    """Return a feature by its name, with its parameters checked.

    Parameters
    ----------
    name : str
        A key of :data:`FEATURES`.
    parameters : mapping, optional
        Some of the fields of its class; lists stand for tuples.

    Raises
    ------
    ConfigError
        If a name is unknown or a value unfit.

    Examples
    --------
    >>> make_feature("phog", {"orientations": 8}).orientations
    8
    """
    if name not in FEATURES:
        raise ConfigError(
            f"unknown features {name!r}{suggest(name, FEATURES)} (known: {', '.join(FEATURES)})"
        )
    known, given = parameters_of(name), parameters or {}
    for key in given:
        if key not in known:
            hint = suggest(key, known) or f" (known: {', '.join(known) or 'none'})"
            raise ConfigError(f"{name}: unknown parameter {key!r}{hint}")
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    return FEATURES[name](**values)


def parameters_of(name: str) -> list[str]:
    """Return the names of a feature's parameters."""
    return [field.name for field in fields(FEATURES[name])]


def extract(
    dataset: Images,
    name: str = "intensity",
    normalize: str = "none",
    *,
    rows: Sequence[int] | None = None,
    train: Sequence[int] | None = None,
    cache: str | Path | None = None,
    progress: Report | None = None,
    on_bad: OnBad | None = None,
    **parameters: Any,
) -> Matrix:
    """Return the features of a dataset's pictures.

    Parameters
    ----------
    dataset : Dataset
        As :func:`kmaps.data.load_dataset` returns it.
    name : str
        A key of :data:`FEATURES`.
    normalize : str
        What becomes one in each row (:func:`~kmaps.features.normalize.get_normalization`):
        ``none``, ``l1``, ``l2`` or ``gamma=NUMBER``; rows of zeros stay.
    rows : sequence of int, optional
        The pictures wanted, in this order; by default all of them.
    train : sequence of int, optional
        The training pictures, for features that learn from them, and from no others.
    cache : path, optional
        A folder where what a block of pictures leaves is kept, by the dataset's digest and the
        parameters; a later call, also after an interruption, goes on from there.
    progress : callable, optional
        ``progress(label, pictures done, pictures in all)``.
    on_bad : callable, optional
        ``on_bad(row, reason)`` is called for each of the wanted pictures that is unreadable or
        too small; nothing is learned from it, and its row, that of a blank picture, is to be left
        out. Without it, the first one raises DataError.
    **parameters
        Of the feature: the fields of its class.

    Returns
    -------
    ndarray of float32, shape (n, d), or csr_array of float32
        Sparse for bags of words.

    Raises
    ------
    ConfigError
        If a name is unknown, a parameter unfit or ``train`` missing.
    InputError
        If the features do not fit the dataset.
    DataError
        If a picture cannot be used; the message names it.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> images = np.array([[[1, 3]], [[0, 0]]], np.uint8)
    >>> two = SimpleNamespace(name="two", images=images, max_level=4)
    >>> extract(two)
    array([[0.25, 0.75],
           [0.  , 0.  ]], dtype=float32)
    """
    feature = make_feature(name, parameters)
    normalized = get_normalization(normalize)
    wanted = np.arange(len(dataset.images)) if rows is None else np.asarray(rows, np.intp)
    order = np.unique(wanted)
    stage, label = _last_stage(feature, dataset, train, cache, progress, strict=on_bad is None)
    select = partial(_csr_rows, feature.n_columns) if feature.learns else _dense_rows
    parts = stage.visit(order, select, label, progress)
    _tell_bad(dataset, [bad for _, bad in parts], on_bad)
    vectors = [part for part, _ in parts]
    X = sparse.vstack(vectors, "csr") if feature.learns else np.concatenate(vectors)
    if not np.array_equal(order, wanted):
        X = X[np.searchsorted(order, wanted)]
    return normalized(X)


def prepare(
    dataset: Images,
    name: str,
    *,
    cache: str | Path,
    train: Sequence[int] | None = None,
    progress: Report | None = None,
    on_bad: OnBad | None = None,
    **parameters: Any,
) -> None:
    """Fill the cache, so that :func:`extract` with the same arguments only reads it.

    Parameters
    ----------
    dataset, name, cache, train, progress, on_bad, **parameters
        As in :func:`extract`, which also says what is raised.
    """
    feature = make_feature(name, parameters)
    stage, label = _last_stage(feature, dataset, train, cache, progress, strict=on_bad is None)
    if feature.cached:
        every = np.arange(len(dataset.images))
        _tell_bad(dataset, stage.visit(every, _bad_rows, label, progress), on_bad)


def _last_stage(
    feature: Feature,
    dataset: Images,
    train: Sequence[int] | None,
    cache: str | Path | None,
    progress: Report | None,
    *,
    strict: bool,
) -> tuple[Stage, str]:
    """Return the stage that has the vectors, and what to call it."""
    name, label = feature.name, f"{dataset.name} {feature.name}"
    if feature.uniform and not isinstance(dataset.images, np.ndarray):
        raise InputError(
            f"{dataset.name}: the pictures differ in size, {name} needs them all of one shape; "
            "use other features"
        )
    if feature.learns and train is None:
        raise ConfigError(f"{name} learns from the training pictures: name them")
    folder = Path(cache, dataset.name) if cache is not None and feature.cached else None
    stage = _described(feature, dataset, folder, strict=strict)
    if feature.learns:
        stage = _encoded(feature, stage, np.unique(train), label, progress)
    return stage, label


def _dense_rows(arrays: Arrays, rows: NDArray[np.intp], first: int) -> tuple[Matrix, list[Bad]]:
    return arrays["vectors"][rows], _bad_rows(arrays, rows, first)


def _csr_rows(
    n_columns: int, arrays: Arrays, rows: NDArray[np.intp], first: int
) -> tuple[Matrix, list[Bad]]:
    content = arrays["data"], arrays["indices"], arrays["indptr"]
    block = sparse.csr_array(content, shape=(len(arrays["indptr"]) - 1, n_columns))
    return block[rows], _bad_rows(arrays, rows, first)


def _bad_rows(arrays: Arrays, rows: NDArray[np.intp], first: int) -> list[Bad]:
    reasons = dict(zip(arrays.get("bad", ()), arrays.get("reasons", ()), strict=True))
    return [(int(first + row), str(reasons[row])) for row in rows if row in reasons]


def _tell_bad(dataset: Images, blocks: list[list[Bad]], on_bad: OnBad | None) -> None:
    for row, reason in (bad for block in blocks for bad in block):
        if on_bad is None:
            raise _unusable(dataset, row, reason)
        on_bad(row, reason)


def _described(feature: Feature, dataset: Images, folder: Path | None, *, strict: bool) -> Stage:
    """Return the first stage of a feature."""

    def compute(start: int, stop: int) -> Arrays:
        if feature.uniform:
            return feature.describe(as_grey(dataset.images[start:stop], dataset.max_level))
        pictures, bad = [], {}
        for row in range(start, stop):
            try:
                pictures.append(_fit_picture(feature, dataset, row))
            except InputError as error:
                if strict:
                    raise _unusable(dataset, row, str(error)) from None
                pictures.append(np.zeros((feature.smallest, feature.smallest), np.float32))
                bad[row - start] = str(error)
        noted = {"bad": np.array(list(bad)), "reasons": np.array(list(bad.values()))} if bad else {}
        return {**feature.describe(pictures), **noted}

    about = {
        "features": feature.name,
        "version": feature.version,
        "parameters": feature.description(),
        "pictures": len(dataset.images),
        "block_pictures": feature.block_pictures,
    }
    if folder is not None:
        about["digest"] = dataset.digest
        folder = folder / f"{feature.name}-{key_of(**about)}"
    return Stage(compute, len(dataset.images), feature.block_pictures, folder, about)


def _fit_picture(feature: Feature, dataset: Images, row: int) -> Picture:
    picture = load_picture(dataset.images[row], dataset.max_level, feature.longest)
    height, width = picture.shape
    if min(height, width) < feature.smallest:
        raise InputError(
            f"{width} × {height} pixels (width × height) are too few, {feature.name} needs "
            f"{feature.smallest} × {feature.smallest}"
        )
    return picture


def _unusable(dataset: Images, row: int, reason: str) -> DataError:
    return DataError(
        f"{dataset.name}: {picture_name(dataset, row)}: {reason}; --skip-bad leaves such pictures "
        "out"
    )


def _encoded(
    feature: LearnedFeature,
    stage: Stage,
    train: NDArray[np.intp],
    label: str,
    progress: Report | None,
) -> Stage:
    """Learn from the training pictures and return the second stage."""
    learned_from = hashlib.sha256(train.astype("<i8").tobytes()).hexdigest()
    about = {**stage.about, "parameters": asdict(feature), "training_pictures": learned_from}
    folder = stage.folder
    if folder is not None:
        folder = folder.with_name(f"{feature.name}-{key_of(**about)}")
    learned = _learned(feature, stage, train, folder, label, progress)

    def compute(start: int, stop: int) -> Arrays:
        arrays = stage.block(start // stage.block_pictures)
        noted = {key: arrays[key] for key in ("bad", "reasons") if key in arrays}
        return {**feature.encode(arrays, learned), **noted}

    return Stage(compute, stage.n_pictures, stage.block_pictures, folder, about)


def _learned(
    feature: LearnedFeature,
    stage: Stage,
    train: NDArray[np.intp],
    folder: Path | None,
    label: str,
    progress: Report | None,
) -> NDArray:
    kept = None if folder is None else folder / "learned.npy"
    if kept is not None and kept.exists():
        return np.load(kept)

    def sample(arrays: Arrays, rows: NDArray[np.intp], first: int) -> NDArray:
        good = np.setdiff1d(rows, arrays.get("bad", ()))
        return feature.sample(arrays, good, len(train), seed=first)

    samples = np.concatenate(stage.visit(train, sample, f"{label}: training pictures", progress))
    if progress is not None:
        progress(f"{label}: learning from {len(samples)} samples", 0, 1)
    with threadpool_limits(1):
        learned = feature.fit(samples)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, lambda file: np.save(file, learned))
    return learned
