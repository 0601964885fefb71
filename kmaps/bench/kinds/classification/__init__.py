"""Classifications: exact kernels, maps and the linear machine on the samples of a dataset."""
