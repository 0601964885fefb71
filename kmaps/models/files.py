"""Model files of every estimator: loading a model, and describing a file."""

from pathlib import Path
from typing import Any

from kmaps.kernels import KERNELS
from kmaps.models.landmark_svc import LandmarkSVC
from kmaps.models.mapped_svc import MappedSVC
from kmaps.models.random_features import RandomFeatureSVC
from kmaps.svm import CodedRidge, CodedSVC, CodedSVR, KernelSVC
from kmaps.svm.model_file import ModelFile

Model = CodedSVC | CodedSVR | CodedRidge | RandomFeatureSVC | LandmarkSVC | KernelSVC

ESTIMATORS: dict[str, type[Model]] = {  # by their names in model files
    cls.__name__: cls
    for cls in (CodedSVC, CodedSVR, CodedRidge, RandomFeatureSVC, LandmarkSVC, KernelSVC)
}


def load_model(path: str | Path) -> Model:
    """Return the model in a file that `kmaps train` or ``model.save(path)`` wrote.

    A file holds plain arrays and a header; nothing in it is executed. Its arrays are checked
    against each other before anything computes with them. A file that is missing, no model,
    damaged, of another version of the format, or of an estimator that this kmaps does not have
    raises InputError.

    Parameters
    ----------
    path : str or Path
        The model file.

    Returns
    -------
    CodedSVC, CodedSVR, CodedRidge, RandomFeatureSVC, LandmarkSVC or KernelSVC
        The fitted model. It has exactly the scores of the saved model, and its parameters that are
        numbers and words.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from kmaps import CodedSVC, load_model
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [1.0, 0.1], [0.9, 0.0]], dtype=np.float32)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     CodedSVC("chi2").fit(X, ["up", "up", "right", "right"]).save(f"{folder}/model.npz")
    ...     model = load_model(f"{folder}/model.npz")
    >>> model.predict(X).tolist()
    ['up', 'up', 'right', 'right']
    """
    return model_of(ModelFile(path))


def model_of(file: ModelFile) -> Model:
    """Return the model in an opened file, as :func:`load_model` does.

    Parameters
    ----------
    file : ModelFile
        The opened file, of `kmaps.svm.model_file`.

    Returns
    -------
    CodedSVC, CodedSVR, CodedRidge, RandomFeatureSVC, LandmarkSVC or KernelSVC
        The fitted model.
    """
    return file.one_of(ESTIMATORS).from_file(file)


def describe_model(path: str | Path) -> dict[str, Any]:
    """Return a description of a model file, in types that JSON has.

    A file that :func:`load_model` refuses raises InputError.

    Parameters
    ----------
    path : str or Path
        The model file.

    Returns
    -------
    dict
        The keys are ``estimator``, ``map`` ("exact" for the model of a kernel), ``kernel`` (None
        for a map without one), its parameters (``C``, ``loss``, …), ``features``,
        ``feature_names``, ``classes`` (None for a regression), ``levels`` (None with a width),
        ``sigma``, ``model_bytes``, ``file_bytes``, ``written`` (``time``, and the version of
        ``kmaps``) and ``record`` (how it was trained); the last two are empty when the file does
        not say. Sizes are in bytes.

    Examples
    --------
    >>> import tempfile
    >>> from kmaps import CodedSVC
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     CodedSVC("js", C=3.0).fit([[0.0], [0.4], [1.0]], [0, 0, 1]).save(f"{folder}/m.npz")
    ...     facts = describe_model(f"{folder}/m.npz")
    >>> facts["map"], facts["kernel"], facts["C"], facts["levels"], facts["classes"]
    ('exact', 'js', 3.0, 3, [0, 1])
    """
    file = ModelFile(path)
    model = model_of(file)
    map_text = model.kernel if isinstance(model, KernelSVC) else str(model.map_)
    exact = isinstance(model, KernelSVC) or map_text in KERNELS
    classes, with_width = vars(model).get("classes_"), (MappedSVC, KernelSVC)
    names = vars(model).get("feature_names_in_")
    return {
        "estimator": file.estimator,
        "map": "exact" if exact else map_text,
        "kernel": map_text if exact else file.record.get("kernel"),
        **file.parameters,
        "features": model.n_features_in_,
        "feature_names": None if names is None else names.tolist(),
        "levels": None if isinstance(model, with_width) else model.levels_.shape[1],
        "sigma": model.sigma_ if isinstance(model, with_width) else None,
        "classes": None if classes is None else classes.tolist(),
        "model_bytes": model.model_bytes_,
        "file_bytes": Path(path).stat().st_size,
        "written": file.written,
        "record": file.record,
    }
