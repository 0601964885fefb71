"""Random features: how the error of maps of random frequencies falls with their number."""
