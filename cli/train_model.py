"""The model that the options of ``kmaps train`` describe."""

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from kmaps.cli.array_files import without_pandas
from kmaps.cli.map_options import build_map, map_options
from kmaps.errors import ConfigError

if TYPE_CHECKING:
    from kmaps.models import RandomFeatureSVC
    from kmaps.svm import CodedSVC

DEFAULT_KERNEL = "chi2"

SETTINGS = (
    "penalty",
    "loss",
    "multiclass",
    "calibrate",
    "bias",
    "tol",
    "max_iter",
    "probability",
    "smooth",
)


def model_of_options(
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
        from kmaps.maps import RandomFeatures, Tabulated
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
    for name in ("penalty", "calibrate", "levels", "smooth"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise ConfigError(f"--{name}: not for {map_name}, on which LIBLINEAR trains")
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
        max_iter=settings["max_iter"],
        class_weight=settings["class_weight"],
        probability=settings["probability"],
    )
