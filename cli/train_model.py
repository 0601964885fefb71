"""The model that the options of ``kmaps train`` describe."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmaps import __version__
from kmaps.cli.map_options import AnyValue, build_map, map_options
from kmaps.errors import ConfigError, suggest

if TYPE_CHECKING:
    from kmaps.models import LandmarkSVC, RandomFeatureSVC
    from kmaps.svm import CodedSVC

DEFAULT_KERNEL = "chi2"

_OF_MODEL = {
    "multiclass": "ovr or ovo",
    "class_weight": "balanced",
    "probability": "true (by a temperature), sigmoid or isotonic",
    "penalty": "l1 keeps few features",
    "calibrate": "true turns one-vs-rest scores into log-odds",
    "smooth": "price of curved functions",
    "bias": "0 for no intercept",
    "n_levels": "levels of a feature, 2 to 256",
    "tol": "duality gap to reach",
    "max_iter": "most passes over the rows",
    "sigma": "auto chooses the width of an exponential kernel",
    "n_landmarks": "landmarks of an exponential kernel, instead of random frequencies",
}
_OF_READING = {
    "seed": "draws the order of rows and the folds",
    "n_features": "columns of svm files",
    "memory": "megabytes of the blocks that are read",
}
_ONLY_CODED = ("penalty", "calibrate", "smooth", "n_levels")
_ONLY_EXPONENTIAL = ("sigma", "n_landmarks")

SETTINGS_HELP = ", ".join(f"{name} ({text})" for name, text in (_OF_MODEL | _OF_READING).items())


class Setting(click.ParamType):
    """The name of a parameter and its value."""

    name = "NAME=VALUE"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, Any]:
        if isinstance(value, tuple):
            return value
        name, equals, text = value.partition("=")
        known = [*_OF_MODEL, *_OF_READING]
        if not equals:
            self.fail(f"{value!r}: expected NAME=VALUE", param, ctx)
        if name not in known:
            self.fail(f"{name}: no such parameter{suggest(name, known)}", param, ctx)
        return name, AnyValue().convert(text, param, ctx)


@dataclass(frozen=True)
class Settings:
    """The settings by ``--loss`` and ``--set``: of the model, and of reading the rows."""

    of_model: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    n_features: int | None = None
    memory: float = 24.0

    @classmethod
    def of(cls, given: dict[str, Any]) -> "Settings":
        reading = {name: given.pop(name) for name in _OF_READING if name in given}
        for name, value in reading.items():
            kinds = (int, float) if name == "memory" else int
            if isinstance(value, bool) or not isinstance(value, kinds) or value < (name != "seed"):
                raise ConfigError(f"--set {name}={value}: expected a number, {_OF_READING[name]}")
        return cls(given, **reading)


def model_of_options(
    map_name: str | None, kernel: str | None, parameters: dict[str, Any], settings: Settings
) -> "CodedSVC | LandmarkSVC | RandomFeatureSVC":
    from kmaps.maps import Tabulated
    from kmaps.svm import CodedSVC

    given = settings.of_model
    if map_name is None:
        _refuse(_ONLY_EXPONENTIAL, given, "is only for exponential kernels, such as exp-chi2")
        return CodedSVC(kernel or DEFAULT_KERNEL, random_state=settings.seed, **given)
    takes_kernel = "kernel" in {option.name for option in map_options(map_name)}
    if kernel and not takes_kernel:
        raise ConfigError(f"--kernel {kernel}: the {map_name} map has no kernel; leave it out")
    if takes_kernel:
        parameters = {"kernel": kernel, **parameters}
    feature_map = build_map(map_name, parameters)
    if isinstance(feature_map, Tabulated):
        _refuse(_ONLY_EXPONENTIAL, given, "is only for exponential kernels, such as exp-chi2")
        return CodedSVC(feature_map, random_state=settings.seed, **given)
    from kmaps.maps import RandomFeatures

    if isinstance(feature_map, RandomFeatures):
        return _random_features(map_name, feature_map.get_params(), given)
    raise ConfigError(f"--map {map_name}: has no tables, but training on codes needs them")


def _random_features(
    map_name: str, of_map: dict[str, Any], given: dict[str, Any]
) -> "LandmarkSVC | RandomFeatureSVC":
    """Return the unfitted model on a random map, or on landmarks, with some parameters."""
    from kmaps.models import LandmarkSVC, RandomFeatureSVC

    _refuse(_ONLY_CODED, given, f"is not for {map_name}, only for coded models")
    if click.get_current_context().params["costs"] == "path":
        raise ConfigError(f"-C path: is not for {map_name}, only for coded models; use -C auto")
    kernel = of_map.get("kernel", "exp-rbf").removeprefix("exp-")
    kernel = kernel if kernel == "rbf" else f"exp-{kernel}"
    given = {"sigma": of_map["sigma"], "random_state": of_map["random_state"], **given}
    if "n_landmarks" in given:
        return LandmarkSVC(kernel, **given)
    return RandomFeatureSVC(
        kernel,
        of_map["n_frequencies"],
        order=of_map.get("order", 1),
        structure=of_map["structure"],
        **given,
    )


def _refuse(names: tuple[str, ...], given: dict[str, Any], why: str) -> None:
    for name in names:
        if name in given:
            raise ConfigError(f"--set {name}: {why}")


def record_of(
    model: Any,
    facts: dict[str, Any],
    source: str,
    label_column: str | None,
    columns: list[str] | None,
    **of_the_file: Any,
) -> dict[str, Any]:
    """Return the record of the training that the model file keeps."""
    from kmaps.models import training_record

    return training_record(
        facts,
        by=f"kmaps {__version__}",
        file=Path(source).name,
        **of_the_file,
        columns=columns,
        label_column=label_column,
        kernel=None if isinstance(model.map_, str) else model.map_.get_params().get("kernel"),
    )
