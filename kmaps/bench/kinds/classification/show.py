"""Classifications: judged columns, measures, figures and sections."""

from collections.abc import Sequence
from typing import Any

from kmaps.bench.kinds.shown import CHOICE, SEARCH, SIZES, TIMES, Figure, Shown
from kmaps.bench.records.columns import PICKLED
from kmaps.bench.records.gate import EXACT, FRACTION, Judged
from kmaps.bench.records.measures import accuracy_of
from kmaps.bench.records.row import BY_ITSELF, is_third_party
from kmaps.bench.report.document import Section


def _is_pickled(record: dict[str, Any]) -> bool:
    """Return whether a part is measured as a pickle, whose size differs between versions."""
    return PICKLED in (record.get("storage_form") or "")


class ClassificationShown(Shown):
    """Classifications: judged columns, measures, figures and sections."""

    fills = (
        *CHOICE,
        *SIZES,
        *TIMES,
        "accuracy",
        "accuracy_per_class",
        "dim",
        *SEARCH,
        "train_bytes",
        "table_bytes",
        "model_bytes",
        "storage_bytes",
        "storage_form",
        "paper_train_bytes",
        "gram_bytes",
        "copy_bytes",
        "gap",
        "train_peak_bytes",
    )
    judged = (
        Judged("accuracy", FRACTION, highest=True),
        Judged("accuracy_per_class", FRACTION, highest=True),
        Judged("train_bytes", EXACT),
        Judged("table_bytes", EXACT, unless=_is_pickled),
        # A kernel model is as large as its number of support vectors.
        Judged(
            "model_bytes",
            EXACT,
            unless=lambda record: record["solver"] in ("libsvm", BY_ITSELF) or _is_pickled(record),
        ),
    )
    known_figures = {
        "accuracy": Figure("kmaps.bench.figures.learned.draw_accuracy"),
        "costs": Figure("kmaps.bench.figures.costs.draw_costs"),
    }

    def measures(self, records: Sequence[dict]) -> tuple[str, ...]:
        """Conversion, which the solver's library makes necessary, is shown apart as well, and the
        time at one C where it was measured."""
        common = any("common_repeats" in record for record in records)
        times = ("time", "convert", "time-common") if common else ("time", "convert")
        return (accuracy_of(records), *times, "storage")

    def sections(self, records: Sequence[dict]) -> list[Section]:
        """Return the sections of a page that only this kind has."""
        from kmaps.bench.report.by_test_set import by_test_set, has_test_sets

        sections = []
        if any(is_third_party(record["method"]) for record in records):
            from kmaps.bench.report.front import side_by_side  # slow, and only for third-party rows

            sections.append(Section("Side by side", [side_by_side(records)]))
        if has_test_sets(records):
            sections.append(Section("By test set", [by_test_set(records)]))
        return sections


SHOWN = ClassificationShown()
