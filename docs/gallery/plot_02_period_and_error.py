"""
The period of a homogeneous map and its error
=============================================

The homogeneous map is a Fourier series of the kernel's signature, and a Fourier series needs a
period. With a short period the signature repeats too early; a long period needs more terms. Vedaldi
and Zisserman fitted a formula to the best periods, which is good at odd orders; the default looks
the period of each order up in a table.
"""

import matplotlib.pyplot as plt
import numpy as np

from kmaps import HomogeneousMap, gram

x = np.geomspace(0.01, 1, 150)[:, None]
exact = gram(x, kernel="chi2")
periods = np.linspace(3, 20, 60)


def worst(order, period):
    Z = HomogeneousMap("chi2", order=order, period=period).fit_transform(x)
    return np.abs(Z @ Z.T - exact).max()


fig, ax = plt.subplots()
for order in (1, 2, 3):
    [line] = ax.semilogy(periods, [worst(order, period) for period in periods])
    published = HomogeneousMap("chi2", order=order, period="published").fit(x).period_
    ax.semilogy(published, worst(order, published), "s", color=line.get_color(), fillstyle="none")
    if order != 2:  # where the default gains nothing over order 1, as a warning says
        default = HomogeneousMap("chi2", order=order).fit(x).period_
        ax.semilogy(default, worst(order, default), "o", color=line.get_color())
    ax.annotate(
        f"{2 * order + 1} outputs",
        (20, worst(order, 20)),
        xytext=(6, -4),
        textcoords="offset points",
        color=line.get_color(),
    )
ax.set(xlabel="period Λ (logarithm of a ratio)", ylabel="largest error on [0.01, 1]²")
ax.set_title("chi2: default periods are dots, published ones are squares")
