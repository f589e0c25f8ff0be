"""Event-selected systems of your own, and the derivative of their motion."""

from typing import NamedTuple, Optional

import numpy as np

from . import _core
from ._arrays import array, finite, matrix, vector
from ._options import count, flag, library_words, number


class Crossing(NamedTuple):
    """A guard was crossed."""
    time: float     #: [s]
    guard: int      #: which
    x: np.ndarray   #: where


class SelectedMotion(NamedTuple):
    """Where an event-selected system went."""
    status: str                 #: finished, or why not
    message: str
    time: float                 #: reached [s]
    x: np.ndarray               #: there
    events: list                #: of `Crossing`
    D: Optional[np.ndarray]     #: derivative of x with respect to x0, one column a direction
    differentiable: Optional[bool]  #: False: guards were crossed at the same instant, D is one-sided


def event_selected(f, h, Dh, x0, *, end=1.0, eps=1e-3, exact=False, alternate=0, simultaneous=1e-9, derivative=False,
                   directions=None):
    """Moves dx/dt = f(x, crossed) through the guards h(x) = 0, P5: a `SelectedMotion`.

    f(x, crossed) -- the field; crossed says of each guard whether it was
    h(x), Dh(x) -- m guards, crossed from below, and their m x n Jacobian
    x0 -- the start; end -- [s]
    eps -- project to a guard from this far; exact -- locate every event instead
    alternate -- so many pairs of guards k and k + pairs re-arm each other: made and broken
    derivative -- also d x(end)/d x0; directions -- along these columns instead of the axes; events are
        then located exactly, and those within `simultaneous` [s] count as one

    >>> m = event_selected(lambda x, on: [x[1], -100 * x[0] if on[0] else 0.0],
    ...                    lambda x: [-x[0], x[0]], lambda x: [[-1, 0], [1, 0]],
    ...                    [1, -1], end=2, alternate=1, derivative=True)
    >>> [e.guard for e in m.events], m.D.shape, m.differentiable
    ([0, 1], (2, 2), True)
    """
    x0 = finite(vector(x0, "x0"), "x0")
    n = len(x0)
    m = len(vector(h(x0), "h"))

    def sized(value, name, *shape):
        a = array(value, name, len(shape))
        if a.shape != shape:
            raise ValueError(f"{name}: is {' x '.join(map(str, a.shape))}; it must be {' x '.join(map(str, shape))}")
        return a

    options = {"eps": number("eps", eps, above=0), "exact": flag("exact", exact), "end": number("end", end, above=0),
               "alternate": count("alternate", alternate), "simultaneous": number("simultaneous", simultaneous, 0)}
    if options["alternate"] and 2 * options["alternate"] != m:
        raise ValueError(f"alternate {alternate}: there must be twice as many guards, and there are {m}")
    if directions is not None:
        d = finite(matrix(directions, "directions"), "directions")
        if len(d) != n:
            raise ValueError(f"directions: has {len(d)} rows; x0 has {n} entries")
    else:
        d = np.eye(n) if flag("derivative", derivative) else np.zeros((0, 0))
    with library_words():
        told = _core.selected(lambda x, crossed: sized(f(x, crossed), "f", n), lambda x: sized(h(x), "h", m),
                              lambda x: sized(Dh(x), "Dh", m, n), x0, options, d)
    told["events"] = [Crossing(*e) for e in told["events"]]
    return SelectedMotion(**told)
