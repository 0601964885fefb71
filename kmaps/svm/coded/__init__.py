"""Additive-kernel models trained on codes of one byte per value."""
