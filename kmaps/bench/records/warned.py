"""What the records of a run warn of: what spoils a number without failing its cell."""

from collections.abc import Mapping
from typing import Any

WARNED = {
    "stopped": "the solver stopped at its limit of passes",
    "clamped": "values outside the range fitted on were clamped to it",
    "skipped": "images that cannot be used were left out",
}
"""What there is to warn of, in words."""

_TOLD_BY = {"stopped": "ConvergenceWarning: ", "clamped": "were clamped to it"}


def warned(record: Mapping[str, Any]) -> list[str]:
    """Return the keys of :data:`WARNED` that a record warns of.

    Examples
    --------
    >>> warned({"warnings": ["ConvergenceWarning: stopped after 1,000 passes"], "n_skipped": 2})
    ['stopped', 'skipped']
    """
    said = record.get("warnings") or ()
    found = [name for name, words in _TOLD_BY.items() if any(words in text for text in said)]
    return [*found, *(["skipped"] if record.get("n_skipped") else [])]
