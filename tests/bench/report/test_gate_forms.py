"""The gate as text, JSON, Markdown and JUnit: every verdict in its place."""

from xml.etree import ElementTree

from kmaps.bench.records.gate import VERDICTS, CellVerdict, Difference
from kmaps.bench.report.gate_forms import as_junit, as_markdown

WORSE = Difference("accuracy", 0.92, 0.72, 0.01, "worse")
CELLS = [
    CellVerdict("worse", "digits a|b", "accuracy 72.00 %", (WORSE,)),
    *(CellVerdict(verdict, f"cell {verdict}", "no record") for verdict in VERDICTS[1:]),
]
SUMMARY = "7 cells: 1 worse, 1 missing, 1 not measured, 1 changed, 1 improved, 1 new, 1 same"
SAME = [CellVerdict("same", "linear", "accuracy 90.00 %", edge="C = 10, the largest")]


def test_markdown_shows_what_changed_and_folds_the_rest():
    shown, folded = as_markdown(CELLS, "trial").split("<details>")
    assert shown.startswith(f"### trial: gate failed\n\n{SUMMARY}.\n\n| verdict | cell |")
    assert "| worse | digits a\\|b | accuracy 72.00 % |" in shown
    assert "cell same" not in shown
    assert "| same | cell same | no record |" in folded
    assert folded.endswith("\n\n</details>")
    passed = as_markdown(SAME, "trial")
    assert passed.startswith("### trial: gate passed\n\n1 cell: 1 same; C at the edge")
    assert "| same | linear | accuracy 90.00 %; C = 10, the largest |" in passed
    assert passed.count("| verdict |") == 1
    undecided = as_markdown([CELLS[2]], "trial")
    assert undecided.startswith("### trial: gate undecided\n\n")


def test_junit_fails_what_the_gate_fails():
    suite = ElementTree.fromstring(as_junit(CELLS, "trial"))
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "7", "failures": "2", "errors": "1", "skipped": "0"}
    ended = [(case.get("classname"), *(child.tag for child in case)) for case in suite]
    tags = ["failure"], ["failure"], ["error"], [], [], [], []
    assert ended == [("trial", *tag) for tag in tags]
    assert suite[0][0].get("message") == "worse: accuracy 72.00 %"
    strict = ElementTree.fromstring(as_junit(CELLS, "trial", strict=True))
    assert strict.get("failures") == "3"


def test_junit_is_xml_whatever_the_names_hold():
    strange = CellVerdict("worse", "a\x1b[31m\x00\ud800\uffff", "b\x07 <&\x85")
    document = as_junit([strange], "run\x1b")
    assert document.startswith("<?xml ")
    (case,) = ElementTree.fromstring(document.encode())
    assert case.get("name") == r"a\x1b[31m\x00\ud800\uffff"
    assert case.get("classname") == r"run\x1b"
    assert case[0].get("message") == "worse: b\\x07 <&\x85"
