"""Parameters that several learners have, and their checks.

``parameters`` is an estimator, or any object that has its parameters as attributes.
"""

from itertools import chain
from typing import Any

from kmaps.checks import check_choice, check_number, check_positive
from kmaps.svm.losses import Combined, check_combination

REDUCTIONS = ("ovr", "ovo")  # of several classes to two
METHODS = ("temperature", "sigmoid", "isotonic")  # how scores become probabilities
PENALTIES = ("l2", "l1")
"""Half the squared norm of all weights, and the sum of the norms of groups of them."""


def check_bias(bias: object) -> None:
    """Refuse a bias that is not a finite number of at least 0."""
    check_number("bias", bias, at_least=0, note=" (0: no intercept)")


def check_loss(parameters: Any, name: str, combined: Combined, penalty: str) -> None:
    """Refuse a C or a bias out of range, and a loss or a penalty that is not combined."""
    check_positive("C", parameters.C)
    check_bias(parameters.bias)
    check_choice("penalty", penalty, PENALTIES)
    check_choice("loss", parameters.loss, dict.fromkeys(chain(*combined.values())))
    check_combination(name, combined, penalty, parameters.loss)


def method_of(parameters: Any) -> Any:
    """Return how probabilities are measured: True is the best way, by a temperature."""
    return METHODS[0] if parameters.probability is True else parameters.probability


def check_probability(parameters: Any) -> None:
    """Refuse an unknown way to measure probabilities."""
    if parameters.probability is not None:
        check_choice("probability", method_of(parameters), METHODS)
