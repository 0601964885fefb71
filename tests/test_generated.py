"""The files that are generated from others are those that `make generated` writes."""

import pytest

from tests.loops import failures
from tools import generate

RUNS = generate.published_runs()
EIGHT_EACH = [RUNS[first : first + 8] for first in range(0, len(RUNS), 8)]


def check(path, target):
    made = target / path
    assert made.read_bytes() == (generate.ROOT / path).read_bytes(), "run `make generated`"


def test_the_schema_is_that_of_the_models(tmp_path):
    generate.write_schema(tmp_path)
    check("experiments/schema.json", tmp_path)


def test_the_page_on_all_runs_is_what_they_give(tmp_path):
    generate.write_page_on_all_runs(tmp_path)
    for name in ("README.md", "reported.json"):
        check(f"results/{name}", tmp_path)


@pytest.mark.parametrize("names", EIGHT_EACH, ids=lambda names: names[0])
def test_pages_are_what_their_records_give(names, tmp_path):
    def check_page(name):
        generate.write_pages(tmp_path, [name])
        check(f"results/{name}/README.md", tmp_path)

    assert failures(check_page, names) == []
