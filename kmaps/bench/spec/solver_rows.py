"""Which solver each row of an experiment has, and how its samples are scaled: expanded and checked.

``liblinear`` trains on the encoded rows of a map, ``coded`` on one byte per value
(:class:`kmaps.svm.CodedSVC`), whose baseline ``exact-coded`` is the exact kernel on the levels,
``libsvm`` on the kernel matrix of the map, as the baseline ``exact`` on that of the kernel.
"""

from collections.abc import Iterator
from typing import Any

from kmaps.bench.spec.positions import Mistake, Node, Place, at
from kmaps.errors import ConfigError, suggest
from kmaps.features import get_normalization
from kmaps.kernels import KERNELS
from kmaps.maps import MAPS, has_local_tables, has_tables

SOLVERS = ("liblinear", "coded", "libsvm")
FORMS = ("auto", "low-rank", "full", "local", "two-level")

ROW_KEYS = ("solver", "form", "calibrate", "normalize")
"""Keys of an entry of ``maps`` that are not parameters of its map."""

_CODED_ONLY = ("gap", "n_levels", "calibrate")  # keys of the learner


def solver_rows(entry: dict[str, Any], default: str) -> Iterator[dict[str, Any]]:
    """Expand what is no parameter of a map in an entry of ``maps``: a list is a row for each value.

    Examples
    --------
    >>> list(solver_rows({"map": "homogeneous", "solver": ["liblinear", "coded"]}, "liblinear"))
    [{'solver': 'liblinear'}, {'solver': 'coded', 'form': 'auto'}]
    """
    scaled = [{"normalize": name} for name in _listed(entry.get("normalize", []))] or [{}]
    for solver in _listed(entry.get("solver", default)):
        for coded in _coded_rows(entry) if solver == "coded" else [{}]:
            yield from ({"solver": solver, **coded, **own} for own in scaled)


def _coded_rows(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Expand the keys that only rows on codes have."""
    scores = [{"calibrate": value} for value in _listed(entry.get("calibrate", []))] or [{}]
    for form in _listed(entry.get("form", "auto")):
        yield from ({"form": form, **score} for score in scores)


def solver_mistakes(root: Node, content: dict[str, Any]) -> Iterator[Mistake]:
    """Yield the mistakes in the solvers of the rows, and in settings that do not suit them."""
    learner = content.get("learner")
    learner = learner if isinstance(learner, dict) else {}
    default = learner.get("solver", SOLVERS[0])
    entries = content.get("maps")
    used = {"coded"} if "exact-coded" in _listed(content.get("baselines", [])) else set()
    for i, entry in enumerate(entries if isinstance(entries, list) else []):
        if isinstance(entry, dict):
            used |= {row["solver"] for row in solver_rows(entry, default)}
            for place, problem in _row_mistakes(entry, default):
                yield at(root, ("maps", i, *place), problem)
    if "coded" in used:
        yield from _coded_mistakes(root, content, learner)
    else:
        for key in (key for key in _CODED_ONLY if key in learner):
            problem = "only for solver: coded, which no row has"
            yield at(root, ("learner", key), problem, key=True)


def _row_mistakes(entry: dict[str, Any], default: str) -> Iterator[tuple[Place, str]]:
    for key, known in (("solver", SOLVERS), ("form", FORMS)):
        for place, value in _placed(entry, key):
            if value not in known:
                hint = suggest(str(value), known)
                yield place, f"unknown {key} {value!r}{hint} (known: {', '.join(known)})"
    for place, value in _placed(entry, "normalize"):
        try:
            get_normalization(str(value))
        except ConfigError as error:
            yield place, str(error)
    for place, value in _placed(entry, "calibrate"):
        if not isinstance(value, bool):
            yield place, f"expected true or false, got {value!r}"
    solvers = [value for _, value in _placed(entry, "solver")] or [default]
    name = str(entry.get("map"))
    if "coded" not in solvers:
        for key in ("form", "calibrate"):
            if key in entry:
                yield (key,), "only for solver: coded"
    elif name in MAPS and not has_tables(name):
        where = "solver" if "solver" in entry else "map"
        yield (where,), f"the {name} map has no tables; solver: coded needs them"
    elif name in MAPS and not has_local_tables(name):
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
    if "ovo" in _listed(content.get("reductions", [])):
        problem = "one-vs-one has no score for each class; reductions: [ovr]"
        if learner.get("calibrate") is True:
            yield at(root, ("learner", "calibrate"), problem)
        for i, entry in enumerate(_listed(content.get("maps", []))):
            if isinstance(entry, dict) and True in _listed(entry.get("calibrate")):
                yield at(root, ("maps", i, "calibrate"), problem)
    kernels = _listed(content.get("kernels", []))
    if "exact-coded" in _listed(content.get("baselines", [])) and not set(kernels) & set(KERNELS):
        problem = f"exact-coded needs an additive kernel (known: {', '.join(KERNELS)})"
        yield at(root, ("baselines",), problem)


def _listed(value: Any) -> list:
    return value if isinstance(value, list) else [value]


def _placed(entry: dict[str, Any], key: str) -> Iterator[tuple[Place, Any]]:
    """Yield the values of a key, each with its place."""
    if isinstance(entry.get(key), list):
        yield from (((key, i), value) for i, value in enumerate(entry[key]))
    elif key in entry:
        yield (key,), entry[key]
