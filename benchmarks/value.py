"""How fast is a checked scalar? `Value` beside unchecked peers, one process each.

Forward and backward of a graph of 50,000 operations, ten layers of 50 x 50 dot
products and a sum, the graph of one pass still alive while the next is built.
Printed: the median time of each, the ratios of the medians, and tracemalloc's peak.

    python benchmarks/value.py

The first peer is the usual scalar with a recursive sort; the second has Value's sort;
the third is `micrograd` from PyPI, if it is installed.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import platform
import random
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

LAYERS, WIDTH, RUNS, ROUNDS = 10, 50, 15, 3
PROGRAMS = ("value", "iterative", "recursive", "micrograd")


def program(name: str) -> tuple[Callable[[float], Any], Callable[[Any], None]]:
    """Return the class to build with, and its backward pass."""
    if name == "value":
        from whitebox_gpt.value import Value

        return Value, lambda root: root.backward(limit=1_000_000)
    if name == "micrograd":
        from micrograd.engine import Value as Micrograd

        return Micrograd, lambda root: root.backward()
    import peers

    peer = {"iterative": peers.Iterative, "recursive": peers.Recursive}[name]
    return peer, lambda root: root.backward()


def build(make: Callable[[float], Any]) -> Callable[[], Any]:
    """Return a function that builds the graph over one fixed set of leaves."""
    draw = random.Random(1).uniform
    weights = [
        [[make(draw(-0.2, 0.2)) for _ in range(WIDTH)] for _ in range(WIDTH)]
        for _ in range(LAYERS)
    ]
    inputs = [make(draw(-1.0, 1.0)) for _ in range(WIDTH)]

    def forward() -> Any:
        x = inputs
        for layer in weights:
            x = [dot(row, x) for row in layer]
        return total(x)

    return forward


def total(terms: list[Any]) -> Any:
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


def dot(row: list[Any], x: list[Any]) -> Any:
    return total([weight * value for weight, value in zip(row, x, strict=True)])


def measure(name: str, collect: bool) -> tuple[float, float]:
    """Return the median seconds of one pass, and the peak of tracemalloc in MB."""
    sys.setrecursionlimit(1_000_000)
    make, backward = program(name)
    forward = build(make)
    if not collect:
        gc.disable()
    times = []
    root = None
    for _ in range(RUNS):
        if not collect:
            root = None
            gc.collect()
        start = time.perf_counter()
        root = forward()
        backward(root)
        times.append(time.perf_counter() - start)
    root = None
    gc.collect()
    tracemalloc.start()
    root = forward()
    backward(root)
    return statistics.median(times), tracemalloc.get_traced_memory()[1] / 1e6


def in_own_process(name: str, collect: bool) -> tuple[float, float]:
    call = [
        sys.executable,
        __file__,
        "--one",
        name,
        *(["--no-gc"] if not collect else []),
    ]
    done = subprocess.run(call, check=True, capture_output=True, text=True)
    seconds, megabytes = done.stdout.split()
    return float(seconds), float(megabytes)


def report(names: list[str], collect: bool) -> None:
    results = {name: [] for name in names}
    for _ in range(ROUNDS):  # in turn, so that a slow minute slows every program
        for name in names:
            results[name].append(in_own_process(name, collect))
    print(f"automatic garbage collection {'on' if collect else 'off'}")
    print("  program     median ms   value / it   peak MB")
    medians = {n: statistics.median(s for s, _ in runs) for n, runs in results.items()}
    for name, seconds in medians.items():
        ratio, peak = medians["value"] / seconds, results[name][0][1]
        print(f"  {name:<10}  {seconds * 1e3:9.1f}  {ratio:11.2f}  {peak:8.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", choices=PROGRAMS, help="measure one program, here")
    parser.add_argument("--no-gc", action="store_true", help="switch the collector off")
    options = parser.parse_args()
    if options.one:
        print(*measure(options.one, not options.no_gc))
        return
    names = [n for n in PROGRAMS if n != "micrograd" or importlib.util.find_spec(n)]
    print(f"Python {platform.python_version()}, {RUNS} passes, {ROUNDS} processes each")
    report(names, collect=True)
    report(names, collect=False)


if __name__ == "__main__":
    main()
