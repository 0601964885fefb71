"""A row of a table, as data: a method with its parameters, its solver or learner, and its size."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kmaps.bench.records import defaults

REFERENCES = (
    "linear",
    "hellinger",
    "exact",
    "exact-coded",
)  # the methods that maps are compared with

BY_ITSELF = "own"  # in records, the solver of a third-party classifier, which needs none


def is_third_party(method: str) -> bool:
    """Return whether a method is a place in Python, and no map or reference."""
    return "." in method


@dataclass(frozen=True)
class Row:
    """The keys that distinguish a line of a table within its kernel, reduction and setting.

    ``method`` is a reference, the name of a map, or the place in Python of a third-party
    estimator; ``params`` are those that the experiment names, without the kernel; ``solver`` is
    ``liblinear``, ``libsvm``, ``coded``, ``own`` of a third-party classifier, or empty;
    ``learner`` has the other settings of models on one map: ``form``, ``calibrate`` and
    ``normalize``; ``search``, the parameters that are chosen; or the ``name``, ``C`` and ``keep``
    of a trade-off's learner. ``name`` is what the experiment calls the row in tables and figures,
    or empty; it distinguishes no rows.
    """

    method: str
    params: Mapping[str, Any] = field(default_factory=dict)
    solver: str = ""
    learner: Mapping[str, Any] = field(default_factory=dict)
    size: int | None = None  # training samples, if rows differ in their number
    name: str = field(default="", compare=False)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Row":
        """Return the row of a record, with the name that it got when the records were read."""
        columns = {name: record[name] for name in ROW_COLUMNS}
        return cls(**columns, name=record.get(NAME, ""))

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a record that make its row."""
        return {name: getattr(self, name) for name in ROW_COLUMNS}

    @property
    def all_params(self) -> dict[str, Any]:
        """The parameters that the method is made with: published defaults where none is named."""
        return defaults.filled(defaults.of_method(self.method), self.params)

    @property
    def identity(self) -> str:
        """The row as text that is equal for equal rows, whatever the order of parameters, and
        whether or not a published default is named."""
        return json.dumps(self.columns | {"params": self.all_params}, sort_keys=True)

    @property
    def names(self) -> dict[str, Any]:
        """The names by which selections pick a row, with their values.

        A map's parameter ``method`` takes the place of the map's name. What solves its problem by
        itself, an exact kernel or a third-party classifier, has no solver that a map could share.
        """
        learner = {"learner" if key == "name" else key: v for key, v in self.learner.items()}
        has_solver = self.solver not in ("", BY_ITSELF) and self.method not in REFERENCES
        solver = {"solver": self.solver} if has_solver else {}
        size = {} if self.size is None else {"size": self.size}
        return {"method": self.method, **self.all_params, **solver, **learner, **size}

    @property
    def label(self) -> str:
        """The row in words, every parameter named; a solver where it is not the usual one."""
        learner = dict(self.learner)
        name = str(learner.pop("name", ""))
        shown = dict(self.params)
        if self.solver == "coded" and self.method not in REFERENCES:
            shown["solver"] = "coded"
        searched = {"search": ",".join(learner["search"])} if "search" in learner else {}
        shown |= learner | searched
        if self.size is not None:
            shown["n"] = self.size
        words = [self.method, *(f"{key}={value}" for key, value in shown.items())]
        return " ".join(words if name in ("", self.method) else [name, *words])

    def without(self, *names: str) -> "Row":
        """Return the row without parameters, ``"solver"``, a learner's settings, or ``"size"``."""
        return replace(
            self,
            params={key: value for key, value in self.params.items() if key not in names},
            solver="" if "solver" in names else self.solver,
            learner={key: value for key, value in self.learner.items() if key not in names},
            size=None if "size" in names else self.size,
        )


def in_words(params: Mapping[str, Any]) -> str:
    """Return parameters as they follow a name: each as `` name=value``."""
    return "".join(f" {key}={value}" for key, value in params.items())


NAME_KEY = "name"  # of an entry of an experiment: of its rows in tables and figures
NAMED = ("baselines", "maps", "classifiers")  # the lists whose entries may have a name
NAME = "row_name"
"""The key of a row's name in a record that was read with names; files of records have none."""

ROW_COLUMNS = ("method", "params", "solver", "learner", "size")  # make a record's row
