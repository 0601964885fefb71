"""The cells of an experiment, their names, seeds and keys."""

import hashlib
import inspect
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kmaps.bench.kinds.load import Experiment
from kmaps.bench.records.file import cell_name
from kmaps.bench.spec.map_rows import map_arguments, map_rows
from kmaps.bench.spec.solver_rows import solver_rows
from kmaps.features import make_feature
from kmaps.kernels import KERNELS
from kmaps.maps import MAP_VERSION, MAPS


@dataclass(frozen=True)
class Cell:
    """One measurement: a method on one split, with one multi-class reduction.

    The fields are the columns of its record (:data:`kmaps.bench.records.file.COLUMNS`), except for
    ``C``, the choice of C: ``grid``, ``folds`` and ``samples``.
    """

    experiment: str
    dataset: str
    protocol: dict[str, Any]
    features: str
    feature_params: dict[str, Any]
    normalize: str
    split: int
    kernel: str
    method: str
    params: dict[str, Any]
    reduction: str
    learner: dict[str, Any]
    C: dict[str, Any]

    @property
    def label(self) -> str:
        """Name of the row in tables: the method, its parameters, and its solver if it is coded.

        Also the number of samples, when they are a part of the official training set.
        """
        solver, part = {}, {}
        if self.method in MAPS and self.learner["solver"] == "coded":
            form = self.learner["form"]
            solver = {"solver": "coded"} | ({} if form == "auto" else {"form": form})
        if self.protocol.keys() == {"official", "train"}:
            part = {"n": self.protocol["train"]}
        return _label(self.method, {**self.params, **solver, **part})

    @property
    def name(self) -> str:
        """The cell in words."""
        return cell_name({**asdict(self), "label": self.label})

    @property
    def seed(self) -> int:
        """Seed of the map and the solver: a function of what the cell is, not of the others.

        The same with every solver, so that they have the same map.
        """
        return seed_of(*self._data(), self.kernel, _label(self.method, self.params), self.reduction)

    @property
    def choice_seed(self) -> int:
        """Seed of the samples and folds C is chosen on: the same for every method."""
        return seed_of(*self._data())

    @property
    def feature_name(self) -> str:
        """The name of the features, without their parameters."""
        return self.features.split(" ")[0]

    def _data(self) -> tuple:
        protocol = json.dumps(self.protocol, sort_keys=True)
        return "C", self.dataset, protocol, self.features, self.normalize, self.split

    def key(self, digest: str) -> str:
        """Return the sha256 of the resolved configuration, the data and the map version.

        The experiment's name is not part of it, the defaults of the map's parameters are.
        """
        config = asdict(self)
        del config["experiment"], config["feature_params"]
        feature = make_feature(self.feature_name, self.feature_params)
        config["features"] = feature.name
        if parameters := asdict(feature):
            config |= {"feature_params": parameters, "feature_version": feature.version}
        if self.method in MAPS:
            signature = inspect.signature(MAPS[self.method]).bind(
                **map_arguments(self.method, self.kernel, self.params)
            )
            signature.apply_defaults()
            config["params"] = signature.arguments
        config |= {"digest": digest, "map_version": MAP_VERSION}
        return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()


def _label(name: str, parameters: dict[str, Any]) -> str:
    return " ".join([name, *(f"{key}={value}" for key, value in parameters.items())])


def seed_of(*names: object) -> int:
    """Return a seed below 2**31 that depends on the names alone.

    Examples
    --------
    >>> seed_of("mnist", 0) == seed_of("mnist", 0) != seed_of("mnist", 1)
    True
    """
    words = np.frombuffer(hashlib.sha256(repr(names).encode()).digest(), np.uint32)
    return int(np.random.SeedSequence(words.tolist()).generate_state(1)[0]) % 2**31


def cells(experiment: Experiment) -> list[Cell]:
    """Return the cells of an experiment, split by split.

    Within a split: each reduction, with the baselines first; the linear one has no kernel and
    comes once. Of a scaling experiment all sizes, the smallest first.
    """
    rows = list(_rows(experiment))
    choice = experiment.C.model_dump()
    if len(choice["grid"]) == 1:
        choice = {"grid": choice["grid"], "unit_norm": choice["unit_norm"]}
    found = [
        Cell(
            experiment=experiment.experiment,
            dataset=experiment.dataset.name,
            protocol=protocol,
            features=_label(experiment.features.name, experiment.features.parameters),
            feature_params=experiment.features.parameters,
            normalize=experiment.features.normalize,
            split=split,
            kernel=kernel,
            method=method,
            params=params,
            reduction=reduction,
            learner=learner,
            C=choice,
        )
        for split in range(experiment.splits)
        for reduction in experiment.reductions
        for method, kernel, params, learner in rows
        for protocol in experiment.protocols(method)
    ]
    if experiment.kind == "scaling":
        found.sort(key=lambda cell: cell.protocol["train"])
    return found


def _rows(experiment: Experiment) -> Iterator[tuple[str, str, dict, dict]]:
    settings, kernels = experiment.learner.settings, experiment.kernels
    if "linear" in experiment.baselines:
        yield "linear", "", {}, settings("liblinear")
    if "exact" in experiment.baselines:
        for kernel in kernels:
            yield "exact", kernel, {}, {"solver": "libsvm"}
    if "exact-coded" in experiment.baselines:
        for kernel in (kernel for kernel in kernels if kernel in KERNELS):
            yield "exact-coded", kernel, {}, {**settings("coded"), "form": "auto"}
    for entry in experiment.maps:
        for kernel, params in map_rows(entry, kernels):
            for row in solver_rows(entry, experiment.learner.solver):
                yield entry["map"], kernel, params, {**settings(row["solver"]), **row}
