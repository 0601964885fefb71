"""A cell: a row on one split, under one kernel and reduction."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kmaps.bench.records.row import Row, in_words
from kmaps.features import Feature, make_feature
from kmaps.maps import MAP_VERSION, MAPS, resolved

if TYPE_CHECKING:
    from kmaps.data import Manifest, UserFiles


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One measurement of an experiment; its fields are columns of its record.

    ``row`` stands for the columns of the row, and ``C``, how C is chosen, for ``C_grid``,
    ``C_folds``, ``C_samples`` and ``C_unit_norm``. What a kind does not have is left at its
    default. ``source`` locates a dataset that does not come with kmaps; only its digest enters the
    key, and it is not recorded. The name of the experiment does not enter the key either.
    """

    kind: str
    experiment: str
    row: Row
    kernel: str = ""
    setting: str = ""
    dataset: str = ""
    source: "Manifest | UserFiles | None" = None
    protocol: dict[str, Any] = field(default_factory=dict)
    feature_name: str = ""
    feature_params: dict[str, Any] = field(default_factory=dict)
    normalize: str = ""
    split: int | None = None
    draw: int | None = None
    reduction: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    C: dict[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, Any]:
        """The cell as columns of its record."""
        apart = ("row", "C", "source", "feature_name")
        columns = {name: value for name, value in vars(self).items() if name not in apart}
        columns["features"] = self.features
        choice = {f"C_{name}": value for name, value in self.C.items()}
        version = self.feature.version if self.feature else None
        return {**columns, **self.row.columns, **choice, "feature_version": version}

    @property
    def features(self) -> str:
        """The features in words, with the parameters that the experiment gives; else ``""``."""
        return self.feature_name and f"{self.feature_name}{in_words(self.feature_params)}"

    @property
    def feature(self) -> Feature | None:
        """The features, with all their parameters; None where there are none."""
        return make_feature(self.feature_name, self.feature_params) if self.feature_name else None

    @property
    def seed(self) -> int:
        """Seed of the map and the solver: a function of what the cell is, not of other cells.

        It is the same for every solver, so that all of them have the same map.
        """
        row = Row(self.row.method, self.row.params)
        return seed_of(*self._data(), self.kernel, row.label, self.reduction)

    @property
    def choice_seed(self) -> int:
        """Seed of the samples and folds C is chosen on: the same for every method."""
        return seed_of(*self._data())

    def _data(self) -> tuple:
        protocol = json.dumps(self.protocol, sort_keys=True)
        return "C", self.dataset, protocol, self.features, self.normalize, self.split

    def key(self, digest: str) -> str:
        """Return the sha256 of the resolved configuration, the data's ``digest`` and the versions.

        The defaults of the parameters of maps and features are part of it.
        """
        config = self.columns | {"digest": digest, "map_version": MAP_VERSION}
        del config["experiment"], config["features"]
        config["params"] = self._resolved()
        if self.feature:
            config |= {"feature": self.feature.name, "feature_params": asdict(self.feature)}
        return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()

    def _resolved(self) -> dict[str, Any]:
        """Return the parameters of the map with their defaults."""
        if self.row.method not in MAPS:
            return dict(self.row.params)
        return resolved(self.row.method, self.kernel, self.row.params)


def seed_of(*names: object) -> int:
    """Return a seed below 2**31 that depends on the names alone.

    Examples
    --------
    >>> seed_of("mnist", 0) == seed_of("mnist", 0) != seed_of("mnist", 1)
    True
    """
    words = np.frombuffer(hashlib.sha256(repr(names).encode()).digest(), np.uint32)
    return int(np.random.SeedSequence(words.tolist()).generate_state(1)[0]) % 2**31
