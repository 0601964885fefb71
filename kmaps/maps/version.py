"""The version of the maps' outputs."""

MAP_VERSION = 1  # must change with the numbers of any map: older records then do not compare
