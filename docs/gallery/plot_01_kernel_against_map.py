"""
Kernel against map
==================

An additive kernel of two numbers, and the inner product of their images under the homogeneous map.
"""

import matplotlib.pyplot as plt
import numpy as np

from kmaps import HomogeneousMap, get_kernel

x = np.linspace(0, 1, 201)
kernel = get_kernel("chi2")
fig, ax = plt.subplots()
for y in (0.1, 0.4, 0.8):
    ax.plot(x, kernel(x, y), color="black", linewidth=1)
    psi = HomogeneousMap("chi2", order=1).fit([[1.0]]).transform(np.r_[x, y][:, None])
    ax.plot(x, psi[:-1] @ psi[-1], "--", label=f"y = {y}")
ax.set(xlabel="x", ylabel="k(x, y)", title="chi2 (black) and its map with 3 outputs")
ax.legend(frameon=False)
