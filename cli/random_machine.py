"""The machines of the exponential kernels: LIBLINEAR on random features, and their files."""

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from kmaps.errors import InputError, KmapsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Report = Callable[[str, int, int], None]  # of a stage: what is done, and the total

MACHINE = "random features"
"""What the header of a model file calls such a machine."""

_PARAMETERS = ("kernel", "order", "n_frequencies", "structure", "random_state")
_VERSIONS = ("frequency_version", "map_version")


class RandomMachine:
    """A fitted map of random projections and the linear machine on it.

    Parameters
    ----------
    name : str
        Of the map.
    encoder : RandomFourierMap or GeneralizedRBFMap
        Fitted, or to be fitted; with a number as ``random_state``.
    linear : LiblinearSVC
    """

    def __init__(self, name: str, encoder: Any, linear: Any) -> None:
        self.name, self.encoder, self.linear = name, encoder, linear

    @property
    def classes_(self) -> "NDArray":
        """The labels."""
        return self.linear.classes_

    @property
    def n_features_in_(self) -> int:
        """Columns before encoding."""
        return self.encoder.n_features_in_

    def decision_function(self, X: Any) -> "NDArray":
        """Score rows as LiblinearSVC does."""
        return self.linear.decision_function(self.encoder.transform(_single(X)))

    def fit(self, source: Any, costs: list[float], folds: int, report: Report) -> dict[str, Any]:
        """Encode the rows of a file, choose C, train; return what there is to tell.

        Parameters
        ----------
        source : object
            With ``sample()``, ``blocks()`` and, after those, ``labels()``.
        costs : list of float
            Values of C, ascending; the smallest of equally good ones is chosen.
        folds : int
            Of the cross-validation.
        report : callable
            Told how far choosing C is.
        """
        import numpy as np

        start = perf_counter()
        self.encoder.fit(_single(source.sample()))
        rows = np.concatenate([self.encoder.transform(_single(X)) for X in source.blocks()])
        y = source.labels()
        encoded = perf_counter()
        scores = self._compare(rows, y, costs, folds, report) if len(costs) > 1 else []
        self.linear.set_params(C=costs[scores.index(max(scores))] if scores else costs[0])
        chosen = perf_counter()
        self.linear.fit(rows, y)
        return {
            "rows": len(rows),
            "features": self.n_features_in_,
            "projections": len(self.encoder.projections_),
            "sigma": self.encoder.sigma_,
            "classes": len(self.classes_),
            "encoded_bytes": rows.nbytes,
            "model_bytes": self.linear.model_bytes_,
            "C": self.linear.C,
            "cv": [{"C": C, "accuracy": score} for C, score in zip(costs, scores, strict=False)],
            "folds": folds if scores else None,
            "encode_s": encoded - start,
            "cv_s": chosen - encoded,
            "train_s": perf_counter() - chosen,
        }

    def _compare(
        self, rows: "NDArray", y: "NDArray", costs: list[float], folds: int, report: Report
    ) -> list[float]:
        """Return the cross-validated accuracy of each C."""
        import numpy as np
        from sklearn.base import clone

        right = np.zeros(len(costs))
        fold = stratified(y, folds, self.linear.random_state)
        for i in range(folds):
            out = fold == i
            for j, C in enumerate(costs):
                model = clone(self.linear).set_params(C=C).fit(rows[~out], y[~out])
                right[j] += np.sum(model.predict(rows[out]) == y[out])
                report("choose C", i * len(costs) + j + 1, folds * len(costs))
        return (right / len(y)).tolist()

    def save(self, path: str | Path, *, force: bool) -> None:
        """Write the machine: weights, and what makes the same projections again."""
        from kmaps.maps import MAP_VERSION
        from kmaps.svm.model_file import write_model

        parameters = self.encoder.get_params()
        header = {
            "machine": MACHINE,
            "map": self.name,
            "parameters": {name: parameters[name] for name in _PARAMETERS if name in parameters},
            "sigma": self.encoder.sigma_,
            "n_features": self.n_features_in_,
            "key": str(self.encoder.key_),  # of 64 bits, which not every reader of JSON keeps
            "frequency_version": self.encoder.frequency_version_,
            "map_version": MAP_VERSION,
            "multiclass": self.linear.multiclass,
        }
        arrays = {
            "coef": self.linear.coef_,
            "intercept": self.linear.intercept_,
            "classes": self.classes_,
        }
        write_model(path, header, arrays, force=force)


def load_machine(path: str | Path) -> Any:
    """Return the machine in a file of ``kmaps train``: a RandomMachine or a CodedSVC.

    Raises
    ------
    InputError
        When the file is missing, damaged, no model, or its projections cannot be made again.
    """
    from kmaps.svm import CodedSVC, LiblinearSVC
    from kmaps.svm.model_file import read_model

    header, arrays = read_model(path, ["classes"])
    if header.get("machine") != MACHINE:
        return CodedSVC.load(path)
    try:
        encoder = _encoder(path, header)
        linear = LiblinearSVC(multiclass=header["multiclass"])
        linear.classes_, linear.n_features_in_ = arrays["classes"], arrays["coef"].shape[1]
        linear.coef_, linear.intercept_ = arrays["coef"], arrays["intercept"]
    except KmapsError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: a damaged kmaps model ({error!r}); train it again") from None
    return RandomMachine(header["map"], encoder, linear)


def _encoder(path: str | Path, header: dict[str, Any]) -> Any:
    """Return the map that a header describes, with the very projections it was trained on."""
    import numpy as np

    from kmaps.maps import MAP_VERSION, MAPS
    from kmaps.maps.frequencies import FREQUENCY_VERSION

    for name, own in zip(_VERSIONS, (FREQUENCY_VERSION, MAP_VERSION), strict=True):
        if header[name] != own:
            raise InputError(
                f"{path}: trained with {name.replace('_', ' ')} {header[name]}, this kmaps has "
                f"{own} and makes other projections; train it again, or use the kmaps that wrote it"
            )
    encoder = MAPS[header["map"]](sigma=header["sigma"], **header["parameters"])
    encoder.fit(np.zeros((1, header["n_features"]), np.float32))
    if str(encoder.key_) != header["key"]:
        raise InputError(
            f"{path}: its projections cannot be made again from its seed (another key comes of "
            "it here); train it again"
        )
    return encoder


def _single(X: Any) -> Any:
    """Return rows in single precision."""
    import numpy as np

    return X.astype(np.float32)


def stratified(y: "NDArray", folds: int, seed: int) -> "NDArray":
    """Return the fold of each row: every class spread evenly, in random order."""
    import numpy as np
    from sklearn.model_selection import StratifiedKFold

    fold = np.empty(len(y), np.intp)
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed).split(y, y)
    for number, (_, held_out) in enumerate(splits):
        fold[held_out] = number
    return fold
