"""Additive-kernel machines trained on codes of one byte a value."""

from kmaps.svm.coded.blocks import code_rows
from kmaps.svm.coded.classifier import CodedSVC
from kmaps.svm.coded.cross_validation import cross_validate

__all__ = ["CodedSVC", "code_rows", "cross_validate"]
