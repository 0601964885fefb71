"""Work on a cluster for commands with ``--cluster``: rows in files that all workers see."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from kmaps.cli.flags import refuse_options
from kmaps.cli.progress import stage_bars
from kmaps.errors import ConfigError, InputError

if TYPE_CHECKING:
    from kmaps.cli.model_files import Trained
    from kmaps.maps import FeatureMap

cluster = click.option(
    "--cluster",
    metavar="ADDRESS|local:N",
    help="Compute on a Dask cluster: the address of its scheduler, or N workers on this computer. "
    "IN is then a .npy file, a Zarr folder, or a Parquet file or folder that all workers see; the "
    "name of OUT ends in .npy, .zarr or .parquet. Needs the extra `cluster`.",
)


@contextmanager
def cluster_client(address: str, *refused_options: str) -> Iterator[Any]:
    """Yield the client of a cluster; refuse options that have no meaning on clusters."""
    refuse_options(refused_options, "not with --cluster; leave it out")
    try:
        from kmaps.dask import connected
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"--cluster needs {error.name}, which is not installed: pip install 'PATH[cluster]', "
            "where PATH is a checkout or a wheel of kmaps"
        ) from None
    from kmaps.bench.run.processes import starting

    with starting({}), connected(address) as client:  # lost workers start again
        yield client


def encode_on_cluster(
    source: str,
    target: str,
    feature_map: "FeatureMap",
    fit_on: str | None,
    label_column: str | None,
    *,
    force: bool,
) -> None:
    """Fit a map in one pass over the blocks, and let the workers write its outputs."""
    import numpy as np

    from kmaps.dask import BlockwiseMap, check_output, rows_of, write

    check_output(target, force=force)
    rows = rows_of(source, label_column)
    fitting_rows = rows if fit_on is None else rows_of(fit_on, label_column)
    if fitting_rows.n_features != rows.n_features:
        raise InputError(
            f"{fit_on} has {fitting_rows.n_features} columns, {source} has {rows.n_features}"
        )
    fitted = BlockwiseMap(feature_map).fit(fitting_rows.blocks)
    names = [str(name) for name in fitted.map_.get_feature_names_out(rows.columns)]
    write(
        fitted.transform(rows.blocks),
        rows.lengths,
        target,
        dtype=np.float32,
        width=len(names),
        columns=names,
        labels=rows.labels,
        force=force,
    )


def train_on_cluster(
    source: str,
    model: Any,
    costs: list[float] | str,
    labels: str | None,
    label_column: str | None,
    client: Any,
    quiet: bool,
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Train a model with the parameters of ``model``; return it, the facts, and the record."""
    from kmaps import showing
    from kmaps.cli.train_model import record_of
    from kmaps.dask import BlockwiseMappedSVC, BlockwiseSVC, column_names
    from kmaps.io import whole_labels
    from kmaps.models import training_facts
    from kmaps.svm import CodedSVC

    if isinstance(costs, str) or len(costs) > 1:
        raise ConfigError("-C: give one value with --cluster; choose it on a part of the rows")
    model.set_params(C=costs[0])
    is_coded = isinstance(model, CodedSVC)
    learner: Any
    if is_coded:
        learner = BlockwiseSVC.like(model.set_params(n_blocks="auto"), client)
    else:
        learner = BlockwiseMappedSVC(model, client)
    with stage_bars(quiet=quiet) as report, showing(report):
        learner.fit(source, _labels(source, labels, label_column))
    fitted = learner if is_coded else learner.model_
    fitted.classes_ = whole_labels(fitted.classes_)
    facts = training_facts(fitted, learner.n_rows_, [], None)
    if is_coded:
        facts["n_blocks"] = int(learner.n_blocks_.max())
    facts["index_base"] = None
    facts["blocks_sha256"] = learner.blocks_sha256_
    if is_coded:
        facts["code_s"] = fitted.timings_["convert_s"]
    else:
        facts["encode_s"] = fitted.timings_["encode_s"]
    facts["train_s"] = fitted.timings_["train_s"]
    columns = column_names(source)
    if columns is not None:
        columns = [name for name in columns if name != label_column]
    return fitted, facts, record_of(fitted, facts, source, label_column, columns)


def _labels(source: str, labels: str | None, label_column: str | None) -> Any:
    """Return the labels of a file, or the name of their column in the file of the rows."""
    from kmaps.dask import column_names, labels_of

    columns = column_names(source)
    if columns is not None and label_column is None:
        raise ConfigError(f"{source}: name the column that has the labels with --label-column")
    if columns is not None and label_column not in columns:
        raise ConfigError(f"--label-column {label_column}: expected one of {', '.join(columns)}")
    if columns is None and labels is None:
        raise ConfigError(f"{source}: holds no labels; name a file with --labels")
    if labels is not None and label_column is not None:
        raise ConfigError("--labels: Parquet has labels in --label-column; leave one out")
    return label_column if labels is None else labels_of(labels)


def predict_on_cluster(
    trained: "Trained",
    source: str,
    target: str,
    labels: str | None,
    label_column: str | None,
    *,
    force: bool,
) -> dict[str, Any]:
    """Let the workers write the label of each row; count the right labels."""
    from time import perf_counter

    from kmaps.cli.model_files import check_columns
    from kmaps.dask import check_output, joined, kept, labels_of, mapped, rows_of, write

    check_output(target, force=force)
    start = perf_counter()
    model = trained.model
    rows = rows_of(source, label_column)
    check_columns(trained, rows, label_column)
    vars(model).pop("feature_names_in_", None)  # blocks are arrays without names
    truth = rows.labels if labels is None else labels_of(labels)
    n_rows = sum(rows.lengths)
    dtype = model.classes_.dtype
    if truth is not None and len(truth) != n_rows:
        raise InputError(f"{len(truth)} labels, but {source} has {n_rows} rows")
    blocks = kept(mapped(rows.blocks, model.predict, model.n_features_in_, dtype, None))
    write(blocks, rows.lengths, target, dtype=dtype, width=None, columns=["label"], force=force)
    n_correct = None
    if truth is not None:
        predicted = joined(blocks, rows.lengths, dtype, ())
        n_correct = int((predicted == truth.rechunk(predicted.chunks)).sum().compute())
    return {
        "rows": n_rows,
        "correct": n_correct,
        "accuracy": None if n_correct is None else n_correct / n_rows,
        "predict_s": perf_counter() - start,
    }
