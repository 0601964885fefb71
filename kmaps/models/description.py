"""What a model file says of its model, as names and values."""

from pathlib import Path
from typing import Any

from kmaps.kernels import KERNELS
from kmaps.models.files import model_of
from kmaps.models.random_features import RandomFeatureSVC
from kmaps.svm.model_file import ModelFile


def describe_model(path: str | Path) -> dict[str, Any]:
    """Return what a model file holds, in what JSON can hold.

    The keys are ``estimator``, ``map`` ("exact" for the model of a kernel), ``kernel`` (None for a
    map without one), its parameters (``C``, ``loss``, …), ``features``, ``feature_names``,
    ``classes`` (None for a regression), ``levels`` (None on random features), ``sigma``,
    ``model_bytes``, ``file_bytes`` and ``record``: how it was trained, empty when the file does not
    say.

    Examples
    --------
    >>> import tempfile
    >>> from kmaps import CodedSVC
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     CodedSVC("js", C=3.0).fit([[0.0], [0.4], [1.0]], [0, 0, 1]).save(f"{folder}/m.npz")
    ...     found = describe_model(f"{folder}/m.npz")
    >>> found["map"], found["kernel"], found["C"], found["levels"], found["classes"]
    ('exact', 'js', 3.0, 3, [0, 1])
    """
    file = ModelFile(path)
    model = model_of(file)
    map_text = str(model.map_)
    exact = map_text in KERNELS
    random = isinstance(model, RandomFeatureSVC)
    classes = vars(model).get("classes_")
    names = vars(model).get("feature_names_in_")
    return {
        "estimator": file.estimator,
        "map": "exact" if exact else map_text,
        "kernel": map_text if exact else file.record.get("kernel"),
        **file.parameters,
        "features": model.n_features_in_,
        "feature_names": None if names is None else names.tolist(),
        "levels": None if random else model.levels_.shape[1],
        "sigma": model.sigma_ if random else None,
        "classes": None if classes is None else classes.tolist(),
        "model_bytes": model.model_bytes_,
        "file_bytes": Path(path).stat().st_size,
        "record": file.record,
    }
