"""The model that the options of ``kmaps train`` describe."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmaps import __version__
from kmaps.cli.flags import say
from kmaps.cli.map_options import build_maps, map_options
from kmaps.errors import ConfigError, suggest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kmaps.models import LandmarkSVC, RandomFeatureSVC
    from kmaps.svm import CodedSVC, CodedSVR

DEFAULT_KERNEL = "chi2"


class Penalty(click.ParamType):
    """l1 or l2; until the next release also the whole number that is a map's penalty."""

    name = "l1|l2"

    def convert(self, value: Any, param: Any, ctx: Any) -> str | int:
        """Return the name of the penalty of the weights, or the order of a map's penalty."""
        if value in ("l1", "l2") or isinstance(value, int):
            return value
        if str(value).isdecimal():
            return int(value)
        self.fail(f"{value!r}: expected l1 or l2", param, ctx)


class Width(click.ParamType):
    """A positive number, ``auto``, or ``none`` for the mean distance of a sample."""

    name = "NUMBER|auto|none"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | str:
        """Return the number or the word."""
        if value in ("auto", "none"):
            return value
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r}: expected a number, 'auto' or 'none'", param, ctx)


MODEL_NAMES = (
    "loss",
    "epsilon",
    "multiclass",
    "class_weight",
    "penalty",
    "smooth",
    "bias",
    "n_levels",
    "level_ranges",
    "calibrate",
    "probability",
    "sigma",
    "n_landmarks",
    "tol",
    "max_iter",
)
"""Options of the model. A parameter of a map with one of these names goes into ``--map``."""

_REGRESSION = ("loss", "epsilon", "n_levels", "level_ranges", "bias", "tol", "max_iter")
_CODED_ALONE = ("penalty", "calibrate", "smooth", "n_levels", "level_ranges")
_EXPONENTIAL_ALONE = ("sigma", "n_landmarks")
# Labels that are more different numbers than this may be those of a regression: of numbers with
# fractions, and of whole numbers (which also are more than this part of the rows).
_MOST_FRACTIONS = 20
_MOST_WHOLE_NUMBERS = 50
_MOST_OF_ROWS = 0.1
_FOR_EXPONENTIAL = "is only for exponential kernels, such as exp-chi2"


class Setting(click.ParamType):
    """``NAME=VALUE``, what ``--set`` took in 1.0.0rc1: an option has the same name now."""

    name = "NAME=VALUE"
    names = (*MODEL_NAMES, "seed", "n_features", "memory")

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, Any]:
        """Return the name and the value in the type of the option of this name."""
        if isinstance(value, tuple):
            return value
        name, equals, text = value.partition("=")
        if not equals:
            self.fail(f"{value!r}: expected NAME=VALUE", param, ctx)
        if name not in self.names:
            self.fail(f"{name}: no such parameter{suggest(name, self.names)}", param, ctx)
        if name == "probability" and text.lower() == "true":
            text = "temperature"
        option = next(option for option in ctx.command.params if option.name == name)
        flag = max(option.opts, key=len)
        if option.is_flag:
            converted = click.BOOL.convert(text, option, ctx)
            new_option = flag if converted else f"no {flag}"
        else:
            converted = option.type.convert(text, option, ctx)
            new_option = f"{flag} {text}"
        say(f"warning: `--set {value}` is now `{new_option}`", err=True)
        return name, converted


def model_of_options(
    map_text: str | None,
    kernel: str | None,
    map_parameters: dict[str, Any],
    model_parameters: dict[str, Any],
    seed: int,
    *,
    regression: bool = False,
) -> "CodedSVC | CodedSVR | LandmarkSVC | RandomFeatureSVC":
    """Return the unfitted model of a kernel, or of a map and its parameters.

    ``map_text`` is the name of a map, with parameters as ``NAME:PARAMETER=VALUE,…`` if need be;
    in ``model_parameters`` None, and False, stand for options that were not given.
    """
    from kmaps.maps import RandomFeatures, Tabulated
    from kmaps.svm import CodedSVC, CodedSVR

    options = {
        name: value
        for name, value in model_parameters.items()
        if value is not None and value is not False
    }
    if regression:
        of_classes = [name for name in MODEL_NAMES if name not in _REGRESSION]
        _refuse(of_classes, options, "is not for --regression")
        make_coded: Callable[..., Any] = CodedSVR
    else:
        _refuse(["epsilon"], options, "is only for --regression")
        options.setdefault("loss", "hinge")
        make_coded = CodedSVC
    if kernel == "linear":
        raise ConfigError(
            "--kernel linear: is not an additive kernel with levels; the linear model is --map "
            "intersection --n-bins 1 here, and LiblinearSVC in Python"
        )
    if map_text is None:
        _refuse(_EXPONENTIAL_ALONE, options, _FOR_EXPONENTIAL)
        _refuse_map_penalty(options, "the exact kernel")
        return make_coded(kernel or DEFAULT_KERNEL, random_state=seed, **options)
    map_name = map_text.partition(":")[0]
    names = {option.name for option in map_options(map_name)}
    if kernel and "kernel" not in names:
        raise ConfigError(f"--kernel {kernel}: the {map_name} map has no kernel; leave it out")
    if "kernel" in names:
        map_parameters = {"kernel": kernel, **map_parameters}
    if "penalty" in names and isinstance(options.get("penalty"), int):
        order = options.pop("penalty")
        map_parameters = {"penalty": order, **map_parameters}
        say(f"warning: `--penalty {order}` is now `--map {map_name}:penalty={order}`", err=True)
    _refuse_map_penalty(options, f"the {map_name} map")
    has_width = "sigma" in names and options.get("sigma") != "auto"
    if has_width:
        map_parameters = {"sigma": options.get("sigma"), **map_parameters}
    (feature_map,) = build_maps([map_text], map_parameters).values()
    if isinstance(feature_map, Tabulated):
        if has_width:
            options.pop("sigma", None)
        _refuse(_EXPONENTIAL_ALONE, options, _FOR_EXPONENTIAL)
        return make_coded(feature_map, random_state=seed, **options)
    if not isinstance(feature_map, RandomFeatures):
        raise ConfigError(f"--map {map_name}: has no tables, but training on codes needs them")
    if regression:
        raise ConfigError(
            f"--regression: is for additive kernels and maps, not for {map_name}: leave "
            "--kernel and --map out, or choose chi2"
        )
    return _random_features(map_name, feature_map.get_params(), options)


def _random_features(
    map_name: str, map_parameters: dict[str, Any], options: dict[str, Any]
) -> "LandmarkSVC | RandomFeatureSVC":
    """Return the unfitted model on a random map or on landmarks, by the parameters of that map."""
    from kmaps.models import LandmarkSVC, RandomFeatureSVC

    _refuse(_CODED_ALONE, options, f"is not for {map_name}, only for coded models")
    kernel = map_parameters.get("kernel", "exp-rbf").removeprefix("exp-")
    kernel = kernel if kernel == "rbf" else f"exp-{kernel}"
    sigma = options.pop("sigma", None)
    options = {
        "sigma": "auto" if sigma == "auto" else map_parameters["sigma"],
        "random_state": map_parameters["random_state"],
        **options,
    }
    if "n_landmarks" in options:
        return LandmarkSVC(kernel, **options)
    return RandomFeatureSVC(
        kernel,
        map_parameters["n_frequencies"],
        order=map_parameters.get("order", 1),
        structure=map_parameters["structure"],
        **options,
    )


def _refuse(names: Iterable[str], options: dict[str, Any], reason: str) -> None:
    for name in names:
        if name in options:
            raise ConfigError(f"--{name.replace('_', '-')}: {reason}")


def _refuse_map_penalty(options: dict[str, Any], what: str) -> None:
    """Refuse a number, which is the penalty of a map, where no map has one."""
    if isinstance(options.get("penalty"), int):
        raise ConfigError(f"--penalty {options['penalty']}: expected l1 or l2 for {what}")


def refuse_many_numbers(y: "NDArray") -> None:
    """Refuse labels that may be the numbers of a regression or classes, and name both."""
    import numpy as np

    numbers = np.unique(y)
    if y.dtype.kind == "U":  # numbers such as 151.0 stay text in classes, as they are written
        try:
            numbers = np.unique(numbers.astype(float))
        except ValueError:
            return
    if numbers.dtype.kind not in "iuf":
        return
    has_fractions = bool((numbers % 1).any())
    n_classes = len(numbers)
    if (has_fractions and n_classes > _MOST_FRACTIONS) or (
        n_classes > _MOST_WHOLE_NUMBERS and n_classes > _MOST_OF_ROWS * len(y)
    ):
        raise ConfigError(
            f"the labels are {n_classes:,} different numbers in {len(y):,} rows: give --regression "
            "to predict numbers (CodedSVR), or --no-regression if each number is a class"
        )


def record_of(
    model: Any,
    facts: dict[str, Any],
    source: str,
    label_column: str | None,
    columns: list[str] | None,
    **file_facts: Any,
) -> dict[str, Any]:
    """Return the record of the training that the model file keeps."""
    from kmaps.models import training_record

    return training_record(
        facts,
        by=f"kmaps {__version__}",
        file=Path(source).name,
        **file_facts,
        columns=columns,
        label_column=label_column,
        kernel=None if isinstance(model.map_, str) else model.map_.get_params().get("kernel"),
    )
