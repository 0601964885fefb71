"""Kernels of a user's own.

Objects, not functions: the name of a function holds its address, which would give the same test
another name in every process.
"""

import numpy as np


class _Gauss:
    def __call__(self, x, y):
        return np.exp(-((x - y) ** 2))

    def __repr__(self):
        return "gauss"


class _Laplace:
    def __call__(self, x, y):
        return np.exp(-np.abs(x - y))

    def __repr__(self):
        return "laplace"


gauss, laplace = _Gauss(), _Laplace()
