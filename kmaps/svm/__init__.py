"""Learners: LIBLINEAR on features, LIBSVM on Gram matrices, one multi-class reduction for all."""

from typing import TYPE_CHECKING

from kmaps.lazy import importer

if TYPE_CHECKING:
    # For editors and type checkers, which do not see what __getattr__ loads.
    from kmaps.svm.clib import gram_rows as gram_rows
    from kmaps.svm.coded import CodedRidge as CodedRidge
    from kmaps.svm.coded import CodedSVC as CodedSVC
    from kmaps.svm.coded import CodedSVR as CodedSVR
    from kmaps.svm.coded import code_gram as code_gram
    from kmaps.svm.coded import code_rows as code_rows
    from kmaps.svm.grouplasso import GroupLassoSVC as GroupLassoSVC
    from kmaps.svm.liblinear import LiblinearSVC as LiblinearSVC
    from kmaps.svm.libsvm import KernelSVC as KernelSVC
    from kmaps.svm.pruning import prune as prune
    from kmaps.svm.pruning import resample as resample

_HOMES = {
    "CodedRidge": "kmaps.svm.coded",
    "CodedSVC": "kmaps.svm.coded",
    "CodedSVR": "kmaps.svm.coded",
    "GroupLassoSVC": "kmaps.svm.grouplasso",
    "KernelSVC": "kmaps.svm.libsvm",
    "LiblinearSVC": "kmaps.svm.liblinear",
    "code_gram": "kmaps.svm.coded",
    "code_rows": "kmaps.svm.coded",
    "gram_rows": "kmaps.svm.clib",
    "prune": "kmaps.svm.pruning",
    "resample": "kmaps.svm.pruning",
}

__all__ = list(_HOMES)

# A file that is no model is refused without scikit-learn.
__getattr__ = importer(__name__, _HOMES)
