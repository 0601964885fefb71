"""The losses of binary problems, by name, with m the margin of a sample, y·f(x)."""

HINGES = ("hinge", "squared_hinge")
"""max(0, 1 - m) and its square."""

LOSSES = (*HINGES, "logistic")
"""The hinges, and log(1 + exp(-m))."""
