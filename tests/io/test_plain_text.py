"""Large blocks of text, which pandas parses, against Python's numbers and the slow readers."""

import random

import numpy as np
import pytest

from kmaps.errors import InputError
from kmaps.io import open_reader, read_whole, text_files
from kmaps.io.csv_files import CsvReader

RNG = random.Random(0)


def numbers():
    """Yield numbers as programs write them, and some that are near the middle of two."""
    for _ in range(2000):
        x, power = RNG.gauss(0, 1), RNG.randint(-290, 290)
        yield from (repr(x), f"{x:.18e}", f"{x:.9g}", f"{np.float32(x):.16g}")
        yield repr(x * 10.0**power)
        whole = RNG.randint(2**53, 2**54) | 1  # needs 54 bits
        yield from (f"{whole}.1", f"-{whole}e{power // 8}", f"{RNG.randrange(2**63)}E-19")
    yield from ("0", "-0", "+.5", "5.", "00012", "0.000e5", "1e22", "1e23", "9" * 19, "0" * 30)
    yield from (f"{0:.25f}1", "-" + "0" * 9 + f"{1.5:.15f}")


def test_numbers_are_those_of_python(tmp_path, monkeypatch):
    monkeypatch.setattr(text_files, "LARGE_BLOCK", 0)
    found = [*numbers()]
    (tmp_path / "t.csv").write_text("\n".join(found) + "\n")
    (block,) = open_reader(tmp_path / "t.csv").blocks(len(found), 1)
    assert [*map(repr, block.X[:, 0].tolist())] == [repr(float(line)) for line in found]


def outcome(path, **options):
    try:
        reader = open_reader(path, **options)
        X, y, aside = read_whole(reader)
    except InputError as error:
        return str(error)
    held = X.toarray() if reader.sparse else X
    labels = None if y is None else y.tolist()
    return held.tobytes(), held.shape, labels, {name: a.tolist() for name, a in aside.items()}


def both_ways(monkeypatch, path, **options):
    """Return what a file holds by pandas, which must be what it holds without."""
    monkeypatch.setattr(text_files, "LARGE_BLOCK", 10**9)
    expected = outcome(path, **options)
    monkeypatch.setattr(text_files, "LARGE_BLOCK", 0)
    found = outcome(path, **options)
    assert found == expected
    return found


def test_tables_are_read_alike(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("id,a,kind,b\n r 1, 1.5,low ,-2e-3\nr\u00e9,  3 ,high,4\r\n\nz,1,,5")
    given = {"label_column": "id", "aside": ["kind"]}
    assert "t.csv:5: column 'kind' is ''" in both_ways(monkeypatch, path, **given)
    path.write_text(path.read_text().replace("z,1,", 'z,1,"low, too"'))
    values, shape, labels, aside = both_ways(monkeypatch, path, **given)
    assert np.frombuffer(values).tolist() == [1.5, -2e-3, 3, 4, 1, 5]
    assert (shape, labels, aside["kind"][2]) == ((3, 2), ["r 1", "r\u00e9", "z"], "low, too")


def test_svmlight_is_read_alike(tmp_path, monkeypatch):
    path = tmp_path / "a.svm"
    path.write_text("# of mine\n-1 qid:3 1:.5\t7:1e-3  # a:b\n+1\n 2.5 2:1 \r\n3 qid:4")
    values, shape, labels, _ = both_ways(monkeypatch, path)
    expected = np.zeros((4, 7))
    expected[0, [0, 6]], expected[2, 1] = [0.5, 1e-3], 1
    assert (values, shape, labels) == (expected.tobytes(), (4, 7), [-1, 1, 2.5, 3])


WRONG_LINES = {
    "a.svm": [
        *("1 2:1 1:1", "1 2:1 2:1", "1 0:1", "1 9:1", "1 1:", "1 :1", "1 1:1:1", "1 1: 1", "1 1 1"),
        *("nan 1:1", "1e999 1:1", "x 1:1", "1,2 1:1", "1 1:1_0", "1 1:nan", "1 1.0:1", "1 +1:1"),
        *("1 1:1 qid:1", "1 qid:x 1:1", "1 qid: 1:1", "1qid:1 1:1", "1 qid:1x 1:1", "1 -1:1"),
        *(f"1 {'9' * 30}:1", "1 1:\t.5", "1 1:\v1 2:1", "1 1:\f1"),
        *("\x1f", "1 1:1\x1f2:1", "\u2003"),  # blanks in text, not in bytes
    ],
    "t.csv": [
        *("1,2", "1,2,3,4", "1,,3", "1,2,x", "1,2 3,4", "1,nan,3", "1_0,2,3", '1,2,"3'),
        *("1,2,3\x1c", "1,\x1d2,3", "\x1e", "1,\x1f,3", "1,2,\u20033", f"1,{'9' * 401},3"),
    ],
}


@pytest.mark.parametrize(
    ("name", "line"), [(name, line) for name, lines in WRONG_LINES.items() for line in lines]
)
def test_what_is_wrong_in_a_line_is_refused_alike(tmp_path, monkeypatch, name, line):
    path, options = tmp_path / name, {}
    if name == "a.svm":
        path.write_text(f"1 1:1 3:2\n{line}\n2 2:1\n")
        options = {"zero_based": False, "n_features": 3}
    else:
        path.write_text(f"1.5,2,3\n{line}\n4,5,6\n")
    told = both_ways(monkeypatch, path, **options)
    assert isinstance(told, str)
    assert told.startswith(f"{path}:2: ")


@pytest.fixture
def lines_read(monkeypatch):
    """The numbers of rows of the blocks that were read line by line, after the parser."""
    sizes = []
    slow = CsvReader._read_lines

    def counted(self, numbers, lines):
        sizes.append(len(lines))
        return slow(self, numbers, lines)

    monkeypatch.setattr(CsvReader, "_read_lines", counted)
    monkeypatch.setattr(text_files, "LARGE_BLOCK", 0)
    return sizes


def quoted(values, kinds):
    rows = zip(values, kinds, strict=True)
    return '"a","b","kind"\n' + "".join(f'{x!r},"{y!r}","{kind}"\n' for (x, y), kind in rows)


def test_text_in_quotation_marks_is_parsed_once(tmp_path, lines_read):
    values = [(RNG.gauss(0, 1), RNG.gauss(0, 1e9)) for _ in range(50)]
    kinds = [["cat", 'a ""b""', "c, d", "e;f"][i % 4] for i in range(50)]
    (tmp_path / "t.csv").write_text(quoted(values, kinds))
    reader = open_reader(tmp_path / "t.csv", label_column="kind")
    blocks = list(reader.blocks(20, 1))
    assert lines_read == []
    read = [tuple(row) for block in blocks for row in block.X.tolist()]
    assert read == values
    labels = [label for block in blocks for label in block.y.tolist()]
    assert labels == [kind.replace('""', '"') for kind in kinds]


def test_only_the_block_of_a_bad_value_is_looked_at_twice(tmp_path, lines_read):
    values = [(float(i), float(-i)) for i in range(50)]
    text = quoted(values, ["cat"] * 50).replace('30.0,"-30.0"', '30.0,"f"')
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=r"t.csv:32: column 'b' \(2\): 'f' is not a number"):
        list(open_reader(tmp_path / "t.csv", label_column="kind").blocks(20, 1))
    assert lines_read == [20]


PIECES = [
    '"',
    '""',
    "a",
    " ",
    ",",
    ";",
    "1",
    "2.5",
    "-",
    "\t",
    "e",
    "\u00e9",
    "'",
    "\\",
    '"x"',
    ".",
]


def test_quotation_marks_anywhere_are_read_alike(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    for seed in range(300):
        rng = random.Random(seed)
        lines = ["id,a,b"]
        for _ in range(4):
            text = "".join(rng.choices(PIECES, k=rng.randrange(6)))
            lines.append(f"{text},{rng.choice(['1', '2.5', text])},3")
        path.write_text("\n".join(lines) + "\n")
        both_ways(monkeypatch, path, label_column="id")
