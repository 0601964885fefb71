"""Kernels of a user's own.

Objects, not functions: the name of a function holds its address, which would give the same test
another name in every process.
"""

import numpy as np


class _Kernel:
    def __init__(self, name, formula):
        self.name, self.formula = name, formula

    def __call__(self, x, y):
        return self.formula(x, y)

    def __repr__(self):
        return self.name


gauss = _Kernel("gauss", lambda x, y: np.exp(-((x - y) ** 2)))
laplace = _Kernel("laplace", lambda x, y: np.exp(-np.abs(x - y)))
