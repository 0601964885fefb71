"""Slow, plain versions of what kmaps computes fast: the tests compare against them."""
