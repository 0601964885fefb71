"""Approximations: judged columns, measures, figures and sections."""

from collections.abc import Sequence

from kmaps.bench.kinds.shown import Figure, Shown
from kmaps.bench.records.columns import Record
from kmaps.bench.records.gate import EXACT, NUMERICAL, Judged


class ApproximationShown(Shown):
    """Approximations: judged columns, measures and figures."""

    fills = ("linf", "rms", "l1", "error_bound", "period", "worst", "dim", "fit_s")
    judged = (Judged("linf", NUMERICAL), Judged("rms", NUMERICAL), Judged("dim", EXACT))
    known_figures = {
        "errors": Figure("kmaps.bench.figures.heat.draw_errors", needs_arrays=True),
        "sections": Figure("kmaps.bench.figures.approximation.draw_sections", needs_arrays=True),
        "surfaces": Figure("kmaps.bench.figures.heat.draw_surfaces", needs_arrays=True),
        "signatures": Figure(
            "kmaps.bench.figures.approximation.draw_signatures", needs_arrays=True
        ),
        "gaps": Figure("kmaps.bench.figures.approximation.draw_gaps", needs_arrays=True),
        "quadrants": Figure("kmaps.bench.figures.heat.draw_quadrants", needs_arrays=True),
        "decay": Figure("kmaps.bench.figures.approximation.draw_decay"),
        "outputs": Figure("kmaps.bench.figures.approximation.draw_outputs"),
        "periods": Figure("kmaps.bench.figures.approximation.draw_periods"),
        "kernels": Figure("kmaps.bench.figures.approximation.draw_kernels"),
        "spectra": Figure("kmaps.bench.figures.approximation.draw_spectra"),
    }

    def measures(self, records: Sequence[Record]) -> tuple[str, ...]:
        """Return mean errors, bounds and periods only where they matter."""
        for_l1 = any("norm" in record["params"] for record in records)
        bounded = all(record["error_bound"] is not None for record in records)
        own = ("bound", "period") if bounded else ()
        return ("linf", "rms", *(("l1",) if for_l1 else ()), *own, "dim")


SHOWN = ApproximationShown()
