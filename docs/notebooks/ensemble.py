# %% [markdown]
# # What a set of outcomes does to a walker's ensemble
#
# Where an impact has a set of outcomes, one motion is not enough. An ensemble draws every impact from its set and tells what can happen, and how
# often.

# %%
import numpy as np
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
# Runs grouped by what the trailing foot does first, and where the hip is at the end.

# %%
ends = e.final_q
hip = m.coordinates.index(m.coordinates[1])
first = {}
for run in e.runs:
    first.setdefault(run.word.split(" ")[1] if " " in run.word else run.word, []).append(run.q[hip])
for mode, heights in sorted(first.items(), key=lambda item: -len(item[1]))[:5]:
    print(f"{mode:<12} {len(heights):>4} runs, {m.coordinates[hip]} at the end from {min(heights):.3f} to {max(heights):.3f} m")
