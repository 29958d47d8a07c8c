"""Whole problems of optimal control by CasADi and Ipopt, beside our own figures.

Both sides solve the same nonlinear programs: the same discretisation, tolerance (1e-8) and start. CasADi evaluates expanded expressions with exact Hessians, Ipopt
factorises with MUMPS. Times are those of the processor, the best of some solves; building is told apart.

cart-pole   cart 1 kg, point mass 0.3 kg at 0.5 m, two seconds, |u| <= 20 N, |x| <= 2 m, least integral of u^2 (Kelly 2017), N = 100
chain       four bodies of 0.25 m and 0.25 kg on universal joints, one second, rest to rest, |q| <= 1.5, |v| <= 10, least integral of |u|^2
"""
import os
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
import argparse
import re
import time

import casadi as ca
import numpy as np

G = 9.81
# How many times as fast we must be, and by how much the time for each iteration and node may grow.
LEAST = {"chain": 4.0, "cart-pole": 1.0}
GROWTH = 1.2


def solve(unknowns, objective, rows, start, lower, upper, rounds):
    began = time.process_time()
    options = {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes", "ipopt.max_iter": 1000, "ipopt.tol": 1e-8}
    solver = ca.nlpsol("solver", "ipopt", {"x": unknowns, "f": objective, "g": rows}, options)
    build, best = time.process_time() - began, None
    for _ in range(rounds):
        began = time.process_time()
        answer = solver(x0=start, lbx=lower, ubx=upper, lbg=0, ubg=0)
        spent = time.process_time() - began
        if best is None or spent < best[0]:
            best = (spent, float(answer["f"]), solver.stats())
    return {"seconds": best[0], "objective": best[1], "iterations": best[2]["iter_count"], "build": build}


def cart_pole(n, rule):
    cart, pole, length, duration = 1.0, 0.3, 0.5, 2.0
    h = duration / n

    def rates(s, u):
        sine, cosine = ca.sin(s[1]), ca.cos(s[1])
        free = cart + pole * sine**2
        push = (length * pole * sine * s[3] ** 2 + u + pole * G * cosine * sine) / free
        turn = -(length * pole * cosine * sine * s[3] ** 2 + u * cosine + (cart + pole) * G * sine) / (length * free)
        return ca.vertcat(s[2], s[3], push, turn)

    states, count = ca.SX.sym("s", 4, n + 1), n + 1 if rule == "trapezoidal" else n
    controls, rows, objective = ca.SX.sym("u", count), [], 0
    for k in range(n):
        a, b = states[:, k], states[:, k + 1]
        if rule == "trapezoidal":
            rows.append(b - a - h / 2 * (rates(a, controls[k]) + rates(b, controls[k + 1])))
            objective += h / 2 * (controls[k] ** 2 + controls[k + 1] ** 2)
        else:
            rows.append(b - a - h * rates((a + b) / 2, controls[k]))
            objective += h * controls[k] ** 2
    part = np.linspace(0, 1, n + 1)
    start = np.concatenate([np.stack([part, np.pi * part, 0 * part, 0 * part], 1).ravel(), np.zeros(count)])
    lower, upper = np.full(start.size, -np.inf), np.full(start.size, np.inf)
    last = 4 * n
    lower[0 : last + 4 : 4], upper[0 : last + 4 : 4] = -2, 2
    lower[last + 4 :], upper[last + 4 :] = -20, 20
    lower[:4] = upper[:4] = 0
    lower[last : last + 4] = upper[last : last + 4] = [1, np.pi, 0, 0]
    return solve(ca.vertcat(ca.vec(states), controls), objective, ca.vertcat(*rows), start, lower, upper, 10)


def inverse_dynamics(q, v, a, bodies=4):
    """Newton and Euler's equations along the chain, in the frames of the bodies; each joint turns about y, then about x."""
    length, mass = 1 / bodies, 1 / bodies
    radius = length / 20
    wide = mass * (3 * radius**2 + length**2) / 12
    inertia = ca.diag(ca.vertcat(wide, wide, mass * radius**2 / 2))
    centre, hook = ca.DM([0, 0, -length / 2]), ca.DM([0, 0, -length])

    def about(axis, angle):
        c, s = ca.cos(angle), ca.sin(angle)
        rows = [[1, 0, 0], [0, c, -s], [0, s, c]] if axis == 0 else [[c, 0, s], [0, 1, 0], [-s, 0, c]]
        return ca.vertcat(*[ca.horzcat(*row) for row in rows])

    spin, twist, lift, kept = ca.SX(3, 1), ca.SX(3, 1), ca.SX(ca.DM([0, 0, G])), []
    for body in range(bodies):
        if body:
            lift = lift + ca.cross(twist, hook) + ca.cross(spin, ca.cross(spin, hook))
        turns = []
        for axis in (1, 0):
            j, turn, unit = 2 * body + (axis == 0), None, ca.DM([axis == 0, axis == 1, 0])
            turn = about(axis, q[j])
            spin, twist, lift = turn.T @ spin, turn.T @ twist, turn.T @ lift
            twist = twist + a[j] * unit + ca.cross(spin, v[j] * unit)
            spin = spin + v[j] * unit
            turns.append(turn)
        force = mass * (lift + ca.cross(twist, centre) + ca.cross(spin, ca.cross(spin, centre)))
        kept.append((turns, force, inertia @ twist + ca.cross(spin, inertia @ spin)))
    pull, moment, torques = ca.SX(3, 1), ca.SX(3, 1), [None] * (2 * bodies)
    for body in reversed(range(bodies)):
        (first, second), force, torque = kept[body]
        moment = torque + ca.cross(centre, force) + moment + (ca.cross(hook, pull) if body < bodies - 1 else 0)
        pull = pull + force
        torques[2 * body + 1] = moment[0]
        moment, pull = second @ moment, second @ pull
        torques[2 * body] = moment[1]
        moment, pull = first @ moment, first @ pull
    return ca.vertcat(*torques)


def chain(n):
    freedoms, h = 8, 1.0 / n
    end = np.array([0.8, 0.4, -0.5, 0.3, 0.6, -0.2, 0.3, 0.5])
    q, v, a = (ca.SX.sym(name, freedoms) for name in "qva")
    torque = ca.Function("torque", [q, v, a], [inverse_dynamics(q, v, a)])
    places, speeds, controls = ca.SX.sym("q", freedoms, n + 1), ca.SX.sym("v", freedoms, n + 1), ca.SX.sym("u", freedoms, n)
    rows = []
    for k in range(n):
        speed = (speeds[:, k] + speeds[:, k + 1]) / 2
        rows.append(places[:, k + 1] - places[:, k] - h * speed)
        middle = (places[:, k] + places[:, k + 1]) / 2
        rows.append(torque(middle, speed, (speeds[:, k + 1] - speeds[:, k]) / h) - controls[:, k])
    unknowns = ca.vertcat(ca.vec(places), ca.vec(speeds), ca.vec(controls))
    size, s = unknowns.numel(), freedoms * (n + 1)
    lower, upper, start = np.full(size, -np.inf), np.full(size, np.inf), np.zeros(size)
    lower[:s], upper[:s], lower[s : 2 * s], upper[s : 2 * s] = -1.5, 1.5, -10, 10
    for first, value in ((0, 0), (s - freedoms, end), (s, 0), (2 * s - freedoms, 0)):
        lower[first : first + freedoms] = upper[first : first + freedoms] = value
    start[:s] = np.outer(np.linspace(0, 1, n + 1), end).ravel()
    return solve(unknowns, h * ca.sumsqr(controls), ca.vertcat(*rows), start, lower, upper, 3)


PROBLEMS = [
    ("cart-pole-trapezoidal", 100, lambda: cart_pole(100, "trapezoidal")),
    ("cart-pole-midpoint", 100, lambda: cart_pole(100, "midpoint")),
    ("chain-midpoint", 15, lambda: chain(15)),
    ("chain-midpoint", 30, lambda: chain(30)),
    ("chain-midpoint", 60, lambda: chain(60)),
]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--own", required=True, help="lines of our bench")
    arguments.add_argument("--table", help="a page with the marks of a race, to be written")
    given = arguments.parse_args()
    own = {}
    for line in open(given.own):
        words = line.split()
        if words[:1] == ["solve"]:
            own[words[1], int(words[2])] = dict(zip(words[3::2], words[4::2]))
    lines = ["| problem | N | iterations | Ipopt | optimum | difference | ours / ms | CasADi + Ipopt / ms | ratio | build / s | CasADi build / s |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    failed = []
    for name, n, work in PROBLEMS:
        theirs, ours = work(), own[name, n]
        difference = abs(float(ours["objective"]) / theirs["objective"] - 1)
        ratio = theirs["seconds"] / float(ours["seconds"])
        least = LEAST["chain" if name.startswith("chain") else "cart-pole"]
        if difference > 1e-6:
            failed.append(f"{name}, N = {n}: optima differ by {difference:.1e}, more than 1e-6")
        if ratio < least:
            failed.append(f"{name}, N = {n}: {ratio:.2f} times as fast, less than {least:g}")
        lines.append(
            f"| {name} | {n} | {ours['iterations']} | {theirs['iterations']} | {theirs['objective']:.8f} | {difference:.1e} "
            f"| {1e3 * float(ours['seconds']):.2f} | {1e3 * theirs['seconds']:.1f} | {ratio:.1f} | {float(ours['build']):.2f} | {theirs['build']:.2f} |")
        print(lines[-1], flush=True)
    long = [(n, ours) for (name, n), ours in sorted(own.items()) if name == "cart-pole-midpoint"]
    lines += ["", "| cart-pole, nodes | " + " | ".join(str(n) for n, _ in long) + " |", "|---" * (len(long) + 1) + "|",
              "| iterations | " + " | ".join(ours["iterations"] for _, ours in long) + " |",
              "| µs for each iteration and node | "
              + " | ".join(f"{1e6 * float(o['seconds']) / int(o['iterations']) / n:.2f}" for n, o in long) + " |"]
    each = [float(o["seconds"]) / int(o["iterations"]) / n for n, o in long]
    growth = each[-1] / each[0]
    if growth > GROWTH:
        failed.append(f"time for each iteration and node grows by {growth:.2f} from {long[0][0]} to {long[-1][0]} nodes, more than {GROWTH:g}")
    print("\n".join(lines))
    if given.table:
        text = open(given.table, encoding="utf-8").read()
        text = re.sub(r"(<!-- race -->\n).*?(\n<!-- /race -->)", lambda m: m[1] + "\n" + "\n".join(lines) + "\n" + m[2], text, flags=re.S)
        open(given.table, "w", encoding="utf-8").write(text)
    if failed:
        raise SystemExit("not all goals met:\n  " + "\n  ".join(failed))
    print("all goals met")


main()
