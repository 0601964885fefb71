"""The files that are generated from others are those that `make generated` writes."""

import pytest

from tests.bench.records.published import kinds
from tests.loops import failures
from tools import generate

RUNS = generate.published_runs()
EIGHT_EACH = [RUNS[first : first + 8] for first in range(0, len(RUNS), 8)]


def smallest_of_each_kind():
    """Return the names of the three runs of each kind that have the shortest files of records."""
    sizes = {}
    for name, kind in kinds().items():
        size = (generate.RESULTS / name / "records.jsonl").stat().st_size
        sizes.setdefault(kind, []).append((size, name))
    return [name for of_kind in sizes.values() for _, name in sorted(of_kind)[:3]]


def check(path, target):
    made = target / path
    assert made.read_bytes() == (generate.ROOT / path).read_bytes(), "run `make generated`"


def test_the_schema_is_that_of_the_models(tmp_path):
    generate.write_schema(tmp_path)
    check("experiments/schema.json", tmp_path)


@pytest.mark.slow  # it judges all runs, and a page of each kind shows such numbers
def test_the_page_on_all_runs_is_what_they_give(tmp_path):
    generate.write_page_on_all_runs(tmp_path)
    for name in ("README.md", "reported.json"):
        check(f"results/{name}", tmp_path)


def outdated_pages(names, target):
    def check_page(name):
        generate.write_pages(target, [name])
        check(f"results/{name}/README.md", target)

    return failures(check_page, names)


def test_pages_of_each_kind_are_what_their_records_give(tmp_path):
    names = smallest_of_each_kind()
    assert names
    assert outdated_pages(names, tmp_path) == []


@pytest.mark.slow  # pages of each kind, and the page on all runs, show the same numbers
@pytest.mark.parametrize("names", EIGHT_EACH, ids=lambda names: names[0])
def test_pages_are_what_their_records_give(names, tmp_path):
    assert outdated_pages(names, tmp_path) == []
