"""Short labels of rows, in the papers' words: what tables, pages and figures show.

The parameters that a method is known by always show. Others show where the rows of the method
differ in them; those that are the same in all of them are said once, below the table.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from kmaps.bench.records.row import REFERENCES, Row, is_own
from kmaps.bench.records.vocabulary import (
    LEARNERS,
    SOLVERS,
    VOCABULARY,
    Wording,
    worded,
    words_of,
)


def short_labels(rows: Iterable[Row]) -> tuple[dict[str, str], list[str]]:
    """Return the labels of the rows of a table, and what holds for all rows of a method.

    Parameters
    ----------
    rows : iterable of Row

    Returns
    -------
    labels : dict
        By the identity of a row; different for different rows.
    said_once : list of str
        Such as ``"ANNFM: energy = 0.95, shared range"``.

    Examples
    --------
    >>> shared = {"energy": 0.95, "shared": True}
    >>> rows = [Row("exact"), Row("homogeneous", {"order": 1}),
    ...         Row("anchor", {"n_anchors": 40, "n_neighbors": 1, **shared}),
    ...         Row("anchor", {"n_anchors": 40, "n_neighbors": 2, **shared})]
    >>> labels, said_once = short_labels(rows)
    >>> list(labels.values())
    ['exact', 'homogeneous, r = 3', 'ANNFM, N = 40', '2-ANNFM, N = 40']
    >>> said_once
    ['ANNFM: energy = 0.95, shared range']
    """
    distinct = {row.identity: row for row in rows}
    table = _Table(list(distinct.values()))
    labels = {identity: table.label(row) for identity, row in distinct.items()}
    times = Counter(labels.values())
    for identity, row in distinct.items():
        if times[labels[identity]] > 1:  # values of parameters that have no word here
            labels[identity] = row.label
    return labels, table.said_once()


def short_label(row: Row) -> str:
    """Return the label of a row by itself.

    Examples
    --------
    >>> short_label(Row("spline", {"n_bins": 10, "degree": 3, "penalty": 1}))
    'spline, p = 3, s = 1, 10 bins'
    """
    return short_labels([row])[0][row.identity]


_SAID = {"coded": SOLVERS["coded"], "libsvm": "LIBSVM, on the kernel matrices of their outputs"}
"""What is said once of rows that are trained so; LIBLINEAR is what maps are for."""


class _Table:
    """The rows of a table, which decide what the label of one has to say."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.sizes_differ = len({row.size for row in rows}) > 1
        learned = [row for row in rows if _learner(row)]
        maps = {row.method for row in learned}
        self.one_map = maps.pop() if len(maps) == 1 else None  # of all learners of a trade-off
        solved = [row for row in rows if row.method not in REFERENCES]
        several = len({row.method for row in solved}) > 1
        solvers = {row.solver for row in solved}
        self.one_solver = solvers.pop() if several and len(solvers) == 1 else None

    def label(self, row: Row) -> str:
        parts = [*self._learner_parts(row), *self._map_parts(row)]
        if _differ(row.solver for row in self._of_method(row)):
            parts.append(SOLVERS.get(row.solver, row.solver))
        parts += self._settings(row, differing=True)
        if self.sizes_differ and row.size is not None:
            parts.append(f"n = {row.size:,}")
        return ", ".join(parts)

    def said_once(self) -> list[str]:
        """Return what the labels leave out, by method and by learner."""
        said: dict[str, list[str]] = {}
        if self.one_map:
            said["all learners"] = [f"on the {words_of(self.one_map).name}"]
        if self.one_solver in _SAID:
            said["all maps"] = [_SAID[self.one_solver]]
        for row in self.rows:
            name = self._name(row)
            of_map = said.setdefault("all learners" if row.method == self.one_map else name, [])
            of_map += _new(of_map, [row.method] if is_own(row.method) else [])
            of_map += _new(of_map, [*self._parameters(row, differing=False), *self._solver(row)])
            of_learner = said.setdefault(_learner(row), []) if _learner(row) else of_map
            of_learner += _new(of_learner, self._settings(row, differing=False))
        return [f"{name}: {', '.join(texts)}" for name, texts in said.items() if texts]

    def _of_method(self, row: Row) -> list[Row]:
        return [other for other in self.rows if other.method == row.method]

    def _name(self, row: Row) -> str:
        """Return the name of a row's method; of others' classes of one name their places."""
        name = words_of(row.method).name
        alike = {other.method for other in self.rows if words_of(other.method).name == name}
        return row.method if is_own(row.method) and len(alike) > 1 else name

    def _map_parts(self, row: Row) -> list[str]:
        words, name = words_of(row.method), self._name(row)
        for key, by_value in words.variants.items():
            if key in row.params:
                value = row.params[key]
                variant = by_value(value) if callable(by_value) else by_value.get(value, "{}")
                name = variant.format(name)
        shown = {key: row.params[key] for key in words.shown if key in row.params}
        if _shows_all(row):
            shown = dict(row.params)
        if "keep" in row.learner:
            shown.pop("n_frequencies", None)  # the learner's words have it
        texts = [worded(key, value, words.shown.get(key)) for key, value in shown.items()]
        names = [] if _learner(row) and row.method == self.one_map else [name]
        return [*names, *texts, *self._parameters(row, differing=True)]

    def _parameters(self, row: Row, *, differing: bool) -> list[str]:
        """Return the parameters that need not show: where the method's rows differ, or do not."""
        words, alike = words_of(row.method), self._of_method(row)
        return [
            worded(key, value, words.others.get(key))
            for key, value in row.params.items()
            if not _shows_all(row)
            and key not in {*words.shown, *words.variants}
            and _differ(other.params.get(key, _MISSING) for other in alike) == differing
        ]

    def _solver(self, row: Row) -> list[str]:
        """Return how a map's rows are all trained, unless all maps' are, or LIBLINEAR does."""
        if row.method in REFERENCES or row.solver == self.one_solver:
            return []
        alone = len({other.solver for other in self._of_method(row)}) == 1
        return [_SAID[row.solver]] if alone and row.solver in _SAID else []

    def _learner_parts(self, row: Row) -> list[str]:
        name = _learner(row)
        if name and "keep" in row.learner:
            name += f" {row.learner['keep']:,}"
            if "n_frequencies" in row.params:
                name += f" of {row.params['n_frequencies']:,}"
        return [name] if name else []

    def _settings(self, row: Row, *, differing: bool) -> list[str]:
        """Return the settings of a learner or solver: where its rows differ, or do not."""
        alike = [
            other
            for other in self._of_method(row)
            if (other.solver, _learner(other)) == (row.solver, _learner(row))
        ]
        return [
            worded(key, value, _SETTINGS.get(key, f"{key} = {{}}"))
            for key, value in row.learner.items()
            if key not in ("name", "keep")
            and _differ(other.learner.get(key, _MISSING) for other in alike) == differing
        ]


_MISSING = "\0"


def _rows(norm: str) -> str:
    return f"rows {norm.replace('gamma=', 'γ = ')}"


_SETTINGS: dict[str, Wording] = {
    "form": "{} form",
    "calibrate": {True: "calibrated", False: "not calibrated"},
    "normalize": _rows,
}


def _shows_all(row: Row) -> bool:
    """Return whether the parameters of a row always show: which ones matter is not known here."""
    return row.method not in VOCABULARY and not is_own(row.method)


def _new(known: Sequence[str], texts: Iterable[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text not in known]


def _learner(row: Row) -> str:
    """Return the words for a trade-off's learner; none for the exact kernel, its own learner."""
    name = row.learner.get("name", "")
    return "" if name == row.method else LEARNERS.get(name, name)


def _differ(values: Iterable[Any]) -> bool:
    return len({json.dumps(value, sort_keys=True) for value in values}) > 1
