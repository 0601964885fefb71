"""The version of the maps' outputs."""

MAP_VERSION = 1  # changes whenever the numbers of a map do: old records are other ones then
