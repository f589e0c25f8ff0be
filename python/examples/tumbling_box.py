"""A mechanism of your own through time: a box falls on a corner, tumbles and comes to rest."""

import numpy as np

import routh


class Box(routh.System):
    nv, coordinates = 3, ["x", "y", "angle"]

    def mass(self, q):
        return np.diag([1, 1, (0.4**2 + 0.2**2) / 12])

    def forces(self, t, q, v):
        return [0, -9.81, 0]

    def potential_energy(self, q):
        return 9.81 * q[1]

    def contacts(self, q):
        s, c = np.sin(q[2]), np.cos(q[2])
        for a in (-0.2, 0.2):
            for b in (-0.1, 0.1):
                x, y = c * a - s * b, s * a + c * b
                yield routh.Contact(f"corner {a} {b}", q[1] + y, [0, 1, x], [1, 0, -y], mu=0.6)


t = routh.simulate(Box(), "time-stepping", q=[0, 0.5, 0.8], v=[1, 0, -3], h=2e-3, end=2)
print(t)
print(f"rests at x = {t.q[-1][0]:.4f} m, height {t.q[-1][1]:.4f} m")
assert np.linalg.norm(t.v[-1]) < 1e-9 and t.energy[-1] < t.energy[0]
