"""kmaps: explicit feature maps that turn additive-kernel SVMs into linear ones.

The public names below load on first use, so that ``import kmaps`` stays light.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HERE = Path(__file__).resolve().parent
if not (_HERE / "cli").is_dir():
    # A source checkout keeps cli/, datasets/ and experiments/ beside kmaps/, not in it.
    __path__.append(str(_HERE.parent))

if TYPE_CHECKING:
    # For editors and type checkers, which do not see what __getattr__ loads.
    from kmaps.codes import LookupTable as LookupTable
    from kmaps.codes import Quantizer as Quantizer
    from kmaps.gram_matrix import gram as gram
    from kmaps.kernels import get_kernel as get_kernel
    from kmaps.maps import AnchorMap as AnchorMap
    from kmaps.maps import ExactMap as ExactMap
    from kmaps.maps import FourierMap as FourierMap
    from kmaps.maps import GeneralizedRBFMap as GeneralizedRBFMap
    from kmaps.maps import HarmonicMap as HarmonicMap
    from kmaps.maps import HermiteMap as HermiteMap
    from kmaps.maps import HomogeneousMap as HomogeneousMap
    from kmaps.maps import IntersectionMap as IntersectionMap
    from kmaps.maps import LowDimMap as LowDimMap
    from kmaps.maps import MultiLowDimMap as MultiLowDimMap
    from kmaps.maps import NystroemMap as NystroemMap
    from kmaps.maps import ProductMap as ProductMap
    from kmaps.maps import RadialMap as RadialMap
    from kmaps.maps import RandomFourierMap as RandomFourierMap
    from kmaps.maps import SameSignMap as SameSignMap
    from kmaps.maps import SignCauchyMap as SignCauchyMap
    from kmaps.maps import SplineMap as SplineMap
    from kmaps.maps.lowdim import lp_signature as lp_signature
    from kmaps.maps.lowdim import optimal_signature as optimal_signature
    from kmaps.maps.signatures import signature_kernel as signature_kernel
    from kmaps.mercer import TableKernel as TableKernel
    from kmaps.models import CodedSVCCV as CodedSVCCV
    from kmaps.models import RandomFeatureSVC as RandomFeatureSVC
    from kmaps.models import explanation as explanation
    from kmaps.models import load_model as load_model
    from kmaps.parallel import threads as threads
    from kmaps.svm import CodedRidge as CodedRidge
    from kmaps.svm import CodedSVC as CodedSVC
    from kmaps.svm import CodedSVR as CodedSVR
    from kmaps.svm import GroupLassoSVC as GroupLassoSVC
    from kmaps.svm import KernelSVC as KernelSVC
    from kmaps.svm import LiblinearSVC as LiblinearSVC
    from kmaps.svm import prune as prune
    from kmaps.svm import resample as resample

_PUBLIC = {
    "gram": "kmaps.gram_matrix",
    "get_kernel": "kmaps.kernels",
    "TableKernel": "kmaps.mercer",
    "HomogeneousMap": "kmaps.maps",
    "SameSignMap": "kmaps.maps",
    "signature_kernel": "kmaps.maps.signatures",
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
    "ProductMap": "kmaps.maps",
    "RandomFourierMap": "kmaps.maps",
    "GeneralizedRBFMap": "kmaps.maps",
    "RadialMap": "kmaps.maps",
    "Quantizer": "kmaps.codes",
    "LookupTable": "kmaps.codes",
    "CodedRidge": "kmaps.svm",
    "CodedSVC": "kmaps.svm",
    "CodedSVR": "kmaps.svm",
    "GroupLassoSVC": "kmaps.svm",
    "LiblinearSVC": "kmaps.svm",
    "KernelSVC": "kmaps.svm",
    "CodedSVCCV": "kmaps.models",
    "RandomFeatureSVC": "kmaps.models",
    "explanation": "kmaps.models",
    "load_model": "kmaps.models",
    "prune": "kmaps.svm",
    "resample": "kmaps.svm",
    "threads": "kmaps.parallel",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> object:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'kmaps' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
