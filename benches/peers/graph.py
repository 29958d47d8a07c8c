"""Jacobians: dalembert's graphs against CasADi's virtual machine and its C code compiled by gcc, the same functions at the same point.

Inverse dynamics of planar chains and of an arm in space, and the residual of the discrete Euler-Lagrange equations; the functions are those
of crates/graph/benches/problems. All entries are compared. The lines of dalembert come from `cargo bench -p dalembert-graph`. The virtual
machine is timed in a map of many calls, so that Python costs nothing; the C code in a loop in C. The best of many batches counts.
Used by `cargo xtask graph`; see `--help`.
"""

import argparse
import ctypes
import math
import os
import subprocess
import time

import casadi as ca
import numpy as np

WEIGHT, STEP = 9.81, 0.01

LOOP = """
#include <time.h>
#ifndef casadi_int
#define casadi_int long long int
#endif
int J(const double **arg, double **res, casadi_int *iw, double *w, int mem);
double timed(const double *x, double *y, casadi_int *iw, double *w, int batch, double seconds)
{
    const double *arg[16] = {x};
    double *res[16] = {y}, best = 1e30, spent = 0;
    struct timespec a, b;
    while (spent < seconds) {
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int i = 0; i < batch; i++) {
            __asm__ volatile("" : : "r"(x), "r"(y) : "memory");
            J(arg, res, iw, w, 0);
        }
        clock_gettime(CLOCK_MONOTONIC, &b);
        double t = (b.tv_sec - a.tv_sec) + 1e-9 * (b.tv_nsec - a.tv_nsec);
        spent += t;
        if (t / batch < best)
            best = t / batch;
    }
    return best;
}
"""


def link(i):
    return 1 + 0.1 * i, 0.5 + 0.03 * i, 0.2 + 0.02 * i, 0.05 + 0.007 * i


def chain(n):
    x = ca.SX.sym("x", 3 * n)
    angle, w, al, ax, ay, links = 0, 0, 0, 0, WEIGHT, []
    for i in range(n):
        m, l, c, j = link(i)
        angle, w, al = angle + x[i], w + x[n + i], al + x[2 * n + i]
        s, k = ca.sin(angle), ca.cos(angle)
        kx, ky = al * k - w * w * s, al * s + w * w * k
        links.append((s, -k, (ax + kx * c) * m, (ay + ky * c) * m, al * j))
        ax, ay = ax + kx * l, ay + ky * l
    rx, ry, torque, out = 0, 0, 0, [None] * n
    for i in reversed(range(n)):
        _, l, c, _ = link(i)
        ex, ey, fx, fy, spin = links[i]
        mx, my = fx * c + rx * l, fy * c + ry * l
        torque = torque + spin + ex * my - ey * mx
        rx, ry, out[i] = rx + fx, ry + fy, torque
    return x, ca.vertcat(*out)


def lagrangian(n, q, v):
    angle, w, vx, vy, height, total = 0, 0, 0, 0, 0, 0
    for i in range(n):
        m, l, c, j = link(i)
        angle, w = angle + q[i], w + v[i]
        s, k = ca.sin(angle), ca.cos(angle)
        kx, ky = w * k, w * s
        ux, uy = vx + kx * c, vy + ky * c
        total = total + ((ux * ux + uy * uy) * m + w * w * j) * 0.5 - (height - k * c) * (m * WEIGHT)
        vx, vy, height = vx + kx * l, vy + ky * l, height - k * l
    return total


def discrete(n):
    x = ca.SX.sym("x", 3 * n)
    step = lambda a, b: lagrangian(n, (a + b) * 0.5, (b - a) * (1 / STEP)) * STEP
    action = step(x[:n], x[n:2 * n]) + step(x[n:2 * n], x[2 * n:])
    return x, ca.gradient(action, x)[n:2 * n]


def arm(n):
    x = ca.SX.sym("x", 3 * n)
    w, al, a, links = ca.SX(3, 1), ca.SX(3, 1), ca.SX(ca.DM([0, 0, WEIGHT])), []
    for i in range(n):
        t = -1 if i % 2 == 0 else 1
        s, c = ca.sin(x[i]), ca.cos(x[i])
        r = ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(0, 0, -t), ca.horzcat(t * s, t * c, 0))
        p = ca.DM([0, 0.1 + 0.01 * i, 0.2])
        at = a + ca.cross(al, p) + ca.cross(w, ca.cross(w, p))
        rate, second = ca.vertcat(0, 0, x[n + i]), ca.vertcat(0, 0, x[2 * n + i])
        before = r.T @ w
        al = r.T @ al + ca.cross(before, rate) + second
        w, a = before + rate, r.T @ at
        centre = ca.DM([0.01 * (i + 1), -0.03, 0.05])
        force = (a + ca.cross(al, centre) + ca.cross(w, ca.cross(w, centre))) * (4 - 0.4 * i)
        inertia = ca.DM([[0.1, 0.001, -0.002], [0.001, 0.09 + 0.001 * i, 0.003], [-0.002, 0.003, 0.05]])
        links.append((r, p, force, inertia @ al + ca.cross(w, inertia @ w) + ca.cross(centre, force)))
    force, torque, out = ca.SX(3, 1), ca.SX(3, 1), [None] * n
    for i in reversed(range(n)):
        r, p, own, turn = links[i]
        torque = turn + torque
        out[i] = torque[2]
        force = r @ (own + force)
        torque = r @ torque + ca.cross(p, force)
    return x, ca.vertcat(*out)


def point(count):
    return np.array([math.sin(1.3 * i + 0.4) for i in range(count)])


def three(n):
    return np.array([math.sin(1.3 * (i % n) + 0.4) + 0.01 * (i // n) for i in range(3 * n)])


def problems():
    for n in (4, 8, 16):
        yield f"chain-{n}", *chain(n), point(3 * n)
    yield "arm-7", *arm(7), point(21)
    for n in (4, 8):
        yield f"discrete-{n}", *discrete(n), three(n)


def virtual_machine(function, x, seconds):
    """Seconds for one call, in a map of some calls: batches of some 50 µs, so short that few are interrupted."""
    count = max(1, 15000 // function.n_instructions())
    mapped = function.map(count) if count > 1 else function
    buffer, call = mapped.buffer()
    inputs = np.tile(x, count)
    outputs = np.zeros(mapped.nnz_out(0))
    buffer.set_arg(0, memoryview(inputs))
    buffer.set_res(0, memoryview(outputs))
    best, begin = math.inf, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        call()
        best = min(best, (time.perf_counter() - start) / count)
    return best


def compiled(function, x, scratch, name):
    """A function that times the C code, and the seconds its compilation took."""
    code = os.path.join(scratch, f"{name}.c")
    generator = ca.CodeGenerator("jacobian", {"with_header": False, "casadi_int": "long long int"})
    generator.add(function)
    with open(code, "w", encoding="utf-8") as file:
        file.write(generator.dump() + LOOP)
    library = os.path.join(scratch, f"{name}.so")
    start = time.perf_counter()
    subprocess.run(["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, code, "-lm"], check=True)
    built = time.perf_counter() - start
    timed = ctypes.CDLL(library).timed
    timed.restype = ctypes.c_double
    y = np.zeros(function.nnz_out(0))
    integers, numbers = np.zeros(max(1, function.sz_iw()), dtype=np.int64), np.zeros(max(1, function.sz_w()))
    as_doubles = lambda a: a.ctypes.data_as(ctypes.c_void_p)
    call = lambda batch, s: timed(as_doubles(x), as_doubles(y), as_doubles(integers), as_doubles(numbers), batch, ctypes.c_double(s))
    once = call(10, 0.001)
    return lambda seconds: call(max(1, min(2000, int(20e-6 / once))), seconds), built


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--own", required=True, help="the lines of dalembert")
    parser.add_argument("--scratch", required=True, help="a folder for C code")
    parser.add_argument("--table", help="a page in which the table between its marks is replaced")
    arguments = parser.parse_args()
    os.makedirs(arguments.scratch, exist_ok=True)
    times, entries = {}, {}
    with open(arguments.own, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words and words[0] == "time":
                times[words[1]] = dict(zip(words[2::2], words[3::2]))
            elif words and words[0] == "entries":
                entries[words[1]] = np.array([float(w) for w in words[2:]])
    head = ["function", "entries", "instructions", "CasADi VM", "CasADi C", "interpreter", "machine code", "two lanes",
            "VM / ours", "C / ours", "C / lanes", "compile ms", "gcc ms"]
    rows = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    good = True
    for name, x, y, at in problems():
        function = ca.Function("J", [x], [ca.jacobian(y, x)])
        dense = np.array(function(at)).ravel()
        worst = np.max(np.abs(dense - entries[name])) / np.max(np.abs(dense))
        timed, built = compiled(function, at, arguments.scratch, name)
        # In turns, so that a busy moment hits neither alone.
        turns = [(timed(0.5), virtual_machine(function, at, 0.5)) for _ in range(4)]
        c_time, vm = min(t[0] for t in turns), min(t[1] for t in turns)
        own = times[name]
        one, two = float(own["one_ns"]), float(own["two_ns"])
        vm, c_time = vm * 1e9, c_time * 1e9
        rows.append("| " + " | ".join([
            name, own["entries"], own["instructions"], f"{vm:.0f}", f"{c_time:.0f}", own["interpreter_ns"], f"{one:.0f}", f"{two:.0f}",
            f"{vm / one:.1f}", f"{c_time / one:.2f}", f"{c_time / two:.2f}", own["compile_ms"], f"{built * 1e3:.0f}"]) + " |")
        print(f"{name}: VM {vm:.0f} ns ({function.n_instructions()} instructions), C {c_time:.0f} ns, ours {one:.0f} ns, two lanes {two:.0f} ns; "
              f"VM/ours {vm / one:.1f}, C/ours {c_time / one:.2f}, C/lanes {c_time / two:.2f}; entries differ by {worst:.1e}", flush=True)
        good &= worst < 1e-12 and vm >= 15 * one and one <= 1.1 * c_time and c_time >= 1.5 * two
    table = "\n".join(rows)
    print("\n" + table)
    if good:
        print("\nall goals met")
    if arguments.table:
        with open(arguments.table, encoding="utf-8") as file:
            page = file.read()
        start, end = "<!-- race -->\n", "<!-- /race -->"
        page = page[:page.index(start) + len(start)] + "\n" + table + "\n\n" + page[page.index(end):]
        with open(arguments.table, "w", encoding="utf-8") as file:
            file.write(page)
    if not good:
        raise SystemExit("not all goals met: VM / ours at least 15, C / ours at least 1/1.1, C / lanes at least 1.5, entries equal to 1e-12")


if __name__ == "__main__":
    main()
