"""kmaps list: every name that can be chosen, with what it stands for."""

import json
import re
from functools import cache

from commands import kmaps

from kmaps.bench.kinds.load import described
from kmaps.cli.list import PAPERS
from kmaps.maps import MAPS


@cache  # all experiments are checked for it
def listed(*args):
    return kmaps("list", *args).stdout


def test_maps_with_paper_and_equation():
    blocks = re.split(r"\n(?! )", listed("maps").strip())
    assert [block.split()[0] for block in blocks] == list(MAPS)
    for block, (name, cls) in zip(blocks, MAPS.items(), strict=True):
        first, *below = block.splitlines()
        assert first.split() == [name, cls.__name__]
        told = " ".join(map(str.strip, below))
        assert told.startswith(cls.source)
        # A map may be in none of these papers.
        named = [paper for word, paper in PAPERS.items() if word in re.findall(r"\w+", cls.source)]
        for paper in named:
            title = re.sub("[{}]", "", re.search(r"title = {(.*)},\n", paper)[1])
            last = re.search(r"author = {.*?([^ ]+), [^,]+},\n", paper)[1]
            assert f"{last}: {title}, " in told


def test_bibtex_has_each_paper_once_below_its_maps():
    text = listed("maps", "--bibtex")
    assert sorted(re.findall(r"^@\w+\{(\w+),", text, re.MULTILINE)) == sorted(PAPERS)
    [maps] = re.findall(r"^% (.+)\n@misc\{lac,", text, re.MULTILINE)
    assert maps == "spline, fourier, hermite"
    assert "lowdim-joint" in text
    assert "kmaps list maps --bibtex" in kmaps("list", "--bibtex", code=2).stderr


def test_experiments_have_the_subject_and_the_words_of_their_files():
    for row in json.loads(listed("experiments", "--json"))["experiments"]:
        experiment = described(row["name"])
        assert row["subject"] == experiment.subject
        assert row["about"] == " ".join(experiment.about.split())
