"""All outcomes of an impact given by plain matrices: a block that lands flat on two corners."""

import numpy as np

import routh

r = routh.impact(M=np.diag([1, 1, 5 / 12]),               # x, y, angle
                 Jn=[[0, 1, -0.5], [0, 1, 0.5]],          # negative velocity approaches
                 Jt=[[1, 0, 1], [1, 0, 1]], mu=1, v=[0, -0.4429, 0])
print(r)
for o in r.outcomes:
    print(f"{', '.join(o.laws):<14}", np.round(o.velocity, 4))
