"""Learners: LIBLINEAR on features, LIBSVM on Gram matrices, one multi-class reduction for all.

Besides the estimators: samples as codes (`code_rows` of blocks, `code_samples` of an array, both
`CodedRows`), their kernel matrices (`code_gram`), the reduction (`count_problems`, `winners`),
frequencies that are dropped (`prune`, `resample`, `frequency_strength`), model files (`ModelFile`),
and what is asked of samples prepared once (`PreparedRows`) and of estimators that are sums of
functions of single features (`CodedEstimator`). `LOSSES` and `REDUCTIONS` are the words for them.
"""

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
    from kmaps.svm.coded.estimator import CodedEstimator as CodedEstimator
    from kmaps.svm.coded.training import CodedRows as CodedRows
    from kmaps.svm.coded.training import code_samples as code_samples
    from kmaps.svm.grouplasso import GroupLassoSVC as GroupLassoSVC
    from kmaps.svm.liblinear import LiblinearSVC as LiblinearSVC
    from kmaps.svm.libsvm import KernelSVC as KernelSVC
    from kmaps.svm.losses import LOSSES as LOSSES
    from kmaps.svm.model_file import ModelFile as ModelFile
    from kmaps.svm.prepared import PreparedRows as PreparedRows
    from kmaps.svm.pruning import frequency_strength as frequency_strength
    from kmaps.svm.pruning import prune as prune
    from kmaps.svm.pruning import resample as resample
    from kmaps.svm.reduction import REDUCTIONS as REDUCTIONS
    from kmaps.svm.reduction import count_problems as count_problems
    from kmaps.svm.reduction import winners as winners

_HOMES = {
    "CodedEstimator": "kmaps.svm.coded.estimator",
    "CodedRidge": "kmaps.svm.coded",
    "CodedRows": "kmaps.svm.coded.training",
    "CodedSVC": "kmaps.svm.coded",
    "CodedSVR": "kmaps.svm.coded",
    "GroupLassoSVC": "kmaps.svm.grouplasso",
    "KernelSVC": "kmaps.svm.libsvm",
    "LOSSES": "kmaps.svm.losses",
    "LiblinearSVC": "kmaps.svm.liblinear",
    "ModelFile": "kmaps.svm.model_file",
    "PreparedRows": "kmaps.svm.prepared",
    "REDUCTIONS": "kmaps.svm.reduction",
    "code_gram": "kmaps.svm.coded",
    "code_rows": "kmaps.svm.coded",
    "code_samples": "kmaps.svm.coded.training",
    "count_problems": "kmaps.svm.reduction",
    "frequency_strength": "kmaps.svm.pruning",
    "gram_rows": "kmaps.svm.clib",
    "prune": "kmaps.svm.pruning",
    "resample": "kmaps.svm.pruning",
    "winners": "kmaps.svm.reduction",
}

__all__ = list(_HOMES)

# A file that is no model is refused without scikit-learn.
__getattr__ = importer(__name__, _HOMES)
