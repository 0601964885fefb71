"""Pages: what ran, which claims hold, what a kind adds."""

from kmaps.bench.report.page import page
from tests.bench.sample_records import record

CLAIM = {
    "id": "A2",
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


def test_page_says_what_ran_and_what_fails():
    made = {"commit": "abc123", "cpu": "a processor", "started": "2026-01-01T00:00:00+00:00"}
    records = [cell | made | {"versions": {"numpy": "2.0"}} for cell in RECORDS]
    text = shown(
        records, about="What it is.", claims=[CLAIM], figures=["errors.png"], notes="It is so.\n"
    )
    assert text.startswith("# trial\n\nWhat it is.\n\n    kmaps run trial\n\n- cpu: a processor\n")
    assert "- commit: abc123" in text
    assert "- versions: numpy 2.0" in text
    assert "**A2** as good: holds in 0 of 1 comparisons." in text
    assert "- fails: ovo chi2 homogeneous, r = 3 against exact: -11.00 ± 1.00 points" in text
    assert "## Findings\n\nIt is so.\n\n## Claims" in text
    assert "| homogeneous, r = 3 | **80.00 ± 0.00** |" in text
    assert text.endswith("\n\n![errors.png](errors.png)\n")


def test_a_claim_that_compares_nothing_is_not_measured():
    assert "**A2** as good: not measured." in shown(RECORDS[:2], claims=[CLAIM])


def test_sections_of_the_kind_stand_before_the_tables():
    text = shown(sections=[("Growth", "| a |"), ("More", "words")])
    assert "## Growth\n\n| a |\n\n## More\n\nwords\n\n## Tables" in text
    assert "## Growth" not in shown()


def test_numbers_of_the_paper_stand_beside_ours():
    given = {"rows": {"order": 1}, "kernel": "chi2", "values": {"rms": 0.25}}
    cells = [cell | {"rms": 0.3} for cell in RECORDS[:1]]
    text = shown(cells, printed=[given])
    assert "Met or beaten, to the printed digits: 0 of 1." in text
    assert "| digits | chi2 | homogeneous, r = 3 | root mean square error | 0.25 | 0.300 |" in text
    assert "| --- | --- | --- | --- | ---: | ---: | ---: |" in text


def test_conditions_that_differ_are_named():
    mixed = [RECORDS[0] | {"cpu": "a"}, RECORDS[1] | {"cpu": "b"}]
    assert "- times do not compare: records differ in cpu" in shown(mixed)
