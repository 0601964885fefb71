"""Cells: seeds and keys depend on what a cell is and no more.

tests/test_published.py holds the keys to those of all published records.
"""

from dataclasses import replace

from measured import cells_of
from spec_text import ROWS as TEXT

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds import load as spec
from kmaps.bench.records.columns import cell_name


def cells(text=TEXT):
    return cells_of(text)


def test_seeds_are_stable():
    # Printed by this test's own code. When one changes, random maps, folds and the order in which
    # LIBLINEAR visits its samples do.
    found = cells()
    assert [found[i].seed for i in (0, 1, 3, 27)] == [293257054, 190591251, 1090256402, 321671937]
    assert [found[i].choice_seed for i in (0, 27)] == [1240088258, 78877473]
    with_features = KINDS["classification"].cells(spec.load("annfm-table3-caltech101"))
    assert (with_features[154].seed, with_features[154].choice_seed) == (1065289247, 1278311218)
    scaling = KINDS["scaling"].cells(spec.load("scaling-mnist"))
    assert (scaling[-1].seed, scaling[-1].choice_seed) == (1211269422, 1809151306)


def test_a_key_does_not_change_with_the_rest():
    """The name of the experiment, other rows, and defaults written out are not part of a cell."""
    keys = [cell.key("d") for cell in cells()]
    renamed = TEXT.replace("small", "other").replace("baselines: [linear, exact]\n", "")
    assert {cell.key("d") for cell in cells(renamed)} < set(keys)
    cell = cells()[3]
    row = replace(cell.row, params={**cell.row.params, "gamma": 1.0})
    assert replace(cell, row=row).key("d") == cell.key("d")


def test_seeds_come_from_names():
    alone = TEXT.replace("baselines: [linear, exact]\n", "").replace("[1, 2]", "2")
    seeds = {cell_name(cell.columns): cell.seed for cell in cells()}
    assert len(set(seeds.values())) == len(seeds)
    assert all(seeds[cell_name(cell.columns)] == cell.seed for cell in cells(alone))


def test_every_method_of_a_split_chooses_c_on_the_same_samples():
    by_split = [{cell.choice_seed for cell in cells() if cell.split == split} for split in (0, 1)]
    assert [len(seeds) for seeds in by_split] == [1, 1]
    assert by_split[0] != by_split[1]
