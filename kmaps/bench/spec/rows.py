"""Rows of an experiment file, of maps, third-party estimators and solvers: expanded and checked.

What parameters mean is known to their classes alone, whose checks are asked. An estimator is
checked without running its code, which :mod:`kmaps.bench.run.measure` imports in a process apart.
"""

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError
from pydantic import model_validator as validator

from kmaps import maps
from kmaps.bench.records import defaults
from kmaps.bench.records.row import NAME_KEY, NAMED, Row
from kmaps.bench.spec.fields import AUTO, RULES, Model, OneC, RowName
from kmaps.bench.spec.positions import Mistake, Node, Place, at, problem_of, unknown_key
from kmaps.data import get_format, load_manifest, packaged
from kmaps.errors import ConfigError, suggest
from kmaps.features import FEATURES, MIN_MAX, get_normalization, make_feature
from kmaps.features import parameters_of as feature_parameters_of
from kmaps.kernels import GRAM_KERNELS, KERNELS

SOLVERS: dict[str, tuple[str, ...]] = {
    "liblinear": ("loss", "bias", "penalty", "tol", "max_iter"),
    "coded": ("loss", "bias", "gap", "n_levels", "level_ranges", "calibrate", "max_iter"),
    "libsvm": (),
}
"""Who solves the problem of a map's row, and which keys of the learner each of them has.

``liblinear`` trains on the encoded rows, ``coded`` on one byte per value
(:class:`kmaps.svm.CodedSVC`), ``libsvm`` on the kernel matrix of the map. The baselines ``exact``
and ``exact-coded`` are ``libsvm`` and ``coded`` with the kernel itself.
"""
FORMS = ("auto", "low-rank", "full", "local", "two-level")

LEARNER_KEYS = ("form", "calibrate", "normalize")  # rows on one map may differ in these
ROW_KEYS = ("solver", *LEARNER_KEYS, "C")  # keys of an entry of ``maps``, but not of its map


def _dotted(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", value):
        raise ValueError(f"expected package.module.Class, got {value!r}")
    return value


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    odd = [name for name in value if not name.isidentifier()]
    if odd:
        raise ValueError(f"expected names of parameters, got {odd[0]!r}")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError(
            "expected texts, finite numbers, true, false, null, and lists and mappings of these"
        ) from None
    if isinstance(value.get("memory"), str):
        raise ValueError("memory: names a folder of pickles, which can hold any code; leave it out")
    return value


def _searchable(value: dict[str, Any]) -> dict[str, Any]:
    for name, values in _plain(value).items():
        if values == AUTO and (len(value) > 1 or name not in ("gamma", "sigma")):
            raise ValueError(f"{name}: {AUTO} needs the width, gamma or sigma, and it alone")
        if values != AUTO and not (isinstance(values, list) and values):
            raise ValueError(f"{name}: expected a list of values, got {values!r}")
    return value


class Estimator(Model):
    """A third-party estimator: its place in Python, its name in tables, and its parameters;
    parameters under ``search`` are chosen among values, or by the rule for widths."""

    estimator: Annotated[str, AfterValidator(_dotted)]
    params: Annotated[dict[str, Any], AfterValidator(_plain), Field(default_factory=dict)]
    search: Annotated[dict[str, Any], AfterValidator(_searchable), Field(default_factory=dict)]
    C: OneC | None = None
    name: RowName | None = None

    @validator(mode="after")
    def _set_or_searched(self) -> "Estimator":
        both = sorted(self.params.keys() & self.search.keys())
        if both:
            raise ValueError(f"{both[0]} is in params and in search")
        return self


def searched(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the words that distinguish an estimator's row from the row without a search."""
    return {"search": entry["search"]} if entry["search"] else {}


def estimator_places(root: Node, content: dict[str, Any]) -> dict[str, Mistake]:
    """Return where a sound experiment first names each of its estimators, by `Row.identity`."""
    places: dict[str, Mistake] = {}
    for key in ("maps", "classifiers"):
        for i, entry in entries_of(content, key):
            if "estimator" in entry:
                line, column, where = at(root, (key, i, "estimator"), "")
                row = Row(entry["estimator"], entry.get("params", {})).identity
                places.setdefault(row, (line, column, where.removesuffix(": ")))
    return places


def map_rows(
    entry: dict[str, Any], kernels: list[str], row_keys: Sequence[str] = ()
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Expand an entry of ``maps`` to its rows: pairs of a kernel and the other parameters.

    A parameter given as a list becomes one row per value. A map that takes a kernel gets each of
    the experiment's, unless the entry names kernels; one that takes none has the kernel that it
    ``approximates``, or ``""``. ``row_keys``, and the ``name`` of the rows, are not parameters of
    the map. A third-party estimator is one row without a kernel, with its parameters as they stand.
    """
    if "estimator" in entry:
        yield "", dict(entry.get("params", {}))
        return
    no_parameters = (NAME_KEY, *row_keys)
    choices = {key: listed(value) for key, value in entry.items() if key not in no_parameters}
    name = choices.pop("map")[0]
    if "kernel" in choices:
        kernels = choices.pop("kernel")
    elif not maps.takes(name, "kernel"):
        kernels = [maps.approximated(name)]
    for values in itertools.product(*choices.values()):
        for kernel in kernels:
            yield kernel, dict(zip(choices, values, strict=True))


def solver_rows(entry: dict[str, Any], default: str) -> Iterator[dict[str, Any]]:
    """Expand the keys of an entry of ``maps`` that are no map parameters: one row per value."""
    for solver in listed(entry.get("solver", default)):
        keys = [key for key in LEARNER_KEYS if key in entry]
        if solver == "coded":
            keys = ["form", *(key for key in keys if key != "form")]
        else:
            keys = [key for key in keys if key == "normalize"]
        choices = [listed(entry.get(key, "auto")) or ["auto"] for key in keys]
        for values in itertools.product(*choices):
            yield {"solver": solver, **dict(zip(keys, values, strict=True))}


def map_mistakes(
    root: Node,
    content: dict[str, Any],
    row_keys: Sequence[str] = (),
    *,
    takes_estimators: bool = False,
) -> Iterator[Mistake]:
    """Yield the mistakes in the parameters of maps, which pydantic does not find.

    ``row_keys`` are keys of an entry that are not parameters of its map; ``takes_estimators`` is
    whether an entry may name a third-party estimator instead.
    """
    kernels = [kernel for _, kernel in _placed(content, "kernels")]
    for i, entry in entries_of(content):
        of_row = {key: value for key, value in entry.items() if key not in (NAME_KEY, *row_keys)}
        if "estimator" in entry and takes_estimators:
            problems = _estimator_mistakes(of_row)
        elif "estimator" in entry and entry.get("map") not in maps.MAPS:
            problems = iter([(("estimator",), "this kind has no third-party rows", True)])
        else:
            problems = _entry_mistakes(of_row, kernels, row_keys, is_pinned="defaults" in content)
        for place, problem, is_of_key in problems:
            yield at(root, ("maps", i, *place), problem, key=is_of_key)


Problems = Iterator[tuple[Place, str, bool]]  # places, messages, whether the key itself is wrong


def _estimator_mistakes(entry: dict[str, Any]) -> Problems:
    keys = [key for key in Estimator.model_fields if key != "C"]  # in a map's entry a row key
    for key in entry.keys() - set(keys):
        yield (key,), unknown_key(key, keys), True
    try:
        Estimator.model_validate({key: value for key, value in entry.items() if key in keys})
    except ValidationError as refused:
        for error in refused.errors():
            yield error["loc"], problem_of(error), False


def _entry_mistakes(
    entry: dict[str, Any], kernels: list, row_keys: Sequence[str], *, is_pinned: bool
) -> Problems:
    name = entry.get("map")
    if not isinstance(name, str) or name not in maps.MAPS:
        problem = "missing 'map'"
        if "map" in entry:
            problem = f"unknown map {name!r}{suggest(name, maps.MAPS)}"
        if name in ("landmarks", "landmark"):  # it has no words here, since it learns its rows
            yield ("map",), "landmarks: write {estimator: kmaps.LandmarkMap}", False
            return
        yield ("map",), f"{problem} (known: {', '.join(maps.MAPS)})", False
        return
    keys = ["map", NAME_KEY, *row_keys, *maps.parameters_of(name)]
    odd = [key for key in entry if key not in keys]
    for key in odd:
        yield (key,), unknown_key(key, keys), True
    if not odd:
        for place, problem in _trials(entry, kernels, is_pinned=is_pinned):
            yield place, problem, False


def _trials(
    entry: dict[str, Any], kernels: list, *, is_pinned: bool
) -> Iterator[tuple[Place, str]]:
    """Try every row of an entry, with published defaults if it is pinned; yield its objections."""
    table = defaults.of_method(entry["map"]) if is_pinned else {}
    rows = list(map_rows(entry, kernels))
    empty = [key for key, value in entry.items() if value == []]
    if empty:
        yield (empty[0],), "expected at least one value, got an empty list"
    elif not rows:
        yield (), "needs kernels: name some here or for the whole experiment"
    for kernel, params in rows:
        if "kernel" not in entry and kernel and kernel not in GRAM_KERNELS:
            continue  # reported where the kernels are listed
        arguments = {"kernel": kernel, **params}
        params_text = json.dumps(defaults.filled(table, params), default=str)
        problem = _trial(entry["map"], kernel, params_text)
        if problem:
            yield _place_of_problem(problem, arguments, entry), problem


def _place_of_problem(problem: str, arguments: dict[str, Any], entry: dict[str, Any]) -> Place:
    """Return the parameter that a problem names; in a list of values also the place of the wrong
    one."""
    for key, value in arguments.items():
        if re.search(rf"\b{key}\b", problem):
            if isinstance(entry.get(key), list):
                return (key, entry[key].index(value))
            return (key,)
    return ()


def name_mistakes(root: Node, content: dict[str, Any]) -> Iterator[Mistake]:
    """Yield the names of rows that are none, where no model checks them, or that stand twice."""
    names: dict[str, str] = {}
    for key in NAMED:
        for i, entry in entries_of(content, key):
            if NAME_KEY not in entry:
                continue
            try:
                name = _NAME.validate_python(entry[NAME_KEY], strict=True)
            except ValidationError as refused:
                if key == "maps":
                    yield at(root, (key, i, NAME_KEY), problem_of(refused.errors()[0]))
                continue
            if name in names:
                problem = f"{name!r} names the rows of {names[name]} too; choose another name"
                yield at(root, (key, i, NAME_KEY), problem)
            names.setdefault(name, f"{key}[{i}]")


_NAME: TypeAdapter[str] = TypeAdapter(RowName)


@cache  # many experiments have the same rows
def _trial(name: str, kernel: str, params: str) -> str:
    try:
        maps.check_parameters(name, kernel, json.loads(params))
    except (ValueError, TypeError) as error:
        return str(error)
    return ""


def feature_mistakes(root: Node, content: dict[str, Any]) -> Iterator[Mistake]:
    """Yield the mistakes in the features and their parameters."""
    features = content.get("features")
    dataset = content.get("dataset")
    if not isinstance(features, dict):
        return
    if isinstance(dataset, dict) and _is_table(dataset):
        for key in features:
            if key != "normalize":
                problem = "the data are a table, whose columns are the features; leave it out"
                yield at(root, ("features", key), problem, key=True)
        return
    if features.get("normalize") == MIN_MAX:
        problem = f"{MIN_MAX} is for columns of tables, not for features of images"
        yield at(root, ("features", "normalize"), problem)
    name = features.get("name", "intensity")
    if not isinstance(name, str) or name not in FEATURES:
        return
    parameters = feature_parameters_of(name)
    keys = ["name", "normalize", *parameters]
    for key in features:
        if key not in keys:
            yield at(root, ("features", key), unknown_key(key, keys), key=True)
    unrefused = {key: value for key, value in features.items() if key in parameters}
    # A feature refuses one parameter at a time: leave it out to find the next.
    while unrefused:
        problem = _refusal(name, unrefused)
        if not problem:
            return
        refused = [key for key in unrefused if f" {key}=" in problem]
        if not refused:
            yield at(root, ("features",), problem)
            return
        yield at(root, ("features", refused[0]), problem)
        del unrefused[refused[0]]


def _is_table(dataset: dict[str, Any]) -> bool:
    files = dataset.get("files")
    if isinstance(files, dict):
        return not any("images" in str(key) for key in files)
    name = dataset.get("name")
    return name in packaged() and get_format(load_manifest(name)).tabular


def _refusal(features: str, parameters: dict[str, Any]) -> str:
    """Return the defect of some parameters of features, or ``""``."""
    try:
        make_feature(features, parameters)
    except ConfigError as error:
        return str(error)
    return ""


def has_coded_rows(content: Mapping[str, Any]) -> bool:
    """Return whether a row of an experiment is trained on codes."""
    learner = content.get("learner")
    default = learner.get("solver", "liblinear") if isinstance(learner, dict) else "liblinear"
    if "exact-coded" in _baselines(content):
        return True
    rows = (row for _, entry in entries_of(content) for row in solver_rows(entry, default))
    return any(row["solver"] == "coded" for row in rows)


def _baselines(content: Mapping[str, Any]) -> list[Any]:
    return [
        entry.get("baseline") if isinstance(entry, dict) else entry
        for entry in listed(content.get("baselines"))
    ]


def solver_mistakes(root: Node, content: dict[str, Any]) -> Iterator[Mistake]:
    """Yield the mistakes in the solvers of the rows, and in settings that do not suit them."""
    learner = content.get("learner")
    learner = learner if isinstance(learner, dict) else {}
    default = learner.get("solver", "liblinear")
    exact_coded = "exact-coded" in _baselines(content)
    for i, entry in entries_of(content):
        for place, problem in _row_mistakes(entry, default):
            yield at(root, ("maps", i, *place), problem)
    kernels = listed(content.get("kernels"))
    if exact_coded and not set(kernels) & set(KERNELS):
        problem = f"exact-coded needs an additive kernel (known: {', '.join(KERNELS)})"
        yield at(root, ("baselines",), problem)
    if has_coded_rows(content):
        yield from _coded_mistakes(root, content, learner)
        return
    for key in SOLVERS["coded"]:
        if key in learner and key not in SOLVERS["liblinear"]:
            problem = "needs solver: coded, which no row has"
            yield at(root, ("learner", key), problem, key=True)


def _row_mistakes(entry: dict[str, Any], default: str) -> Iterator[tuple[Place, str]]:
    for key, names in (("solver", tuple(SOLVERS)), ("form", FORMS)):
        for place, value in _placed(entry, key):
            if value not in names:
                hint = suggest(str(value), names)
                yield place, f"unknown {key} {value!r}{hint} (known: {', '.join(names)})"
    for place, value in _placed(entry, "normalize"):
        try:
            get_normalization(str(value))
        except ConfigError as error:
            yield place, str(error)
    if "C" in entry:
        C = entry["C"]
        is_value = isinstance(C, int | float) and not isinstance(C, bool) and C > 0
        if not (is_value or C in RULES):
            yield ("C",), f"expected a value above 0, {' or '.join(RULES)}, got {C!r}"
    for place, value in _placed(entry, "calibrate"):
        if not isinstance(value, bool):
            yield place, f"expected true or false, got {value!r}"
    name = str(entry.get("map"))
    if "coded" not in listed(entry.get("solver", default)):
        for key in ("form", "calibrate"):
            if key in entry:
                yield (key,), "needs solver: coded"
    elif name in maps.MAPS and not maps.has_tables(name):
        where = "solver" if "solver" in entry else "map"
        yield (where,), f"the {name} map has no tables; solver: coded needs them"
    elif name in maps.MAPS and not maps.has_local_tables(name):
        for place, value in _placed(entry, "form"):
            if value == "local":
                yield place, f"the {name} map has no local form, only splines have"


def _coded_mistakes(
    root: Node, content: dict[str, Any], learner: dict[str, Any]
) -> Iterator[Mistake]:
    if learner.get("loss") == "logistic":
        problem = "solver: coded has hinge and squared_hinge only, got 'logistic'"
        yield at(root, ("learner", "loss"), problem)
    if learner.get("penalty") == "l1":
        yield at(root, ("learner", "penalty"), "solver: coded has l2 only, got 'l1'")
    if "ovo" in listed(content.get("reductions")):
        rows = [(("maps", i), entry) for i, entry in entries_of(content)]
        for place, entry in [(("learner",), learner), *rows]:
            if True in listed(entry.get("calibrate")):
                problem = "one-vs-one has no score for each class; reductions: [ovr]"
                yield at(root, (*place, "calibrate"), problem)


def entries_of(content: dict[str, Any], key: str = "maps") -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the sound entries of a list of the file, with their numbers."""
    entries = content.get(key)
    if not isinstance(entries, list):
        return
    for number, entry in enumerate(entries):
        if isinstance(entry, dict):
            yield number, entry


def listed(value: Any) -> list:
    """Return a list as it is, and any other value in a list of one."""
    return value if isinstance(value, list) else [value]


def _placed(entry: dict[str, Any], key: str) -> Iterator[tuple[Place, Any]]:
    if isinstance(entry.get(key), list):
        for i, value in enumerate(entry[key]):
            yield (key, i), value
    elif key in entry:
        yield (key,), entry[key]
