# %% [markdown]
# # Is my landing well defined?
#
# A robot lands on several feet at once. Before trusting a simulator's answer, ask whether there is only one.

# %%
import numpy as np
import routh

# %% [markdown]
# ## From matrices
#
# A block lands flat on two corners. M, the rows of the contacts, friction and the velocity are all that is needed; any simulator has them.

# %%
r = routh.impact(M=np.diag([1, 1, 5/12]),            # x, y, angle
                 Jn=[[0, 1, -0.5], [0, 1, 0.5]],     # normal rows: negative velocity approaches
                 Jt=[[1, 0, 1], [1, 0, 1]],          # tangent rows
                 mu=1, v=[0, -0.4429, 0])
print(r)

# %% [markdown]
# The block may rest, or rock about either corner. A simulator would have told one of these. How far can each corner lift?

# %%
w = r.set(samples=2**16, seed=1)
low, high = w.ranges
print("samples lift corner A by up to", round(high[0], 4), "m/s")
if routh.has_exact:
    print("the exact set by up to        ", round(r.exact().maximize("normal.A").value, 4), "m/s")

# %%
figure = w.plot()

# %% [markdown]
# ## Does friction decide?
#
# The same block over friction: how many outcomes, and how far they spread.

# %%
for mu in (0.0, 0.2, 0.5, 1.0, 2.0):
    r = routh.impact(np.diag([1, 1, 5/12]), [[0, 1, -0.5], [0, 1, 0.5]], [[1, 0, 1], [1, 0, 1]], mu, [0, -0.4429, 0])
    print(f"mu {mu}: {len(r.outcomes)} outcomes, spread {r.spread:.4f} m/s")

# %% [markdown]
# ## A walker
#
# A compass-gait walker takes a step: with the same model and the same friction its trailing foot may stick, slide or lift.

# %%
m = routh.load("compass-gait")
m.impact()

# %% [markdown]
# ## How often?
#
# Thousands of landings at once, in contact space. Around this walker's state almost all of them are ambiguous.

# %%
walker = m.impact(law="simultaneous")
rng = np.random.default_rng(0)
c = walker.c + 0.05 * np.abs(walker.c).max() * rng.normal(size=(2000, 4)) * (walker.c != 0)
b = routh.impact_batch(walker.G, c, walker.mu)
print(f"{100 * (b.counts > 1).mean():.0f} % of 2000 landings have several outcomes")
