"""Splits: disjoint, complete, reproducible, and never more than there is."""

from dataclasses import replace

import numpy as np
import pytest

from kmaps.data import Dataset, draw_split
from kmaps.errors import ConfigError


def make(name="toy", n=100, groups=(), n_classes=4):
    y = np.arange(n) % n_classes
    of = np.array([groups[i % len(groups)] for i in range(n)]) if groups else np.full(n, "")
    names = tuple(f"class {i}" for i in range(n_classes))
    return Dataset(name, np.zeros((n, 1, 1), np.uint8), y.astype(np.int64), of, "0" * 64, names)


COUNTS = {"train": 60, "test": 30}


def test_draw_is_the_same_everywhere():
    # Seeds must never change: published records would no longer be reproducible.
    # The numbers are what this expression gave when the first records were published.
    train, test = draw_split(make(), COUNTS, 0)
    assert train[:5].tolist() == [64, 66, 88, 81, 59]
    again = draw_split(make(), dict(reversed(COUNTS.items())), 0)
    assert (again[0].tolist(), again[1].tolist()) == (train.tolist(), test.tolist())
    for other, split in ((make(), 1), (make("other"), 0)):
        assert draw_split(other, COUNTS, split)[0].tolist() != train.tolist()


@pytest.mark.parametrize(
    ("protocol", "sizes"),
    [
        (COUNTS, (60, 30)),
        ({"train": 60, "test": 40}, (60, 40)),
        ({"train": 0.7}, (70, 30)),
        ({"train": 0.6, "test": 0.3}, (60, 30)),
        ({"train": 60}, (60, 40)),
        ({"train": 0.505, "test": 0.495}, (50, 50)),
        ({"train": 0.515, "test": 0.485}, (52, 48)),
    ],
)
def test_draws_are_disjoint_and_of_the_size_asked(protocol, sizes):
    train, test = draw_split(make(), protocol, 0)
    assert (len(train), len(test)) == sizes
    both = np.union1d(train, test)
    assert len(both) == sum(sizes)
    assert 0 <= both[0] < both[-1] < 100


def test_stratified_draws_keep_the_classes_in_proportion():
    data = replace(make(), y=np.repeat([0, 1, 2, 3], [50, 30, 15, 5]))
    for protocol, in_train, in_test in (
        ({"train": 0.6}, [30, 18, 9, 3], [20, 12, 6, 2]),
        ({"train": 41, "test": 20}, [21, 12, 6, 2], [10, 6, 3, 1]),
    ):
        draws = [draw_split(data, {**protocol, "stratified": True}, split) for split in (0, 1)]
        for train, test in draws:
            assert np.bincount(data.y[train]).tolist() == in_train
            assert np.bincount(data.y[test]).tolist() == in_test
            assert not set(train) & set(test)
        assert set(draws[0][0]) != set(draws[1][0])
        # Mixed, so that folds cut from consecutive samples see every class.
        assert len(set(data.y[draws[0][0][:10]])) > 1


def in_clusters(*sizes):
    """Samples of clusters of some sizes, those of one not side by side."""
    names = np.repeat([f"p{i}" for i in range(len(sizes))], sizes)
    order = np.random.default_rng(0).permutation(sum(sizes))
    return replace(make(n=sum(sizes)), clusters=names[order])


@pytest.mark.parametrize("protocol", [{"train": 0.7}, {"train": 50, "test": 20}])
def test_clusters_are_drawn_whole(protocol):
    data = in_clusters(9, 11, 10, 10, 8, 12, 15, 5, 10, 10)
    for split in range(20):
        train, test = draw_split(data, protocol, split)
        assert not set(data.clusters[train]) & set(data.clusters[test])
        wanted = (70, 100) if "test" not in protocol else (50, 20)
        assert wanted[0] - 15 < len(train) <= wanted[0]
        # All the rest where no number is given, so that nothing is lost.
        assert len(test) == 100 - len(train) if "test" not in protocol else len(test) <= 20
        for part in (train, test):
            assert np.isin(data.clusters, data.clusters[part]).sum() == len(part)


@pytest.mark.parametrize("names", [["1", "3"], [1, 3]])
def test_groups(names):
    data = make(groups=("train", "train", "test"))
    train, test = draw_split(data, {"official": True}, 3)
    assert set(data.groups[train]) == {"train"}
    assert sorted([*train, *test]) == list(range(100))
    assert np.all(np.diff(train) > 0)
    data = make(groups=("1", "2", "3", "T1", "T2"))
    train, test = draw_split(data, {"train": names, "test": ["T2"]}, 0)
    assert set(data.groups[train]) == {"1", "3"}
    assert set(data.groups[test]) == {"T2"}
    assert (len(train), len(test)) == (40, 20)


TWELVE = {"train_per_class": 12, "test_per_class": 5}
CHOOSE = {"choose": 3, "train": ["1", "2"], "test": ["T1"]}
HALVES = in_clusters(50, 50)
LONELY = replace(make(), y=np.repeat([0, 1, 2, 3], [50, 30, 19, 1]))


@pytest.mark.parametrize(
    ("data", "protocol", "message"),
    [
        (make(), {"train": 80, "test": 30}, "train 80 and test 30 need 110 samples, and the"),
        (make(), {"train": 0.8, "test": 0.4}, "train 0.8 and test 0.4 need 120 samples, and"),
        (make(), {"train": 100}, "train 100 of 100 samples leave none to train or to test on"),
        (make(), {"train": 0.001}, "train 0.001 of 100 samples leave none to train or to test"),
        (LONELY, {"train": 20, "stratified": True}, "class 'class 3' has 1 samples, too few for"),
        (make(n=50), TWELVE, "train_per_class 12 leaves no sample of class 'class 2' to test on"),
        (make(), {"official": True}, r"no group 'train' \(there are: none\)"),
        (make(groups=("1", "T1")), {"train": ["1"], "test": ["T2"]}, "no group 'T2' .* are: 1, T1"),
        (
            make(groups=("1", "2")),
            {"train": ["1"], "test": ["1"]},
            "group '1' is in the training",
        ),
        (make(groups=("1", "2", "T1")), CHOOSE, ".*gives 0 splits"),
        (
            HALVES,
            {"train": 0.3},
            "each of the 2 groups is larger than train 30 or test 70; draw more",
        ),
        (HALVES, {"train": 50, "stratified": True}, "stratified would divide groups that belong"),
        (HALVES, TWELVE, r"group 'p0' is in both .* \(2 of 2 gr"),
    ],
)
def test_more_than_there_is(data, protocol, message):
    with pytest.raises(ConfigError, match=f"^toy: {message}"):
        draw_split(data, protocol, 0)


def test_per_class():
    data = make(n=50, n_classes=4)  # 13, 13, 12 and 12 of a class
    train, test = draw_split(data, {"train_per_class": 10, "test_per_class": 2}, 0)
    assert np.bincount(data.y[train]).tolist() == [10] * 4
    assert np.bincount(data.y[test]).tolist() == [2] * 4
    assert not set(train) & set(test)
    assert len(set(data.y[train][:8].tolist())) > 1  # classes are mixed
    _, test = draw_split(data, {"train_per_class": 10, "test_per_class": 20}, 0)
    assert np.bincount(data.y[test]).tolist() == [3, 3, 2, 2]  # at most the rest


@pytest.mark.parametrize(
    "protocol",
    [
        {},
        {"train": ["a"]},
        {"train": 10, "test": ["a"]},
        *({"train": n, "test": 10} for n in (0, -5, True)),
        {"train": 0.5, "test": 50},
        {"train": 1.0},
        {"train": 10, "stratified": False},
        {"train": ["a"], "test": ["b"], "stratified": True},
        {"train": [], "test": ["a"]},
        {"official": False},
        {"official": True, "train": 0},
        {"official": True, "train": ["a"]},
        {"official": True, "test": 10},
        {"test_per_class": 3},
        {"train_per_class": "3", "test_per_class": 3},
        *({"choose": k, "train": ["1"], "test": ["2"]} for k in (0, True, "2", 1.5)),
    ],
)
def test_malformed_protocol(protocol):
    with pytest.raises(ConfigError, match=r"protocol: got .*, expected \{train: 10000, test: 100"):
        draw_split(make(), protocol, 0)
    with pytest.raises(ConfigError, match="unknown key 'tran', did you mean 'train'"):
        draw_split(make(), {"tran": 10, "test": 10}, 0)


@pytest.mark.parametrize(
    "disjoint",
    [{"train": 30, "test": 40}, {"train_per_class": 10, "test_per_class": 8}],
)
def test_overlapping_draws_test_on_trained_samples_as_often_as_chance_says(disjoint):
    data = make(n=100, n_classes=4)
    overlaps = []
    for split in range(200):
        train, test = draw_split(data, {**disjoint, "overlap": True}, split)
        expected, _ = draw_split(data, disjoint, split)
        np.testing.assert_array_equal(train, expected)
        assert len(np.unique(test)) == len(test)
        assert len(test) == disjoint.get("test", 4 * disjoint.get("test_per_class", 0))
        overlaps.append(np.isin(test, train).mean())
    share = 30 / 100 if "train" in disjoint else np.mean([10 / n for n in np.bincount(data.y)])
    assert np.mean(overlaps) == pytest.approx(share, abs=0.02)  # 200 draws: ± 0.005


def test_an_overlapping_draw_takes_small_classes_whole():
    data = make(n=20, n_classes=4)
    _, test = draw_split(
        data, {"train_per_class": 2, "test_per_class": 9, "overlap": True}, split=0
    )
    assert sorted(test) == list(range(20))


@pytest.mark.parametrize(
    "protocol",
    [
        {"official": True, "overlap": True},
        {"train": 0.5, "test": 0.5, "overlap": True},
        {"train": 10, "test": 10, "overlap": False},
        {"train": 10, "test": 10, "stratified": True, "overlap": True},
        {"train": ["a"], "test": ["b"], "overlap": True},
    ],
)
def test_an_overlap_is_of_numbers_of_samples(protocol):
    with pytest.raises(ConfigError, match="overlap"):
        draw_split(make(), protocol, 0)


def test_an_overlap_does_not_divide_clusters():
    with pytest.raises(ConfigError, match="overlap"):
        draw_split(in_clusters(3, 3), {"train": 2, "test": 2, "overlap": True}, 0)
    with pytest.raises(ConfigError, match="test 101"):
        draw_split(make(), {"train": 2, "test": 101, "overlap": True}, 0)
