"""Pairs: how near additive maps are to their kernels on pairs of samples, and what they store."""
