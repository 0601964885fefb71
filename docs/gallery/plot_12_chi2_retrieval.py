"""
Search by chi2 distance
=======================

After `kmaps encode`, chi2 search is Euclidean search: the squared distance of two encoded
histograms is close to their chi2 distance. So every index of nearest neighbours, here
scikit-learn's, searches by chi2.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from kmaps import HomogeneousMap, squared_distance

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32) / 16
database, queries = X[100:], X[:100]
exact = squared_distance(queries, database, kernel="chi2").argsort(axis=1)

nearest_rows = {}
for order in (0, 1, 3):
    encode = HomogeneousMap("chi2", order=order).fit(database)
    index = NearestNeighbors().fit(encode.transform(database))
    nearest_rows[order] = index.kneighbors(encode.transform(queries), 10, return_distance=False)
    shared = [
        len(set(by_kernel[:10]) & set(by_map)) / 10
        for by_kernel, by_map in zip(exact, nearest_rows[order], strict=True)
    ]
    print(f"{2 * order + 1} outputs: {100 * np.mean(shared):.1f} % of the ten nearest are the same")

fig, axes = plt.subplots(4, 7, figsize=(8, 4.8))
for row, query in enumerate((3, 8, 15, 42)):
    nearest = [queries[query], *database[nearest_rows[3][query][:6]]]
    for ax, image in zip(axes[row], nearest, strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
axes[0, 0].set_title("query")
axes[0, 3].set_title("nearest by chi2, first to sixth")
