"""Additive-kernel models trained on codes of one byte per value."""

from kmaps.svm.coded.classifier import CodedSVC
from kmaps.svm.coded.products import code_gram
from kmaps.svm.coded.regressor import CodedRidge, CodedSVR
from kmaps.svm.coded.training import code_rows

__all__ = ["CodedRidge", "CodedSVC", "CodedSVR", "code_gram", "code_rows"]
