"""Low-dimensional maps (Chum), by linear programs and to the proven optimum."""

from kmaps.maps.lowdim.joint import HarmonicMap, MultiLowDimMap
from kmaps.maps.lowdim.solve import lp_signature, optimal_signature
from kmaps.maps.lowdim.transformer import LowDimMap

__all__ = ["HarmonicMap", "LowDimMap", "MultiLowDimMap", "lp_signature", "optimal_signature"]
