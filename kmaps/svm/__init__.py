"""Learners: LIBLINEAR on features, LIBSVM on Gram matrices, one multi-class reduction for all."""

from kmaps.svm.clib import gram_rows
from kmaps.svm.coded import CodedRidge, CodedSVC, CodedSVR, code_rows
from kmaps.svm.grouplasso import GroupLassoSVC
from kmaps.svm.liblinear import LiblinearSVC
from kmaps.svm.libsvm import KernelSVC
from kmaps.svm.pruning import prune, resample

__all__ = [
    "CodedRidge",
    "CodedSVC",
    "CodedSVR",
    "GroupLassoSVC",
    "KernelSVC",
    "LiblinearSVC",
    "code_rows",
    "gram_rows",
    "prune",
    "resample",
]
