"""``kmaps train``: train a kernel SVM on an array file."""

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import click

from kmaps.cli import array_files
from kmaps.cli import train_model as training
from kmaps.cli.array_files import as_input_error, compiling, once_each_warning
from kmaps.cli.cluster import cluster as cluster_option
from kmaps.cli.cluster import cluster_client, train_on_cluster
from kmaps.cli.completing import files, kernels, names
from kmaps.cli.drift import histograms_of
from kmaps.cli.flags import Number, megabytes, say
from kmaps.cli.interrupts import ended_by_interrupt
from kmaps.cli.map_options import MapCommand
from kmaps.cli.progress import stage_bars
from kmaps.errors import ConfigError, InputError

if TYPE_CHECKING:
    from kmaps.io import LabelledRows
    from kmaps.models import NormalizedRows

_NOT_ON_CLUSTER = (
    "folds",
    "hold_out",
    "normalize",
    "sample",
    "input_format",
    "zero_based",
    "header",
    "n_features",
    "memory",
    "keep_large",
)
"""Options without a meaning on a cluster."""

_HELD_OUT = 0.2  # of the rows, for --sample

_OTHER_FORMATS = (".pkl", ".pickle", ".joblib", ".onnx", ".pt", ".h5", ".json")
"""Ends of names of other programs' models."""


class TrainCommand(MapCommand):
    """A command whose map may be left out."""

    default_maps: ClassVar[tuple[str, ...]] = ()
    map_option: ClassVar[dict[str, Any]] = {
        "metavar": "NAME[:PARAMETER=VALUE,…]",
        "help": "Train on this map's features instead of the exact kernel; `kmaps list maps` shows "
        "them, `--map NAME --help` the options of one. A parameter with the name of an option of "
        "the model goes in here: spline:penalty=2.",
    }

    def _names(self, texts: Sequence[str]) -> Sequence[str]:
        return [text.partition(":")[0] for text in texts[-1:]]


class Costs(click.ParamType):
    """One value of C, several separated by commas, or the name of a rule that finds values."""

    name = "C[,C…]|auto|path|plateau"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[float] | str:
        """Return the values in ascending order, or the word."""
        from kmaps.models import RULES

        if isinstance(value, list) or value in RULES:
            return value
        try:
            costs = sorted({float(text) for text in str(value).split(",")})
        except ValueError:
            self.fail(
                f"{value!r}: expected numbers and commas, 'auto', 'path' or 'plateau'", param, ctx
            )
        if not 0 < costs[0] <= costs[-1] < inf:
            self.fail(f"{value}: expected positive, finite numbers", param, ctx)
        return costs


@click.command(
    cls=TrainCommand,
    groups={
        "Files": "labels label_column input_format zero_based n_features force",
        "Model": "map_name kernel regression multiclass n_levels level_ranges "
        "normalize sigma n_landmarks probability calibrate",
        "Training": "costs folds hold_out sample loss epsilon penalty class_weight smooth bias tol "
        "max_iter seed",
        "Computation": "memory threads cluster",
        "Output": "as_json quiet",
    },
    epilog="""\b
Examples:
  kmaps train histograms.npy model.npz --labels labels.npy --kernel chi2 -C 0.1
  kmaps train train.csv model.npz --label-column digit -C auto
  kmaps train train.svm model.npz --map homogeneous --order 3 -C 0.01,0.1,1,10
  kmaps train histograms.npy model.npz --labels labels.npy --kernel exp-chi2 -m 4096
  kmaps train rows.zarr model.npz --labels labels.zarr --cluster tcp://scheduler:8786""",
)
@click.argument("source", metavar="IN", shell_complete=files)
@click.argument("target", metavar="MODEL", shell_complete=files)
@array_files.labels
@array_files.label_column
@click.option(
    "--kernel",
    shell_complete=names(kernels),
    help=f"The kernel of the model. [default: {training.DEFAULT_KERNEL}]",
)
@click.option(
    "-C",
    "costs",
    type=Costs(),
    metavar="C[,C…]|auto|path|plateau",
    help="Weight of the loss. Several values are compared by cross-validation; `auto` extends the "
    "grid 0.1 to 10 until the best is inside; `path` is `auto` on warm starts, and stops when the "
    "accuracy has fallen; `plateau` goes on for two decades above a flat top. [default: 1; auto "
    "with an exponential kernel and with --regression]",
)
@click.option(
    "--folds",
    type=click.IntRange(2),
    help="Number of parts of the cross-validation that chooses C, or measures the accuracy when "
    "there is one C. [default: 3]",
)
@click.option(
    "--hold-out",
    type=Number(0, 1, min_open=True, max_open=True),
    metavar="PART",
    help="Hold out this part of the rows, drawn class by class, and measure the accuracy on them.",
)
@click.option(
    "--sample",
    type=click.IntRange(2),
    metavar="N",
    help="Train on N rows first, drawn class by class, and compare the two models on the rows held "
    "out (--hold-out, else a fifth).",
)
@click.option(
    "--regression/--no-regression",
    default=None,
    help="Predict numbers, or take each different number for a class. [default: classes; labels of "
    "many different numbers are refused]",
)
@click.option(
    "--loss",
    metavar="NAME",
    help="Loss: hinge, squared_hinge, or logistic for models on codes; of a regression "
    "epsilon_insensitive or squared_epsilon_insensitive. [default: the first of them]",
)
@click.option(
    "--epsilon",
    type=Number(0),
    metavar="NUMBER",
    help="Largest error of a regression without cost, in the unit of the labels. [default: 0.1]",
)
@click.option(
    "--multiclass",
    type=click.Choice(["ovr", "ovo"]),
    help="One binary problem per class, or per pair of classes. [default: ovr]",
)
@click.option(
    "--class-weight",
    type=click.Choice(["balanced"]),
    help="Give each class the same total weight.",
)
@click.option(
    "--penalty",
    type=training.Penalty(),
    metavar="l1|l2",
    help="Penalty of the weights; l1 keeps few features. [default: l2]",
)
@click.option(
    "--smooth",
    type=Number(0),
    metavar="PRICE",
    help="Price of the curvature of the learnt functions; 0 is none. [default: 0]",
)
@click.option(
    "--bias",
    type=Number(0),
    metavar="NUMBER",
    help="Value of the constant feature; 0 trains no intercept. [default: 1]",
)
@click.option(
    "--n-levels",
    type=int,
    metavar="N",
    help="Number of levels of a feature, 2 to 256. [default: 256]",
)
@click.option(
    "--level-ranges",
    type=click.Choice(["auto", "shared", "own"]),
    help="Whether columns share their levels, or each has levels over its own range; auto: its own "
    "where columns are of unlike units. [default: auto]",
)
@array_files.normalize
@click.option(
    "--calibrate",
    is_flag=True,
    help="Turn one-vs-rest scores into log-odds before the classes are compared.",
)
@click.option(
    "--probability",
    type=click.Choice(["temperature", "sigmoid", "isotonic"]),
    help="Let the model give probabilities, measured by this method on folds of the rows.",
)
@click.option(
    "--sigma",
    type=training.Width(),
    metavar="NUMBER|auto|none",
    help="Width of an exponential kernel: a number, auto (chosen with C by cross-validation), or "
    "none (the mean distance of a sample). [default: none; 1 for the random-fourier map]",
)
@click.option(
    "--n-landmarks",
    type=int,
    metavar="N",
    help="Number of landmarks of an exponential kernel, instead of random frequencies.",
)
@click.option(
    "--tol",
    type=Number(0, min_open=True),
    metavar="GAP",
    help="Relative duality gap at which training stops. [default: 0.001]",
)
@click.option(
    "--max-iter",
    type=int,
    metavar="N",
    help="Most passes over the rows. [default: 1000; 200 with an exponential kernel]",
)
@click.option(
    "--seed", type=int, default=0, help="Number that draws the order of the rows and the folds."
)
@click.option("--set", "settings", type=training.Setting(), multiple=True, hidden=True)
@array_files.n_features
@array_files.memory
@array_files.input_format
@array_files.zero_based
@array_files.header
@array_files.keep_large
@array_files.threads
@cluster_option
@click.option("--force", is_flag=True, help="Replace MODEL when it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress bar, no warnings.")
def command(
    source: str,
    target: str,
    map_name: str | None,
    labels: str | None,
    label_column: str | None,
    kernel: str | None,
    costs: list[float] | str | None,
    folds: int | None,
    hold_out: float | None,
    sample: int | None,
    regression: bool | None,
    settings: tuple[tuple[str, Any], ...],
    seed: int,
    n_features: int | None,
    memory: float,
    input_format: str | None,
    zero_based: str,
    header: str,
    keep_large: bool,
    cluster: str | None,
    normalize: str,
    force: bool,
    as_json: bool,
    quiet: bool,
    **parameters: Any,
) -> None:
    """Train a kernel SVM on the rows of the array file IN and write MODEL (.npz).

    IN is .npy, .npz, .csv, .svm/.libsvm, .parquet or .arrow/.feather, or - for standard input;
    the last two need the extra `parquet`. A npz file has its rows in X and its labels in y. IN is
    read in blocks and held as codes of one byte per value, so it may be larger than memory. The
    model is exact for the kernel on at most 256 levels of a feature, or linear on the outputs of a
    map. For exp-chi2 and other exponential kernels a model is trained on m random frequencies (-m),
    which --random-state draws: 4 bytes per output, in a temporary file beyond 1 GB.

    MODEL holds all arrays that `kmaps predict` needs, and the accuracies of cross-validation and on
    held-out rows, which `kmaps info` shows; - writes the model to standard output.
    """
    array_files.look_for(source, labels)
    _check_target(target, [source, labels], force, as_json)
    renamed = dict(settings)
    seed = renamed.pop("seed", seed)
    n_features = renamed.pop("n_features", n_features)
    memory = renamed.pop("memory", memory)
    options = {name: parameters.pop(name) for name in training.MODEL_NAMES} | renamed
    save = partial(_save, target, force=force, as_json=as_json)
    describe = partial(
        training.model_of_options,
        map_name,
        kernel,
        parameters,
        options,
        seed,
        regression=bool(regression),
    )
    if sample is not None:
        if regression:
            raise ConfigError("--sample: not with --regression; leave it out")
        hold_out = hold_out or _HELD_OUT
    if cluster is not None:
        with (
            cluster_client(cluster, *_NOT_ON_CLUSTER) as client,
            as_input_error(),
            once_each_warning(quiet),
        ):
            if regression:
                raise ConfigError("--regression: not with --cluster; leave it out")
            model, facts, record = train_on_cluster(
                source, describe(), costs or [1.0], labels, label_column, client, quiet
            )
        save(model, facts, record)
        return
    with array_files.labelled_rows(
        source,
        target,
        labels=labels,
        label_column=label_column,
        input_format=input_format,
        zero_based=zero_based,
        header=header,
        n_features=n_features,
        quiet=quiet,
    ) as (reader, y):
        import numpy as np

        from kmaps.io import LabelledRows
        from kmaps.models import NormalizedRows

        model = describe()
        grid = _usual_costs(model) if costs is None else costs
        train = _trainer(regression, sample)
        ranges = None
        histograms = None
        with once_each_warning(quiet, reader.columns), stage_bars(quiet=quiet) as report:
            rows = LabelledRows(
                reader, y, memory=int(memory * 1e6), progress=report, keep_large=keep_large
            )
            source_rows: LabelledRows | NormalizedRows = rows
            if normalize != "none":
                source_rows = NormalizedRows(rows, normalize, reader.columns)
            facts = _train(
                partial(train, folds=folds, hold_out=hold_out, seed=seed),
                model,
                source_rows,
                grid,
                rows.name,
                report,
                quiet,
            )
            facts["data_sha256"] = rows.digest()
            if rows.ranges is not None:
                low, high = rows.ranges
                ranges = {"low": low.tolist(), "high": high.tolist()}
                histograms = histograms_of(rows, low, high)
        if isinstance(source_rows, NormalizedRows):
            model.normalization_ = source_rows.normalization
            facts["normalize"] = normalize
        if reader.columns is not None:
            model.feature_names_in_ = np.array(reader.columns, object)
        if costs is None and grid == "auto" and not quiet:
            say("note: C was chosen as by -C auto; -C 1 trains with one value", err=True)
        record = training.record_of(
            model,
            facts,
            reader.name,
            array_files.split_label_column(label_column, labels)[0],
            reader.columns,
            index_base=reader.index_base,
            column_ranges=ranges,
            column_histograms=histograms,
            dtype=None if reader.is_text else reader.dtype.name,
        )
        save(model, facts | {"index_base": reader.index_base}, record)


def _check_target(target: str, sources: list[str | None], force: bool, as_json: bool) -> None:
    if target == "-":
        if as_json:
            raise ConfigError("--json: standard output is for the model; name a file for MODEL")
        from kmaps.io import refuse_terminal

        refuse_terminal("a model")
    suffix = Path(target).suffix.lower()
    if suffix in _OTHER_FORMATS:
        raise InputError(
            f"{target}: models are .npz files, got a name that ends in {suffix}; name the file "
            f"{Path(target).with_suffix('.npz')}"
        )
    array_files.check_paths(target, sources, force)


def _usual_costs(model: Any) -> list[float] | str:
    """Return the values of C without -C: one for classes on codes, else the rule that finds it."""
    from kmaps.svm import CodedSVC

    return [1.0] if isinstance(model, CodedSVC) else "auto"


def _trainer(regression: bool | None, sample: int | None) -> Callable[..., dict[str, Any]]:
    """Return the function that trains; unless told that they are classes, it refuses many numbers.

    A classifier may also be trained on a ``sample`` of so many rows.
    """
    from kmaps.models import train_model, train_regression

    if regression:
        return train_regression
    train = partial(train_model, sample=sample)
    if regression is None:
        return partial(train, check_labels=training.refuse_many_numbers)
    return train


def _train(
    train: Callable[..., dict[str, Any]],
    model: Any,
    rows: "LabelledRows | NormalizedRows",
    costs: list[float] | str,
    name: str,
    report: Callable[[str, int, int], None],
    quiet: bool,
) -> dict[str, Any]:
    """Train on the rows of a file and return the facts; no time includes compiling."""
    with compiling(quiet) as compiled:
        try:
            with ended_by_interrupt():
                return train(
                    model,
                    rows,
                    costs,
                    report=report,
                    clock=lambda: perf_counter() - compiled.seconds,
                )
        except MemoryError as error:
            raise InputError(f"{name}: is too large for the free memory: {error}") from None


def _save(
    target: str,
    model: Any,
    facts: dict[str, Any],
    record: dict[str, Any],
    *,
    force: bool,
    as_json: bool,
) -> None:
    if target == "-":  # a model cannot be written to a pipe directly
        with TemporaryDirectory() as folder:
            model.save(f"{folder}/model.npz", force=False, record=record)
            with open(f"{folder}/model.npz", "rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
    else:
        model.save(target, force=force, record=record)
    text = json.dumps(facts, indent=2) if as_json else _summary(facts, target)
    say(text, err=target == "-")


def _summary(facts: dict[str, Any], target: str) -> str:
    """Return the facts about a training as lines."""
    kinds = "a regression" if facts["classes"] is None else f"{facts['classes']} classes"
    line = f"{facts['rows']:,} rows of {facts['features']:,} features, {kinds}: "
    if "sigma" in facts:
        unit = "landmarks" if "n_landmarks" in facts else "frequencies"
        line += (
            f"{facts[f'n_{unit}']:,} {unit} at sigma {facts['sigma']:.3g}, "
            f"{megabytes(facts['encoded_bytes'])}, {facts['encode_s']:.1f} s"
        )
    else:
        line += f"{megabytes(facts['codes_bytes'])} of codes, {facts['code_s']:.1f} s"
    lines = [line]
    if facts["index_base"] is not None:
        lines.append(f"indices count from {facts['index_base']} (--zero-based)")
    for candidate in facts["cv"]:
        remark = ""
        if candidate["C"] == facts["C"] and len(facts["cv"]) > 1:
            remark = f", chosen{_reason(facts, candidate)}"
        if "missed_tol" in candidate:
            remark += ", not trained to the end (its duality gap is above tol)"
        score = f"{_score(candidate)} in {facts['folds']}-fold cross-validation"
        lines.append(f"C = {candidate['C']:g}: {score}{remark}")
    end = f"trained with C = {facts['C']:g} in {facts['train_s']:.1f} s"
    if "duality_gap" in facts:
        end += f" to a duality gap of {facts['duality_gap']:.1e} of the objective"
    lines.append(end)
    if facts["hold_out"]:
        hold_out = facts["hold_out"]
        score = _score(hold_out) if "r2" in hold_out else f"accuracy {_score(hold_out)}"
        lines.append(f"{score} of {hold_out['rows']:,} rows held out")
    if "sample" in facts:
        lines.append(_sample_line(facts))
    return "\n".join([*lines, f"{target}: {megabytes(facts['model_bytes'])}"])


def _reason(facts: dict[str, Any], chosen: dict[str, Any]) -> str:
    """Return why the chosen C is not the one with the highest score, where it is not."""
    measure = "r2" if "r2" in chosen else "accuracy"
    best = max(facts["cv"], key=lambda candidate: candidate[measure])
    if best[measure] <= chosen[measure]:
        return ""
    return (
        f": the scores are flat at the edge of the grid (C = {best['C']:g} gains no more than one "
        "standard error), so a value a decade inside is taken"
    )


def _sample_line(facts: dict[str, Any]) -> str:
    """Return the line that compares the model with one on a sample of the rows."""
    from kmaps.bench.paper.designs import score_interval

    sample = facts["sample"]
    n_rows = facts["hold_out"]["rows"]
    low, high = score_interval(
        sample["right_of_all_alone"] / n_rows,
        sample["right_of_sample_alone"] / n_rows,
        n_rows,
        0.05,
    )
    difference = facts["hold_out"]["accuracy"] - sample["accuracy"]
    if low > 0:
        verdict = "all rows are better"
    elif high < 0:
        verdict = "the sample is better"
    else:
        verdict = "the rows held out show no difference"
    return (
        f"{sample['rows']:,} rows in {facts['sample_train_s']:.1f} s: accuracy "
        f"{100 * sample['accuracy']:.2f} %; all rows {100 * difference:+.2f} points "
        f"(95 % interval {100 * low:+.2f} to {100 * high:+.2f}): {verdict}"
    )


def _score(measured: dict[str, Any]) -> str:
    """Return an accuracy in percent, or R²."""
    if "r2" in measured:
        return "R² –" if measured["r2"] is None else f"R² {measured['r2']:.4f}"
    return f"{100 * measured['accuracy']:.2f} %"
