"""Model files of every estimator."""

from pathlib import Path

from kmaps.errors import InputError
from kmaps.models.random_features import RandomFeatureSVC
from kmaps.svm import CodedRidge, CodedSVC, CodedSVR
from kmaps.svm.model_file import ModelFile

Model = CodedSVC | CodedSVR | CodedRidge | RandomFeatureSVC

ESTIMATORS: dict[
    str, type[CodedSVC] | type[CodedSVR] | type[CodedRidge] | type[RandomFeatureSVC]
] = {cls.__name__: cls for cls in (CodedSVC, CodedSVR, CodedRidge, RandomFeatureSVC)}
"""The estimators that model files are of, by the name that a file has for them."""


def load_model(path: str | Path) -> Model:
    """Return the model in a file that `kmaps train` or ``model.save(path)`` wrote.

    A file holds plain arrays and a header; nothing in it is executed. Its arrays are checked
    against each other before anything computes with them. The model, a `CodedSVC`, `CodedSVR`,
    `CodedRidge` or `RandomFeatureSVC`, has the very scores of the one that was saved, and those of
    its parameters that are numbers and words.

    Raises
    ------
    InputError
        When the file is missing, no model, damaged, of another version of the format, or of an
        estimator that this version of kmaps does not have.

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
    """Return the model in an opened file, as :func:`load_model` does."""
    if file.estimator not in ESTIMATORS:
        raise InputError(
            f"{file.path}: a model of {file.estimator!r}, this kmaps has {', '.join(ESTIMATORS)} "
            "only; use the kmaps that wrote it"
        )
    return ESTIMATORS[file.estimator].from_file(file)
