"""The pages of `kmaps report`, each built once from a folder: on a run, and on all runs of one."""

from pathlib import Path
from typing import Any

from kmaps.bench.kinds import shown_of
from kmaps.bench.kinds.row_names import read_named
from kmaps.bench.paper import entries, reported
from kmaps.bench.paper.glance import glance
from kmaps.bench.paper.numbers import numbers_of
from kmaps.bench.paper.page import page
from kmaps.bench.paper.reproduced import compare
from kmaps.bench.records.arrays import read_correct
from kmaps.bench.records.file import definition_file
from kmaps.bench.records.times import without_doubtful_times
from kmaps.bench.report.document import Page
from kmaps.io import read_text


def page_of(folder: Path) -> Page:
    """Return the page on the records in a folder, with the parts of all its forms."""
    records = read_named(folder)
    name = records[0]["experiment"]
    shown = shown_of(records)
    about, claims = _said(folder, name)
    sure = without_doubtful_times(records)
    notes = folder / "NOTES.md"
    return page(
        records,
        measures=shown.measures(records),
        about=about,
        claims=claims,
        correct=read_correct(folder, records),
        numbers=list(compare(numbers_of(name), {name: sure})),
        sections=shown.sections(sure),
        figures=figures_in(folder),
        notes=read_text(notes) if notes.exists() else "",
    )


def figures_in(folder: Path) -> list[Path]:
    """Return the figures in a folder by name: the SVG file of each, or a PNG file without one."""
    figures = {path.stem: path for path in folder.glob("*.png")}
    figures |= {path.stem: path for path in folder.glob("*.svg")}
    return [figures[name] for name in sorted(figures)]


def _said(folder: Path, name: str) -> tuple[str, list[dict[str, Any]]]:
    definition = definition_file(folder)
    if definition is None:
        return entries.about(name), entries.claim_entries([name])[name]
    from kmaps.bench.kinds.load import described_in  # what users wrote is checked

    experiment = described_in(definition)
    return experiment.about, [claim.model_dump() for claim in experiment.claims]


def page_of_all(folder: Path) -> tuple[Page, str]:
    """Return the page on the runs in a folder's folders, and its content as JSON."""
    runs = reported.read_runs(folder)
    correct = reported.read_correct_of_runs(folder, runs)
    items = reported.reported(runs, entries.claim_entries(runs), correct)
    return glance(items, runs, entries.packaged()), reported.stored(items)
