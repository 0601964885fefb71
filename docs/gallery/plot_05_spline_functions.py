"""
Functions that are splines
==========================

A spline map makes the function of each feature a spline, and its penalty decides how much the
function may bend. Here one feature is fitted to noisy points of a known curve.
"""

import matplotlib.pyplot as plt
import numpy as np

from kmaps import CodedSVR, SplineMap

rng = np.random.default_rng(0)
x = np.sort(rng.random(150))
truth = np.sin(8 * x) * x
y = truth + 0.15 * rng.standard_normal(len(x))

fig, axes = plt.subplots(1, 2, sharey=True, figsize=(8.5, 3.6))
settings = {"degree 0": (0, 1), "degree 1": (1, 1), "degree 3": (3, 1)}
for ax, bins in zip(axes, (5, 20), strict=True):
    ax.plot(x, y, ".", color="0.75")
    ax.plot(x, truth, "--", color="black", label="truth")
    for name, (degree, penalty) in settings.items():
        spline = SplineMap(n_bins=bins, degree=degree, penalty=penalty)
        model = CodedSVR(spline, C=3, epsilon=0.05).fit(x[:, None], y)
        ax.plot(x, model.predict(x[:, None]), label=name)
    ax.set(title=f"{bins} bins", xlabel="x")
axes[0].set_ylabel("y")
axes[1].legend(loc="upper left")
