"""
The period of a homogeneous map and its error
=============================================

The homogeneous map is a Fourier series of the kernel's signature, and a Fourier series needs a
period. With a short period the signature repeats too early; a long period needs more terms. The
default is a formula that Vedaldi and Zisserman fitted to the best periods.
"""

import matplotlib.pyplot as plt
import numpy as np

from kmaps import HomogeneousMap, gram

x = np.geomspace(0.01, 1, 150)[:, None]
exact = gram(x, kernel="chi2")
periods = np.linspace(3, 20, 60)


def worst(order, period=None):
    Z = HomogeneousMap("chi2", order=order, period=period).fit_transform(x)
    return np.abs(Z @ Z.T - exact).max()


fig, ax = plt.subplots()
for order in (1, 2, 3):
    [line] = ax.semilogy(periods, [worst(order, period) for period in periods])
    default = HomogeneousMap("chi2", order=order).fit(x).period_
    ax.semilogy(default, worst(order), "o", color=line.get_color(), markersize=8)
    ax.annotate(
        f"{2 * order + 1} outputs",
        (20, worst(order, 20)),
        xytext=(6, -4),
        textcoords="offset points",
        color=line.get_color(),
    )
ax.set(xlabel="period Λ (logarithm of a ratio)", ylabel="largest error on [0.01, 1]²")
ax.set_title("chi2: the dots are the default periods")
