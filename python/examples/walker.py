"""A compass-gait walker takes a step, and its trailing foot may do three things."""

import routh

r = routh.load("compass-gait").impact(law="simultaneous")
for o in r.outcomes:
    print("trailing foot", o.modes[1])
assert len(r.outcomes) == 3
