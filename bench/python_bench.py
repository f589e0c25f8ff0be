"""What Python adds: the same work through the package and in C++, turn by turn, in time of the
processor.

    python3 bench/python_bench.py build/bench/python_peer
"""

import resource
import subprocess
import sys
import time

import numpy as np

import routh

M, v = np.diag([1, 1, 5 / 12]), np.array([0, -0.4429, 0])
Jn, Jt = np.array([[0, 1, -0.5], [0, 1, 0.5]]), np.array([[1.0, 0, 1], [1, 0, 1]])
mu = np.ones(2)


def user():
    """Seconds in the program itself; memory that is touched for the first time costs the system's, and varies."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def quartile(count, work, clock=time.process_time):
    times = []
    for _ in range(count):
        began = clock()
        work()
        times.append(1e6 * (clock() - began))
    return sorted(times)[count // 4]


def ours():
    times = {law: quartile(1000, lambda: routh.impact(M, Jn, Jt, mu, v, law=law)) for law in ("simultaneous", "single")}
    times["set"] = quartile(15, lambda: routh.impact(M, Jn, Jt, mu, v, law="set", samples=2**20, seed=7).velocities, user)
    return times


def peer():
    out = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout
    return {name: float(value) for name, value in (line.split() for line in out.splitlines())}


rounds = [(ours(), peer()) for _ in range(3)]
for law in ("simultaneous", "single", "set"):
    a, b = (min(one[k][law] for one in rounds) for k in (0, 1))
    print(f"{law:<14} Python {a:12.1f} us   C++ {b:12.1f} us   overhead {a - b:9.1f} us, {100 * (a / b - 1):.1f} %")
