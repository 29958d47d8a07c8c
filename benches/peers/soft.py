"""The soft cylinder of the scene soft-bounce: dalembert against SciPy's LSODA and Radau with a compiled right-hand side.

SciPy integrates the same equations with a contact field of 512 points (soft.c, compiled with gcc for this processor). The lines of dalembert come
from `cargo bench -p dalembert --bench soft_precision`, compiled for this processor too. CPU seconds count, the least of several rounds in which all
take turns, so that a processor that slows down slows down all. Errors are those of the height of the centre after one second, against dalembert at its
smallest tolerance. Used by `cargo xtask soft`; see `--help`.
"""

import argparse
import ctypes
import math
import os
import subprocess
import time

import numpy
from scipy.integrate import solve_ivp

HERE = os.path.dirname(os.path.abspath(__file__))


def compiled(scratch):
    library = os.path.join(scratch, "soft.so")
    subprocess.run(["gcc", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", "-o", library,
                    os.path.join(HERE, "soft.c"), "-lm"], check=True)
    return ctypes.CDLL(library)


def coefficient():
    """Repulsion that carries the weight at 2 mm: the mean of d^-8 around the circle, by more points than are needed."""
    n, h, r = 1 << 16, 0.502, 0.5
    phi = 2 * math.pi * numpy.arange(n) / n
    around = numpy.mean((h + r * numpy.sin(phi)) ** -8.0) * 2 * math.pi * r
    return 4000 * math.pi * r * r * 9.81 / around


def run(rates, start, method, tolerance):
    """CPU seconds, and the height after one second. A stage inside the support makes some runs break down or tunnel through it; they are made
    again with shorter and shorter steps, and the last one counts."""
    longest = math.inf
    while True:
        began = time.process_time()
        try:
            found = solve_ivp(rates, (0, 1), start, method=method, rtol=tolerance, atol=tolerance, max_step=longest)
            if found.success and found.y[1].min() > 0:
                return time.process_time() - began, found.y[1, -1]
        except ValueError:
            pass
        longest = 0.02 if longest > 1 else longest / 2


def own_runs():
    """(method, tolerance) to (height, CPU seconds) of dalembert."""
    command = ["cargo", "bench", "--quiet", "--package", "dalembert", "--bench", "soft_precision"]
    words = [line.split() for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()]
    lines = [line for line in words if line[:1] in (["dop853"], ["dopri5"])]
    return {(f"dalembert {name}", float(tolerance)): (float(height), float(seconds)) for name, tolerance, height, seconds in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scratch", required=True, help="a folder for the compiled right-hand side")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()

    soft = compiled(options.scratch)
    start = numpy.array([0, 0.7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0], dtype=float)
    out = numpy.zeros(12)
    pointer = ctypes.POINTER(ctypes.c_double)
    soft.setup.argtypes = [ctypes.c_double, ctypes.c_double, ctypes.c_int]
    soft.rates.argtypes = [pointer, pointer]

    def rates(_, y):
        y = numpy.ascontiguousarray(y)
        soft.rates(y.ctypes.data_as(pointer), out.ctypes.data_as(pointer))
        return out.copy()

    best = {}

    def keep(key, height, seconds):
        best[key] = (height, min(seconds, best.get(key, (0, math.inf))[1]))

    for _ in range(options.rounds):
        for key, (height, seconds) in own_runs().items():
            keep(key, height, seconds)
        for points in (512, 1024):
            soft.setup(coefficient(), 100.0, points)
            for method in ("LSODA", "Radau"):
                for tolerance in (1e-6, 1e-8, 1e-10, 1e-12) if method == "LSODA" else (1e-6, 1e-8):
                    seconds, height = run(rates, start, method, tolerance)
                    keep((f"SciPy {method}, {points} points", tolerance), height, seconds)
    exact = best[min((key for key in best if key[0].startswith("dalembert")), key=lambda key: (key[1], key[0]))][0]
    rows = [(*key, abs(height - exact), seconds) for key, (height, seconds) in best.items() if height != exact]
    print("| | tolerance | error (m) | CPU (ms) |\n|---|---|---|---|")
    for name, tolerance, error, seconds in rows:
        print(f"| {name} | {tolerance:.0e} | {error:.1e} | {1000 * seconds:.2f} |")
    # At the error of each run of a peer: the fastest run of ours that is at least as exact.
    ours = [row for row in rows if row[0].startswith("dalembert")]
    for name, tolerance, error, seconds in rows:
        fitting = [row[3] for row in ours if row[2] <= error]
        if not name.startswith("dalembert") and fitting:
            print(f"{name} at {tolerance:.0e}: dalembert is {seconds / min(fitting):.0f} times faster at no larger error")


if __name__ == "__main__":
    main()
