"""Linear models that keep or drop groups of features as a whole."""

from kmaps.svm.grouplasso.classifier import GroupLassoSVC

__all__ = ["GroupLassoSVC"]
