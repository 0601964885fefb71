"""What `kmaps train` does, in Python: what is held out, what is timed, what is on record."""

from types import SimpleNamespace

import numpy as np
import pytest

from kmaps import CodedSVC
from kmaps.models import train_model, training, training_record

X = np.random.default_rng(0).random((90, 4)).astype(np.float32)
Y = (X[:, 0] > X[:, 1]).astype(int)
SOURCE = SimpleNamespace(blocks=lambda: [X], sample=lambda: X, labels=lambda: Y)


@pytest.mark.parametrize("costs", [[1.0], [0.1, 1.0], "path"])
def test_each_stage_has_its_own_time(monkeypatch, costs):
    """Reading takes 3 seconds, choosing C 100, and training 7, by a clock that they set."""
    now = [0.0]

    def taking(seconds, function):
        def slow(*arguments, **options):
            now[0] += seconds
            return function(*arguments, **options)

        return slow

    monkeypatch.setattr(CodedSVC, "prepare_rows", taking(3, CodedSVC.prepare_rows))
    monkeypatch.setattr(training, "_choose_c", taking(100, training._choose_c))
    monkeypatch.setattr(training, "fit_and_warn", taking(7, training.fit_and_warn))
    facts = train_model(CodedSVC(), SOURCE, costs, hold_out=0.2, clock=lambda: now[0])
    assert (facts["code_s"], facts["cv_s"], facts["train_s"]) == (3, 100, 7)
    assert (facts["rows"], facts["hold_out"]["rows"], facts["classes"]) == (72, 18, 2)
    assert len(facts["cv"]) >= len(costs) or costs == [1.0]


def test_the_record_has_no_times_and_what_did_not_converge():
    with pytest.warns(UserWarning, match="max_iter=1"):
        facts = train_model(CodedSVC(C=100.0, tol=1e-9, max_iter=1), SOURCE, [100.0])
    record = training_record(facts, file="rows.npy")
    assert record["file"] == "rows.npy"
    assert "max_iter=1" in record["unfinished"][0]
    assert not [name for name in record if name.endswith("_s")]
