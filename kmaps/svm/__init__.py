"""Learners: LIBLINEAR on features, LIBSVM on Gram matrices, one multi-class reduction for all."""

from kmaps.svm._clib import gram_rows
from kmaps.svm.coded import CodedSVC
from kmaps.svm.liblinear import LiblinearSVC
from kmaps.svm.libsvm import KernelSVC

__all__ = ["CodedSVC", "KernelSVC", "LiblinearSVC", "gram_rows"]
