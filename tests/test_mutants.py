"""`make mutants` notices what tests notice, reports what they do not, and draws alike each time."""

import pytest

from tests.mutants import __main__ as mutants
from tests.mutants import forked
from tests.mutants.sample import Mutant, sample

LINE = "return x if x < LIMIT else LIMIT"
SOURCE = f'LIMIT = 3\n\n\ndef clamp(x: "int | None") -> "int | None":\n    {LINE}\n'
TEST = "test_clamp.py::test_clamp"


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "clamp.py").write_text(SOURCE)
    cases = "[clamp(x) for x in (1, 3, 5)] == [1, 3, 3]"
    test = f"from clamp import clamp\n\n\ndef test_clamp():\n    assert {cases}\n"
    (tmp_path / "test_clamp.py").write_text(test)
    return tmp_path


def mutant(becomes, line=LINE, at=5):
    return Mutant("clamp.py", (at, at), line, becomes, SOURCE.replace(line, becomes))


@pytest.mark.slow  # it waits for mutants that do not end
def test_what_no_test_notices_needs_a_reason(tree, tmp_path_factory, monkeypatch, capsys):
    pytest.importorskip("coverage", reason="needs coverage")
    monkeypatch.setattr(forked, "MUTANT_S", 1.0)
    same, other = mutant(LINE.replace("<", "<=")), mutant(LINE.replace("<", ">"))
    tried = [same, other, mutant("while True: pass"), mutant("LIMIT = 4", "LIMIT = 3", 1)]
    given = tree, ("clamp", "test_*"), tried, tmp_path_factory.mktemp("kept")
    caught = dict(mutants.try_all(*given))
    assert [caught[one] for one in tried] == ["", TEST, TEST, TEST]
    assert (tree / "clamp.py").read_text() == SOURCE
    monkeypatch.setattr(mutants, "run", None)
    assert dict(mutants.try_all(*given)) == caught, "what has been tried is tried again"
    path = tree / "test_clamp.py"
    path.write_text(path.read_text() + "\n\ndef test_more():\n    assert clamp(2) == 2\n")
    monkeypatch.setattr(mutants, "run", lambda tree, tests, log: "".join(tests))
    more = "test_clamp.py::test_more"
    assert dict(mutants.try_all(*given)) == caught | {same: more}, "only what survived, by it alone"
    path.write_text(path.read_text().replace("test_clamp", "test_other"))
    other_test = "test_clamp.py::test_other"
    again = dict(mutants.try_all(*given))
    assert again[same] == more
    assert all(other_test in again[one] for one in tried[1:]), "caught by what is gone"

    row = {"module": "clamp", "line": LINE, "becomes": same.becomes, "reason": "equal at 3"}
    survivor, equivalent = row | {"equivalent": "no"}, row | {"equivalent": "yes"}
    caught |= {mutant(f"{LINE} + {k}"): TEST for k in range(6)}
    assert mutants.report({"clamps": caught}, [survivor]) == 0
    printed = capsys.readouterr().out
    assert "  equal at 3\nclamps: 9 caught / 10 tried / 0 equivalent\n" in printed
    for reasons in ([], [survivor, survivor | {"line": "x"}]):
        assert mutants.report({"clamps": caught}, reasons) == 1
    printed = capsys.readouterr().out
    assert "NO REASON" in printed
    assert "STALE, a reason for no survivor: clamp x" in printed
    few = {"clamps": {same: "", other: TEST}}
    assert mutants.report(few, [survivor]) == 1, "too few are caught"
    assert mutants.report(few, [equivalent]) == 0, "no test can catch an equivalent one"
    assert "clamps: 1 caught / 2 tried / 1 equivalent\n" in capsys.readouterr().out


def test_a_sample_is_of_what_means_something_else_and_stays_when_lines_are_added(tree):
    pytest.importorskip("cosmic_ray", reason="needs cosmic-ray (make mutants)")
    drawn = sample(tree, ["clamp.py"], 100, {})
    assert {one.line for one in drawn} == {LINE, "LIMIT = 3"}  # no type
    assert all(one.becomes in one.source and one.line not in one.source for one in drawn)
    assert sample(tree, ["clamp.py"], 1, {"clamp.py": ["clamp"]})[0] in drawn
    (tree / "clamp.py").write_text(f"X = None\n{SOURCE}")
    again = {(one.becomes, one.lines[0] - 1) for one in sample(tree, ["clamp.py"], 100, {})}
    assert again == {(one.becomes, one.lines[0]) for one in drawn}
