from .quantizer import Quantizer as Quantizer
from .table import LookupTable as LookupTable
