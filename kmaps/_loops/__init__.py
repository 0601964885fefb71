"""The compiled inner loops (numba), nothing else; each has a NumPy oracle in the tests."""
