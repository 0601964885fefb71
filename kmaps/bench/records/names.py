"""Short labels of rows, in the papers' words, for tables, pages and figures.

First the words for methods, their parameters, solvers and learners; then the labels, made last, of
all rows of a table together.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any

import yaml

from kmaps.bench.records.row import BY_ITSELF, REFERENCES, Row, is_third_party

Wording = str | Mapping[Any, str] | Callable[[Any], str]
"""How a value is written: a text around ``{}``, a text for each value, or a function."""


@dataclass(frozen=True)
class Words:
    """How a method is written, as the first lines of ``words.yaml`` describe it."""

    name: str
    shown: Mapping[str, Wording] = field(default_factory=dict)
    others: Mapping[str, Wording] = field(default_factory=dict)
    variants: Mapping[str, Mapping[Any, str] | Callable[[Any], str]] = field(default_factory=dict)


def _period(period: float | str | None) -> str:
    if period is None:
        return "published period"
    return f"{period} period" if isinstance(period, str) else f"Λ = {plain(period)}"


_FORMULAS: dict[str, Callable[[Any], str]] = {
    "=outputs": lambda order: f"r = {2 * order + 1}",
    "=outputs_of_both_signs": lambda order: f"r = {2 * (2 * order + 1)}",
    "=neighbours": lambda n: "{}" if n == 1 else f"{n}-{{}}",
    "=period": _period,
    "=pool": lambda p: f"{p} pool" if isinstance(p, str) else f"pool Ω{'₀₁₂₃₄₅₆₇₈₉'[p]}",
    "=ratio": lambda ratio: f"ratio {plain(ratio)}" if ratio is not None else "ratio of the data",
}


def _read_words() -> dict[str, Words]:
    text = (files("kmaps.bench.records") / "words.yaml").read_text(encoding="utf-8")
    read = yaml.safe_load(text)
    for words in read.values():
        for group in words.keys() - {"name"}:
            for name, wording in words[group].items():
                if str(wording).startswith("="):
                    words[group][name] = _FORMULAS[wording]
    return {method: Words(**words) for method, words in read.items()}


VOCABULARY = _read_words()

LEARNERS: dict[str, str] = {
    "sparse-svm": "sparse SVM",
    "sparse-lr": "sparse LR",
    "group-hinge": "group, hinge",
}
"""The words for learners of trade-offs; one that is not here goes by its name."""

SOLVERS: dict[str, str] = {  # the solvers of a classification in words
    "coded": "on codes",
    "liblinear": "LIBLINEAR",
    "libsvm": "LIBSVM",
    BY_ITSELF: "by itself",
}


def words_of(method: str) -> Words:
    """Return the words for a method; its class for one without any."""
    return VOCABULARY.get(method, Words(method.rpartition(".")[2]))


def plain(value: Any) -> str:
    """Return a value as it is printed."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,g}" if isinstance(value, float) else str(value)


def worded(name: str, value: Any, wording: Wording | None) -> str:
    """Write a parameter, by its name where there are no words for it."""
    if isinstance(wording, str):
        return wording.format(plain(value))
    return _word(wording, value) or f"{name.replace('_', ' ')} = {plain(value)}"


def _word(wording: Mapping[Any, str] | Callable[[Any], str] | None, value: Any) -> str:
    """Return the word for a value; nothing where it is of a type that no experiment names."""
    try:
        return wording(value) if callable(wording) else (wording or {}).get(value, "")
    except (TypeError, ValueError, AttributeError, LookupError):
        return ""


def short_labels(rows: Iterable[Row], *, brief: bool = False) -> tuple[dict[str, str], list[str]]:
    """Return the labels of a table's rows by their identity, and the sentences below the table.

    The parameters that a method is known by always show. Others show where the rows of the method
    differ in them; equal ones are stated once, below the table. A row that the experiment names
    goes by its name, and what the name stands for is stated below the table. Brief labels are for
    figures.
    """
    distinct = {row.identity: row for row in rows}
    table = (_Brief if brief else _Table)(list(distinct.values()))
    labels = {identity: table.label(row) for identity, row in distinct.items()}
    times = Counter(labels.values())
    for identity, row in distinct.items():
        if times[labels[identity]] > 1:  # values of parameters without a word here
            labels[identity] = row.label
    return labels, table.said_once()


def short_names(rows: Iterable[Row]) -> dict[str, str]:
    """Return the beginnings of the labels of a table's rows, by the identity of a row."""
    rows = list(rows)
    table = _Table(rows)
    return {row.identity: _learner(row) or table.name(row) for row in rows}


_SAID = {"coded": SOLVERS["coded"], "libsvm": "LIBSVM, on the kernel matrices of their outputs"}
"""Sentences below a table on the rows of a solver; LIBLINEAR, the usual one, has none."""

_SETTINGS: dict[str, Wording] = {
    "form": "{} form",
    "calibrate": {True: "calibrated", False: "not calibrated"},
    "search": lambda searched: f"{', '.join(searched).replace('_', ' ')} chosen",
    "normalize": lambda norm: f"rows {norm.replace('gamma=', 'γ = ')}",
}


class _Table:
    """The parameters in which the rows of a table differ, which decide each row's label."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.sizes_differ = len({row.size for row in rows}) > 1
        self.one_map = _only(row.method for row in rows if _learner(row))  # of all learners
        solved = [row for row in rows if row.method not in REFERENCES]
        several = len({row.method for row in solved}) > 1
        self.one_solver = _only(row.solver for row in solved) if several else None
        alike = defaultdict(list)
        by_learner = defaultdict(list)
        methods = defaultdict(set)
        for row in rows:
            alike[_group(row)].append(row)
            by_learner[_trained(row)].append(row.learner)
            methods[words_of(row.method).name].add(row.method)
        self.solvers: dict[Group, set[str]] = {}
        self.params: dict[Group, set[str]] = {}
        for group, rows_of_group in alike.items():
            self.solvers[group] = {row.solver for row in rows_of_group}
            self.params[group] = _differing(row.params for row in rows_of_group)
        self.learner = {trained: _differing(learners) for trained, learners in by_learner.items()}
        self.names: dict[str, str] = {}
        for name, same_name in methods.items():
            for method in same_name:
                is_ambiguous = is_third_party(method) and len(same_name) > 1
                self.names[method] = method if is_ambiguous else name

    def label(self, row: Row) -> str:
        parts = [*_learner_parts(row), *self._map_parts(row)]
        if len(self.solvers[_group(row)]) > 1:
            parts.append(SOLVERS.get(row.solver, row.solver))
        parts += self._settings(row, differing=True)
        if self.sizes_differ and row.size is not None:
            parts.append(f"n = {row.size:,}")
        return ", ".join(parts)

    def said_once(self) -> list[str]:
        """Return the parameters that the labels leave out, by method and by learner."""
        # Of each map and learner its texts, each once, in the order of the rows.
        texts_of: dict[str, dict[str, None]] = {}
        if self.one_map:
            texts_of["all learners"] = {f"on the {words_of(self.one_map).name}": None}
        if self.one_solver in _SAID:
            texts_of["all maps"] = {_SAID[self.one_solver]: None}
        for row in self.rows:
            name = "all learners" if row.method == self.one_map else self.names[row.method]
            method = [row.method] if is_third_party(row.method) else []
            if row.name:
                name = row.name
                method = method or [self.name_of_map(row)]
            parameters = self._parameters(row, differing=False)
            map_texts = texts_of.setdefault(name, {})
            map_texts.update(dict.fromkeys([*method, *parameters, *self._solver(row)]))
            learner = _learner(row)
            learner_texts = texts_of.setdefault(learner, {}) if learner else map_texts
            learner_texts.update(dict.fromkeys(self._settings(row, differing=False)))
        return [f"{name}: {', '.join(texts)}" for name, texts in texts_of.items() if texts]

    def name(self, row: Row) -> str:
        """Return the name that the experiment gives a row, else that of its map."""
        return row.name or self.name_of_map(row)

    def name_of_map(self, row: Row) -> str:
        """Return the name of the map, in the variant that its parameters make of it."""
        words = words_of(row.method)
        name = self.names[row.method]
        for key, by_value in words.variants.items():
            if key in row.params:
                name = (_word(by_value, row.params[key]) or "{}").format(name)
        return name

    def _map_parts(self, row: Row) -> list[str]:
        if row.name:
            return [row.name, *self._parameters(row, differing=True)]
        words = words_of(row.method)
        name = self.name(row)
        shown = {key: row.params[key] for key in words.shown if key in row.params}
        if _shows_all(row):
            shown = dict(row.params)
        if "keep" in row.learner:
            shown.pop("n_frequencies", None)  # the learner's words contain it
        texts = [worded(key, value, words.shown.get(key)) for key, value in shown.items()]
        names = [] if _learner(row) and row.method == self.one_map else [name]
        return [*names, *texts, *self._parameters(row, differing=True)]

    def _parameters(self, row: Row, *, differing: bool) -> list[str]:
        """Return the parameters that need not show: where the method's rows differ, or do not.

        Of a row with a name they are all parameters, but those that its map's name contains.
        """
        words = words_of(row.method)
        always_shown = {*words.variants}
        if row.name:
            always_shown -= self.params[_group(row)]
        else:
            always_shown |= row.params.keys() if _shows_all(row) else words.shown.keys()
        wordings = {**words.shown, **words.others}
        return [
            worded(key, value, wordings.get(key))
            for key, value in row.params.items()
            if key not in always_shown and (key in self.params[_group(row)]) == differing
        ]

    def _solver(self, row: Row) -> list[str]:
        """Return how a map's rows are all trained, unless all maps' are, or LIBLINEAR does."""
        if row.method in REFERENCES or row.solver == self.one_solver:
            return []
        alone = len(self.solvers[_group(row)]) == 1
        return [_SAID[row.solver]] if alone and row.solver in _SAID else []

    def _settings(self, row: Row, *, differing: bool) -> list[str]:
        """Return the settings of a learner or solver: where its rows differ, or do not."""
        return [
            worded(key, value, _SETTINGS.get(key, f"{key} = {{}}"))
            for key, value in row.learner.items()
            if key not in ("name", "keep") and (key in self.learner[_trained(row)]) == differing
        ]


class _Brief(_Table):
    """Labels without the parameters that have no words and are not needed to distinguish rows."""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(rows)
        self.names = {
            method: name.removesuffix("Classifier") for method, name in self.names.items()
        }
        for group, differing in self.params.items():
            rows_of_group = [row for row in rows if _group(row) == group]
            words = words_of(rows_of_group[0].method)
            for key in sorted(differing - words.shown.keys() - words.others.keys()):
                remaining = differing - {key}
                identities = set()
                for row in rows_of_group:
                    removed = row.params.keys() - remaining
                    identities.add(row.without(*removed).identity)
                if len(identities) == len(rows_of_group):
                    differing.remove(key)

    def _settings(self, row: Row, *, differing: bool) -> list[str]:
        n = len(row.learner.get("search", ()))
        if n > 1:
            row = replace(row, learner={**row.learner, "search": [f"{n} settings"]})
        return super()._settings(row, differing=differing)


def _learner_parts(row: Row) -> list[str]:
    name = _learner(row)
    if name and "keep" in row.learner:
        name += f" {plain(row.learner['keep'])}"
        if "n_frequencies" in row.params:
            name += f" of {plain(row.params['n_frequencies'])}"
    return [name] if name else []


def _shows_all(row: Row) -> bool:
    """Return whether the parameters of a row always show: which ones matter is not known here."""
    return row.method not in VOCABULARY and not is_third_party(row.method)


def _learner(row: Row) -> str:
    """Return the words for a trade-off's learner; none for the exact kernel, its own learner."""
    name = str(row.learner.get("name", ""))
    return "" if name == row.method else LEARNERS.get(name, name)


Group = tuple[str, str]  # rows that only parameters and learners distinguish: of a name or a map


def _group(row: Row) -> Group:
    return row.name, row.method


def _trained(row: Row) -> tuple[Group, str, str]:
    return _group(row), row.solver, _learner(row)


def _only(values: Iterable[str]) -> str | None:
    """Return the value that all have, None where they differ or there is none."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def _differing(mappings: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the keys in which some mappings differ; one that lacks a key differs in it."""
    mappings = list(mappings)
    differing = set()
    for key in {key for mapping in mappings for key in mapping}:
        texts = {
            json.dumps(mapping[key], sort_keys=True) if key in mapping else None
            for mapping in mappings
        }
        if len(texts) > 1:
            differing.add(key)
    return differing
