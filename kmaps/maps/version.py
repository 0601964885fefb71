"""The version of what maps compute."""

MAP_VERSION = 1
"""Changes whenever the numbers of a map do, so that old records are not mistaken for new ones."""
