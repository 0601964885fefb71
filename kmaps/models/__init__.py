"""Models: estimators that combine a map and a learner, model files, the choice of C."""

from kmaps.models.choice import Choice, along_c, along_c_precomputed, cross_validate
from kmaps.models.coded_path import CodedSVCCV, choose_along_path
from kmaps.models.evaluation import Evaluation, evaluate
from kmaps.models.explanation import explanation
from kmaps.models.files import load_model
from kmaps.models.folds import stratified_order, stratified_sample
from kmaps.models.random_features import RandomFeatureSVC

__all__ = [
    "Choice",
    "CodedSVCCV",
    "Evaluation",
    "RandomFeatureSVC",
    "along_c",
    "along_c_precomputed",
    "choose_along_path",
    "cross_validate",
    "evaluate",
    "explanation",
    "load_model",
    "stratified_order",
    "stratified_sample",
]
