"""``kmaps encode``: map an array file to explicit features, block by block."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from kmaps.cli import array_files
from kmaps.cli.array_files import as_input_error, compiling, once_each_warning
from kmaps.cli.cluster import cluster as cluster_option
from kmaps.cli.cluster import cluster_client, encode_on_cluster
from kmaps.cli.completing import files
from kmaps.cli.flags import say
from kmaps.cli.map_options import MapCommand, build_map
from kmaps.cli.progress import progress_bar, stage_bars
from kmaps.errors import ConfigError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kmaps.io import Reader
    from kmaps.maps import FeatureMap

_NOT_ON_CLUSTER = (
    "dtype",
    "codes",
    "labels",
    "input_format",
    "zero_based",
    "header",
    "output_format",
    "n_features",
    "memory",
)
"""Options without a meaning on a cluster."""


@click.command(
    cls=MapCommand,
    groups={
        "Files": "labels label_column input_format output_format zero_based header n_features "
        "force",
        "Computation": "dtype memory threads cluster",
    },
    epilog="""\b
Examples:
  kmaps encode histograms.npy encoded.npy --kernel chi2 --order 3
  kmaps encode test.npy encoded.npy --fit-on train.npy
  kmaps encode histograms.npy encoded.npy --kernel exp-chi2 -m 4096
  kmaps encode rows.parquet encoded.parquet --label-column digit --cluster local:4
  cut -d, -f2- table.csv | kmaps encode - encoded.npz --input-format csv""",
)
@click.argument("source", metavar="IN", shell_complete=files)
@click.argument("target", metavar="OUT", shell_complete=files)
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float64"]),
    help="Precision of OUT. [default: float64 for arrays of float64 or of integers of 32 bits "
    "and more, else float32]",
)
@click.option(
    "--fit-on", metavar="FILE", shell_complete=files, help="Fit the map on this file instead of IN."
)
@click.option("--codes", is_flag=True, help="Write the map's codes instead of its outputs.")
@click.option(
    "--labels",
    metavar="FILE",
    shell_complete=files,
    help="Labels of the rows, .npy, .txt or .csv, to go into OUT; - for standard input.",
)
@array_files.label_column
@array_files.input_format
@array_files.zero_based
@array_files.header
@click.option(
    "--output-format",
    metavar="FORMAT",
    help="Format of OUT: npy, npz, csv, svm, parquet or arrow. [default: by its name]",
)
@array_files.n_features
@array_files.memory
@array_files.threads
@cluster_option
@click.option("--force", is_flag=True, help="Replace OUT when it exists.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress bar, no warnings.")
def command(
    source: str,
    target: str,
    map_name: str,
    dtype: str | None,
    fit_on: str | None,
    codes: bool,
    labels: str | None,
    label_column: str | None,
    input_format: str | None,
    zero_based: str,
    header: str,
    output_format: str | None,
    n_features: int | None,
    memory: float,
    cluster: str | None,
    force: bool,
    quiet: bool,
    **parameters: Any,
) -> None:
    """Map every row of the array file IN by a feature map and write OUT.

    IN and OUT are .npy, .npz (an array, or a CSR matrix as SciPy saves it), .csv, .svm/.libsvm,
    .parquet or .arrow/.feather (the last two need the extra `parquet`), or - for standard input and
    output. Files of any size are handled in blocks; OUT appears when it is complete. Sparse input
    gives sparse output in .npz and .svm when the map keeps zeros. Labels are not encoded but kept:
    in .npz as y, in tables as the column label, in .npy not at all. A map that learns from data is
    fitted on 10,000 rows of IN, or of the file of --fit-on, which are drawn at random but the same
    in every run; on fewer rows when 10,000 would take more than 32 MB.
    """
    array_files.look_for(source, fit_on, labels)
    if cluster is not None:
        with (
            cluster_client(cluster, *_NOT_ON_CLUSTER),
            as_input_error(),
            once_each_warning(quiet),
        ):
            feature_map = build_map(map_name, parameters)
            encode_on_cluster(source, target, feature_map, fit_on, label_column, force=force)
        return
    from kmaps.io import encode_file, open_writer
    from kmaps.io import output_format as format_of

    array_files.check_paths(target, [source, fit_on, labels], force)
    data_column, labels_column = array_files.split_label_column(label_column, labels)
    y = None if labels is None else array_files.labels_in(labels, labels_column)
    form = format_of(target, output_format, labels=y is not None)
    open_rows = partial(
        array_files.open_rows,
        n_features=n_features,
        label_column=data_column,
        zero_based=zero_based,
        header=header,
        quiet=quiet,
    )
    with array_files.input_file(source, target, input_format) as (path, name):
        reader = open_rows(path, input_format, name=name)
        fit_reader = open_rows(fit_on) if fit_on else reader
        _check_rows(reader, fit_reader, y, silent=quiet or zero_based != "auto")
        feature_map = build_map(map_name, parameters)
        if codes and not feature_map.has_codes:
            raise ConfigError(f"the {map_name} map has no codes; leave --codes out")
        with as_input_error(), once_each_warning(quiet), compiling(quiet):
            _fit(feature_map, fit_reader, _input_type(fit_reader, dtype), quiet)
            encode = _encoder(feature_map, reader, codes)
            with (
                open_writer(target, form, n_rows=reader.n_rows, force=force) as writer,
                progress_bar(f"encode {reader.name}", quiet=quiet) as report,
            ):
                encode_file(
                    reader,
                    writer,
                    encode,
                    labels=y,
                    dtype=_input_type(reader, dtype),
                    memory=int(memory * 1e6),
                    progress=report,
                )


def _check_rows(
    reader: "Reader", fit_reader: "Reader", y: "NDArray | None", *, silent: bool
) -> None:
    """Refuse a wrong number of labels, rows to fit on with other columns, and wrong first rows.

    Unless ``silent``, say where indices count from 0.
    """
    if y is not None and reader.n_rows not in (None, len(y)):
        raise InputError(f"{len(y)} labels, but {reader.name} has {reader.n_rows} rows")
    if fit_reader.n_features != reader.n_features:
        raise InputError(
            f"{fit_reader.name} has {fit_reader.n_features} columns, {reader.name} has "
            f"{reader.n_features}"
        )
    fit_base = fit_reader.index_base
    base = reader.index_base
    if fit_base is not None and base is not None and fit_base != base:
        raise InputError(
            f"indices count from {fit_base} in {fit_reader.name} and from {base} in {reader.name}; "
            "state where both begin with --zero-based"
        )
    if base == 0 and not silent:
        say(f"{reader.name}: its indices count from 0; written svm files count from 1", err=True)
    array_files.check_start(reader)


def _input_type(reader: Any, dtype: str | None) -> str | None:
    if dtype is None:
        return "float32" if reader.is_text else None
    # Bytes are looked up directly, which gives float32.
    return None if dtype == "float32" and reader.dtype == "uint8" else dtype


def _fit(feature_map: "FeatureMap", reader: Any, dtype: str | None, quiet: bool) -> None:
    from kmaps import showing
    from kmaps.io import first_row, sample_rows

    read = sample_rows if feature_map.learns_from_data else first_row
    with stage_bars(quiet=quiet) as report, showing(report):
        feature_map.fit(read(reader, dtype=dtype))


def _encoder(feature_map: "FeatureMap", reader: Any, codes: bool) -> Callable:
    encode = feature_map.to_codes if codes else feature_map.transform
    # The code of zero need not be 0, even if the curve keeps zeros.
    if reader.sparse and (codes or not feature_map.takes_sparse_):
        return lambda X: encode(X.toarray())
    return encode
