"""Additive-kernel machines trained on codes of one byte a value."""

from kmaps.svm.coded.blocks import code_rows
from kmaps.svm.coded.classifier import CodedSVC

__all__ = ["CodedSVC", "code_rows"]
