"""What the figures of approximations show: panels of a kernel on a range, with its maps."""

from collections.abc import Mapping, Sequence

from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record, cell_name
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import Row
from kmaps.bench.work.errors import Range, SquareErrors
from kmaps.bench.work.spans import Span, SpanErrors, parse_range
from kmaps.errors import ConfigError, InputError


def squares(
    records: Sequence[Record], arrays: Mapping[str, Arrays]
) -> dict[str, dict[str, SquareErrors]]:
    """Return the approximations on all pairs of a range's values, by panel and short label."""
    panels: dict[str, dict[str, SquareErrors]] = {}
    for title, label, record, own in _panels(records, arrays, Range, "LOW:HIGH"):
        panels.setdefault(title, {})[label] = SquareErrors(
            own["exact"],
            own["approximate"],
            record["dim"],
            bool(record["options"]["relative"]),
            values=own["values"],
        )
    return panels


def spans(
    records: Sequence[Record], arrays: Mapping[str, Arrays]
) -> dict[str, dict[str, SpanErrors]]:
    """Return the approximations over ratios or differences, by panel and short label."""
    panels: dict[str, dict[str, SpanErrors]] = {}
    needed = "ratios LOW:HIGH or differences 0:HIGH"
    for title, label, record, own in _panels(records, arrays, Span, needed):
        panels.setdefault(title, {})[label] = SpanErrors(
            own["exact"],
            own["approximate"],
            record["dim"],
            bool(record["options"]["relative"]),
            of=parse_range(record["options"]["range"]).of,
            values=own["values"],
            corners=own["corners"],
        )
    return panels


def _panels(
    records: Sequence[Record], arrays: Mapping[str, Arrays], of: type, needed: str
) -> list[tuple]:
    """Return title, label, record and arrays of each record whose range is one of a kind.

    Kernel by kernel, so that the ranges of one stand side by side. The range is in the title where
    there are several.
    """
    shown = over(records, of, needed)
    kernels = list(dict.fromkeys(record["kernel"] for record in shown))
    shown.sort(key=lambda record: kernels.index(record["kernel"]))
    labels, _ = short_labels(map(Row.of, shown))
    where = {
        record["key"]: record["options"]["range"] if of is Range else record["setting"]
        for record in shown
    }
    several = len(set(where.values())) > 1
    return [
        (
            f"{record['kernel']}, {where[record['key']]}" if several else record["kernel"],
            labels[Row.of(record).identity],
            record,
            arrays_of(record, arrays),
        )
        for record in shown
    ]


def over(records: Sequence[Record], of: type, needed: str) -> list[Record]:
    """Return the records whose range is of one kind.

    Raises
    ------
    ConfigError
        When there is none; ``needed`` says how such a range is written.
    """
    shown = [r for r in records if isinstance(parse_range(r["options"]["range"]), of)]
    if not shown:
        raise ConfigError(f"figures: one of them needs a range {needed}, and there is none")
    return shown


def arrays_of(record: Record, arrays: Mapping[str, Arrays]) -> Arrays:
    """Return the arrays of a record.

    Raises
    ------
    InputError
        When they are missing.
    """
    if record["key"] not in arrays:
        raise InputError(
            f"{cell_name(record)}: the arrays that its figure needs are missing; take its line out "
            "of the records, and `kmaps run` measures it again"
        )
    return arrays[record["key"]]
