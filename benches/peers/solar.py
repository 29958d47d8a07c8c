"""Eleven bodies by REBOUND's leapfrog, WHFast and IAS15: errors of places after a century, energy, CPU seconds.

usage: solar.py <state> <days> <truth>, with lines `name GM x y z vx vy vz` in AU and days, and the places at the end of the century that the bench `solar`
of dalembert-methods found. Used by `cargo xtask solar`.
"""

import sys
import time

import numpy as np
import rebound

STATE, DAYS, TRUTH = sys.argv[1], float(sys.argv[2]), sys.argv[3]
BODIES = [(line.split()[0], *map(float, line.split()[1:])) for line in open(STATE)]
CENTURY = min(36525.0, DAYS)


def simulation(integrator, step):
    """The bodies at the start."""
    s = rebound.Simulation()
    s.G = 1.0
    for _, mass, x, y, z, vx, vy, vz in BODIES:
        s.add(m=mass, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)
    s.integrator = integrator
    s.dt = step
    return s


def places(s):
    """Relative to the sun."""
    x = np.array([[p.x, p.y, p.z] for p in s.particles])
    return (x - x[0])[1:]


def energy(s):
    """In long double: differences of 1e-11 are wanted."""
    p = s.particles
    m = np.array([q.m for q in p], np.longdouble)
    x = np.array([[q.x, q.y, q.z] for q in p], np.longdouble)
    v = np.array([[q.vx, q.vy, q.vz] for q in p], np.longdouble)
    total = (m * (v * v).sum(1)).sum() / 2
    for i in range(len(p)):
        for j in range(i):
            total -= m[i] * m[j] / np.sqrt(((x[i] - x[j]) ** 2).sum())
    return total


truth = np.array([[float(word) for word in line.split()] for line in open(TRUTH)])
print("REBOUND", rebound.__version__)
for name, integrator, step in [("leapfrog, h = 1 d", "leapfrog", 1.0), ("WHFast, h = 1 d", "whfast", 1.0), ("IAS15", "ias15", 1.0)]:
    s = simulation(integrator, step)
    first, worst, late, seconds = energy(s), 0.0, 0.0, 0.0
    marks = sorted({CENTURY, *np.linspace(0, DAYS, 201)[1:]})
    errors = None
    for mark in marks:
        begin = time.process_time()
        s.integrate(mark, exact_finish_time=1 if mark == CENTURY else 0)
        seconds += time.process_time() - begin
        if mark == CENTURY:
            errors = np.sqrt(((places(s) - truth) ** 2).sum(1))
        off = abs(float((energy(s) - first) / first))
        worst = max(worst, off)
        late = max(late, off) if mark > 0.9 * DAYS else late
    columns = "".join(f" {error:8.1e}" for error in errors)
    print(f"{name:34}{columns}  {worst:13.1e}  {late:10.1e}  {DAYS:8.0f}  {seconds:.2f}")
