"""``kmaps train``: an additive-kernel SVM on an array file, from codes of one byte a value."""

import json
from collections.abc import Callable
from functools import partial
from math import inf, log
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import click
from click.core import ParameterSource

from kmaps import __version__
from kmaps.cli import array_files
from kmaps.cli.array_files import (
    as_input_error,
    check_paths,
    compiling,
    counts_from_zero,
    input_file,
    look_for,
    once_each_warning,
    split_label_column,
    without_pandas,
)
from kmaps.cli.completing import files, kernels, names
from kmaps.cli.map_options import MapCommand, build_map, map_options
from kmaps.cli.progress import stage_bars
from kmaps.errors import ConfigError, InputError

if TYPE_CHECKING:
    from warnings import WarningMessage

    from numpy.typing import NDArray

    from kmaps.compiling import Compiled
    from kmaps.io import LabelledRows
    from kmaps.io.reader import Reader
    from kmaps.models import RandomFeatureSVC
    from kmaps.svm import CodedSVC
    from kmaps.svm.prepared import PreparedRows

Report = Callable[[str, int, int], None]  # of a stage: what is done, and the total

DEFAULT_KERNEL = "chi2"


class TrainCommand(MapCommand):
    """A command whose map may be left out."""

    default_maps: ClassVar[tuple[str, ...]] = ()
    map_option: ClassVar[dict[str, Any]] = {
        "metavar": "NAME",
        "help": "Train on this map's features instead of the exact kernel; `kmaps list maps` shows "
        "them, `--map NAME --help` the options of one.",
    }


class Costs(click.ParamType):
    """One value of C, several separated by commas, or the word for a rule that finds some."""

    name = "C[,C…]|path|auto"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[float] | str:
        """Return the values in ascending order, or the word."""
        if isinstance(value, list) or value in ("path", "auto"):
            return value
        try:
            costs = sorted({float(text) for text in str(value).split(",")})
        except ValueError:
            self.fail(
                f"{value!r}: expected numbers separated by commas, 'path' or 'auto'", param, ctx
            )
        if not 0 < costs[0] <= costs[-1] < inf:
            self.fail(f"{value}: expected positive, finite numbers", param, ctx)
        return costs


@click.command(
    cls=TrainCommand,
    epilog="""\b
Examples:
  kmaps train histograms.npy model.npz --labels labels.npy --kernel chi2 -C 0.1
  kmaps train train.csv model.npz --label-column digit -C path
  kmaps train train.svm model.npz --map homogeneous --order 2 -C 0.01,0.1,1,10
  kmaps train histograms.npy model.npz --labels labels.npy --kernel exp-chi2 -m 4096""",
)
@click.argument("source", metavar="IN", shell_complete=files)
@click.argument("target", metavar="MODEL", shell_complete=files)
@array_files.labels
@array_files.label_column
@click.option(
    "--kernel",
    shell_complete=names(kernels),
    help=f"Of the machine. [default: {DEFAULT_KERNEL}]",
)
@click.option(
    "-C",
    "costs",
    type=Costs(),
    default="1",
    show_default=True,
    help="Weight of the loss. Several values are compared by cross-validation; `auto` extends "
    "0.1 to 10 until the best is inside; `path` goes up from 0.01 until held-out accuracy falls.",
)
@click.option("--folds", type=click.IntRange(2), default=3, show_default=True, help="To choose C.")
@click.option(
    "--penalty", default="l2", show_default=True, help="l2, or l1: keeps few features, by C."
)
@click.option(
    "--loss", default="hinge", show_default=True, help="hinge, squared_hinge or logistic."
)
@click.option("--multiclass", default="ovr", show_default=True, help="ovr or ovo.")
@click.option("--balanced", is_flag=True, help="C of each class in inverse proportion to its size.")
@click.option("--calibrate", is_flag=True, help="Turn one-vs-rest scores into log-odds.")
@click.option("--bias", type=float, default=1.0, show_default=True, help="0 for no intercept.")
@click.option(
    "--levels", type=click.IntRange(2, 256), default=256, show_default=True, help="Of a feature."
)
@click.option("--tol", type=float, help="Duality gap to reach, as a part of the objective.")
@click.option("--max-iter", type=click.IntRange(1), help="Most passes over the rows.")
@click.option("--seed", type=int, default=0, show_default=True, help="Order of rows, and folds.")
@array_files.input_format
@array_files.zero_based
@click.option(
    "--n-features", type=click.IntRange(1), help="Columns of svm files. [default: largest index]"
)
@array_files.memory
@click.option("--force", is_flag=True, help="Replace MODEL when it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no warnings.")
def command(
    source: str,
    target: str,
    map_name: str | None,
    labels: str | None,
    label_column: str | None,
    kernel: str | None,
    costs: list[float] | str,
    folds: int,
    balanced: bool,
    levels: int,
    seed: int,
    input_format: str | None,
    zero_based: str,
    n_features: int | None,
    memory: float,
    force: bool,
    as_json: bool,
    quiet: bool,
    **parameters: Any,
) -> None:
    """Train a kernel SVM on the rows of the array file IN and write MODEL (.npz).

    IN is .npy, .npz, .csv, .svm/.libsvm, .parquet or .arrow/.feather, or - for standard input;
    the last two need the extra kmaps[parquet]. A npz file has its rows in X and its labels in
    y, unless --label-column names them. IN is read in blocks and held as codes of one byte a
    value, so it may be larger than memory; training takes little more than the codes. The
    machine is exact for the kernel on at most 256 levels of a feature, or that of a map, which
    is fitted as `kmaps encode` does.

    For the exponential kernels, exp-chi2 and others, LIBLINEAR trains on m random frequencies (-m)
    of the generalized-rbf map, held in memory: some 24 bytes for each of a row's 2m outputs.
    --random-state draws them and seeds LIBLINEAR; --seed is for the folds alone then.

    MODEL holds plain arrays, all that `kmaps predict` needs.
    """
    look_for(source)
    from kmaps.io import open_reader

    check_paths(target, [source, labels], force)
    settings = {name: parameters.pop(name) for name in _SETTINGS}
    settings["class_weight"] = "balanced" if balanced else None
    model = _model(map_name, kernel, parameters, settings, levels=levels, seed=seed)
    with (
        input_file(source, target, input_format) as (path, name),
        as_input_error(),
        once_each_warning(quiet) as warned,
        stage_bars(quiet=quiet) as report,
        compiling(quiet) as compiled,
    ):
        own_column, column = split_label_column(label_column, labels)
        reader = open_reader(
            path,
            input_format,
            n_features=n_features,
            label_column=own_column,
            zero_based=counts_from_zero(zero_based),
            name=name,
        )
        rows = _labelled(reader, labels, column, memory, report)
        try:
            found = _train(model, rows, costs, folds, seed, report, warned, compiled)
        except MemoryError as error:
            raise InputError(f"{name}: too large for the memory there is: {error}") from None
        model.save(target, force=force, record=_record(model, found, reader, own_column))
    found["index_base"] = reader.index_base
    click.echo(json.dumps(found, indent=2) if as_json else _told(found, target))


_SETTINGS = ("penalty", "loss", "multiclass", "calibrate", "bias", "tol", "max_iter")


def _model(
    map_name: str | None,
    kernel: str | None,
    parameters: dict[str, Any],
    settings: dict[str, Any],
    *,
    levels: int,
    seed: int,
) -> "CodedSVC | RandomFeatureSVC":
    """Return the unfitted model that the options describe."""
    with without_pandas():
        from kmaps.maps.capabilities import Tabulated
        from kmaps.maps.random_fourier import RandomFeatures
        from kmaps.svm import CodedSVC
    given = {name: value for name, value in settings.items() if value is not None}
    if map_name is None:
        return CodedSVC(kernel or DEFAULT_KERNEL, n_levels=levels, random_state=seed, **given)
    takes_kernel = "kernel" in {option.name for option in map_options(map_name)}
    if kernel and not takes_kernel:
        raise ConfigError(f"--kernel {kernel}: the {map_name} map has no kernel; leave it out")
    if takes_kernel:
        parameters = {"kernel": kernel, **parameters}
    feature_map = build_map(map_name, parameters)
    if isinstance(feature_map, RandomFeatures):
        return _random_features(map_name, feature_map.get_params(), settings)
    if not isinstance(feature_map, Tabulated):
        raise ConfigError(f"--map {map_name}: has no tables, which training on codes needs")
    return CodedSVC(feature_map, n_levels=levels, random_state=seed, **given)


def _random_features(
    map_name: str, of_map: dict[str, Any], settings: dict[str, Any]
) -> "RandomFeatureSVC":
    """Return the unfitted model on a random map with some parameters."""
    from kmaps.models import RandomFeatureSVC

    context = click.get_current_context()
    for name in ("penalty", "calibrate", "levels", "max_iter"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = name.replace("_", "-")
            raise ConfigError(f"--{option}: not for {map_name}, on which LIBLINEAR trains")
    if context.params["costs"] == "path":
        raise ConfigError(f"-C path: not for {map_name}, on which LIBLINEAR trains; use -C auto")
    kernel = of_map.get("kernel", "exp-rbf").removeprefix("exp-")
    return RandomFeatureSVC(
        kernel if kernel == "rbf" else f"exp-{kernel}",
        of_map["n_frequencies"],
        order=of_map.get("order", 1),
        sigma=of_map["sigma"],
        structure=of_map["structure"],
        random_state=of_map["random_state"],
        loss=settings["loss"],
        multiclass=settings["multiclass"],
        bias=settings["bias"],
        tol=settings["tol"],
        class_weight=settings["class_weight"],
    )


def _labelled(
    reader: "Reader", labels: str | None, column: str | None, memory: float, report: Report
) -> "LabelledRows":
    """Return the rows of a file with the labels of another, or with its own."""
    from kmaps.io import LabelledRows, read_labels

    if labels is None and not reader.has_labels:
        raise ConfigError(
            f"{reader.name}: holds no labels; name a file with --labels, or the column that has "
            "them with --label-column"
        )
    y = None if labels is None else read_labels(labels, column=column)
    return LabelledRows(reader, y, memory=int(memory * 1e6), progress=report)


def _train(
    model: "CodedSVC | RandomFeatureSVC",
    source: "LabelledRows",
    costs: list[float] | str,
    folds: int,
    seed: int,
    report: Report,
    warned: list["WarningMessage"],
    compiled: "Compiled",
) -> dict[str, Any]:
    """Read the rows, choose C, train; return what there is to tell.

    Compiling is no part of the times.
    """
    from sklearn.exceptions import ConvergenceWarning

    from kmaps.models import RandomFeatureSVC

    def now() -> float:
        return perf_counter() - compiled.seconds

    start = now()
    rows = model.prepare_rows(source)
    y = source.labels()
    read = now()
    cv = _choose_c(model, rows, y, costs, folds, seed, report)
    chosen, n_before = now(), len(warned)
    if isinstance(model, RandomFeatureSVC):
        model.fit(rows, y)
        own = {
            "n_frequencies": len(model.map_.frequency_indices_),
            "sigma": model.sigma_,
            "encoded_bytes": rows.outputs.nbytes,
            "encode_s": read - start,
        }
    else:
        model.fit(rows, y, progress=_Gap(model, len(set(y.tolist())), report))
        own = {
            "levels": rows.levels.shape[1],
            "codes_bytes": rows.codes_bytes,
            "duality_gap": float(model.duality_gap_.max()),
            "passes": int(model.n_iter_.max()),
            "code_s": read - start,
        }
    unfinished = [
        str(one.message)
        for one in warned[n_before:]
        if issubclass(one.category, ConvergenceWarning)
    ]
    return {
        "rows": len(rows),
        "features": rows.n_features,
        "classes": len(model.classes_),
        **own,
        "model_bytes": model.model_bytes_,
        "C": model.C,
        "cv": cv,
        "folds": folds if cv else None,
        "cv_s": chosen - read,
        "train_s": now() - chosen,
        "unfinished": unfinished,
    }


def _record(
    model: "CodedSVC | RandomFeatureSVC",
    found: dict[str, Any],
    reader: "Reader",
    label_column: str | None,
) -> dict[str, Any]:
    """Return what a model file keeps of its training: no times, which would make files differ."""
    own = ("features", "classes", "levels", "sigma", "C", "model_bytes", "n_frequencies")
    times = ("code_s", "encode_s", "cv_s", "train_s")
    of_map = {"kernel": None} if isinstance(model.map_, str) else model.map_.get_params()
    return {
        "by": f"kmaps {__version__}",
        "file": Path(reader.name).name,
        "index_base": reader.index_base,
        "columns": reader.columns,
        "label_column": label_column,
        "kernel": of_map.get("kernel"),
        **{name: value for name, value in found.items() if name not in own + times},
    }


def _choose_c(
    model: "CodedSVC | RandomFeatureSVC",
    rows: "PreparedRows",
    y: "NDArray",
    costs: list[float] | str,
    folds: int,
    seed: int,
    report: Report,
) -> list[dict[str, float]]:
    """Give the model the best C; return the accuracy of each, if there are several."""
    from kmaps.models import along_c, choose_along_path, cross_validate
    from kmaps.svm import CodedSVC

    if not isinstance(costs, str) and len(costs) == 1:
        model.set_params(C=costs[0])
        return []
    progress = partial(report, "choose C")
    if isinstance(model, CodedSVC):
        choice = choose_along_path(model, rows, y, costs, folds=folds, seed=seed, progress=progress)
    else:
        choice = cross_validate(
            lambda of: along_c(model, rows.take(of), y[of]),
            costs,
            y,
            folds=folds,
            seed=seed,
            progress=progress,
        )
    model.set_params(C=choice.C)
    tried = zip(choice.grid, choice.accuracies, strict=True)
    return [{"C": C, "accuracy": accuracy} for C, accuracy in tried]


class _Gap:
    """Progress of training: how far the duality gaps have come, by their logarithms."""

    def __init__(self, model: "CodedSVC", n_classes: int, report: Report) -> None:
        from kmaps.svm.reduction import count_problems

        self._n = count_problems(n_classes, model.multiclass)
        self._tol, self._report = model.tol, report
        self._come = dict.fromkeys(range(self._n), 0.0)

    def __call__(self, problem: int, passes: int, gap: float) -> None:
        come = min(1.0, log(max(gap, 1e-300)) / log(self._tol)) if 0 < self._tol < 1 else 1.0
        self._come[problem] = max(self._come[problem], come)
        self._report("train", int(1000 * sum(self._come.values())), 1000 * self._n)


def _told(found: dict[str, Any], target: str) -> str:
    what = f"{found['rows']:,} rows of {found['features']:,} features, {found['classes']} classes: "
    if "n_frequencies" in found:
        what += (
            f"{found['n_frequencies']:,} frequencies at sigma {found['sigma']:.3g}, "
            f"{found['encoded_bytes'] / 1e6:.1f} MB, {found['encode_s']:.1f} s"
        )
    else:
        what += f"{found['codes_bytes'] / 1e6:.1f} MB of codes, {found['code_s']:.1f} s"
    lines = [what]
    if found["index_base"] is not None:
        lines.append(f"indices taken to count from {found['index_base']} (--zero-based)")
    for tried in found["cv"]:
        mark = ", chosen" if tried["C"] == found["C"] else ""
        accuracy = f"{100 * tried['accuracy']:.2f} % in {found['folds']}-fold cross-validation"
        lines.append(f"C = {tried['C']:g}: {accuracy}{mark}")
    end = f"trained with C = {found['C']:g} in {found['train_s']:.1f} s"
    if "duality_gap" in found:
        end += f" to a duality gap of {found['duality_gap']:.1e} of the objective"
    return "\n".join([*lines, end, f"{target}: {found['model_bytes'] / 1e6:.1f} MB"])
