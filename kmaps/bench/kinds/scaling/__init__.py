"""Scaling: how time and memory grow with the number of training samples."""
