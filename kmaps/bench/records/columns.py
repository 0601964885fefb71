"""The columns of a record: what a cell is, how it was measured, and what came out."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from kmaps.bench.records.row import Row
from kmaps.errors import ConfigError, InputError

Record = dict[str, Any]

FORMAT = 2
"""The format of records; a file of another one is refused."""

COLUMNS: dict[str, str] = {
    "format": "format of the record",
    "kind": "kind of the experiment",
    "key": "sha256 of the cell's resolved configuration, the data's digest and the map version",
    "status": "ok or failed",
    "experiment": "name of the experiment",
    "setting": "where the cell is measured, in words, when it is no dataset: a range of values, a "
    "toy problem",
    "dataset": "name of the dataset; empty where there is none",
    "data_digest": "sha256 of the dataset's content",
    "protocol": "how the split is drawn from the dataset, as the experiment has it",
    "features": "name of the features and the parameters that the experiment names",
    "feature_params": "the parameters of the features that the experiment names",
    "feature_version": "version of the features",
    "normalize": "normalisation of each row: none, l1, l2 or gamma=NUMBER",
    "split": "number of the split, from 0",
    "draw": "number of the draw of random projections, from 0; null where cells have no draws",
    "kernel": "name of the kernel; empty where there is none (the linear baseline)",
    "method": "linear, exact, exact-coded, the name of a map, or an estimator of others: "
    "package.module.Class",
    "params": "the parameters of the map or estimator that the experiment names, without the "
    "kernel",
    "solver": "who solved the problem of a classification: liblinear, libsvm, coded, or own, a "
    "classifier of others",
    "learner": "what else tells machines on one map apart: the form of the coded solver, calibrate "
    "and normalize of a row where the experiment names them; name, C and keep of a learner of a "
    "trade-off",
    "size": "training samples, where the rows of an experiment differ in them",
    "settings": "settings of the solver that its rows share: loss, bias, tolerance",
    "options": "what else the numbers depend on: the range of values, the problem, the classes",
    "reduction": "multi-class reduction: ovo (one-vs-one) or ovr (one-vs-rest)",
    "C": "regularisation that was used; null where the classifier of others has none",
    "C_grid": "values that C was chosen from, as the experiment has them; auto: by the rule of "
    "kmaps.models.c_grid, in cv_C",
    "C_folds": "folds of the cross-validation; null without a choice",
    "C_samples": "training samples that the cross-validation used; null for all of them",
    "C_unit_norm": "whether C and the bias are for rows scaled to a root mean square norm of one",
    "cv_C": "values of C that were compared, ascending; empty without a choice; null in earlier "
    "records, which compared those of C_grid",
    "cv_accuracy": "cross-validated accuracy (of detectors average precision) with each of these "
    "values, in [0, 1]; empty without a choice",
    "cv_se": "standard error of each of these means over the samples (of detectors over folds and "
    "classes); null in earlier records",
    "accuracy": "accuracy on the test samples, in [0, 1]",
    "accuracy_per_class": "mean over the classes of the accuracy on each class, in [0, 1]",
    "average_precision": "mean over the classes of the average precision of each against the rest, "
    "in [0, 1]; with it, other columns of a trade-off are means over the classes too",
    "linf": "largest error of the approximate kernel over all pairs",
    "rms": "root mean square error of the approximate kernel over all pairs",
    "l1": "mean absolute error of the approximate kernel over all pairs (approximation)",
    "error_bound": "largest error that the map itself allows on the range (hkm Lemma 3); null of "
    "maps that have no bound",
    "period": "period of the map, in units of log x; null of maps that have none",
    "additive_rms": "root mean square of the part of the error that more projections do not lessen "
    "(random-features)",
    "random_rms": "root mean square of the random part of the error (random-features)",
    "bias": "absolute value of the mean error over all pairs of samples (pairs)",
    "deviation": "standard deviation of the error over all pairs of samples (pairs)",
    "worst": "the pair of values with the largest error",
    "important": "share of the patches that are centred in the important regions of an image, mean "
    "over the images, in [0, 1] (places)",
    "n_train": "training samples",
    "n_test": "test samples",
    "n_skipped": "images left out because they cannot be used (--skip-bad)",
    "n_features": "columns before encoding",
    "dim": "columns after encoding (of the Gram matrix for exact, codes for the coded solver)",
    "fit_s": "fitting the map, seconds; for the coded solver part of convert_s",
    "encode_s": "encoding the training samples (exact: their Gram matrix), seconds",
    "convert_s": "building the solver's own structures (coded: levels, tables, codes), seconds",
    "train_s": "training with the chosen C, seconds",
    "predict_s": "predicting the test samples, their encoding or Gram matrix included, seconds",
    "cv_s": "choosing C, seconds",
    "train_bytes": "bytes of the stored training set, in the smallest lossless form that the "
    "method's learner reads back",
    "storage_form": "that form: dense or CSR float32, packed or CSR codes, CSR B-splines; and "
    "what beside it is pickled: the map or the model of others",
    "paper_train_bytes": "the same as annfm counts it, where that differs",
    "table_bytes": "bytes of the tables that the map needs at prediction",
    "model_bytes": "bytes of the model that prediction needs",
    "storage_bytes": "train_bytes + table_bytes + model_bytes",
    "gram_bytes": "memory of the Gram matrix; 0 where there is none",
    "copy_bytes": "memory of the training set in the solver's own structures: LIBSVM's copy of the "
    "Gram matrix, LIBLINEAR's of the encoded rows, the codes of the coded solver",
    "peak_bytes": "memory the method needed beyond its data: peak of its process while fitting, "
    "encoding, training and predicting, less what was in use before",
    "train_peak_bytes": "the same while fitting, encoding and training, without predicting",
    "seed": "seed of the map and the solver, from the cell's name",
    "threads": "threads of the compiled loops, BLAS and OpenMP",
    "jobs": "cells measured at the same time; times compare only at equal threads and jobs",
    "load_before": "load average of the last minute when measuring the cell began",
    "load_after": "the same when it ended",
    "other_cpus": "processors busy with other work meanwhile, in the mean; null where the system "
    "does not tell, or for less than half a second",
    "stolen_cpus": "processors that the host of a virtual machine took away meanwhile",
    "command": "the command that was given; empty when it was no command",
    "versions": "versions of the packages that matter, that of an estimator of others included",
    "cpu": "model of the processor, with its family, model and stepping",
    "cores": "processors of the machine that the run may use",
    "python": "version of Python",
    "commit": "commit of the source checkout; empty when installed from a package",
    "dirty": "whether the code of the source checkout differs from the commit",
    "map_version": "version of the maps",
    "started": "when the cell started, UTC, ISO 8601",
    "warnings": "what the solver or the map warned of while the cell was measured",
    "error": "why the cell failed, one line; empty when it did not",
    "traceback": "where it failed; empty when it did not",
}
"""Every column with its meaning. Times in seconds, sizes in bytes, null where not measured."""

PICKLED = "pickled"
"""What ``storage_form`` says where a part is an estimator of others."""

LATER = (
    *("storage_form", "paper_train_bytes", "gram_bytes", "copy_bytes"),
    *("load_before", "load_after", "other_cpus", "stolen_cpus", "command"),
    *("cv_C", "cv_se"),
    *("l1", "error_bound", "period"),
    *("bias", "deviation", "important"),
)
"""Columns that older records of this format lack; there they are null."""

_FRACTIONS = ("accuracy", "accuracy_per_class", "average_precision", "important")
NUMBERS = (
    *_FRACTIONS,
    *("linf", "rms", "l1", "error_bound", "period", "additive_rms", "random_rms"),
    *("bias", "deviation", "C"),
    *(name for name in COLUMNS if name.endswith(("_s", "_bytes")) or name.startswith("n_")),
    *("dim", "split", "draw", "size", "seed", "threads", "jobs", "cores"),
    *("load_before", "load_after", "other_cpus", "stolen_cpus"),
)
"""Columns whose values are numbers, or null."""

_MAPPINGS = ("protocol", "feature_params", "params", "learner", "settings", "options", "versions")
_LISTS = ("cv_C", "cv_accuracy", "cv_se")
_TEXTS = (
    *("kind", "key", "status", "experiment", "setting", "dataset", "features", "kernel"),
    *("method", "solver", "reduction", "error"),
)


def check_record(record: Any, where: str) -> None:
    """Refuse what is no record of this format, or holds what no measurement gives.

    Raises
    ------
    ConfigError
        When the record has an older or a newer format.
    InputError
        When a column is missing, unknown, or has a value of another type or out of its range.
    """
    if not isinstance(record, dict) or "key" not in record:
        raise InputError(f"{where}: not a record (one JSON object a line)")
    given = record.get("format", 1)
    if given != FORMAT:
        remedy = (
            "it was written by a newer kmaps: update kmaps"
            if isinstance(given, int) and given > FORMAT
            else "measure again, into another folder (kmaps run NAME --out FOLDER)"
        )
        raise ConfigError(
            f"{where}: a record of format {given!r}, this version of kmaps has format {FORMAT}; "
            f"{remedy}"
        )
    odd = sorted((set(record) | set(LATER)) ^ set(COLUMNS))
    if odd:
        shown = ", ".join(name if name.isprintable() else repr(name) for name in odd)
        raise InputError(f"{where}: missing or unknown columns: {shown}")
    for names, fits, expected in (
        (_TEXTS, lambda value: isinstance(value, str), "text"),
        (_MAPPINGS, lambda value: isinstance(value, dict), "a mapping"),
        (NUMBERS, _is_number, "a finite number or null"),
        (_LISTS, _is_list_of_numbers, "a list of finite numbers or null"),
        (_FRACTIONS, lambda value: value is None or 0 <= value <= 1, "a number from 0 to 1"),
    ):
        for name in names:
            if not fits(record.get(name)):
                raise InputError(f"{where}: {name} is {record[name]!r}, expected {expected}")
    if record["status"] not in ("ok", "failed"):
        raise InputError(f"{where}: status is {record['status']!r}, expected ok or failed")


def _is_number(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_list_of_numbers(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and all(one is not None and _is_number(one) for one in value)


def cell_name(record: Mapping[str, Any]) -> str:
    """Return a record's cell in words.

    Examples
    --------
    >>> row = Row("linear", solver="liblinear").columns
    >>> cell_name({"split": 0, "draw": None, "reduction": "ovo", "kernel": "", "setting": ""} | row)
    'split 0 ovo linear'
    """
    split = None if record["split"] is None else f"split {record['split']}"
    draw = None if record["draw"] is None else f"draw {record['draw']}"
    words = record["setting"], split, draw, record["reduction"], record["kernel"]
    return " ".join(filter(None, [*words, Row.of(record).label]))


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
