"""
Accuracy against storage: the Pareto front
==========================================

The plot shows nine ways to train on digits, by their storage per training row and their accuracy. A
method is on the front when no other is both smaller and more accurate.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from kmaps import AnchorMap, CodedSVC, HomogeneousMap, LiblinearSVC, LowDimMap, SplineMap

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32) / 16
d = X.shape[1]
float32, code = 4, 5 / 8  # bytes: the pixels have 17 levels, which five bits name
maps = {
    "homogeneous, 3 outputs": HomogeneousMap("chi2", order=1),
    "homogeneous, 7 outputs": HomogeneousMap("chi2", order=3),
    "low-dimensional, 3 outputs": LowDimMap("chi2", dim=3),
}
models = {
    "linear": (LiblinearSVC(), d * float32),
    "codes, exact chi2": (CodedSVC("chi2"), d * code),
}
for name, one in maps.items():
    models[name] = make_pipeline(one, LiblinearSVC()), one.fit_transform(X).nbytes / len(X)
models["codes, 10 anchors"] = CodedSVC(AnchorMap("chi2", n_anchors=10)), d * code
models["codes, 4 anchors"] = CodedSVC(AnchorMap("chi2", n_anchors=4), n_levels=4), d * 2 / 8
models["codes, splines"] = CodedSVC(SplineMap(n_bins=8)), d * code
models["codes, 2 levels"] = CodedSVC("chi2", n_levels=2), d * 1 / 8
points = {
    name: (stored, 100 * cross_val_score(model, X, y, cv=4).mean())
    for name, (model, stored) in models.items()
}

# Labels of neighbours, in points above their dots:
above = {"codes, splines": 6, "homogeneous, 3 outputs": 12, "homogeneous, 7 outputs": -4}
above["low-dimensional, 3 outputs"] = -20
fig, ax = plt.subplots(figsize=(8, 4.4))
front, best = [], 0.0
for name, (stored, accuracy) in sorted(points.items(), key=lambda item: (item[1][0], -item[1][1])):
    beats = accuracy > best
    if beats:
        front.append((stored, accuracy))
        best = accuracy
    ax.plot(stored, accuracy, "o", color="C0" if beats else "0.6")
    offset = 7, above.get(name, -11)
    ax.annotate(name, (stored, accuracy), xytext=offset, textcoords="offset points")
ax.step(*zip(*front, strict=True), where="post", color="C0", alpha=0.5)
ax.set_xscale("log")
ax.set(xlabel="bytes per training row", ylabel="accuracy, %, four folds", title="Digits")
ax.margins(0.12)
ax.set_xlim(right=30_000)
