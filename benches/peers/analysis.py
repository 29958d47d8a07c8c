"""Exponents and charts: dalembert against SciPy with right-hand sides compiled by numba, the same work in one run.

Duffing's oscillator x'' + 0.2 x' - x + x^3 = 0.32 cos t: the largest Lyapunov exponent over the same time, with the same interval between
orthonormalisations; a bifurcation diagram over the force, the mean of all points after the same transient; the share of starts that end in the right well
without a force. Mathieu's equation: the share of stable pairs (a, q) on the same grid. The lines of dalembert come from
`cargo bench -p dalembert-analysis`. Seconds of the processors count, which do not depend on what else runs; seconds on the clock are shown too. Used by
`cargo xtask analysis`; see `--help`.
"""

import argparse
import math
import time

import numpy
from numba import njit
from scipy.integrate import solve_ivp


@njit(cache=False)
def duffing(t, y):
    x, v = y[0], y[1]
    slope = 1.0 - 3.0 * x * x
    return numpy.array([v, 0.32 * math.cos(t) - 0.2 * v + x - x * x * x,
                        y[3], slope * y[2] - 0.2 * y[3], y[5], slope * y[4] - 0.2 * y[5]])


@njit(cache=False)
def strobed(t, y, force):
    x, v = y[0], y[1]
    return numpy.array([v, force * math.cos(t) - 0.2 * v + x - x * x * x])


@njit(cache=False)
def mathieu(t, y, a, q):
    stiffness = a - 2.0 * q * math.cos(2.0 * t)
    return numpy.array([y[1], -stiffness * y[0], y[3], -stiffness * y[2]])


def exponents(until, interval, method, tolerance):
    y, t, sums = numpy.array([0.1, 0.0]), 0.0, numpy.zeros(2)
    frame = numpy.eye(2)
    while t < until:
        full = numpy.concatenate([y, frame.T.ravel()])
        end = solve_ivp(duffing, (t, t + interval), full, method=method, rtol=tolerance, atol=tolerance).y[:, -1]
        y, t = end[:2], t + interval
        frame, r = numpy.linalg.qr(end[2:].reshape(2, 2).T)
        sums += numpy.log(numpy.abs(numpy.diag(r)))
    return sums[0] / until


def chart(count, method, tolerance):
    stable = 0
    for q in numpy.linspace(0.0, 5.0, count):
        for a in numpy.linspace(-2.0, 10.0, count):
            y = solve_ivp(mathieu, (0.0, math.pi), [1.0, 0.0, 0.0, 1.0], method=method, rtol=tolerance, atol=tolerance,
                          args=(a, q)).y[:, -1]
            half, product = 0.5 * (y[0] + y[3]), y[0] * y[3] - y[1] * y[2]
            square = half * half - product
            radius = math.sqrt(product) if square < 0.0 else abs(half) + math.sqrt(square)
            stable += radius < 1.0 + 1e-4
    return stable / count**2


def points(start, force, transient, kept, method, tolerance):
    """The positions of a motion once a period, after some periods."""
    times = 2 * math.pi * numpy.arange(transient + 1, transient + kept + 1)
    found = solve_ivp(strobed, (0.0, times[-1]), start, method=method, rtol=tolerance, atol=tolerance, t_eval=times, args=(force,))
    return found.y[0]


def diagram(count, kept, method, tolerance):
    forces = 0.2 + 0.2 * numpy.arange(count) / count
    return numpy.mean([points([1.0, 0.0], force, 100, kept, method, tolerance) for force in forces])


def wells(count, method, tolerance):
    line = -2.0 + 4.0 * (numpy.arange(count) + 0.5) / count
    means = [numpy.mean(points([x, v], 0.0, 12, 3, method, tolerance)) for v in line for x in line]
    return numpy.mean(numpy.array(means) > 0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--own", required=True, help="the lines of dalembert")
    arguments = parser.parse_args()
    with open(arguments.own, encoding="utf-8") as file:
        own = {line.split()[0]: line.split()[1:] for line in file if len(line.split()) == 5}
    duffing(0.0, numpy.zeros(6))
    mathieu(0.0, numpy.zeros(4), 1.0, 1.0)
    strobed(0.0, numpy.zeros(2), 0.3)
    rows = []
    for name, work in [
        ("duffing-exponents-8000s", lambda: exponents(8000.0, 10 * 2 * math.pi / 80, "DOP853", 1e-6)),
        ("mathieu-chart-60", lambda: chart(60, "DOP853", 1e-6)),
        ("duffing-diagram-20x20", lambda: diagram(20, 20, "DOP853", 1e-6)),
        ("duffing-basins-10", lambda: wells(10, "DOP853", 1e-6)),
    ]:
        start, begin = time.perf_counter(), time.process_time()
        value = work()
        seconds, processor = time.perf_counter() - start, time.process_time() - begin
        mine = own.get(name)
        if mine:
            clock, own_processor = float(mine[2]), float(mine[3])
            rows.append((name, float(mine[0]), clock, own_processor, value, seconds, processor, processor / own_processor))
    print("Seconds on the clock and of the processors.\n")
    print("| work | dalembert | clock | processors | SciPy with numba | clock | processors | ratio of processors |")
    print("|---|---|---|---|---|---|---|---|")
    for name, value, clock, mine, other, seconds, processor, ratio in rows:
        print(f"| {name} | {value:.4f} | {clock:.4f} | {mine:.4f} | {other:.4f} | {seconds:.2f} | {processor:.2f} | {ratio:.0f} |")
    for name, line in own.items():
        if name not in {row[0] for row in rows}:
            print(f"\n{name}: {line[0]} ± {line[1]} in {line[2]} s on the clock, {line[3]} s of the processors")


if __name__ == "__main__":
    main()
