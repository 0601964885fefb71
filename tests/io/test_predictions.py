"""The formats of predictions, by what is written."""

import pytest

from kmaps.errors import InputError
from kmaps.io import prediction_format

TABLES = (["scores"], ["proba"])


@pytest.mark.parametrize("name", ["p.npy", "p.svm", "p.libsvm"])
@pytest.mark.parametrize("tables", TABLES)
def test_a_format_of_one_array_takes_one_table(name, tables):
    assert prediction_format(name, None, tables) == name.removeprefix("p.")
    with pytest.raises(InputError):
        prediction_format(name, None, ["scores", "proba"])


@pytest.mark.parametrize("name", ["p.npz", "p.csv", "p.parquet"])
def test_other_formats_take_all(name):
    assert prediction_format(name, None, ["scores", "proba"]) == name.removeprefix("p.")


def test_formats_refuse_what_they_have_no_place_for():
    with pytest.raises(InputError):
        prediction_format("p.txt", None, ["scores"])
    with pytest.raises(InputError):
        prediction_format("p.svm", None, [])
