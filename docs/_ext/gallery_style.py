"""One style for all pictures of the gallery."""

import warnings

import matplotlib.pyplot as plt
from cycler import cycler

STYLE = {
    "figure.figsize": (7, 4),
    "figure.constrained_layout.use": True,
    "axes.prop_cycle": cycler(
        color=["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
    ),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "legend.frameon": False,
    "svg.hashsalt": "kmaps",
}
"""The colours are Okabe and Ito's, which the colour-blind tell apart."""


def reset(gallery_conf: dict, path: str) -> None:
    warnings.simplefilter("ignore")
    plt.rcdefaults()
    plt.rcParams.update(STYLE)
