"""Pages: what each form shows of their parts."""

import io

import pandas as pd
import pytest

from kmaps.bench.report.document import Folded, Page, Section, Table, Text, as_html, as_markdown
from kmaps.bench.report.export import as_csv, as_parquet
from kmaps.bench.report.forms import Markdown
from tests.bench.sample_records import again, record

PAGE = Page(
    "A page",
    [
        Text("plain *text* & <b>"),
        Text(Markdown("formatted *text* & <b>")),
        Section(
            Markdown("A *section*"), [Table(["name", "value"], [["linear", "1"]], title="Values")]
        ),
        Folded("Details", [Text("hidden at first")]),
    ],
)


def test_only_text_that_is_markdown_is_formatted():
    html = as_html(PAGE)
    assert "plain *text* &amp; &lt;b&gt;" in html
    assert "formatted <em>text</em> &amp; &lt;b&gt;" in html
    assert "A <em>section</em>" in html


def test_details_are_folded_on_a_screen_and_open_on_paper():
    assert "<details><summary>Details" in as_html(PAGE)
    assert "<details open><summary>Details" in as_html(PAGE, opened=True)


def test_headings_follow_the_nesting_of_sections():
    lines = as_markdown(PAGE).splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# A page",
        "## A *section*",
        "### Values",
    ]


def test_exports_hold_the_same_columns():
    parquet = pytest.importorskip("pyarrow.parquet")
    records = [record("linear", accuracy=0.5), record("exact", accuracy=0.75)]
    columns = pd.read_csv(io.BytesIO(as_csv(records))).columns
    assert parquet.read_schema(io.BytesIO(as_parquet(records))).names == list(columns)


def test_a_time_of_several_columns_is_exported_as_its_parts():
    times = {"fit_s": 1.0, "encode_s": 2.0, "convert_s": 4.0, "train_s": 8.0}
    line = pd.read_csv(io.BytesIO(as_csv([record("linear", **times)]))).iloc[0]
    assert line[list(times)].to_dict() == times


def test_a_time_that_was_measured_again_is_exported_as_its_median():
    first = record("linear", accuracy=0.5, train_s=9.0, peak_bytes=5)
    repeated = again(first, 1.0, 2.0, 7.0, bytes={"peak_bytes": 6})
    line = pd.read_csv(io.BytesIO(as_csv([repeated]))).iloc[0]
    columns = ["train_s", "accuracy", "peak_bytes", "repeats"]
    assert line[columns].tolist() == [2.0, 0.5, 5, 3]
