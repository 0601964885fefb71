"""
Scores and probabilities of many classes
========================================

A classifier of ten classes has ten scores per row. With `probability="temperature"` one number,
fitted on held-out rows, turns them into probabilities.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from kmaps import CodedSVC

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32) / 16
train, test = slice(0, 900), slice(900, None)
model = CodedSVC("chi2", probability="temperature").fit(X[train], y[train])
shown = np.flatnonzero(model.predict(X[test]) != y[test])[:6]  # six mistakes
rows, labels = X[test][shown], y[test][shown]

fig, axes = plt.subplots(2, 6, figsize=(9, 3.8), height_ratios=(1, 1.4), sharey="row")
for column, (row, label) in enumerate(zip(rows, labels, strict=True)):
    image, bars = axes[:, column]
    image.imshow(row.reshape(8, 8), cmap="gray_r")
    image.set(title=f"a {label}", xticks=[], yticks=[])
    colors = ["C1" if one == label else "C0" for one in range(10)]
    bars.bar(range(10), model.predict_proba([row])[0], color=colors)
    bars.set(xticks=[0, 5, 9], xlabel="class")
axes[1, 0].set_ylabel("probability")
fig.suptitle("Six mistakes; orange is the true class")
