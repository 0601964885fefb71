"""Run the benchmarks: ``python -m benchmarks [NAME…]``; without a name, all of them."""

import importlib
import os
import platform
import sys
from pathlib import Path

from kmaps import num_threads


def main(names: list[str]) -> None:
    skipped = {"__init__", "__main__", "measure"}
    known = sorted(p.stem for p in Path(__file__).parent.glob("*.py") if p.stem not in skipped)
    unknown = set(names) - set(known)
    if unknown:
        sys.exit(f"unknown benchmark {', '.join(sorted(unknown))}: there are {', '.join(known)}")
    threads = num_threads()
    # BLAS and OpenMP get the same threads as the compiled loops; they read this when loaded.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = str(threads)
    print(f"{platform.machine()}, {threads} threads, Python {platform.python_version()}; medians")
    from benchmarks.measure import measure

    for name in names or known:
        print(f"\n{name}")
        for pair in importlib.import_module(f"benchmarks.{name}").pairs():
            print(f"  {measure(pair)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
