"""Pages: what ran, which claims hold, what a kind adds."""

from scipy.stats import norm

from kmaps.bench.paper.claims import JudgedClaim
from kmaps.bench.paper.numbers import compare, numbers_of
from kmaps.bench.paper.page import page
from kmaps.bench.paper.tables import claims_section
from kmaps.bench.paper.verdicts import Comparison, Estimate, judge
from tests.bench.sample_records import record, times

CLAIM = {
    "id": "as-good",
    "text": "as good",
    "left": {"method": "homogeneous"},
    "right": {"method": "exact"},
    "relation": "about",
    "measure": "accuracy",
    "by": None,
}
RECORDS = [
    *(record("homogeneous", i, accuracy=0.8, params={"order": 1}) for i in (0, 1)),
    *(record("exact", i, accuracy=a) for i, a in enumerate([0.90, 0.92])),
]


def shown(records=RECORDS, **parts):
    return page(records, measures=("accuracy",), **parts)


def test_page_says_what_ran_and_what_becomes_of_claims():
    made = {"commit": "abc123", "cpu": "a processor", "started": "2026-01-01T00:00:00+00:00"}
    records = [cell | made | {"versions": {"numpy": "2.0"}} for cell in RECORDS]
    parts = {"claims": [CLAIM], "figures": ["errors.png"], "notes": "It is so.\n"}
    text = shown(records, about="What it is.", **parts)
    assert text.startswith("# trial\n\nWhat it is.\n\n    kmaps run trial\n\n- cpu: a processor\n")
    assert "- commit: abc123" in text
    assert "- versions: numpy 2.0" in text
    assert "| as-good | as good | undecided | 0 of 1 hold, 1 undecided | " in text
    assert "| as-good | ovo chi2 homogeneous, r = 3 against exact | within ± 0.5 points | " in text
    assert "## Findings\n\nIt is so.\n\n## Claims" in text
    assert "| homogeneous, r = 3 | **80.00** |" in text
    assert text.endswith("\n\n![errors.png](errors.png)\n")


def test_a_page_says_what_accuracies_are_compared_by():
    correct = {cell["key"]: None for cell in RECORDS[2:]}
    text = shown(claims=[{**CLAIM, "relation": "smaller", "measure": "storage"}])
    assert "compared by" not in text
    text = shown(claims=[CLAIM])
    assert (
        "## Claims\n\nThere is no `correct.npz` with the test samples that were right: acc" in text
    )
    text = shown(claims=[CLAIM], correct=correct)
    assert "Of 2 of 4 cells `correct.npz` lacks which samples were right: accuracies are" in text
    text = shown(claims=[CLAIM | {"measure": "ap"}])
    assert "Average precisions are compared by their splits and draws alone." in text


def test_a_claim_that_compares_nothing_is_not_measured():
    text = shown(RECORDS[:2], claims=[CLAIM], sections=[("Growth", "| a |"), ("More", "words")])
    assert "| as-good | as good | not measured |  |  |" in text
    assert "<details>" not in text
    assert "## Growth\n\n| a |\n\n## More\n\nwords\n\n## Tables" in text


def test_numbers_of_the_paper_stand_beside_ours():
    numbers = [n for n in numbers_of("ldefm-table1") if n.row == "VLFeat 5D"]
    params = {"order": 2, "window": "rectangular"}
    cells = [
        record("homogeneous", None, kernel="chi2", params=params, linf=3.2049, rms=1.3)
        | {"experiment": "ldefm-table1"}
    ]
    text = shown(cells, numbers=list(compare(numbers, {"ldefm-table1": cells})))
    assert "### ldefm, Table 1: " in text
    assert "1 of 2 met or beaten, to the printed digits. Bold: not met. 4 missing" in text
    assert "| printed / ours | χ² L∞ | χ² RMS | intersect L∞ |" in text
    assert "| VLFeat 5D | 3.205 / 3.205 | **1.251 / 1.300** | 30.119 / – |" in text


LOAD = {"load_before": 0.1, "load_after": 0.9, "other_cpus": 0.02, "stolen_cpus": 0.0}


def test_the_load_and_the_command_are_those_on_record():
    made = [
        {"started": "2026-01-01T00:00:01+00:00", "command": "kmaps run t.yaml --jobs 2", **LOAD},
        {"started": "2026-01-01T00:00:09+00:00", "command": "kmaps run t.yaml", **LOAD}
        | {"load_after": 1.5, "other_cpus": 0.4, "stolen_cpus": 0.3},
    ]
    cells = [cell | on for cell, on in zip(RECORDS[:2], reversed(made), strict=True)]
    text = shown([cells[0] | {"cpu": "a"}, cells[1] | {"cpu": "b"}])
    assert "- times do not compare: records differ in cpu" in text
    assert "\n\n    kmaps run t.yaml\n    kmaps run t.yaml --jobs 2\n\n" in text
    assert "- load average: 0.1 at the start, 1.5 at the end\n" in text
    assert (
        "- other work meanwhile: 0.21 processors in the mean, at most 0.40; taken by the host: at "
        "most 0.30" in text
    )
    assert "load" not in shown()
    unwatched = [cell | {"other_cpus": None, "stolen_cpus": None} for cell in cells]
    assert "other work" not in shown(unwatched)


def test_what_was_timed_again_says_when_and_under_which_load():
    lines = times(RECORDS[0], 1.0, started="2026-02-01T00:00:00+00:00", command="kmaps time t")
    cells = [RECORDS[0] | {"repeats": [lines[0] | LOAD]}, *RECORDS[1:]]
    text = shown(cells)
    assert "    kmaps run trial\n    kmaps time t\n" in text
    assert "- times measured again: 2026-02-01T00:00:00+00:00 to 2026-02-01T00:00:00+00:00" in text
    assert "- then, load average: 0.1 at the start, 0.9 at the end" in text


def test_what_holm_leaves_open_is_explained():
    claims = [
        JudgedClaim(name, "so", judge(comparisons))
        for name, comparisons in {
            "A1": [compared("a", 0.03), compared("b", 0.04), compared("c", 0.2)],
            "A2": [compared("d", 0.03)],
        }.items()
    ]
    text = claims_section(claims)
    assert "\n\nUndecided (Holm), 2 of A1: the interval of the comparison alone decides it" in text
    assert "| A1 | a | at least 0 points | undecided (Holm) | " in text
    assert "| A1 | c | at least 0 points | undecided | " in text
    assert "Holm)" not in claims_section(claims[1:])


def compared(where, p):
    """Return a comparison with normal intervals and this p-value."""
    value = norm.isf(p / 2)
    return Comparison(
        where, "above", 0, Estimate(value, lambda a: (value - norm.isf(a / 2), 9.0), "normal")
    )
