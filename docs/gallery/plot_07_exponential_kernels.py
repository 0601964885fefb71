"""
Exponential kernels: frequencies or landmarks
=============================================

The exponential chi2 kernel, exp(-χ²/2σ²), is no sum over features and has no small exact map.
Random frequencies approximate it for all data alike; landmarks, which are k-means centres of the
training rows, approximate it where the data are.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from kmaps import GeneralizedRBFMap, LandmarkMap, gram

X = load_digits(return_X_y=True)[0].astype(np.float32) / 16
train, test = X[:900], X[900:1300]
sigma = GeneralizedRBFMap("chi2", n_frequencies=1).fit(train).sigma_
exact = gram(test, kernel="exp-chi2", sigma=sigma)
outputs = [20, 50, 100, 200, 400, 800]


def error(feature_map):
    Z = feature_map.fit(train).transform(test)
    return np.sqrt(np.mean((Z @ Z.T - exact) ** 2))


fig, ax = plt.subplots()
frequencies = [error(GeneralizedRBFMap("chi2", n_frequencies=n // 2, sigma=sigma)) for n in outputs]
landmarks = [error(LandmarkMap("exp-chi2", n_landmarks=n, sigma=sigma)) for n in outputs]
for name, errors in {"random frequencies": frequencies, "landmarks": landmarks}.items():
    [line] = ax.loglog(outputs, errors, "o-")
    ax.annotate(
        name, (outputs[-1], errors[-1]), xytext=(8, -4), textcoords="offset points",
        color=line.get_color(),
    )  # fmt: skip
ax.set_xticks(outputs, outputs)
ax.minorticks_off()
ax.set(xlabel="outputs of the map", ylabel="root mean square error of the kernel")
ax.set_title("exp-chi2 on test digits")
