"""
The best map of five outputs
============================

The homogeneous map spreads its frequencies evenly. `LowDimMap` chooses frequencies and weights that
make the largest error on a given range as small as possible, with a proof of how close to the
optimum they are. Both maps here have five outputs per value.
"""

import matplotlib.pyplot as plt
import numpy as np

from kmaps import HomogeneousMap, LowDimMap, get_kernel, optimal_signature

x = np.linspace(1, 255, 500)[:, None]
top = np.array([[255.0]])
exact = get_kernel("chi2")(x, top)

fig, ax = plt.subplots()
maps = {
    "homogeneous, published period": HomogeneousMap("chi2", order=2, period="published"),
    "homogeneous, best period": HomogeneousMap("chi2", order=2, period="optimal"),
    "low-dimensional": LowDimMap("chi2", dim=5, ratio=255),
}
for name, feature_map in maps.items():
    feature_map.fit(np.vstack([x, top]))
    error = feature_map.transform(x) @ feature_map.transform(top).T - exact
    ax.plot(x, error, label=f"{name}: at most {np.abs(error).max():.2f}")
ax.axhline(0, color="0.6", linewidth=1)
ax.set(xlabel="x", ylabel="ψ(x)·ψ(255) - k(x, 255)", title="Errors of maps with five outputs, chi2")
ax.legend()

# %%
# No map of five outputs with frequencies in the searched band is better than this bound by more
# than one percent:
best = optimal_signature("chi2", dim=5, ratio=255)
print(f"error {255 * best.error:.4f}, lower bound {255 * best.lower_bound:.4f}")
