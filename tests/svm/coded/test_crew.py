"""Threads that solve one problem together: the same machine, bit for bit, on any number of them."""

import numpy as np
import pytest
from sklearn.base import clone

from kmaps import CodedSVC, HomogeneousMap, SplineMap, threads
from kmaps._loops.forms import Rows
from kmaps._loops.shared import find_cuts
from kmaps.svm.coded import crew
from kmaps.svm.coded.crew import Crew, cut
from kmaps.svm.coded.descent import make_task, solve
from kmaps.svm.coded.forms import choose
from kmaps.svm.coded.rows import rows_of
from kmaps.svm.coded.tables import tabulate

N, D = 200, 40
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 64, (N, D)).astype(np.uint8)
SPARSE = np.where(RNG.random((N, D)) < 0.3, CODES, 0).astype(np.uint8)
TABLES = tabulate("chi2", np.linspace(0, 1, 64)[None])


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Let small problems have four parts, and four threads on any machine."""
    monkeypatch.setattr(crew, "_LEAST", 2)
    monkeypatch.setattr(crew, "_MOST_PARTS", 4)
    monkeypatch.setattr(crew, "_WORTH", 0)
    monkeypatch.setattr(crew, "processors", lambda: 4)


def stated(codes, loss="squared_hinge"):
    """A problem, dense or listed, that half of its features explain."""
    machinery = choose(TABLES)
    rows = rows_of(codes, TABLES.zero)
    noise = np.random.default_rng(1).normal(0, 1, N)
    lean = np.sin(codes[:, ::2] / 12).sum(axis=1) + noise
    signs = np.where(lean > np.median(lean), 1.0, -1.0)
    norms = machinery.square_norms(rows)
    task = make_task(np.arange(N), signs, norms, np.full(N, 3.0), loss, 1.0)
    return rows, machinery.form, task


@pytest.mark.parametrize("codes", [CODES, SPARSE], ids=["dense", "listed"])
@pytest.mark.parametrize(("n_threads", "max_iter"), [(2, 300), (4, 1)])  # more than processors
def test_the_machine_is_the_same_on_any_number_of_threads(codes, n_threads, max_iter):
    rows, form, task = stated(codes)
    assert (rows.features is None) == (codes is CODES)
    options = {"tol": 1e-3, "max_iter": max_iter, "seed": (0,)}
    one, several = (
        solve(rows, form, task, D * form.size, n_threads=n, **options) for n in (1, n_threads)
    )
    if max_iter > 1:
        assert one.gap <= 1e-3
        assert one.passes > 10  # so that conjugate gradients have their turn
    np.testing.assert_array_equal(several.weights, one.weights)
    np.testing.assert_array_equal(several.alpha, one.alpha)
    np.testing.assert_array_equal(several.margins, one.margins)
    assert several[-3:] == one[-3:]


def test_parts_change_nothing_but_roundings(monkeypatch):
    rows, form, task = stated(CODES, "hinge")
    options = {"tol": 1e-5, "max_iter": 2000, "seed": (0,)}
    parts = solve(rows, form, task, D * form.size, n_threads=2, **options)
    monkeypatch.setattr(crew, "_MOST_PARTS", 1)
    whole = solve(rows, form, task, D * form.size, n_threads=2, **options)
    assert parts.primal == pytest.approx(whole.primal, rel=2e-5)
    assert (parts.weights != whole.weights).any()


def test_how_many_threads_there_are(monkeypatch):
    rows, form, _ = stated(CODES)

    def n_threads(wanted, **options):
        with Crew(rows, form, cut(rows, D), wanted, **options) as found:
            return len(found.shares)

    assert [n_threads(wanted) for wanted in (1, 2, 3, 4, 8)] == [1, 2, 2, 4, 4]
    monkeypatch.setattr(crew, "_WORTH", N * D // 2)
    assert [n_threads(2, n_members=n) for n in (N // 2 - 1, N // 2)] == [1, 2]
    monkeypatch.setattr(crew, "processors", lambda: 1)
    assert n_threads(4) == 1


@pytest.mark.parametrize("codes", [CODES, SPARSE], ids=["dense", "listed"])
def test_shares_cover_every_feature_once(codes):
    rows, form, _ = stated(codes)
    with Crew(rows, form, cut(rows, D), 4) as found:
        shares = found.shares
    assert [(share.first, share.last) for share in shares] == [(0, 1), (1, 2), (2, 3), (3, 4)]
    columns = shares[0].columns
    assert columns[0] == 0
    assert columns[-1] == D
    counts = np.add.reduceat((codes != 0).sum(axis=0), columns[:-1])
    assert counts.min() > 0.8 * counts.mean()


def test_cuts_are_where_the_features_say():
    rows = rows_of(SPARSE, TABLES.zero)
    columns = np.array([0, 3, 3, 25, D])
    cuts = np.empty((N, 3), np.uint32)
    find_cuts(rows.bounds, rows.features, columns, cuts)
    for i in range(N):
        own = rows.features[rows.bounds[i] : rows.bounds[i + 1]]
        np.testing.assert_array_equal(cuts[i], np.searchsorted(own, columns[1:-1]))
    empty = Rows(np.empty(0, np.uint8), np.zeros(2, np.int64), np.empty(0, np.uint16))
    find_cuts(empty.bounds, empty.features, columns, cuts[:1])
    assert not cuts[0].any()


def test_a_thread_that_fails_to_start_leaves_none_waiting(monkeypatch):
    rows, form, task = stated(CODES)
    with Crew(rows, form, cut(rows, D), 4) as found:
        submit, calls = found.pool.submit, []

        def one_only(function, k):
            if calls:
                raise RuntimeError("can't start new thread")
            calls.append(k)
            return submit(function, k)

        monkeypatch.setattr(found.pool, "submit", one_only)
        state = (N, np.inf, -np.inf, 0.0, 0.0, np.uint64(1))
        weights = np.zeros(D * form.size, np.float32)
        with pytest.raises(RuntimeError, match="new thread"):
            found.descend(task, np.zeros(N), weights, np.arange(N), state, 0.0, N)


def test_a_classifier_takes_the_threads_that_there_are(monkeypatch):
    taken = []
    monkeypatch.setattr(crew, "ThreadPoolExecutor", lambda n: taken.append(n) or Pool(n))
    X, y = SPARSE / 64, np.arange(N) % 2
    with threads(2):
        CodedSVC("chi2", tol=0.1).fit(X, y)
    with threads(1):
        CodedSVC("chi2", tol=0.1).fit(X, y)
    assert taken == [1]  # beside the one that calls


Pool = crew.ThreadPoolExecutor


@pytest.mark.slow
@pytest.mark.parametrize(
    ("map", "form"),
    [
        ("js", "full"),
        ("intersection", "two-level"),
        (SplineMap(8, degree=2), "local"),
        (SplineMap(8, degree=2, penalty=1), "local"),
        (HomogeneousMap(), "low-rank"),
    ],
    ids=str,
)
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_no_thread_writes_what_is_anothers(map, form, loss):
    X = np.random.default_rng(3).random((N, D))
    y = X[:, ::3].sum(axis=1) > X[:, 1::3].sum(axis=1)
    learner = CodedSVC(map, 3.0, loss=loss, form=form, tol=1e-3)
    scores = []
    for n_threads in (1, 2):
        with threads(n_threads):
            scores.append(clone(learner).fit(X, y).decision_function(X))
    np.testing.assert_array_equal(*scores)
