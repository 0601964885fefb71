"""Linear models that keep or drop groups of features as a whole."""
