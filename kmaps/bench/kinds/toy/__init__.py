"""The toy problem: the functions that maps can learn, of a disc against what is around it."""
