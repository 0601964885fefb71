"""Whether every claim of an experiment has rows to compare, told before any of them is measured."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kmaps.bench.kinds.kind import Kind
from kmaps.bench.records.lines import Lines, compared, lines_of
from kmaps.bench.spec.fields import Experiment
from kmaps.bench.spec.positions import Mistake, Node, at
from kmaps.errors import suggest


class _Unmeasured:
    """What only measuring tells: it may turn out equal to anything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__


def selection_mistakes(root: Node, kind: Kind, experiment: Experiment) -> Iterator[Mistake]:
    """Yield the claims whose selections pick no two rows, at the side that picks none."""
    if not experiment.claims:
        return
    known = {"status": "ok", "dim": _Unmeasured()}
    lines = lines_of(known | cell.columns for cell in kind.cells(experiment))
    for number, claim in enumerate(experiment.claims):
        entry = claim.model_dump()
        if next(compared(entry, lines), None):
            continue
        empty = [side for side in ("left", "right") if not _picks(entry[side], lines)]
        for side in empty:
            yield at(root, ("claims", number, side), _why_none(entry[side], lines))
        if not empty:
            yield at(root, ("claims", number), _why_no_two(entry))


def _picks(selection: Mapping[str, Any], lines: Lines) -> bool:
    return any(line.is_picked(selection) for line in lines)


def _why_none(selection: Mapping[str, Any], lines: Lines) -> str:
    rows = [{"kernel": line.kernel, **dict(line.names)} for line in lines]
    for name, value in selection.items():
        known = list(dict.fromkeys(str(row[name]) for row in rows if row.get(name) is not None))
        if not known:
            names = list(dict.fromkeys(name for row in rows for name in row))
            return f"no row has {name!r}{suggest(name, names) or _known(names)}"
        if not _picks({name: value}, lines):
            return f"no row has {name}: {value}{suggest(value, known) or _known(known)}"
    return "no row has all of this"


def _known(words: Iterable[str]) -> str:
    return f" (known: {', '.join(words)})"


def _why_no_two(entry: Mapping[str, Any]) -> str:
    if entry["against"]:
        return "left and right pick no row in common, which a claim with 'against' is about"
    of_kernels = f" of the kernels {', '.join(entry['kernels'])}" if entry["kernels"] else ""
    return (
        f"left and right pick no two rows to compare{of_kernels}: these are of one reduction and, "
        "where neither side names the kernel, of one kernel, and agree in all parameters that "
        "neither side names"
    )
