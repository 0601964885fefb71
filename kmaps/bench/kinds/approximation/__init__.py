"""Approximations: how near the inner products of maps are to a kernel; no dataset, no learner."""
