"""Scenarios: what is there at an instant, or moves from it."""

import os
from html import escape

from . import _core
from ._html import table
from ._arrays import finite, frozen, vector
from ._options import count, flag, library_words, number, one_of, text, word


def cone_options(cone, edges):
    """Of friction cones in space: circular, or a polygon of so many edges."""
    if cone is not None:
        one_of("cone", cone, ["circular", "polygon"])
    if edges is not None and not 3 <= count("edges", edges) <= 64:
        raise ValueError(f"edges {edges}: must be from 3 to 64")
    if cone == "circular" and edges is not None:
        raise ValueError("edges: a circular cone has none; leave it out or use cone='polygon'")
    if cone == "circular":
        return {"edges": 0}
    if cone == "polygon" or edges is not None:
        return {"edges": int(edges if edges is not None else _core.kEdges)}
    return {}


class Scenario:
    """A mechanism, a model, an event-selected system or plain matrices, with its state at the start.

    Made by `routh.load`; it never changes.

    >>> m = load("rocking-block", friction=0.4)
    >>> m.kind, m.coordinates, m.contacts
    ('mechanism', ['block.x', 'block.y', 'block.angle'], ['A', 'B'])
    """

    def __init__(self, core, made):
        self._core = core
        self._made = made  # the function that made it, and what it was given
        self._terms = None

    def __reduce__(self):
        return self._made[0], self._made[1:]

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    name = property(lambda self: self._core.name, doc="Of the built-in scenario, or the file's path.")
    title = property(lambda self: self._core.title, doc="What it is, for people.")
    kind = property(lambda self: self._core.kind,
                    doc="mechanism, model, system, event-selected system, matrices or contact space.")
    coordinates = property(lambda self: self._core.coordinates, doc="Names of q.")
    velocities = property(lambda self: self._core.velocities, doc="Names of v.")
    q = property(lambda self: self._core.q, doc="Coordinates at the start [m, rad].")
    v = property(lambda self: self._core.v, doc="Velocities at the start [m/s, rad/s].")
    states = property(lambda self: self._core.states, doc="Names of a model's keyframes.")
    notes = property(lambda self: self._core.notes, doc="What is taken differently from a model's file.")

    @property
    def parameters(self):
        """Values of the parameters by name; printed, a scenario shows their units.

        >>> load("rocking-block", friction=0.3).parameters["friction"]
        0.3
        """
        return {name: value for name, value, _, _ in self._core.parameters}

    @property
    def contacts(self):
        """Names of the contacts at the start, touching or not.

        >>> load("compass-gait").contacts
        ['A', 'B']
        """
        return self._of("names")

    def _of(self, what):
        if self._terms is None:
            self._terms = {name: frozen(value) for name, value in self._core.terms.items()}
        return self._terms[what]

    M = property(lambda self: self._of("M"), doc="Inertia at the start [kg, kg m, kg m^2].")
    forces = property(lambda self: self._of("forces"), doc="Gravity, springs and velocity terms [N, N m].")
    A = property(lambda self: self._of("A"), doc="Bilateral rows: A v = 0.")
    Jn = property(lambda self: self._of("Jn"), doc="Normal rows, one a contact; Jn v < 0 approaches.")
    Jt = property(lambda self: self._of("Jt"), doc="Tangent rows, one a contact in the plane, two in space.")
    mu = property(lambda self: self._of("mu"), doc="Friction of each contact.")
    e = property(lambda self: self._of("e"), doc="Coefficient of restitution of each contact.")
    phi = property(lambda self: self._of("phi"), doc="Gap of each contact [m], positive apart.")

    def terms(self, q, v, t=0.0):
        """M, forces, A, Jn, Jt, mu, e, phi and names at another state, as a dictionary.

        >>> m = load("rocking-block")
        >>> sorted(m.terms(m.q, m.v))
        ['A', 'Jn', 'Jt', 'M', 'e', 'forces', 'mu', 'names', 'phi']
        """
        with library_words():
            return self._core.terms_at(finite(vector(q, "q"), "q"), finite(vector(v, "v"), "v"), number("t", t))

    def impact(self, law="all", progress=None, **options):
        """Every outcome of the impact at the start; see `routh.impact` for laws and options.

        >>> load("compass-gait").impact().verdict[:22]
        'NOT unique: 3 outcomes'
        """
        from ._impact import ask
        return ask(self, law, options, progress)

    def check(self, progress=None, restitution=None):
        """Is the outcome of the impact at the start well defined? What `routh check` says.

        restitution -- what coefficients of restitution are ratios of: "poisson" for every law alike
            (default: as suits each law, so that laws may differ by what they mean)

        >>> load("box-and-wall").check().unique
        False
        """
        from ._impact import check
        return check(self, progress, restitution)

    def simulate(self, method=None, **options):
        """The same as `routh.simulate(self, ..)`: a `Trajectory`.

        >>> load("tilted-box").simulate(h=1e-2, end=0.1).time[-1]  # [s]
        0.1
        """
        from ._motion import simulate
        return simulate(self, method, **options)

    def stepper(self, h=None, **options):
        """The same as `routh.stepper(self, ..)`: a `Stepper`; h is the step [s].

        >>> load("tilted-box").stepper(h=1e-3).step(5).time
        0.005
        """
        from ._motion import stepper
        return stepper(self, h, **options)

    def ensemble(self, runs=1024, seed=0, **options):
        """The same as `routh.ensemble(self, ..)`: an `EnsembleResult`.

        >>> len(load("rocking-block").ensemble(runs=4, end=0.1))
        4
        """
        from ._ensemble import ensemble
        return ensemble(self, runs, seed, **options)

    def __repr__(self):
        return f"<routh.Scenario {self.name!r}: {self.kind}, {len(self.v)} velocities, {len(self.contacts)} contacts>"

    def _repr_html_(self):
        rows = [(name, f"{value:g} {unit}", about) for name, value, unit, about in self._core.parameters]
        return (f"<b>{escape(self.name)}</b>: {escape(self.title)} ({self.kind}, {len(self.v)} velocities, "
                f"{len(self.contacts)} contacts)" + (table(["parameter", "value", ""], rows) if rows else ""))


def scenario_names():
    """Names of the built-in scenarios.

    >>> "rocking-block" in scenario_names()
    True
    """
    return _core.scenario_names()


def scenario_text(name):
    """The file of a built-in scenario, to begin your own with.

    >>> scenario_text("rocking-block").count("mechanism")
    1
    """
    with library_words():
        return _core.scenario_text(word("name", name))


def load(name, state=None, *, qpos=None, qvel=None, ctrl=None, drop=None, as_is=False, floating=False, floor=False,
         cone=None, edges=None, touching=None, extreme_points=False, set=None, **parameters):
    """A built-in scenario by name, or a YAML, MJCF or URDF file by path.

    state, qpos, qvel, ctrl, drop -- of a model: keyframe to begin at; coordinates, velocities and
        inputs of the actuators (one number is for all) instead of its own; height above the ground
        from which it falls until it touches [m]
    as_is -- of a model: refuse a start that overlaps instead of moving it
    floating, floor -- of a model: put a free joint under its root; add a plane at height zero
    cone, edges -- in space: "circular" or "polygon", and of how many edges
    touching -- gaps up to this take part in an impact [m]
    extreme_points -- of a model: of contacts side by side in one plane keep the outermost
    set -- parameters as a dictionary, for names that are no names in Python
    parameters -- of the scenario: friction=0.8

    >>> load("rocking-block", friction=0.3).parameters["friction"]
    0.3
    """
    if not isinstance(name, (str, os.PathLike)):
        raise ValueError(f"name {name!r}: must be the name of a scenario or the path of a file")
    name = os.fspath(name)
    if name == "-" or not isinstance(name, str):
        raise ValueError(f"name {name!r}: must be the name of a scenario or the path of a file")
    text("name", name)
    try:
        values = {**dict(set or {}), **parameters}
    except (TypeError, ValueError):
        raise ValueError("set: must be a dictionary of parameters") from None
    values = {word("set", key): number(key, value) for key, value in values.items()}
    start = {}
    if state is not None:
        start["state"] = word("state", state)
    for key, value in (("qpos", qpos), ("qvel", qvel), ("ctrl", ctrl)):
        if value is not None:
            start[key] = list(finite(vector(value, key), key))
    if drop is not None:
        start["drop"] = number("drop", drop, 0)
    for key, value in (("as_is", as_is), ("floating", floating), ("floor", floor)):
        if flag(key, value):
            start[key] = True
    options = cone_options(cone, edges)
    if touching is not None:
        options["touching"] = number("touching", touching, above=0)
    if flag("extreme_points", extreme_points):
        options["extreme_points"] = True
    with library_words():
        made = Scenario(_core.load(name, values, start, options),
                        (_load_again, name, dict(state=state, qpos=qpos, qvel=qvel, ctrl=ctrl, drop=drop, as_is=as_is,
                                                 floating=floating, floor=floor, cone=cone, edges=edges,
                                                 touching=touching, extreme_points=extreme_points, set=values)))
    space = made.kind == "model" or (len(made.contacts) > 0 and len(made.Jt) == 2 * len(made.contacts))
    for given, fits, where in (("edges", space, "models and matrices in space"),
                               ("touching", made.kind in ("model", "mechanism"), "models and mechanisms"),
                               ("extreme_points", made.kind == "model", "models")):
        if given in options and not fits:
            raise ValueError(f"{'cone' if given == 'edges' and edges is None else given}: belongs to {where}; "
                             f"{name} is one of {made.kind}s")
    return made


def _load_again(name, options):
    return load(name, **options)
