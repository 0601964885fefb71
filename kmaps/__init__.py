"""kmaps: explicit feature maps that turn additive-kernel SVMs into linear ones.

The public names, listed in ``__init__.pyi``, load on first use: ``import kmaps`` stays light.
"""

from pathlib import Path

import lazy_loader

__version__ = "1.0.0rc1"

_HERE = Path(__file__).resolve().parent
if not (_HERE / "cli").is_dir():
    # A source checkout keeps cli/, datasets/ and experiments/ next to kmaps/, not in it.
    __path__.append(str(_HERE.parent))

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
