"""
Sparse histograms stay sparse
=============================

Counts of words are mostly zero. Every map of an additive kernel sends zero to zero, so a CSR matrix
becomes a CSR matrix. The map decides how many values are stored per stored value of the input.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array

from kmaps import AnchorMap, HomogeneousMap, IntersectionMap, LowDimMap

rng = np.random.default_rng(0)
topics = rng.dirichlet(np.full(2000, 0.05), 20)
counts = np.array([rng.multinomial(150, topics[i % 20]) for i in range(500)], np.float32)
X = csr_array(counts / counts.max())
print(f"{X.shape[0]} documents, {X.shape[1]} words, {X.nnz / X.shape[0]:.0f} stored per document")

maps = {
    "homogeneous, 3 outputs": HomogeneousMap("chi2", order=1),
    "homogeneous, 7 outputs": HomogeneousMap("chi2", order=3),
    "low-dimensional, 5 outputs": LowDimMap("chi2", dim=5),
    "anchors, chi2": AnchorMap("chi2", n_anchors=30),
    "Maji and Berg, sparse": IntersectionMap(n_bins=20, sparse=True),
}
stored = {}
for name, one in maps.items():
    Z = one.fit_transform(X)
    stored[name] = (Z.nnz if hasattr(Z, "nnz") else np.count_nonzero(Z)) / X.nnz

fig, ax = plt.subplots(figsize=(8, 3.4))
names = sorted(stored, key=stored.get, reverse=True)
bars = ax.barh(names, [stored[name] for name in names])
ax.bar_label(bars, fmt="%.1f", padding=4)
ax.set(xlabel="stored outputs per stored input", title="What maps store of sparse histograms")
