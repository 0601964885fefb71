"""The compiled inner loops (numba), nothing else; each has a NumPy oracle in the tests.

Variables under which numba compiles nothing are refused here: a module of the package that fails
while two threads import it would leave one of them without a reason.
"""

import os

from kmaps.errors import ConfigError

_threads = os.environ.get("NUMBA_NUM_THREADS", "1").strip()
if _threads.lstrip("-").isdigit() and int(_threads) < 1:  # numba's import ends in an error
    raise ConfigError(f"NUMBA_NUM_THREADS={_threads}: expected 1 or more; unset this variable")

from numba import config  # noqa: E402

if config.DISABLE_JIT:
    raise ConfigError(
        "NUMBA_DISABLE_JIT is set: the loops of kmaps run only compiled; unset this variable"
    )
