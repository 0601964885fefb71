"""Check the docstrings of everything that a public package of kmaps exports, by numpydoc.

Each exported function and class, and each public method that such a class defines, documents its
parameters in the order of its signature (PR01, PR02, PR03) and what it returns (RT01). Methods of
scikit-learn's contract have the parameters that their users know: what they do document must agree
with the signature (PR02, PR03). Run ``python tools/check_docstrings.py``; it prints each mistake
and ends with exit code 1 where there is one.
"""

import inspect
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

from numpydoc.validate import validate

PACKAGES = (
    "kmaps",
    "kmaps.codes",
    "kmaps.errors",
    "kmaps.io",
    "kmaps.kernels",
    "kmaps.maps",
    "kmaps.maps.lowdim",
    "kmaps.models",
    "kmaps.svm",
    "kmaps.dask",
)
ALL_CHECKS = {"GL08", "PR01", "PR02", "PR03", "RT01"}
CONTRACT_CHECKS = {"PR02", "PR03"}
CONTRACT = {
    "decision_function",
    "fit",
    "fit_predict",
    "fit_transform",
    "get_feature_names_out",
    "get_metadata_routing",
    "get_params",
    "inverse_transform",
    "partial_fit",
    "predict",
    "predict_log_proba",
    "predict_proba",
    "score",
    "set_fit_request",
    "set_output",
    "set_params",
    "set_score_request",
    "set_transform_request",
    "transform",
}
"""The methods of scikit-learn's estimators, whose parameters its glossary explains."""


def exported(package: str) -> Iterator[tuple[str, object]]:
    """Yield the name and the value of each function and class that a package exports.

    Parameters
    ----------
    package : str
        The package's name in Python.

    Yields
    ------
    tuple of (str, object)
        The full name, and the function or class.
    """
    module = import_module(package)
    names = getattr(module, "__all__", None) or [name for name in dir(module) if name[0] != "_"]
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            value = getattr(module, name)
        is_ours = getattr(value, "__module__", "").startswith("kmaps")
        if is_ours and (inspect.isclass(value) or inspect.isroutine(value)):
            yield f"{package}.{name}", value


def checked_names(name: str, value: object) -> Iterator[tuple[str, set[str]]]:
    """Yield what of an exported value is checked, each with the checks that it is held to.

    Parameters
    ----------
    name : str
        The full name of the value.
    value : object
        A function or a class.

    Yields
    ------
    tuple of (str, set of str)
        The name of the value or of a method of it, and numpydoc's codes of the checks.
    """
    is_protocol = getattr(value, "_is_protocol", False)  # nobody calls its constructor
    yield name, ALL_CHECKS - {"PR01"} if is_protocol else ALL_CHECKS
    if inspect.isclass(value):
        for method, attribute in vars(value).items():
            is_method = inspect.isroutine(attribute) or isinstance(attribute, property)
            if is_method and not method.startswith("_"):
                yield f"{name}.{method}", CONTRACT_CHECKS if method in CONTRACT else ALL_CHECKS


def mistakes() -> Iterator[str]:
    """Yield a line per mistake, each value once, under the first name that exports it.

    Yields
    ------
    str
        The name, numpydoc's code, and what is wrong.
    """
    seen = set()
    for package in PACKAGES:
        if package == "kmaps.dask" and find_spec("dask") is None:
            continue
        for name, value in exported(package):
            if id(value) in seen:
                continue
            seen.add(id(value))
            for checked, codes in checked_names(name, value):
                for code, message in validate(checked)["errors"]:
                    if code in codes:
                        yield f"{checked}: {code} {message}"


def main() -> int:
    """Print every mistake; return an exit code.

    Returns
    -------
    int
        1 where there is a mistake, else 0.
    """
    lines = list(mistakes())
    print("\n".join(lines) or "docstrings: no mistake")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
