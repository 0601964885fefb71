"""The gate: each verdict and exit code, and the two traps of a gate."""

from math import sqrt

import pytest

from kmaps.bench.kinds import SHOWN
from kmaps.bench.records import gate
from kmaps.bench.records.gate import FLOOR, VERDICTS, count, outcome
from kmaps.errors import GateFailed, InputError, NothingMeasured
from tests.bench.sample_records import record

MEASURED = {
    "data_digest": "d1",
    "protocol": {"train": 900, "test": 897},
    "n_train": 900,
    "n_test": 897,
    "n_features": 64,
    "settings": {"loss": "hinge"},
    "C_grid": [0.1, 1],
    "map_version": 1,
    "train_bytes": 600,
    "table_bytes": 100,
    "model_bytes": 300,
    "train_s": 1.0,
    "error": "",
}


def compare(ours, baseline, **options):
    return gate.compare(ours, baseline, SHOWN["classification"].judged, **options)


def cell(accuracies=(0.90, 0.92, 0.94), **columns):
    """Return the records of one cell, one a split."""
    return [
        record(split=i, **MEASURED | {"accuracy": a} | columns) for i, a in enumerate(accuracies)
    ]


BASELINE = cell()
TOLERANCE = 2 * 0.02 * sqrt(2 / 3)  # the spread of these accuracies is 0.02


def verdict(ours, baseline=BASELINE, **options):
    (judged,) = compare(ours, baseline, **options)
    return judged


def code(ours, baseline=BASELINE):
    error = outcome(compare(ours, baseline))
    return error.exit_code if error else 0


def shifted(by, **columns):
    return cell([a + by for a in (0.90, 0.92, 0.94)], **columns)


@pytest.mark.parametrize(
    ("shift", "expected", "exit_code"),
    [(-1.01, "worse", 1), (-0.99, "changed", 0), (0.99, "changed", 0), (1.01, "improved", 0)],
)
def test_accuracy_has_the_tolerance_of_the_baselines_spread(shift, expected, exit_code):
    ours = shifted(shift * TOLERANCE)
    assert verdict(ours).verdict == expected
    assert code(ours) == exit_code


@pytest.mark.parametrize(
    ("shift", "expected"), [(-0.0051, "worse"), (-0.005, "changed"), (0.0, "same")]
)
@pytest.mark.parametrize("n_splits", [1, 3])
def test_without_spread_the_floor_holds(shift, expected, n_splits):
    flat, ours = cell([0.90] * n_splits), cell([0.90 + shift] * n_splits)
    assert verdict(ours, flat).verdict == expected
    assert verdict(ours, flat, floor=0.0).verdict == ("worse" if shift else "same")
    assert FLOOR == 0.005


def test_erratic_results_do_not_widen_their_own_tolerance():
    assert verdict(cell([0.99, 0.99, 0.5])).verdict == "worse"


@pytest.mark.parametrize("column", ["train_bytes", "table_bytes", "model_bytes"])
@pytest.mark.parametrize(("grown", "expected"), [(1, "worse"), (-1, "improved")])
def test_storage_is_compared_to_the_byte(column, grown, expected):
    judged = verdict(cell(**{column: MEASURED[column] + grown}))
    assert judged.verdict == expected
    assert judged.reason.endswith(f"; {column} {grown:+}")
    assert judged.reason.startswith("accuracy 92.00 %, baseline 92.00 ")


def test_storage_is_compared_split_by_split_whatever_the_accuracy():
    ours = cell()
    ours[0]["train_bytes"] -= 50
    assert verdict(ours).verdict == "improved"
    ours[2]["train_bytes"] += 5
    assert verdict(ours).verdict == "worse"
    assert verdict(shifted(0.05, train_bytes=601)).verdict == "worse"
    assert verdict(shifted(-0.05, train_bytes=599)).verdict == "worse"


def test_the_number_of_support_vectors_of_exact_is_free_the_rest_is_not():
    exact = cell(method="exact")
    assert verdict(cell(method="exact", model_bytes=340), exact).verdict == "same"
    assert verdict(cell(method="exact", train_bytes=601), exact).verdict == "worse"
    assert verdict(cell(model_bytes=340)).verdict == "worse"


@pytest.mark.parametrize(
    ("factor", "expected"), [(1.002, "worse"), (1.0005, "changed"), (1.0, "same")]
)
def test_errors_of_kernels_are_compared_to_a_thousandth(factor, expected):
    judged = SHOWN["approximation"].judged

    def errors(linf):
        return cell([None], kind="approximation", linf=linf, rms=0.01, dim=3)

    (found,) = gate.compare(errors(0.1 * factor), errors(0.1), judged)
    assert found.verdict == expected
    (found,) = gate.compare(errors(0.1 / factor), errors(0.1), judged)
    assert found.verdict == ("improved" if expected == "worse" else expected)
    (found,) = gate.compare(errors(0.1), [r | {"dim": 2} for r in errors(0.1)], judged)
    assert (found.verdict, found.reason) == ("worse", "dim 3, baseline 2")


def test_draws_of_a_trade_off_are_taken_together():
    judged = SHOWN["trade-off"].judged
    draws = [
        made | {"kind": "trade-off", "split": 0, "draw": i, "dim": 1000}
        for i, made in enumerate(BASELINE)
    ]
    (found,) = gate.compare(draws, draws, judged)
    assert found.verdict == "same"
    (found,) = gate.compare(draws[:2], draws, judged)
    assert (found.verdict, found.reason) == ("missing", "no record of split 0 draw 2")
    more = [*draws[:2], draws[2] | {"dim": 1051}]
    (found,) = gate.compare(more, draws, judged)
    assert found.verdict == "worse"
    assert found.reason.endswith("; dim 1051, baseline 1000")


def test_a_judged_number_that_is_gone_fails():
    found = verdict(cell(train_bytes=None))
    assert (found.verdict, found.reason.split(",")[0]) == ("missing", "no train_bytes recorded")


def test_a_missing_cell_or_split_fails():
    other = cell(params={"order": 2})
    judged = compare(BASELINE, [*BASELINE, *other])
    assert [j.verdict for j in judged] == ["missing", "same"]
    assert judged[0].reason == "no record at all"
    assert code(BASELINE, [*BASELINE, *other]) == 1
    assert verdict(BASELINE[:1]).verdict == "missing"
    assert verdict(BASELINE[:1]).reason == "no record of split 1, split 2"


def test_a_failed_cell_is_not_measured_and_leaves_the_gate_undecided():
    ours = cell()
    ours[1] |= {"status": "failed", "accuracy": None, "error": "MemoryError: too large"}
    judged = verdict(ours)
    assert judged.verdict == "not measured"
    assert judged.reason == "split 1: failed: MemoryError: too large"
    assert code(ours) == 5
    worse = shifted(-0.5, params={"order": 2})
    assert code([*ours, *worse], [*BASELINE, *cell(params={"order": 2})]) == 1


def test_what_has_nothing_that_is_judged_is_not_measured():
    judged = "accuracy", "train_bytes", "table_bytes", "model_bytes"
    nothing = [made | dict.fromkeys(judged) for made in BASELINE]
    assert verdict(nothing, nothing).verdict == "not measured"
    assert verdict(nothing, nothing).reason == "the baseline has nothing that is judged"
    assert code(nothing, nothing) == 5


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e308, 10**400])
def test_numbers_that_no_measurement_gives_are_refused(value):
    for ours, baseline in ((BASELINE, cell([value] * 3)), (cell([value] * 3), BASELINE)):
        with pytest.raises(InputError, match=r"accuracy is .*: expected a finite number"):
            compare(ours, baseline)


def test_what_failed_in_the_baseline_or_is_new_passes():
    failed = cell(params={"order": 2}, status="failed", accuracy=None)
    ours = [*BASELINE, *cell(params={"order": 2})]
    for judged in (compare(ours, [*BASELINE, *failed]), compare([*BASELINE, *failed], BASELINE)):
        assert [j.verdict for j in judged] == ["new", "same"]
        assert outcome(judged) is None
    more_splits = [*BASELINE, *(r | {"split": 3} for r in cell([0.1]))]
    assert verdict(more_splits).verdict == "same"


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("data_digest", "d2", 'digest of the data is "d2", the baseline has "d1"'),
        ("protocol", {"official": True}, "split protocol is"),
        ("n_train", 800, "n_train is 800, the baseline has 900"),
        ("n_test", 800, "n_test is 800, the baseline has 897"),
        ("n_features", 63, "n_features is 63, the baseline has 64"),
        ("settings", {"loss": "logistic"}, 'settings of the solver is {"loss": "logistic"}'),
        ("options", {"range": "0:1"}, 'options is {"range": "0:1"}, the baseline has {}'),
        ("feature_version", 2, "version of the features is 2, the baseline has null"),
        ("n_skipped", 1, "n_skipped is 1, the baseline has null"),
        ("C_folds", 5, "folds is 5, the baseline has null"),
        ("C_grid", [1], "C grid is [1], the baseline has [0.1, 1]"),
        ("map_version", 2, "map_version is 2, the baseline has 1"),
    ],
)
def test_a_baseline_of_other_conditions_is_named_and_leaves_it_undecided(column, value, words):
    ours = shifted(-0.5, **{column: value})
    judged = verdict(ours)
    assert judged.verdict == "not measured"
    assert f"baseline incompatible: {words}" in judged.reason
    assert code(ours) == 5


FREE = ("cpu", "threads", "started", "commit", "key", "seed", "C", "train_s", "peak_bytes")


@pytest.mark.parametrize("column", FREE)
def test_what_may_differ(column):
    assert verdict(cell(**{column: 1e6})).verdict == "same"


@pytest.mark.parametrize(
    ("ours", "baseline", "expected"),
    [
        (BASELINE, cell(status="failed", accuracy=None), "the baseline holds no measured cell"),
        (BASELINE, [], "the baseline holds no measured cell"),
        (cell(dataset="mnist"), BASELINE, "results are on mnist, the baseline on digits"),
        ([], BASELINE, "results are on nothing"),
    ],
)
def test_nothing_to_compare(ours, baseline, expected):
    with pytest.raises(NothingMeasured, match=expected):
        compare(ours, baseline)


def mixture():
    """Return results and a baseline that give every verdict once."""
    orders = {name: {"order": i} for i, name in enumerate(VERDICTS)}
    ours = [
        *shifted(-0.2, params=orders["worse"]),
        *cell(params=orders["not measured"], map_version=2),
        *shifted(-0.01, params=orders["changed"]),
        *shifted(0.04, params=orders["improved"]),
        *cell(params=orders["new"]),
        *cell(params=orders["same"]),
    ]
    baseline = [r for name in VERDICTS if name != "new" for r in cell(params=orders[name])]
    return ours, baseline


def test_the_worst_come_first():
    judged = compare(*mixture())
    assert [j.verdict for j in judged] == list(VERDICTS)
    assert count(judged) == dict.fromkeys(VERDICTS, 1)
    assert judged[0].name == "digits intensity ovo chi2 homogeneous order=0"
    assert judged[0].text == "accuracy 72.00 %, baseline 92.00 ± 3.27"
    assert (judged[1].text, judged[1].differences) == ("no record at all", ())
    error = outcome(judged)
    assert isinstance(error, GateFailed)
    assert str(error).startswith("gate failed: 1 worse, 1 missing, 1 not measured")
    undecided = outcome(compare(cell(map_version=2), BASELINE))
    assert isinstance(undecided, NothingMeasured)
    assert str(undecided) == "gate undecided: 1 not measured"


def test_no_loss_is_praised():
    """A map lost half of its outputs: smaller, and less accurate within the tolerance."""
    ours = shifted(-0.5 * TOLERANCE, train_bytes=300)
    judged = verdict(ours)
    assert judged.verdict == "changed"
    assert "accuracy 90.37 %, baseline 92.00" in judged.reason
    assert "train_bytes -300" in judged.reason
    assert verdict(shifted(0.5 * TOLERANCE, train_bytes=300)).verdict == "improved"
    one_class = cell(accuracy_per_class=0.90, train_bytes=300)
    assert verdict(one_class, cell(accuracy_per_class=0.901)).verdict == "changed"


def test_an_accuracy_that_is_not_judged_is_not_praised_either():
    judged = SHOWN["approximation"].judged

    def errors(linf, accuracy):
        return cell([accuracy], kind="approximation", linf=linf, rms=0.01, dim=3)

    (found,) = gate.compare(errors(0.05, 0.89), errors(0.1, 0.9), judged)
    assert found.verdict == "changed"
    assert "accuracy 89.00 %, baseline 90.00" in found.reason
    (found,) = gate.compare(errors(0.05, 0.9), errors(0.1, 0.9), judged)
    assert found.verdict == "improved"


def test_what_changed_fails_when_nothing_may_change():
    changed = compare(shifted(0.001), BASELINE)
    assert outcome(changed) is None
    error = outcome(changed, strict=True)
    assert isinstance(error, GateFailed)
    assert "1 changed" in str(error)
    assert outcome(compare(BASELINE, BASELINE), strict=True) is None


def test_a_split_that_changed_is_seen_where_the_mean_did_not():
    ours = cell([0.91, 0.91, 0.94])
    assert verdict(ours).verdict == "changed"
    assert verdict(cell([0.92, 0.90, 0.94])).verdict == "changed"


@pytest.mark.parametrize(
    ("method", "expected"),
    [("sklearn.svm.SVC", "same"), ("kmaps.KernelSVC", "changed"), ("exact", "changed")],
)
def test_rows_of_third_parties_may_differ_within_their_tolerance(method, expected):
    assert verdict(shifted(0.001, method=method), cell(method=method)).verdict == expected


def test_the_interval_of_an_accuracy_stands_next_to_it():
    asked = []

    def interval(pairs, column):
        asked.append((column, len(pairs)))
        return -0.02, 0.01

    judged = verdict(shifted(-0.005), interval=interval)
    assert judged.reason.endswith("(-0.50, 95 % interval -2.00 to +1.00)")
    assert asked == [("accuracy", 3)]
