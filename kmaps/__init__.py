"""kmaps: explicit feature maps that turn additive-kernel SVMs into linear ones.

The public names below load on first use, so that ``import kmaps`` stays light.
"""

from importlib import import_module
from pathlib import Path

__version__ = "0.1.0"

_HERE = Path(__file__).resolve().parent
if not (_HERE / "cli").is_dir():
    # A source checkout keeps cli/, datasets/ and experiments/ beside kmaps/, not in it.
    __path__.append(str(_HERE.parent))

_PUBLIC = {
    "gram": "kmaps.gram_matrix",
    "get_kernel": "kmaps.kernels",
    "HomogeneousMap": "kmaps.maps",
    "LowDimMap": "kmaps.maps",
    "MultiLowDimMap": "kmaps.maps",
    "HarmonicMap": "kmaps.maps",
    "lp_signature": "kmaps.maps.lowdim",
    "optimal_signature": "kmaps.maps.lowdim",
    "AnchorMap": "kmaps.maps",
    "NystroemMap": "kmaps.maps",
    "IntersectionMap": "kmaps.maps",
    "ExactMap": "kmaps.maps",
    "SplineMap": "kmaps.maps",
    "FourierMap": "kmaps.maps",
    "HermiteMap": "kmaps.maps",
    "SignCauchyMap": "kmaps.maps",
    "RandomFourierMap": "kmaps.maps",
    "GeneralizedRBFMap": "kmaps.maps",
    "Quantizer": "kmaps.codes",
    "LookupTable": "kmaps.codes",
    "CodedSVC": "kmaps.svm",
    "GroupLassoSVC": "kmaps.svm",
    "LiblinearSVC": "kmaps.svm",
    "KernelSVC": "kmaps.svm",
    "RandomFeatureSVC": "kmaps.models",
    "load_model": "kmaps.models",
    "prune": "kmaps.svm",
    "resample": "kmaps.svm",
    "threads": "kmaps.parallel",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'kmaps' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
