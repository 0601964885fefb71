"""Learners: LIBLINEAR on features, SMO on Gram matrices, one multi-class reduction for all.

Besides the estimators: samples as codes (`code_rows` of blocks, `code_samples` of an array, both
`CodedRows`), their kernel matrices (`code_gram`), the reduction (`count_problems`, `winners`),
frequencies that are dropped (`prune`, `resample`, `frequency_strength`), model files (`ModelFile`),
the protocol of samples prepared once (`PreparedRows`) and the base of estimators that are sums of
functions of single features (`CodedEstimator`). `LOSSES` and `REDUCTIONS` list the allowed words.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
