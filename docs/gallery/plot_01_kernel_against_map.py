"""
A kernel and its feature map
============================

The chi2 kernel of two numbers, k(x, y) = 2xy / (x + y), is a curved function of x. A feature map
turns a number into a few, ψ(x), so that the inner product ψ(x)·ψ(y) is close to k(x, y). A linear
model on the outputs of the map is then almost a model with the kernel.
"""

import matplotlib.pyplot as plt
import numpy as np

from kmaps import HomogeneousMap, get_kernel

x = np.linspace(0, 1, 400)[:, None]
ys = np.array([[0.1], [0.4], [0.9]])
kernel = get_kernel("chi2")

fig, axes = plt.subplots(1, 2, sharey=True, figsize=(8, 3.6))
for ax, order in zip(axes, (1, 3), strict=True):
    psi = HomogeneousMap("chi2", order=order).fit(x)
    approximation = psi.transform(x) @ psi.transform(ys).T
    for column, y in enumerate(ys[:, 0]):
        line = ax.plot(x, kernel(x, y), linewidth=4, alpha=0.35)[0]
        ax.plot(x, approximation[:, column], color=line.get_color())
        ax.annotate(f"y = {y:g}", (1, kernel(1.0, y)), xytext=(5, -4), textcoords="offset points")
    error = np.abs(approximation - kernel(x, ys.T)).max()
    ax.set(title=f"{2 * order + 1} outputs: error at most {error:.3f}", xlabel="x")
axes[0].set_ylabel("k(x, y), broad; ψ(x)·ψ(y), thin")

# %%
# Four more outputs make the largest error a thirtieth here. The period decides the error:
# :ref:`sphx_glr_examples_plot_02_period_and_error.py`.
