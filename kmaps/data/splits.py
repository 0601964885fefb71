"""Drawing the training and the test set.

A split depends on the name of the dataset, on the protocol and on its number, never on the method
that will use it: every method sees the same samples.
"""

import hashlib
import itertools
import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.checks import is_whole
from kmaps.data.formats import Dataset, TableDataset
from kmaps.errors import ConfigError, suggest

Split = tuple[NDArray[np.int64], NDArray[np.int64]]

Samples = Dataset | TableDataset

_FORMS = (
    "{train: 10000, test: 10000} or {train: 0.7}, with or without {stratified: true}, {official: "
    "true} with or without {train: 10000}, {train: [groups], test: [groups]} with or without "
    "{choose: 2}, or {train_per_class: 30} with or without {test_per_class: 20}; both numbers of "
    "samples with or without {overlap: true}"
)
_KEYS = (
    "overlap",
    "train",
    "test",
    "stratified",
    "choose",
    "official",
    "train_per_class",
    "test_per_class",
)


def draw_split(dataset: Samples, protocol: Mapping[str, Any], split: int) -> Split:
    """Return the indices of the training and of the test samples of a split, counted from 0.

    A protocol is one of

    - ``{train: n, test: m}``: a disjoint draw from all samples, uniform, not stratified;
    - ``{train: 0.7, test: 0.2}``: the same with fractions of all samples; without ``test``, here
      and above, all other samples are the test set;
    - either of them with ``stratified: true``: each class is drawn in proportion to its size;
    - ``{train_per_class: n, test_per_class: m}``: n samples of every class to train, at most m of
      the rest to test; without ``test_per_class`` all of the rest;
    - either with numbers of samples and ``overlap: true``: the same training samples, and test
      samples drawn from all samples, or from all of each class, so that some are trained on;
    - ``{train: [names], test: [names]}``: all samples of some official groups;
    - ``{choose: k, train: [names], test: [names]}``: a split for every choice of k of the training
      groups and one of the test groups, the latter changing first;
    - ``{official: true}``: the groups ``train`` and ``test``;
    - ``{official: true, train: n}``: n samples of the group ``train``, and the group ``test``; a
      larger n adds samples.

    Drawn samples are in random order, groups in the dataset's order. If the dataset has
    ``clusters``, numbers and fractions draw whole clusters, with at most that many samples.
    """
    check_protocol(protocol)
    if "overlap" in protocol:
        return _draw_overlapping(dataset, protocol, split)
    indices = _drawn(dataset, protocol, split)
    _check_clusters(dataset, indices)
    return indices


def _drawn(dataset: Samples, protocol: Mapping[str, Any], split: int) -> Split:
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
    n_train, n_test = _numbers(dataset, protocol)
    if "stratified" in protocol:
        return _draw_stratified(dataset, n_train, n_test, rng)
    if dataset.clusters is not None:
        return _draw_clusters(dataset, n_train, n_test, rng)
    train, test, _ = np.split(rng.permutation(len(dataset.y)), [n_train, n_train + n_test])
    return train, test


def _draw_overlapping(dataset: Samples, protocol: Mapping[str, Any], split: int) -> Split:
    """Draw the training samples of the disjoint protocol, and test samples independently."""
    if dataset.clusters is not None:
        raise ConfigError(
            f"{dataset.name}: overlap would test on groups that are trained on; leave out overlap "
            "or the column of groups"
        )
    disjoint = {key: value for key, value in protocol.items() if key != "overlap"}
    train, _ = _drawn(dataset, disjoint, split)
    rng = _generator(dataset.name, protocol, split)
    if "test" in protocol:
        if protocol["test"] > len(dataset.y):
            raise ConfigError(
                f"{dataset.name}: test {protocol['test']} needs as many samples, and the dataset "
                f"has {len(dataset.y)}"
            )
        return train, rng.permutation(len(dataset.y))[: protocol["test"]]
    test = [
        rng.permutation(np.flatnonzero(dataset.y == label))[: protocol["test_per_class"]]
        for label in range(len(dataset.class_names))
    ]
    return train, rng.permutation(np.concatenate(test))


def _numbers(dataset: Samples, protocol: Mapping[str, Any]) -> tuple[int, int]:
    n = len(dataset.y)
    train = protocol["train"]
    test = protocol.get("test")
    n_train = train if isinstance(train, int) else round(train * n)
    if test is None:
        n_test = n - n_train
    elif isinstance(test, int):
        n_test = test
    else:  # 0.7 and 0.3 may both be rounded up
        n_test = round(test * n) - (train + test <= 1 and round(train * n) + round(test * n) > n)
    if min(n_train, n_test) < 1 or n_train + n_test > n:
        asked = f"train {train}" if test is None else f"train {train} and test {test}"
        problem = f"of {n} samples leave none to train or to test on"
        if n_train + n_test > n:
            problem = f"need {n_train + n_test} samples, and the dataset has {n}"
        raise ConfigError(f"{dataset.name}: {asked} {problem}")
    return n_train, n_test


def _draw_stratified(
    dataset: Samples, n_train: int, n_test: int, rng: np.random.Generator
) -> Split:
    if dataset.clusters is not None:
        raise ConfigError(
            f"{dataset.name}: stratified would divide groups that belong together; leave out "
            "stratified or the groups"
        )
    sizes = np.bincount(dataset.y, minlength=len(dataset.class_names))
    of_train = _shares(n_train, sizes)
    of_test = _shares(n_test, sizes - of_train)
    for name, size, count in zip(dataset.class_names, sizes, of_train, strict=True):
        if not count:
            raise ConfigError(
                f"{dataset.name}: class {name!r} has {size} samples, too few for one of them to be "
                f"among the {n_train} training samples; draw more"
            )
    members = [rng.permutation(np.flatnonzero(dataset.y == label)) for label in range(len(sizes))]
    train = []
    test = []
    for indices, n_train_of_class, n_test_of_class in zip(members, of_train, of_test, strict=True):
        train.append(indices[:n_train_of_class])
        test.append(indices[n_train_of_class : n_train_of_class + n_test_of_class])
    return rng.permutation(np.concatenate(train)), rng.permutation(np.concatenate(test))


def _shares(total: int, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return whole numbers in proportion to some sizes; their sum is ``total``."""
    exact = total * sizes / sizes.sum()
    shares = np.floor(exact).astype(np.int64)
    # The rest goes to the largest remainders, and among equal ones to the first.
    left = np.argsort(shares - exact, kind="stable")[: total - int(shares.sum())]
    shares[left] += 1
    return shares


def _draw_clusters(dataset: Samples, n_train: int, n_test: int, rng: np.random.Generator) -> Split:
    names, number = np.unique(dataset.clusters, return_inverse=True)
    order = rng.permutation(len(names))
    ends = np.cumsum(np.bincount(number)[order])
    first = int(np.searchsorted(ends, n_train, side="right"))
    n_taken = int(ends[first - 1]) if first else 0
    last = int(np.searchsorted(ends, n_taken + n_test, side="right"))
    # If all samples are drawn, the clusters that are not trained on are the test set.
    if n_train + n_test == len(dataset.y):
        last = len(names)
    if not first or last == first:
        raise ConfigError(
            f"{dataset.name}: each of the {len(names)} groups is larger than train {n_train} or "
            f"test {n_test}; draw more samples"
        )
    train = np.isin(number, order[:first])
    test = np.isin(number, order[first:last])
    return rng.permutation(np.flatnonzero(train)), rng.permutation(np.flatnonzero(test))


def _check_clusters(dataset: Samples, split: Split) -> None:
    if dataset.clusters is None:
        return
    train_indices, test_indices = split
    train = set(dataset.clusters[train_indices].tolist())
    test = set(dataset.clusters[test_indices].tolist())
    both = train & test
    if both:
        raise ConfigError(
            f"{dataset.name}: group {min(both)!r} is in both the training and the test set "
            f"({len(both)} of {len(train | test)} groups are); split by groups, or leave the "
            "column of groups out"
        )


def _generator(name: str, protocol: Mapping[str, Any], split: int) -> np.random.Generator:
    words = json.dumps([name, dict(protocol), split], sort_keys=True, default=int)
    entropy = int.from_bytes(hashlib.sha256(words.encode()).digest())
    return np.random.default_rng(np.random.SeedSequence(entropy))


def check_protocol(protocol: Mapping[str, Any]) -> None:
    """Refuse a protocol that :func:`draw_split` does not take, with a ConfigError."""
    for key in protocol:
        if key not in _KEYS:
            raise ConfigError(f"protocol: unknown key {key!r}{suggest(key, _KEYS)}; give {_FORMS}")
    keys = set(protocol)
    count = partial(is_whole, low=1)
    if "overlap" in keys:
        keys.remove("overlap")
        counted = keys in ({"train", "test"}, {"train_per_class", "test_per_class"})
        numbers = {key: protocol[key] for key in keys}
        if not (counted and protocol["overlap"] is True and all(map(count, numbers.values()))):
            raise ConfigError(f"protocol: got {dict(protocol)}, expected {_FORMS}")
        return
    if keys in ({"official"}, {"official", "train"}):
        sound = protocol["official"] is True and count(protocol.get("train", 1))
    elif keys | {"test", "stratified"} == {"train", "test", "stratified"} and "train" in keys:
        values = [protocol[key] for key in ("train", "test") if key in protocol]
        are_counts = all(map(count, values))
        are_fractions = all(isinstance(value, float) and 0 < value < 1 for value in values)
        are_groups = keys == {"train", "test"} and all(map(_is_names, values))
        sound = are_counts or are_fractions or are_groups
        sound = sound and protocol.get("stratified", True) is True
    elif keys == {"choose", "train", "test"}:
        are_groups = _is_names(protocol["train"]) and _is_names(protocol["test"])
        sound = count(protocol["choose"]) and are_groups
    else:
        per_class = keys - {"test_per_class"} == {"train_per_class"}
        sound = per_class and all(map(count, protocol.values()))
    if not sound:
        raise ConfigError(f"protocol: got {dict(protocol)}, expected {_FORMS}")


def _is_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0


def _choice(name: str, protocol: Mapping[str, Any], split: int) -> tuple[list, list]:
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


def _by_groups(dataset: Samples, train: list, test: list) -> Split:
    # YAML reads an unquoted 1 as a number; the group is called "1".
    train = [str(group) for group in train]
    test = [str(group) for group in test]
    names = sorted(set(dataset.groups.tolist()) - {""})
    for group in (*train, *test):
        if group not in names:
            raise ConfigError(
                f"{dataset.name}: no group {group!r}{suggest(group, names)} "
                f"(there are: {', '.join(names) or 'none'})"
            )
    both = set(train) & set(test)
    if both:
        raise ConfigError(f"{dataset.name}: group {min(both)!r} is in the training and test set")
    of_train = np.flatnonzero(np.isin(dataset.groups, train))
    of_test = np.flatnonzero(np.isin(dataset.groups, test))
    return of_train, of_test


def _part_of_official(dataset: Samples, n_train: int, split: int) -> Split:
    train, test = _by_groups(dataset, ["train"], ["test"])
    if n_train > len(train):
        raise ConfigError(
            f"{dataset.name}: train {n_train} is more than the {len(train)} samples of the "
            "group 'train'"
        )
    # The seed does not depend on n, so that a larger n keeps the samples of a smaller n.
    rng = _generator(dataset.name, {"official": True, "train": "some"}, split)
    return rng.permutation(train)[:n_train], test


def _draw_per_class(
    dataset: Samples, protocol: Mapping[str, Any], rng: np.random.Generator
) -> Split:
    n_train = protocol["train_per_class"]
    n_test = protocol.get("test_per_class", len(dataset.y))
    train = []
    test = []
    for label, name in enumerate(dataset.class_names):
        members = rng.permutation(np.flatnonzero(dataset.y == label))
        if len(members) <= n_train:
            raise ConfigError(
                f"{dataset.name}: train_per_class {n_train} leaves no sample of class {name!r} "
                f"to test on: the class has {len(members)}"
            )
        train.append(members[:n_train])
        test.append(members[n_train : n_train + n_test])
    # The order is random so that folds of consecutive samples have every class.
    return rng.permutation(np.concatenate(train)), rng.permutation(np.concatenate(test))
