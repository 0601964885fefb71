"""One binary problem on two threads, in blocks, against one thread, at the same gap.

The histograms are like those of the Daimler pedestrians, 20,000 of 981 values; at the larger C the
free variables are more, and conjugate gradients do more of the work.
"""

from benchmarks.measure import Pair
from benchmarks.training import histograms
from kmaps import CodedSVC, threads
from kmaps.svm import code_rows

_ROWS, _BLOCKS_OF_BINS = 20_000, 109


def pairs() -> list[Pair]:
    X, y = histograms(_ROWS, _BLOCKS_OF_BINS)
    rows = code_rows("chi2", lambda: [X])
    return [
        Pair(
            f"two blocks, two threads, C = {C:g}",
            lambda C=C: _trained(rows, y, C, n_blocks=2, n_threads=2),
            "one descent, one thread",
            lambda C=C: _trained(rows, y, C, n_blocks=1, n_threads=1),
            at_least=1.6 if C > 1 else None,
            runs=5,
        )
        for C in (1.0, 10.0)
    ]


def _trained(rows, y, C, n_blocks, n_threads):
    with threads(n_threads):
        return CodedSVC("chi2", C, n_blocks=n_blocks).fit(rows, y)
