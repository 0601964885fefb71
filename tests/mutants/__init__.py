"""Mutants: changes of the code, each of which a test must notice."""
