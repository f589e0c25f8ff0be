"""Motions: simulations, one step at a time, ensembles."""

import os
from typing import NamedTuple, Optional

import numpy as np

from . import _core, _html
from ._arrays import frozen, vector
from ._options import METHOD_OPTIONS, METHODS, checked, count, library_words, number, one_of, run
from ._saved import Saved
from ._scenario import Scenario
from ._system import System


class Event(NamedTuple):
    """Something happened at an instant."""
    time: float           #: [s]
    kind: str             #: impact, lift-off, slip, stick, touchdown, zeno, crossing or ambiguity
    contacts: list        #: names
    v_minus: np.ndarray   #: before
    v_plus: np.ndarray    #: after; equal unless it is an impact
    impulse: np.ndarray   #: [N s] normal and tangential of each contact in turn
    outcomes: int         #: how many the law found; the first was taken
    continuations: list   #: hybrid: ways on that the laws of contact allow, in words; the first was taken
    mode_before: Optional[list] = None  #: hybrid: contacts that hold
    mode_after: Optional[list] = None


class State(NamedTuple):
    """Where a mechanism is and how it moves."""
    time: float     #: [s]
    q: np.ndarray
    v: np.ndarray


class Zeno(NamedTuple):
    """Where infinitely many impacts accumulate."""
    time: float     #: [s]
    q: np.ndarray
    v: np.ndarray
    ratio: float    #: of the times between impacts, from one to the next
    period: int     #: impacts after which the modes repeat
    error: float    #: of the time, estimated [s]


class Inclusion(NamedTuple):
    """A motion over s, time and impulse, as a solution of P1 (53): impacts are paths."""
    s: np.ndarray
    t: np.ndarray            #: [s]
    q: np.ndarray            #: one row a point
    v: np.ndarray
    rate: np.ndarray         #: dt/ds of the piece that begins at each point
    normal_rate: np.ndarray  #: normal impulse per s of each contact [N]
    zeno: Optional[float]    #: s at which impacts accumulate
    residual: float          #: how far it is from solving (53), relative


class Trajectory(Saved):
    """A motion, as far as it came.

    >>> t = simulate("domino-row", end=0.2)
    >>> t.q.shape == (len(t.time), 24), t.status
    (True, 'done')
    """

    def __init__(self, core, scenario):
        self._core, self.scenario = core, scenario
        self._kept = {}

    method = property(lambda self: self._core.method, doc="By which it was made.")
    status = property(lambda self: self._core.status, doc="done, or why it ended before.")
    stopped = property(lambda self: self._core.stopped, doc="Did it stop before its end?")
    message = property(lambda self: self._core.message, doc="Why it stopped, and when.")
    time = property(lambda self: self._core.time, doc="[s], of the recorded states.")
    energy = property(lambda self: self._core.energy, doc="Kinetic and potential energy [J] at these times.")
    steps = property(lambda self: self._core.steps, doc="Steps taken.")
    max_penetration = property(lambda self: self._core.max_penetration, doc="Deepest gap [m].")
    max_joint_error = property(lambda self: self._core.max_joint_error, doc="Widest opening of a joint [m].")

    def _once(self, what):
        if what not in self._kept:
            self._kept[what] = frozen(getattr(self._core, what))
        return self._kept[what]

    q = property(lambda self: self._once("q"), doc="Coordinates, one row a time [m, rad].")
    v = property(lambda self: self._once("v"), doc="Velocities, one row a time [m/s, rad/s].")

    v_raw = property(lambda self: self._once("v_raw"),
                     doc="Time-stepping: the velocities v^h of P3 (4.11), not weighted by alpha.")
    modes = property(lambda self: self._once("modes"),
                     doc="Hybrid: the contact word, the contacts that hold in each mode in turn.")

    @property
    def zeno(self):
        """Hybrid: points where impacts accumulate and were passed, a list of `Zeno`.

        >>> z = simulate("zeno-block", "hybrid").zeno[0]
        >>> z.period, 0 < z.ratio < 1, z.error < 1e-6             # [s]
        (2, True, True)
        """
        return [Zeno(*z) for z in self._once("zeno")]

    @property
    def inclusion(self):
        """Where `domain="s"` asked for it, the motion over time and impulse: an `Inclusion`, else None.

        >>> path = simulate("point-drop", domain="s", end=0.6).inclusion
        >>> bool((np.diff(path.s) >= 0).all()), path.residual < 1e-6
        (True, True)
        """
        path = self._once("inclusion")
        return None if path is None else Inclusion(**path)

    @property
    def events(self):
        """Impacts, slips and more, in the order of time: a list of `Event`.

        >>> e = simulate("point-drop", end=0.6).events[0]
        >>> e.kind, round(e.time, 2)                              # [s]
        ('impact', 0.45)
        """
        return [Event(**e) for e in self._once("events")]

    def animate(self, path):
        """Writes the moving mechanism as an animated .svg or .gif, or with ffmpeg as a film: .mp4, .webm.

        >>> import tempfile
        >>> path = simulate("point-drop", end=0.2).animate(os.path.join(tempfile.mkdtemp(), "drop.svg"))
        >>> os.path.getsize(path) > 0
        True
        """
        with library_words():
            self._core.animate(os.fspath(path))
        return os.fspath(path)

    def plot(self, axes=None):
        """Coordinates [m, rad], velocities [m/s, rad/s] and energy [J] over time [s], with Matplotlib; returns the figure.

        axes -- three of your own to draw into

        >>> len(simulate("tilted-box", end=0.1).plot().axes)
        3
        """
        from ._plot import plot_motion
        return plot_motion(self, axes)

    def __str__(self):
        text = (f"{self.scenario.name} by {self.method}: {self.steps} steps to {self.time[-1]:.6g} s, {self.status}"
                if len(self.time) else f"{self.scenario.name} by {self.method}: {self.status}")
        if self.message:
            text += f"\n  {self.message}"
        events = self.events
        for e in events[:12]:
            text += f"\n  {e.time:.6f} s  {e.kind:<10} {', '.join(e.contacts)}"
        return text + (f"\n  .. {len(events) - 12} more events" if len(events) > 12 else "")

    def __repr__(self):
        end = f" to {self.time[-1]:.6g} s" if len(self.time) else ""
        return f"<routh.Trajectory of {self.scenario.name!r} by {self.method}{end}: {self.status}, {len(self.events)} events>"

    def _repr_html_(self):
        rows = [(f"{e.time:.6f} s", e.kind, ", ".join(e.contacts)) for e in self.events[:12]]
        from html import escape
        return (f"<p><b>{escape(self.scenario.name)}</b> by {escape(self.method)}: {self.steps} steps, "
                f"{escape(self.status)} {escape(self.message)}</p>"
                + (_html.table(["time", "event", "contacts"], rows) if rows else "") + _html.svg(self._core.draw))


def _moving(what, q=None, v=None):
    if isinstance(what, System):
        with library_words():
            return what.scenario(q, v)
    if q is not None or v is not None:
        raise ValueError("q, v: belong to a routh.System; load() takes qpos, qvel and parameters")
    if isinstance(what, (str, os.PathLike)):
        from ._scenario import load
        return load(what)
    if not isinstance(what, Scenario):
        raise ValueError(f"{what!r}: must be a scenario of routh.load(), its name, or a routh.System")
    return what


def simulate(what, method=None, *, q=None, v=None, progress=None, **options):
    """Moves a mechanism through time and its impacts: a `Trajectory`.

    what -- a scenario, its name, or a `routh.System` with q and v at the start
    method -- "time-stepping", "hybrid", "event-selected" or "compliant" (`routh.METHODS`; default: the scenario's)
    end, every -- [s]; h -- step of time-stepping [s]
    domain -- "t"; "s": also over time and impulse, where impacts are paths (`inclusion`)
    law, seed -- how impacts are resolved: time-stepping, hybrid; the seed also draws inputs that have a set of values
    restitution -- what coefficients of restitution are ratios of: "newton", "poisson" or "stronge"
    alpha, gamma, jacobians, detection, stabilise -- of time-stepping
    pseudo_impulse [s], friction, rtol, strict -- of hybrid
    eps, exact, contact_damping [N s/m], stiffness [N/m] -- of event-selected
    stiffness [N/m], ratio, damping_ratio, impact_only -- of compliant
    project -- close the joints at the start
    progress -- True or False to show it, or a function of the part that is done

    Interrupted by Ctrl-C it returns what it has, with a warning; `status` says so.

    >>> simulate("tilted-box", h=1e-3, end=0.3).energy[0] > 0
    True
    """
    scenario = _moving(what, q, v)
    name = one_of("method", method if method is not None else scenario._core.method, METHODS)
    given = checked(options, METHOD_OPTIONS[name], f"method {name!r}")
    if "seed" in given and given.get("law") != "set" and not scenario._core.inputs:
        raise ValueError("seed: belongs to law 'set', or to inputs with a set of values")
    project = given.pop("project", False)
    if scenario.kind in ("matrices", "contact space", "event-selected system") and project:
        raise ValueError("project: there are no joints")
    given["method"] = name
    made = run("simulating", progress, lambda tell: _core.simulate(scenario._core, given, project, tell))
    return Trajectory(made, scenario)


class Instant(NamedTuple):
    """What acts at one state."""
    mode: list                #: contacts that hold; "A:slip" slides
    acceleration: np.ndarray  #: [m/s^2, rad/s^2]
    normal: np.ndarray        #: forces of all contacts [N]
    tangential: np.ndarray    #: [N]


def at_start(what, *, q=None, v=None, **options):
    """Mode, accelerations and contact forces at the start, as method "hybrid" finds them: an `Instant`.

    pseudo_impulse [s], friction, rtol, strict, law, restitution, project -- as of `routh.simulate`

    >>> now = at_start("massless-leg")
    >>> len(now.normal) == len(now.tangential)
    True
    """
    scenario = _moving(what, q, v)
    given = checked(options, METHOD_OPTIONS["hybrid"] - {"end", "every", "domain", "seed"}, "at_start")
    given["method"] = "hybrid"
    project = given.pop("project", False)
    with library_words():
        return Instant(**_core.at_start(scenario._core, given, project))


class Stepper:
    """Time-stepping, one step at a time; forces come from your program.

    >>> s = stepper("point-drop", h=1e-2)
    >>> for state in s.until(0.05):
    ...     s.force = -1.0 * state.v                 # a damper of 1 N s/m
    >>> round(s.time, 6)
    0.05
    """

    def __init__(self, scenario, options):
        with library_words():
            self._core = _core.Stepper(scenario._core, options)
        self.scenario = scenario
        self._force = frozen(np.zeros(len(scenario.v)))

    @property
    def force(self):
        """Generalised force that acts in the steps to come [N, N m]; zero at first. Set it whole: it is read-only.

        >>> s = stepper("point-drop", h=1e-2)
        >>> s.force = [0.5, 0, 0]
        >>> s.force
        array([0.5, 0. , 0. ])
        """
        return self._force

    @force.setter
    def force(self, value):
        force = frozen(vector(value, "force").copy())
        with library_words():
            self._core.push(force)
        self._force = force

    time = property(lambda self: self._core.time, doc="[s]")
    q = property(lambda self: self._core.q, doc="Coordinates [m, rad].")
    v = property(lambda self: self._core.v, doc="Velocities [m/s, rad/s], weighted by alpha as those of a "
                 "`Trajectory`: at the middle of the last step where alpha is 0.5.")
    impacts = property(lambda self: self._core.impacts, doc="Times of the impacts so far [s].")

    @property
    def state(self):
        """Where it is now, a `State`: time [s], q and v.

        >>> stepper("tilted-box", h=1e-3).state.time
        0.0
        """
        return State(self.time, self.q, self.v)

    def step(self, steps=1):
        """So many steps of h, through all impacts on the way; returns the `State`.

        One thread at a time. Ctrl-C is a KeyboardInterrupt after a whole step.

        >>> round(stepper("tilted-box", h=1e-3).step(20).time, 6)
        0.02
        """
        with library_words():
            self._core.step(count("steps", steps, 1))
        return self.state

    def until(self, end):
        """Steps until a time [s], one `State` after the other.

        >>> len(list(stepper("tilted-box", h=1e-3).until(0.01)))
        10
        """
        end = number("end", end)
        while self.time < end - 1e-9 * max(1.0, abs(end)):
            yield self.step()

    def __iter__(self):
        return self

    def __next__(self):
        return self.step()

    def __reduce__(self):
        raise TypeError("a routh.Stepper cannot be copied: make another one")

    def __repr__(self):
        return f"<routh.Stepper of {self.scenario.name!r} at {self.time:.6g} s>"


def stepper(what, h=None, *, q=None, v=None, **options):
    """A `Stepper` of a scenario, its name, or a `routh.System`: iterating it never ends.

    h -- step [s] (default: the scenario's); alpha, gamma, jacobians, detection, stabilise, law, seed,
        restitution, project

    >>> s = stepper("tilted-box", h=1e-3)
    >>> next(s).time
    0.001
    """
    scenario = _moving(what, q, v)
    allowed = METHOD_OPTIONS["time-stepping"] - {"end", "every", "domain"}
    given = checked({"h": h, **options}, allowed, "a stepper")
    if "seed" in given and given.get("law") != "set":
        raise ValueError("seed: belongs to law 'set'")
    return Stepper(scenario, given)
