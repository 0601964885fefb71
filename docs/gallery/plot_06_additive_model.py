"""
An additive model explained
===========================

The score of a model with an additive kernel is a sum of one function per feature. So it can be
read: each panel shows all that the model knows about one feature.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from kmaps import CodedSVC

data = load_breast_cancer()
X = data.data / data.data.max(axis=0)
model = CodedSVC("chi2", C=1).fit(X, data.target)
strongest = np.argsort(model.importance_)[::-1][:6]

fig, axes = plt.subplots(2, 3, sharey=True, figsize=(9, 5))
for ax, feature in zip(axes.flat, strongest, strict=True):
    function = model.function(feature)
    ax.plot(function.levels * data.data[:, feature].max(), function.values)
    ax.axhline(0, color="0.6", linewidth=1)
    values = data.data[:, feature]
    ax.plot(values, np.full(len(values), ax.get_ylim()[0]), "|", color="0.6", markersize=5)
    ax.set(xlabel=data.feature_names[feature])
for ax in axes[:, 0]:
    ax.set_ylabel("part of the score")
fig.suptitle("Above zero: for a benign tumour. The strokes are the data.")
