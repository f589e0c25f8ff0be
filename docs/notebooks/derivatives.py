# %% [markdown]
# # Through simultaneous contacts with derivatives
#
# How does the end of a motion depend on its start, when several contacts are made at the same instant? The flow has no derivative there but a
# B-derivative: linear in pieces, one for each order of the events.

# %%
import numpy as np
import routh

# %% [markdown]
# ## Two springs at once
#
# A bar falls on two spring feet. Level, both touch at the same instant. State: height, angle, and their rates.

# %%
k, g, half = 200.0, 9.81, 0.5          # stiffness per mass, gravity, half the distance of the feet

def f(x, on):
    z, a, dz, da = x
    push = [k * -(z - half * a) if on[0] else 0.0, k * -(z + half * a) if on[1] else 0.0]
    return [dz, da, -g + sum(push), 3 * half * (push[1] - push[0])]

h = lambda x: [-(x[0] - half * x[1]), -(x[0] + half * x[1]), x[0] - half * x[1], x[0] + half * x[1]]
Dh = lambda x: [[-1, half, 0, 0], [-1, -half, 0, 0], [1, -half, 0, 0], [1, half, 0, 0]]
start = [0.1, 0.0, 0.0, 0.0]
motion = routh.event_selected(f, h, Dh, start, end=0.3, alternate=2, derivative=True)
for e in motion.events:
    print(f"guard {e.guard} at {e.time:.6f} s")
print("differentiable:", motion.differentiable)

# %% [markdown]
# Both feet touch at 0.142784 s: the derivative is one-sided. Along a tilt to the left and a tilt to the right it differs in general; here the bar is
# symmetric, and the two are mirror images.

# %%
tilt = np.array([[0, 0], [1, -1], [0, 0], [0, 0]])
left, right = routh.event_selected(f, h, Dh, start, end=0.3, alternate=2, directions=tilt).D.T
print("tilted left ", np.round(left, 6))
print("tilted right", np.round(right, 6))

# %% [markdown]
# ## Against differences
#
# The derivative is exact, differences are not: their error shrinks with the perturbation until rounding takes over.

# %%
for size in (1e-2, 1e-4, 1e-6):
    moved = routh.event_selected(f, h, Dh, start + size * tilt[:, 0], end=0.3, alternate=2, exact=True).x
    print(f"perturbed by {size:g}: difference quotient off by {np.abs((moved - motion.x) / size - left).max():.1e}")

# %% [markdown]
# ## Projecting instead of locating
#
# P5's integrator projects to a guard from within ε. Its error shrinks as ε².

# %%
for eps in (1e-2, 1e-3, 1e-4):
    x = routh.event_selected(f, h, Dh, [0.1, 0.01, 0, 0], end=0.3, alternate=2, eps=eps).x
    located = routh.event_selected(f, h, Dh, [0.1, 0.01, 0, 0], end=0.3, alternate=2, exact=True).x
    print(f"eps {eps:g}: error {np.abs(x - located).max():.1e}")
