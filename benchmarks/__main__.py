"""Run the benchmarks: ``python -m benchmarks [--record] [NAME…]``; without a name, all of them.

``--record`` keeps their headlines (`benchmarks.record`).
"""

import argparse
import importlib
import os
import platform
from pathlib import Path

from kmaps import num_threads
from kmaps.bench.run.clock import load_average

_OTHER_MODULES = {"__init__", "__main__", "measure", "record"}


def main() -> None:
    groups = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
    groups = [group for group in groups if group not in _OTHER_MODULES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(groups))
    parser.add_argument(
        "--record", action="store_true", help="keep the headlines in benchmarks/measured.json"
    )
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(groups)
    if unknown:
        parser.error(
            f"unknown benchmark {', '.join(sorted(unknown))}: there are {', '.join(groups)}"
        )
    threads = num_threads()
    # BLAS and OpenMP get the same threads as the compiled loops; they read this when loaded.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = str(threads)
    print(f"{platform.machine()}, {threads} threads, Python {platform.python_version()}; medians")
    from benchmarks.measure import measure
    from benchmarks.record import write

    for group in arguments.names or groups:
        print(f"\n{group}")
        load = load_average()
        measurements = []
        for pair in importlib.import_module(f"benchmarks.{group}").pairs():
            measurements.append(measure(pair))
            print(f"  {measurements[-1].line}", flush=True)
        if arguments.record:
            write(group, measurements, load)


if __name__ == "__main__":
    main()
