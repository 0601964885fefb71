"""How the splits of a run hang together: what they share decides how far their mean is to trust."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class RandomSplits:
    """Each split draws its training and test samples anew from the same pool, so splits overlap.

    Parameters
    ----------
    n_train, n_test : int
        Samples of one split.
    n_pool : int or None
        Samples that the splits draw from; None when that is not on record.
    """

    n_train: int
    n_test: int
    n_pool: int | None = None

    @property
    def correlation(self) -> float:
        """How far two splits repeat each other.

        Nadeau and Bengio (Machine Learning 52, 2003) put it at n_test / (n_train + n_test), the
        part of a test set that another split tests on too when the splits use all of the pool. From
        a larger pool of N samples two splits share n_train / N of their training samples and
        n_test / N of their test samples; then the larger of these is enough.
        """
        corrected = self.n_test / (self.n_train + self.n_test)
        if self.n_pool is None:
            return corrected
        return min(corrected, max(self.n_train, self.n_test) / self.n_pool)


@dataclass(frozen=True)
class CrossedSets:
    """Each split trains on ``choose`` of some training sets and tests on one of some test sets.

    Parameters
    ----------
    n_train_sets, choose, n_test_sets : int
    splits : tuple of int
        The number of each split: every choice of training sets with every test set, the latter
        changing first, counted from 0.
    """

    n_train_sets: int
    choose: int
    n_test_sets: int
    splits: tuple[int, ...]

    @property
    def n_choices(self) -> int:
        """How many choices of the training sets there are."""
        return comb(self.n_train_sets, self.choose)

    @property
    def is_complete(self) -> bool:
        """Whether every combination is there, once."""
        return sorted(self.splits) == list(range(self.n_choices * self.n_test_sets))

    @property
    def places(self) -> NDArray[np.int64]:
        """Where each combination stands among the splits, shape (choices, test sets)."""
        return np.argsort(self.splits).reshape(self.n_choices, self.n_test_sets)

    @property
    def jackknife_factor(self) -> float:
        """What the sum of squares over the choices of training sets is multiplied by.

        A choice of k of g sets leaves d = g - k out; the delete-d jackknife (Shao and Wu, Annals of
        Statistics 17, 1989) has the variance (g - d) / (d · number of choices) · Σ(θ - mean)².
        """
        return self.choose / ((self.n_train_sets - self.choose) * self.n_choices)


def is_redrawn(drawn: bool, splits: Sequence[int | None]) -> bool:
    """Return whether a random map is drawn again and again on one split.

    Where each of several splits has a draw of its own, they are splits like others. ``splits`` are
    those of the cells; ``drawn`` says that one of them at least has a draw.

    Examples
    --------
    >>> is_redrawn(True, [0, 0, 0]), is_redrawn(True, [0, 1, 2]), is_redrawn(False, [0])
    (True, False, False)
    """
    n_splits = len(set(splits))
    return drawn and (n_splits == 1 or n_splits < len(splits))


@dataclass(frozen=True)
class RepeatedDraws:
    """Each draw repeats what is random in a map, on the same training and test samples."""


Design = RandomSplits | CrossedSets | RepeatedDraws


def design_of(
    protocol: Mapping[str, Any],
    splits: Sequence[int],
    n_train: int,
    n_test: int,
    n_pool: int | None = None,
) -> Design:
    """Return how the splits of a classification hang together.

    Parameters
    ----------
    protocol : mapping
        As :func:`kmaps.data.splits.draw_split` takes it.
    splits : sequence of int
        The numbers of the splits, in the order of the values to be compared.
    n_train, n_test : int
        Samples of one split.
    n_pool : int or None
        Samples of the dataset.

    Examples
    --------
    >>> protocol = {"choose": 2, "train": ["1", "2", "3"], "test": ["T1", "T2"]}
    >>> design_of(protocol, [0, 1, 2], 19600, 9800).is_complete
    False
    >>> design_of({"train": 100, "test": 50}, [0, 1], 100, 50, n_pool=400)
    RandomSplits(n_train=100, n_test=50, n_pool=400)
    """
    if "choose" in protocol:
        n_train_sets, n_test_sets = len(protocol["train"]), len(protocol["test"])
        return CrossedSets(n_train_sets, protocol["choose"], n_test_sets, tuple(splits))
    drawn = "train_per_class" in protocol or (
        "official" not in protocol and isinstance(protocol["train"], int | float)
    )
    return RandomSplits(n_train, n_test, n_pool) if drawn else RepeatedDraws()
