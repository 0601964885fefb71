"""Measuring a batch: what the cells share, what fails, which columns are accepted."""

import pytest

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.kind import Cell, Kind, Measured
from kmaps.bench.kinds.shown import Shown
from kmaps.bench.records.row import Row
from kmaps.bench.run.measure import Measuring
from kmaps.thread_pool import num_threads

BATCH = {
    name: Cell(kind="trial", experiment="trial", row=Row(name)) for name in ("first", "odd", "last")
}


class TrialShown(Shown):
    """What is shown of the kind below."""

    fills = ("accuracy",)

    def measures(self, records):
        return ()


class Trial(Kind):
    """A kind whose shared set-up is a list, to which its cells add what happens to them."""

    shown = TrialShown()

    def __init__(self, damaged=False):
        self.damaged = damaged

    def cells(self, experiment):
        return []

    def set_up(self, cell, *, skip_bad=False):
        if self.damaged:
            raise OSError("no data")
        return [(cell.row.method, skip_bad, num_threads())]

    def warm_up(self, cell, shared):
        shared.append(f"warm {cell.row.method}")

    def measure(self, cell, shared, timing):
        shared.append(cell.row.method)
        if cell.row.method == "odd":
            raise ValueError("two\n  lines")
        return Measured({"accuracy": 0.5}, {"shared": shared})


def measured(monkeypatch, kind, **options):
    monkeypatch.setitem(KINDS, "trial", kind)
    return dict(Measuring("trial", 1, **options)(BATCH))


def test_the_cells_of_a_batch_share_a_set_up_and_fail_alone(monkeypatch):
    found = measured(monkeypatch, Trial(), skip_bad=True)
    assert list(found) == ["first", "odd", "last"]
    assert found["odd"].error == "ValueError: two lines"
    assert found["last"].columns["accuracy"] == 0.5
    assert found["first"].arrays["shared"] is found["last"].arrays["shared"]
    assert found["last"].arrays["shared"] == [
        *(("first", True, 1), "warm first", "first"),
        *("warm odd", "odd", "warm last", "last"),
    ]


def test_a_column_that_the_kind_does_not_name_is_refused(monkeypatch):
    monkeypatch.setattr(TrialShown, "fills", ())
    found = measured(monkeypatch, Trial())
    assert found["first"].error == (
        "TypeError: kind trial: fills columns that it does not declare: ['accuracy']"
    )


@pytest.mark.parametrize("name", KINDS)
def test_what_is_judged_is_filled(name):
    kind = KINDS[name]
    assert {judged.column for judged in kind.shown.judged} <= set(kind.shown.fills)
