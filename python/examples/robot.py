"""A robot in MJCF lands: MuJoCo gives one outcome, here are many."""

import routh

if routh.has_models:
    m = routh.load("quadruped")
    w = m.impact(law="set", samples=1000, seed=1)
    for name, before, low, high in zip(m.velocities, m.v, w.velocities.min(axis=0), w.velocities.max(axis=0)):
        print(f"{name:<16} before {before:8.4f}   after {low:8.4f} to {high:8.4f}")
else:
    print("built without MuJoCo")
