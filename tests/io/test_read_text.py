"""Readers of text files: what is wrong with a line, what indices count from, columns of labels."""

import numpy as np
import pytest

from kmaps.errors import FileNote
from kmaps.io import open_reader, text_files
from tests.io.test_read import assert_refused

BAD = {
    "a.csv": {
        b"\n\n": "empty, expected one row of numbers",
        b"a,b\n": "a header but no row of numbers",
        b"a,b\n1,2\n\n3,4,5\n": "a.csv:4: has 3 columns, the first line has 2",
        b"1.5,2\n3,four\n": "a.csv:2: column 2: 'four' is not a number",
        b"1,b\n3,4\n": "a.csv:1: column 2: 'b'",
        b"1.5,2\n3,\xe9\n": "a.csv:2: column 2:",
        b"True,False\n1,2\n": "a.csv:1: column 1: 'True' is not a number",
        b"h\xf6he,b\n1,2\n": "a.csv:1: its header is not text in UTF-8; save the file",
        b"1.5,2\n3,True\n": "a.csv:2: column 2: 'True' is not a number",
        # Each of its lines alone is a row.
        b'a,b,c\n1,2,3\n1,2,"3\n1,2,3"\n': "a.csv:3: a field in quotation marks does not end",
        b'a,"b\nb"\n1,2\n': "a.csv:1: a field in quotation marks does not end",
        b"1.5,2\n" + b"3," * 2**23 + b"4\n": "a.csv:2: has more than 16,777,216 bytes",
    },
    "a.svm": {
        b"# only a comment\n1\n": "no sample with a",
        b"1 1:2\ncat 1:2\n": "a.svm:2: 'cat' is not a label",
        b"1 1:2\n2 -1:2 1:3\n": "a.svm:2: index -1 is below 0",
        b"1,2 1:2\n": "a.svm:1: '1,2' is not a label",
        b"1 1:2\n1 3:a\n": "a.svm:2: '3:a' is not 'index:va",
        b"1 3:1 2:1\n": "a.svm:1: index 2 comes after 3",
        "\u0661 1:2\n".encode(): "a.svm:1: '\u0661' is not a label",
        "1 1:\u0662\n".encode(): "a.svm:1: '1:\u0662' is not 'index:value'",
        "1 1:1 \u0662:1\n".encode(): "a.svm:1: '\u0662:1' is not 'index:value'",
        b"1 qid:x 1:2\n": "a.svm:1: 'qid:x' is not 'qid:nu",
        b"1 1:2\n1 2147483648:1\n": "a.svm:2: index 2147483648 is above 2147483647, the last",
        b"1 " + b"9" * 5000 + b":1\n": "is above 21474",
    },
}


@pytest.mark.parametrize("large", [0, 1 << 17])
@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_in_one_line(tmp_path, monkeypatch, name, large):
    monkeypatch.setattr(text_files, "LARGE_BLOCK", large)
    for content, message in BAD[name].items():
        (tmp_path / name).write_bytes(content)
        assert_refused(tmp_path / name, message)


def test_svm_keeps_queries_and_comments_out(tmp_path):
    (tmp_path / "a.svm").write_text("1 qid:3 1:2 # a_b\n2 qid:3 2:4\n")
    with pytest.warns(FileNote, match="query numbers"):
        reader = open_reader(tmp_path / "a.svm", zero_based=False)
    (block,) = reader.blocks(9, 9)
    assert block.X.toarray().tolist() == [[2, 0], [0, 4]]
    assert block.y.tolist() == [1, 2]


def svm(*rows, query=""):
    """Return a svm file of rows of indices, each with its label and perhaps a query."""
    return "".join(f"{k}{query} {' '.join(f'{j}:1' for j in row)}\n" for k, row in enumerate(rows))


@pytest.mark.parametrize(
    ("rows", "n_features", "zero_based", "base", "certain", "width"),
    [
        ([(1, 3), (2,)], None, "auto", 1, False, 3),
        ([(1, 3), (0, 2)], None, "auto", 0, True, 4),
        ([(1, 3), (2,)], 4, "auto", 1, False, 4),
        ([(1, 3), (2,)], 3, "auto", 1, True, 3),
        ([(1, 3), (2,)], None, True, 0, True, 4),
        ([(1, 3), (2,)], None, False, 1, True, 3),
        ([(1, 3), (2,)], 9, True, 0, True, 9),
    ],
)
def test_indices_count_from_0_or_1(tmp_path, rows, n_features, zero_based, base, certain, width):
    expected = np.zeros((2, width))
    for place, row in enumerate(rows):
        expected[place, np.array(row) - base] = 1
    for query in ("", " qid:0", " qid:7"):  # of which no number is an index
        (tmp_path / "a.svm").write_text(svm(*rows, query=query))
        reader = open_reader(tmp_path / "a.svm", n_features=n_features, zero_based=zero_based)
        assert (reader.index_base, reader.certain_base, reader.n_features) == (base, certain, width)
        (block,) = reader.blocks(9, 99)
        np.testing.assert_array_equal(block.X.toarray(), expected)


def test_lines_come_in_blocks_of_the_size_asked_for(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("".join(f"{number}.5,1\n" for number in range(1500)))
    sizes = [len(lines) for _, lines in open_reader(path).line_blocks(600)]
    assert sizes == [600, 600, 300]
