# %% [markdown]
# # What a set of outcomes does to a walker's ensemble
#
# Where an impact has a set of outcomes, one motion is not enough. An ensemble draws every impact from its set and tells what can happen, and how
# often.

# %%
import re
import routh

m = routh.load("compass-gait")
print(m.check())

# %%
e = routh.ensemble(m, runs=512, seed=1, end=0.6)
print(e)

# %% [markdown]
# Each word is a sequence of contact modes. The same start, and many ways on.

# %%
figure = e.plot()

# %% [markdown]
# ## One law gives one motion
#
# With the simultaneous law every run takes the first outcome: the fan closes.

# %%
one = routh.ensemble(m, runs=16, seed=1, end=0.6, law="simultaneous")
print(len(one.words), "word instead of", len(e.words))

# %% [markdown]
# ## What follows from the first impact?
#
# Runs grouped by the feet that hold right after it, and how high the trailing foot's leg is at the end.

# %%
leg = m.coordinates.index("trailing.y")
after = {}
for run in e.runs:
    modes = re.findall("{.*?}", run.word)
    after.setdefault(modes[1], []).append(run.q[leg])
for mode, heights in sorted(after.items(), key=lambda item: -len(item[1])):
    print(f"{mode:<12} {len(heights):>4} runs, {min(heights):.4f} to {max(heights):.4f} m")

# %% [markdown]
# ## Every way on
#
# Instead of drawing, all extreme outcomes of the first impacts may be followed as a tree.

# %%
print(routh.branch(m, 2, end=0.6))
