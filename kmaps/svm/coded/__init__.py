"""Additive-kernel machines trained on codes of one byte a value."""

from kmaps.svm.coded.blocks import code_rows
from kmaps.svm.coded.classifier import CodedSVC
from kmaps.svm.coded.products import code_gram
from kmaps.svm.coded.regressor import CodedRidge, CodedSVR

__all__ = ["CodedRidge", "CodedSVC", "CodedSVR", "code_gram", "code_rows"]
