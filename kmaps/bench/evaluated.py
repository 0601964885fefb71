"""An evaluation as text for a terminal, and as a page: scores with intervals, figures, settings."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kmaps.bench.report.document import (
    FORMS,
    Code,
    Page,
    Part,
    Picture,
    Section,
    Table,
    Text,
    as_text,
)
from kmaps.io import label_line
from kmaps.models import Evaluation

_WIDEST = 20  # with more classes, a confusion matrix is not shown whole
_MATRIX = " (the whole matrix: --confusion FILE)"
_OF_CLASSES = "recall, %", "precision, %", "ROC AUC", "average precision"
_INTERVALS = "The intervals (Wilson's, 95 %) apply to this model on other rows like these."


def lines(evaluation: Evaluation) -> str:
    """Return an evaluation for a terminal."""
    scores = "\n".join(f"{name} {value} ({words})" for name, value, words in _scores(evaluation))
    return as_text([Text(scores), _classes(evaluation), *_tables(evaluation, _MATRIX).values()])


def page(
    evaluation: Evaluation, suffix: str, settings: Mapping[str, str], command: str, note: str
) -> bytes:
    """Return a page in one of :data:`FORMS`; HTML and PDF have figures too, ``note`` is a text."""
    from kmaps.bench.figures.evaluation import FIGURES

    n = int(evaluation.confusion.sum())
    right = int(evaluation.confusion.diagonal().sum())
    scores = [[*row, ""] for row in _scores(evaluation)]
    scores[0][-1] = _interval(right, n)
    parts = [Code([command]), Table(["score", "value", "of", "95 % interval"], scores)]
    parts.append(Text(_INTERVALS))
    if note:
        parts.append(Text(note))
    parts.append(Section("Classes", [_classes(evaluation, intervals=True)]))
    with TemporaryDirectory() as folder:
        for name, table in _tables(evaluation).items():
            content: list[Part] = [table]
            if suffix in (".html", ".pdf"):
                picture = Picture(Path(folder, f"{name}.svg"), f"{name.capitalize()} as a figure")
                FIGURES[name](evaluation, picture.path)
                has_counts = name == "confusion" and len(evaluation.labels) <= _WIDEST
                content = [picture] if has_counts else [picture, table]  # counts are in the figure
            parts.append(Section(name.capitalize(), content))
        rows = [[name, value] for name, value in settings.items()]
        parts.append(Section("Settings", [Table(["setting", "value"], rows, texts=2)]))
        return FORMS[suffix](Page(f"Evaluation of {settings['model file']}", parts))


def _scores(evaluation: Evaluation) -> list[list[str]]:
    """Return the scores of all classes together: names, values, meanings."""
    n = int(evaluation.confusion.sum())
    right = int(evaluation.confusion.diagonal().sum())
    scores = [["accuracy", f"{100 * evaluation.accuracy:.2f} %", f"{right:,} of {n:,}"]]
    meaning = "mean over the classes"
    if len(evaluation.classes) == 2:
        meaning = f"of {label_line(evaluation.classes.tolist()[1])}"
    by_class = {"ROC AUC": evaluation.roc_auc, "average precision": evaluation.average_precision}
    for name, values in by_class.items():
        score = evaluation.ranking(values)
        if score is not None:
            scores.append([name, f"{score:.4f}", meaning])
    if evaluation.n_contradicted:
        meaning = f"rows of {n:,}: a class that is not predicted is more probable"
        scores.append(["contradictions", f"{evaluation.n_contradicted:,}", meaning])
    return scores


def _interval(right: int, n: int) -> str:
    from scipy.stats import binomtest  # takes half a second

    interval = binomtest(right, n).proportion_ci(method="wilson")
    return f"{100 * interval.low:.2f} to {100 * interval.high:.2f} %"


def _classes(evaluation: Evaluation, intervals: bool = False) -> Table:
    counts = evaluation.confusion
    true = counts.sum(axis=1).tolist()
    predicted = counts.sum(axis=0).tolist()
    right = counts.diagonal().tolist()

    def percentage(n_right: int, n: int) -> str:
        if not n:
            return "-"
        value = f"{100 * n_right / n:.2f}"
        return f"{value} ({_interval(n_right, n)})" if intervals else value

    rows = []
    for k, label in enumerate(evaluation.classes.tolist()):
        row = [
            label_line(label),
            f"{true[k]:,}",
            percentage(right[k], true[k]),
            percentage(right[k], predicted[k]),
            _number(evaluation.roc_auc[k]),
            _number(evaluation.average_precision[k]),
        ]
        rows.append(row)
    return Table(["class", "rows", *_OF_CLASSES], rows)


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.4f}"


def _tables(evaluation: Evaluation, more: str = "") -> dict[str, Table]:
    """Return the matrix, or, of many classes, the most confused pairs; and the calibration."""
    names = [label_line(label) for label in evaluation.labels.tolist()]
    n_classes = len(evaluation.classes)
    if n_classes <= _WIDEST:
        head = ["true \\ predicted", *names[:n_classes]]
        rows = [
            [name, *map(str, counts)]
            for name, counts in zip(names, evaluation.confusion, strict=True)
        ]
        tables = {"confusion": Table(head, rows, title="confusion matrix")}
    else:
        pairs = sorted(np.ndenumerate(evaluation.confusion), key=lambda cell: -cell[1])
        rows = [[names[i], names[j], str(n)] for (i, j), n in pairs if i != j and n][:10]
        head = ["true", "predicted", "rows"]
        tables = {"confusion": Table(head, rows, 2, f"most confused{more}")}
    calibration = evaluation.calibration
    if calibration is not None:
        bins = zip(
            calibration.bounds[:-1],
            calibration.bounds[1:],
            calibration.rows,
            calibration.confidence,
            calibration.accuracy,
            strict=True,
        )
        rows = [
            [f"{low:.1f} to {high:.1f}", f"{n:,}", f"{100 * mean:.2f}", f"{100 * right:.2f}"]
            for low, high, n, mean, right in bins
            if n
        ]
        title = (
            f"expected calibration error {calibration.error:.4f}, "
            f"Brier score {calibration.brier:.4f}, log loss {_number(calibration.log_loss)}"
        )
        head = ["largest probability", "rows", "mean, %", "right, %"]
        tables["reliability"] = Table(head, rows, 1, title)
    return tables
