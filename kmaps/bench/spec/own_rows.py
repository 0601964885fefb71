"""Estimators of others in an experiment file: what a row says of one, checked without running it.

Their code runs in the processes that measure alone, so whether an estimator can be imported, and
has the parameters that it is given, is found out by :mod:`kmaps.bench.run.measure`.
"""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError

from kmaps.bench.spec.fields import Model, own_row
from kmaps.bench.spec.positions import Mistake, Node, Place, at, brief, unknown_key


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
    return value


class Estimator(Model):
    """An estimator of others: its place in Python, and its parameters as they are."""

    estimator: Annotated[str, AfterValidator(_dotted)]
    params: Annotated[dict[str, Any], AfterValidator(_plain), Field(default_factory=dict)]


def estimator_mistakes(entry: dict[str, Any]) -> Iterator[tuple[Place, str]]:
    """Yield what is wrong with the estimator of an entry, each with its place in the entry.

    Parameters
    ----------
    entry : mapping
        Without the keys that are the row's.

    Examples
    --------
    >>> list(estimator_mistakes({"estimator": "PCA"}))
    [(('estimator',), "expected package.module.Class, got 'PCA'")]
    """
    for key in entry.keys() - Estimator.model_fields.keys():
        yield (key,), unknown_key(key, Estimator.model_fields)
    known = {key: value for key, value in entry.items() if key in Estimator.model_fields}
    try:
        Estimator.model_validate(known)
    except ValidationError as refused:
        for error in refused.errors():
            message = error["msg"].removeprefix("Value error, ")
            if message.startswith("Input "):
                message = f"{message.removeprefix('Input ')}, got {brief(error['input'])}"
            yield error["loc"], message


def estimator_places(root: Node, content: dict[str, Any]) -> dict[str, Mistake]:
    """Return where a sound experiment first names each of its rows of others, by the row."""
    found: dict[str, Mistake] = {}
    for key in ("maps", "classifiers"):
        for i, entry in enumerate(content.get(key, [])):
            if "estimator" in entry:
                line, column, where = at(root, (key, i, "estimator"), "")
                row = own_row(entry["estimator"], entry.get("params", {}))
                found.setdefault(row, (line, column, where.removesuffix(": ")))
    return found
