# %% [markdown]
# # Your own robot
#
# Two ways to bring a robot: a file in MJCF or URDF, or a class in Python. Mechanisms in the plane may also be a scenario in YAML.

# %%
import numpy as np
import routh

# %% [markdown]
# ## A model
#
# Any MJCF or URDF file is a mechanism here. The built-in quadruped lands on four feet.

# %%
if routh.has_models:
    m = routh.load("quadruped", state="land")
    print(m)
    print(m.check())

# %% [markdown]
# MuJoCo steps through the same impact, and its one outcome stands beside the set:

# %%
if routh.has_models:
    w = m.impact(law="set", samples=2000, seed=1, compare="mujoco")
    beside = w.to_dict()["compare"]
    print(f"MuJoCo's outcome lies {beside['distance']:.3f} m/s from the nearest sample; the set spreads over {beside['spread']:.3f} m/s")

# %% [markdown]
# ## A class
#
# A box that slides on an incline, written in Python: inertia, forces, contacts.

# %%
class Box(routh.System):
    """A box of 0.4 m by 0.2 m over a slope."""
    nv, coordinates = 3, ["along", "above", "angle"]

    def __init__(self, slope, friction):
        self.slope, self.friction = slope, friction

    def mass(self, q):
        return np.diag([1, 1, (0.4**2 + 0.2**2) / 12])

    def forces(self, t, q, v):
        return 9.81 * np.array([np.sin(self.slope), -np.cos(self.slope), 0])

    def potential_energy(self, q):
        return -self.forces(0, q, None) @ q

    def contacts(self, q):
        s, c = np.sin(q[2]), np.cos(q[2])
        for a, name in ((-0.2, "back"), (0.2, "front")):
            x, y = c * a + s * 0.1, s * a - c * 0.1
            yield routh.Contact(name, q[1] + y, [0, 1, x], [1, 0, -y], self.friction)

t = routh.simulate(Box(slope=0.3, friction=0.25), "time-stepping", q=[0, 0.1, 0], h=2e-3, end=0.5)
slip = 9.81 * (np.sin(0.3) - 0.25 * np.cos(0.3))
print(f"slides {t.q[-1][0]:.4f} m; by hand {slip * 0.5**2 / 2:.4f} m")

# %%
figure = t.plot()

# %% [markdown]
# ## Forces from your program
#
# One step at a time, with a brake that acts on what it sees.

# %%
s = routh.stepper(Box(slope=0.3, friction=0.25), h=2e-3, q=[0, 0.1, 0])
for state in s.until(0.5):
    s.force = [-4 * state.v[0], 0, 0]
print(f"with the brake {s.q[0]:.4f} m")
