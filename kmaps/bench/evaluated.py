"""An evaluation as text for a terminal, and as a page: scores with intervals, figures, settings."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kmaps.bench.report.document import FORMS, Code, Page, Picture, Section, Table, Text, as_text
from kmaps.io import label_line
from kmaps.models import Evaluation

_WIDEST = 20  # with more classes, a confusion matrix is not shown whole
_MATRIX = " (the whole matrix: --confusion FILE)"
_OF_CLASSES = "recall, %", "precision, %", "ROC AUC", "average precision"
_INTERVALS = "The intervals (Wilson's, 95 %) apply to this model on other rows like these."


def lines(found: Evaluation) -> str:
    """Return an evaluation for a terminal."""
    scores = "\n".join(f"{name} {value} ({of})" for name, value, of in _scores(found))
    return as_text([Text(scores), _classes(found), *_tables(found, _MATRIX).values()])


def page(
    found: Evaluation, suffix: str, settings: Mapping[str, str], command: str, note: str
) -> bytes:
    """Return a page in one of :data:`FORMS`; HTML and PDF have figures too, ``note`` is a text."""
    from kmaps.bench.figures.evaluation import DRAWN

    n, right = int(found.confusion.sum()), int(found.confusion.diagonal().sum())
    scores = [[*row, ""] for row in _scores(found)]
    scores[0][-1] = _interval(right, n)
    parts = [Code([command]), Table(["score", "value", "of", "95 % interval"], scores)]
    parts += [Text(_INTERVALS), Text(note)] if note else [Text(_INTERVALS)]
    parts.append(Section("Classes", [_classes(found, intervals=True)]))
    with TemporaryDirectory() as folder:
        for name, table in _tables(found).items():
            drawn = Picture(Path(folder, f"{name}.svg"), f"{name.capitalize()} as a figure")
            if has_figures := suffix in (".html", ".pdf"):
                DRAWN[name](found, drawn.path)
            content = [drawn, table] if has_figures else [table]
            parts.append(Section(name.capitalize(), content))
        rows = [[name, value] for name, value in settings.items()]
        parts.append(Section("Settings", [Table(["setting", "value"], rows, texts=2)]))
        return FORMS[suffix](Page(f"Evaluation of {settings['model file']}", parts))


def _scores(found: Evaluation) -> list[list[str]]:
    """Return the scores of all classes together: names, values, meanings."""
    n, right = int(found.confusion.sum()), int(found.confusion.diagonal().sum())
    of = (
        f"of {label_line(found.classes.tolist()[1])}"
        if len(found.classes) == 2
        else "mean over the classes"
    )
    ranked = {"ROC AUC": found.roc_auc, "average precision": found.average_precision}
    means = {name: found.ranking(each) for name, each in ranked.items()}
    others = [[name, f"{x:.4f}", of] for name, x in means.items() if x is not None]
    if found.n_contradicted:
        rows = f"rows of {n:,}: a class that is not predicted is more probable"
        others.append(["contradictions", f"{found.n_contradicted:,}", rows])
    return [["accuracy", f"{100 * found.accuracy:.2f} %", f"{right:,} of {n:,}"], *others]


def _interval(right: int, n: int) -> str:
    from scipy.stats import binomtest  # takes half a second

    found = binomtest(right, n).proportion_ci(method="wilson")
    return f"{100 * found.low:.2f} to {100 * found.high:.2f} %"


def _classes(found: Evaluation, intervals: bool = False) -> Table:
    counts = found.confusion
    true, given, right = counts.sum(axis=1), counts.sum(axis=0), counts.diagonal()

    def part(k: int, n: int) -> str:
        value = f"{100 * right[k] / max(n, 1):.2f}" if n else "-"
        return f"{value} ({_interval(int(right[k]), n)})" if n and intervals else value

    rows = [
        [label, f"{true[k]:,}", part(k, int(true[k])), part(k, int(given[k]))]
        + [_number(of[k]) for of in (found.roc_auc, found.average_precision)]
        for k, label in enumerate(map(label_line, found.classes.tolist()))
    ]
    return Table(["class", "rows", *_OF_CLASSES], rows)


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.4f}"


def _tables(found: Evaluation, more: str = "") -> dict[str, Table]:
    """Return the matrix, or, of many classes, the most confused pairs; and the calibration."""
    names = [label_line(label) for label in found.labels.tolist()]
    if (n_classes := len(found.classes)) <= _WIDEST:
        head = ["true \\ predicted", *names[:n_classes]]
        rows = [[name, *map(str, of)] for name, of in zip(names, found.confusion, strict=True)]
        tables = {"confusion": Table(head, rows, title="confusion matrix")}
    else:
        pairs = sorted(np.ndenumerate(found.confusion), key=lambda one: -one[1])
        rows = [[names[i], names[j], str(n)] for (i, j), n in pairs if i != j and n][:10]
        head = ["true", "predicted", "rows"]
        tables = {"confusion": Table(head, rows, 2, f"most confused{more}")}
    if (of := found.calibration) is not None:
        bins = zip(of.bounds[:-1], of.bounds[1:], of.rows, of.confidence, of.accuracy, strict=True)
        rows = [
            [f"{low:.1f} to {high:.1f}", f"{n:,}", f"{100 * mean:.2f}", f"{100 * right:.2f}"]
            for low, high, n, mean, right in bins
            if n
        ]
        title = f"expected calibration error {of.error:.4f}, Brier score {of.brier:.4f}, log loss "
        head = ["largest probability", "rows", "mean, %", "right, %"]
        tables["reliability"] = Table(head, rows, 1, title + _number(of.log_loss))
    return tables
