"""Drawing the training and the test set.

A split depends on the names of the dataset and the protocol and on its number, never on the method
that will use it: every method sees the same samples.
"""

import hashlib
import itertools
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.checks import is_whole
from kmaps.data.readers import Dataset
from kmaps.errors import ConfigError, suggest

Split = tuple[NDArray[np.int64], NDArray[np.int64]]

_FORMS = (
    "{train: 10000, test: 10000}, {official: true} without or with {train: 10000}, {train: "
    "[groups], test: [groups]} without or with {choose: 2}, or {train_per_class: 30, "
    "test_per_class: 20}"
)
_KEYS = ("train", "test", "choose", "official", "train_per_class", "test_per_class")


def draw_split(dataset: Dataset, protocol: Mapping[str, Any], split: int) -> Split:
    """Return the indices of the training and of the test samples.

    Parameters
    ----------
    dataset : Dataset
    protocol : mapping
        One of

        - ``{train: n, test: m}``: a disjoint draw from all samples, uniform, not stratified (the
          classes of MNIST are nearly balanced, and so is any draw of thousands);
        - ``{train_per_class: n, test_per_class: m}``: n samples of every class to train, at most m
          of the rest to test;
        - ``{train: [names], test: [names]}``: all samples of some official groups;
        - ``{choose: k, train: [names], test: [names]}``: a split for every choice of k of the
          training groups and one of the test groups, the latter changing first;
        - ``{official: true}``: the groups ``train`` and ``test``;
        - ``{official: true, train: n}``: n samples of the group ``train``, the group ``test``; a
          larger n adds samples.
    split : int
        The number of the draw, from 0. Protocols by groups draw nothing: without ``choose`` every
        split is equal.

    Returns
    -------
    train, test : ndarray of int64
        Drawn ones are in random order, groups in the dataset's order.

    Raises
    ------
    ConfigError
        If the protocol is none of these, or asks for more than there is.

    Examples
    --------
    >>> from kmaps.data import load_dataset
    >>> train, test = draw_split(load_dataset("digits"), {"train": 1000, "test": 500}, 0)
    >>> len(train), len(test), len(set(train) & set(test))
    (1000, 500, 0)
    """
    _check_protocol(protocol)
    if set(protocol) == {"official", "train"}:
        return _part_of_official(dataset, protocol["train"], split)
    rng = _generator(dataset.name, protocol, split)
    if "train_per_class" in protocol:
        return _draw_per_class(dataset, protocol, rng)
    if "official" in protocol:
        return _by_groups(dataset, ["train"], ["test"])
    if "choose" in protocol:
        return _by_groups(dataset, *_choice(dataset.name, protocol, split))
    if isinstance(protocol["train"], list | tuple):
        return _by_groups(dataset, protocol["train"], protocol["test"])
    n_train, n_test = protocol["train"], protocol["test"]
    if n_train + n_test > len(dataset.y):
        raise ConfigError(
            f"{dataset.name}: train {n_train} and test {n_test} ask for {n_train + n_test} "
            f"samples, there are {len(dataset.y)}"
        )
    order = rng.permutation(len(dataset.y))
    return order[:n_train], order[n_train : n_train + n_test]


def _generator(name: str, protocol: Mapping[str, Any], split: int) -> np.random.Generator:
    words = json.dumps([name, dict(protocol), split], sort_keys=True, default=int)
    entropy = int.from_bytes(hashlib.sha256(words.encode()).digest())
    return np.random.default_rng(np.random.SeedSequence(entropy))


def _check_protocol(protocol: Mapping[str, Any]) -> None:
    for key in protocol:
        if key not in _KEYS:
            raise ConfigError(f"protocol: unknown key {key!r}{suggest(key, _KEYS)}; give {_FORMS}")
    keys = set(protocol)
    if keys in ({"official"}, {"official", "train"}):
        sound = protocol["official"] is True and _is_count(protocol.get("train", 1))
    elif keys == {"train", "test"}:
        values = list(protocol.values())
        sound = all(map(_is_count, values)) or all(map(_is_names, values))
    elif keys == {"choose", "train", "test"}:
        sound = _is_count(protocol["choose"]) and all(
            map(_is_names, (protocol["train"], protocol["test"]))
        )
    else:
        sound = keys == {"train_per_class", "test_per_class"} and all(
            map(_is_count, protocol.values())
        )
    if not sound:
        raise ConfigError(f"protocol: got {dict(protocol)}, expected {_FORMS}")


def _is_count(value: Any) -> bool:
    return is_whole(value, 1)


def _is_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0


def _choice(name: str, protocol: Mapping[str, Any], split: int) -> tuple[list, list]:
    """Return the groups to train on and to test on in one split."""
    chosen = itertools.combinations(protocol["train"], protocol["choose"])
    pairs = list(itertools.product(chosen, protocol["test"]))
    if split >= len(pairs):
        raise ConfigError(
            f"{name}: split {split}: choosing {protocol['choose']} of {len(protocol['train'])} "
            f"training groups and one of {len(protocol['test'])} test groups gives {len(pairs)} "
            "splits, counted from 0"
        )
    train, test = pairs[split]
    return list(train), [test]


def _by_groups(dataset: Dataset, train: list, test: list) -> Split:
    # YAML reads an unquoted 1 as a number; the group is called "1".
    train, test = [str(group) for group in train], [str(group) for group in test]
    known = sorted(set(dataset.groups.tolist()) - {""})
    for group in (*train, *test):
        if group not in known:
            there = ", ".join(known) if known else "none"
            raise ConfigError(
                f"{dataset.name}: no group {group!r}{suggest(group, known)} (there are: {there})"
            )
    if both := set(train) & set(test):
        raise ConfigError(
            f"{dataset.name}: group {min(both)!r} is in both the training and the test set"
        )
    return tuple(np.flatnonzero(np.isin(dataset.groups, groups)) for groups in (train, test))


def _part_of_official(dataset: Dataset, n_train: int, split: int) -> Split:
    train, test = _by_groups(dataset, ["train"], ["test"])
    if n_train > len(train):
        raise ConfigError(
            f"{dataset.name}: train {n_train} asks for more than the {len(train)} samples of the "
            "group 'train'"
        )
    # The seed does not depend on n, so that the samples of a smaller one are among them.
    rng = _generator(dataset.name, {"official": True, "train": "some"}, split)
    return rng.permutation(train)[:n_train], test


def _draw_per_class(
    dataset: Dataset, protocol: Mapping[str, Any], rng: np.random.Generator
) -> Split:
    n_train, n_test = protocol["train_per_class"], protocol["test_per_class"]
    train, test = [], []
    for label, name in enumerate(dataset.class_names):
        members = rng.permutation(np.flatnonzero(dataset.y == label))
        if len(members) <= n_train:
            raise ConfigError(
                f"{dataset.name}: train_per_class {n_train} leaves nothing of class {name!r} to "
                f"test: it has {len(members)} samples"
            )
        train.append(members[:n_train])
        test.append(members[n_train : n_train + n_test])
    # Mixed, so that folds cut from consecutive samples see every class.
    return rng.permutation(np.concatenate(train)), rng.permutation(np.concatenate(test))
