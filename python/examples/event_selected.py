"""Through nearly simultaneous events: a plate lands on springs, all guards crossed almost at once."""

import routh

projected = routh.simulate("plate", eps=1e-3, end=0.5)
located = routh.simulate("plate", exact=True, end=0.5)
print(projected)
print("difference at the end", abs(projected.q[-1] - located.q[-1]).max())
assert abs(projected.q[-1] - located.q[-1]).max() < 1e-3
