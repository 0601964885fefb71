"""A measured machine as the command, and as the Python, that make it of all rows."""

from inspect import signature

from kmaps.bench.records.columns import Record
from kmaps.maps import AdditiveMap, make_map, takes
from kmaps.models import RandomFeatureSVC
from kmaps.svm import CodedSVC

_RANDOM_MAPS = ("generalized-rbf", "random-fourier")


def model_of(record: Record) -> CodedSVC | RandomFeatureSVC:
    """Return the machine of a record, unfitted.

    Parameters
    ----------
    record : dict
        Of a machine on codes, or of LIBLINEAR on a map of random frequencies; measured.

    Examples
    --------
    >>> record = {"method": "exact-coded", "kernel": "js", "params": {}, "C": 0.1,
    ...           "reduction": "ovo", "settings": {"loss": "hinge"}, "seed": 7}
    >>> model_of(record)
    CodedSVC(C=0.1, map='js', multiclass='ovo')
    """
    shared = {
        "C": record["C"],
        "loss": record["settings"]["loss"],
        "multiclass": record["reduction"],
    }
    method, params = record["method"], record["params"]
    if method in _RANDOM_MAPS:
        kernel = "rbf" if method == "random-fourier" else f"exp-{record['kernel']}"
        return RandomFeatureSVC(kernel, random_state=record["seed"], **params, **shared)
    if method == "exact-coded":
        return CodedSVC(record["kernel"], **shared)
    return CodedSVC(make_map(method, record["kernel"], params), **shared)


def python_of(record: Record) -> str:
    """Return Python that trains the machine of a record on rows ``X`` with labels ``y``.

    Examples
    --------
    >>> record = {"method": "spline", "kernel": "", "params": {"n_bins": 5}, "C": 1.0,
    ...           "reduction": "ovr", "settings": {"loss": "hinge"}, "seed": 7}
    >>> print(python_of(record))
    from kmaps import CodedSVC, SplineMap
    model = CodedSVC(map=SplineMap(n_bins=5), C=1.0).fit(X, y)
    """
    model = model_of(record)
    classes = [type(model).__name__]
    if isinstance(model, CodedSVC) and isinstance(model.map, AdditiveMap):
        classes.append(type(model.map).__name__)
    return f"from kmaps import {', '.join(classes)}\nmodel = {_call(model)}.fit(X, y)"


def _call(model: CodedSVC | RandomFeatureSVC) -> str:
    """Return the call that makes a machine: what it is, C, and what is not the default."""
    told = ("map", "kernel", "C")
    defaults = signature(type(model)).parameters
    given = {name: getattr(model, name) for name in defaults}
    shown = [
        f"{name}={value!r}"
        for name, value in given.items()
        if name in told or value != defaults[name].default
    ]
    return f"{type(model).__name__}({', '.join(shown)})"


def options_of(record: Record) -> list[str]:
    """Return the options of ``kmaps train`` for the machine of a record.

    Examples
    --------
    >>> record = {"method": "generalized-rbf", "kernel": "chi2", "params": {"n_frequencies": 500},
    ...           "C": 10.0, "reduction": "ovo", "settings": {"loss": "hinge"}, "seed": 7}
    >>> " ".join(options_of(record))
    '--kernel exp-chi2 -m 500 --random-state 7 -C 10 --multiclass ovo'
    """
    options = [*_machine_options(record), "-C", f"{record['C']:g}"]
    if record["reduction"] != "ovr":
        options += ["--multiclass", record["reduction"]]
    if record["settings"]["loss"] != "hinge":
        options += ["--loss", record["settings"]["loss"]]
    return options


def _machine_options(record: Record) -> list[str]:
    method, kernel = record["method"], record["kernel"]
    if method == "exact-coded":
        return ["--kernel", kernel]
    if method == "generalized-rbf":
        chosen = ["--kernel", f"exp-{kernel}"]
    else:
        chosen = ["--map", method, *(["--kernel", kernel] if takes(method, "kernel") else [])]
    for name, value in record["params"].items():
        chosen += [_option(name), "none" if value is None else str(value)]
    if method in _RANDOM_MAPS:
        chosen += ["--random-state", str(record["seed"])]
    return chosen


def _option(parameter: str) -> str:
    return "-m" if parameter == "n_frequencies" else f"--{parameter.replace('_', '-')}"
