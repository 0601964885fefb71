"""The machines that are compared, as an experiment on the sample."""

from math import inf
from pathlib import Path
from typing import Any

from kmaps.bench.kinds.load import load
from kmaps.bench.recommend.sample import FILE, Sample
from kmaps.bench.records.definition import FILE as DEFINITION
from kmaps.bench.records.definition import write_definition
from kmaps.bench.spec.fields import Experiment
from kmaps.kernels import KERNELS
from kmaps.svm import count_problems

NAME = "recommend"

FREQUENCIES = (500, 2000)
"""Random frequencies of the exponential kernels."""

LOSS = "squared_hinge"
"""On random frequencies LIBLINEAR ends sooner with it than with the hinge."""

GAP = 1e-4
"""Duality gap at which the coded solver stops: the default of `kmaps.CodedSVC`."""

_CODED: tuple[dict[str, Any], ...] = (
    {"map": "intersection", "n_bins": 1, "solver": "coded"},  # one bin: the linear machine
    {"map": "homogeneous", "kernel": "chi2", "order": 1, "solver": "coded"},
    {"map": "spline", "n_bins": 10, "solver": "coded"},
)
_RANDOM: tuple[dict[str, Any], ...] = (
    {"map": "generalized-rbf", "kernel": "chi2"},
    {"map": "random-fourier", "sigma": None},
)
_PAIRED = range(3, 21)  # classes: more have too many pairs, two have one machine either way
_VALUE_BYTES = 4  # float32
_FOLDS = 3
_CHOICE_ROWS = 1000  # that C is chosen on


def random_bytes(n_frequencies: int, n_train: int, n_classes: int) -> int:
    """Return the least that a machine on random frequencies stores: its outputs are dense.

    That is the training rows, a cosine and a sine of each frequency, and the weights of the
    one-vs-rest machines; one-vs-one has no fewer.

    Examples
    --------
    >>> random_bytes(500, n_train=100, n_classes=2)
    404000
    """
    n_machines = count_problems(n_classes, "ovr")
    return 2 * n_frequencies * _VALUE_BYTES * (n_train + n_machines)


def beyond(max_bytes: float, sample: Sample, hold_out: float) -> list[int]:
    """Return the numbers of frequencies whose machines are known to store more than a limit."""
    n_train = int((1 - hold_out) * len(sample.y))
    return [
        number
        for number in FREQUENCIES
        if random_bytes(number, n_train, sample.n_classes) > max_bytes
    ]


def content(
    sample: Sample,
    *,
    hold_out: float,
    exact_only: bool = False,
    max_bytes: float = inf,
) -> dict[str, Any]:
    """Return the experiment that compares the machines on a sample, as its YAML says it.

    Every machine is one that ``kmaps train`` makes: exact kernels and additive maps on codes,
    LIBLINEAR on random frequencies. C is chosen by the rule ``auto`` on the training part.

    Parameters
    ----------
    sample : Sample
    hold_out : float
        The part of its rows that accuracies are measured on.
    exact_only : bool
        Whether to leave out all maps.
    max_bytes : float
        Machines that are known to store more are left out.
    """
    too_large = beyond(max_bytes, sample, hold_out)
    frequencies = [number for number in FREQUENCIES if number not in too_large]
    maps = [dict(entry) for entry in _CODED]
    if frequencies:
        maps += [{**entry, "n_frequencies": list(frequencies)} for entry in _RANDOM]
    return {
        "experiment": NAME,
        "about": "Machines compared on a sample of some data of one's own.",
        "dataset": {
            "files": {"data": FILE},
            "train": round(1 - hold_out, 6),
            "stratified": True,
        },
        "kernels": list(KERNELS),
        "reductions": _reductions(sample.n_classes),
        "baselines": ["exact-coded"],
        "maps": [] if exact_only else maps,
        "learner": {"loss": LOSS, "gap": GAP},
        "C": {"grid": "auto", "folds": _FOLDS, "samples": _CHOICE_ROWS},
    }


def _reductions(n_classes: int) -> list[str]:
    return ["ovr", "ovo"] if n_classes in _PAIRED else ["ovr"]


def write_experiment(sample: Sample, folder: Path, given: dict[str, Any]) -> Experiment:
    """Write the sample and an experiment on it to a folder, and return the experiment, checked."""
    sample.write(folder)
    write_definition(folder, given, None)
    return load(folder / DEFINITION)
