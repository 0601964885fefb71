"""The losses, by name, with m the margin y·f(x) of a sample, and e = y - f(x)."""

HINGES = ("hinge", "squared_hinge")
"""max(0, 1 - m) and its square."""

LOSSES = (*HINGES, "logistic")
"""The hinges, and log(1 + exp(-m))."""

INSENSITIVE = ("epsilon_insensitive", "squared_epsilon_insensitive")
"""Of regression: max(0, abs(e) - epsilon) and its square."""

PENALTIES = ("l2", "l1")
"""Half the squared norm of all weights, and the sum of the norms of groups of them."""
