"""Impacts: all outcomes, sampled sets, exact sets, many at once."""

from typing import NamedTuple, Optional

import numpy as np

from . import _core, _html
from ._arrays import finite, frictions, matrix, rows, vector
from ._options import MEANINGS, contact_names, count, law_options, library_words, one_of, run
from ._saved import Saved, Written
from ._scenario import Scenario, cone_options


class Outcome(NamedTuple):
    """One way an impact can end."""
    laws: list                 #: that have it
    velocity: np.ndarray       #: generalised velocity afterwards [m/s, rad/s]
    normal: np.ndarray         #: of each contact [m/s]
    tangential: np.ndarray     #: of each contact, one or two [m/s]
    impulse: np.ndarray        #: [N s], normals first
    contact_velocity: np.ndarray  #: normals, then tangentials [m/s]
    modes: list                #: what each contact does
    energy: float              #: kinetic, afterwards [J]
    residual: float            #: of the complementarity conditions, relative
    order: Optional[list]      #: sequential: names of contacts as they were hit


class Moves(NamedTuple):
    """How a corner of a set moves with the velocity before, friction and masses; NaN where it is not smooth."""
    smooth: bool
    bodies: list                       #: of the columns of by_mass
    by_velocity: Optional[np.ndarray]  #: contact velocities x velocities; None where the corner is a mixture of others
    by_friction: Optional[np.ndarray]  #: contact velocities x contacts
    by_mass: Optional[np.ndarray]      #: contact velocities x bodies


class Sensitivity(NamedTuple):
    """How an extreme moves: of its value by each parameter, and as `Moves` of the velocity where it is taken."""
    smooth: bool
    bodies: list
    by_velocity: Optional[np.ndarray]
    by_friction: Optional[np.ndarray]
    by_mass: Optional[np.ndarray]
    velocity: np.ndarray  #: of the value, by the velocity before
    friction: np.ndarray  #: by friction of each contact
    mass: np.ndarray      #: by the mass of each body [1/kg]


class Piece(NamedTuple):
    """A convex piece of an exact set: the hull of its corners."""
    dimension: int
    corners: np.ndarray  #: contact velocities, normals first, one row a corner [m/s]
    modes: list          #: of the contacts inside the piece
    moves: list = ()     #: of each corner, with sensitivity=True: `Moves`, None where no path to it was found


class Extreme(NamedTuple):
    """Where a set is largest or smallest in something, and how that is reached where it was asked with the law."""
    value: float                  #: [m/s], of energy [J]
    contact_velocity: np.ndarray  #: [m/s]
    velocity: np.ndarray          #: generalised [m/s, rad/s]
    bound: Optional[float]        #: proven: no outcome is beyond
    order: Optional[list] = None  #: what pushes, phase by phase, in words
    path: Optional[np.ndarray] = None      #: contact velocities at the ends of these phases, one row each [m/s]
    impulses: Optional[np.ndarray] = None  #: of these phases [N s]
    sensitivity: Optional[Sensitivity] = None  #: with sensitivity=True


def _extreme(given):
    moves = given.pop("sensitivity", None)
    return Extreme(**given, sensitivity=moves and Sensitivity(**moves))


class Containment(NamedTuple):
    """Can the impact end there?"""
    reachable: bool
    distance: float     #: to the set [m/s]
    nearest: np.ndarray  #: contact velocity of the set [m/s]

    def __bool__(self):
        return self.reachable


class ImpactResult(Saved):
    """What a law made of an impact. Print it, plot it, or read its attributes.

    >>> r = impact(np.diag([1, 1, 5/12]), [[0, 1, -.5], [0, 1, .5]], [[1, 0, 1], [1, 0, 1]], 1, [0, -.4429, 0])
    >>> len(r.outcomes), r.unique
    (3, False)
    """

    def __init__(self, core, scenario):
        self._core, self.scenario = core, scenario
        self._outcomes = None

    law = property(lambda self: self._core.law, doc="The law that was asked.")
    verdict = property(lambda self: self._core.verdict, doc="One line that a person can act on.")
    unique = property(lambda self: self._core.unique,
                      doc="Is the outcome unique? None: one was found, others may exist.")
    spread = property(lambda self: self._core.spread,
                      doc="The widest range of a contact velocity over all that can come out [m/s].")
    incomplete = property(lambda self: self._core.incomplete, doc="More was to be done.")
    contacts = property(lambda self: self._core.names, doc="Names of the contacts that touch.")
    G = property(lambda self: self._core.G, doc="Delassus matrix J M^-1 J^T [1/kg], normals first.")
    c = property(lambda self: self._core.c, doc="Contact velocity before the impact [m/s], normals first.")
    mu = property(lambda self: self._core.mu, doc="Friction of the contacts that touch.")
    e = property(lambda self: self._core.e, doc="Their coefficients of restitution.")
    energy_before = property(lambda self: self._core.energy_before, doc="Kinetic energy before [J].")

    @property
    def outcomes(self):
        """Every outcome found, as a list of `Outcome`.

        >>> from routh import load
        >>> o = load("rocking-block").impact().outcomes[0]
        >>> o.modes, o.energy < 1e-9                             # [J]
        (['sticks', 'sticks'], True)
        """
        if self._outcomes is None:
            self._outcomes = [Outcome(**o) for o in self._core.outcomes]
        return self._outcomes

    @property
    def maxima(self):
        """Law exact: the largest of what `maximize` asked for; law witnesses: of everything. An `Extreme` by name.

        >>> from routh import load
        >>> top = load("compass-gait").impact(law="witnesses").maxima["normal.B"]
        >>> top.value <= top.bound, len(top.order) == len(top.path)
        (True, True)
        """
        return {name: _extreme(e) for name, e in self._core.maxima.items()}

    @property
    def minima(self):
        """Law exact: the smallest of what `minimize` asked for; law witnesses: of everything. An `Extreme` by name.

        >>> from routh import load
        >>> least = load("compass-gait").impact(law="exact", minimize="energy").minima["energy"]
        >>> 0 <= least.bound <= least.value + 1e-9                # [J]
        True
        """
        return {name: _extreme(e) for name, e in self._core.minima.items()}

    @property
    def borderline(self):
        """Candidates that rounding can neither confirm nor refute, a list of `Outcome`.

        >>> from routh import load
        >>> load("compass-gait").impact().borderline
        []
        """
        return [Outcome(**o) for o in self._core.borderline]

    @property
    def unfinished(self):
        """Sequences of single impacts that were given up, a list of `Outcome`.

        >>> from routh import load
        >>> load("compass-gait").impact().unfinished
        []
        """
        return [Outcome(**o) for o in self._core.unfinished]

    def exact(self, progress=None, **options):
        """The whole set of outcomes under any interleaving of impulses, computed: an `ExactSet`.

        max_seconds [s], max_polyhedra -- the budget

        >>> from routh import load
        >>> s = load("rocking-block").impact().exact()
        >>> s.status, max(p.dimension for p in s.pieces)
        ('exact', 1)
        """
        return ask(self.scenario, "exact", options, progress)

    def set(self, samples=None, seed=0, progress=None, **options):
        """Samples of that set: a `SampledSet`.

        samples -- how many (default: the scenario's); seed -- the same seed gives the same samples

        >>> from routh import load
        >>> w = load("rocking-block").impact().set(samples=500, seed=7)
        >>> w.velocities.shape, bool(w.ended.all())
        ((500, 3), True)
        """
        return ask(self.scenario, "set", {"samples": samples, "seed": seed, **options}, progress)

    def plot(self, axes=None):
        """Outcomes over the velocities of the contacts [m/s], with Matplotlib; returns the figure.

        axes -- three of your own to draw into

        >>> from routh import load
        >>> len(load("rocking-block").impact().plot().axes)
        3
        """
        from ._plot import plot_impact
        return plot_impact(self, axes)

    def _lines(self):
        before = self.energy_before
        for k, o in enumerate(self.outcomes[:12], 1):
            what = ", ".join(f"{name} {mode}" for name, mode in zip(self.contacts, o.modes))
            left = o.energy if o.energy > 1e-15 * before else 0.0  # the rest is rounding
            share = f", {100 * left / before:.3g} %" if before > 0 else ""
            yield k, ", ".join(o.laws), what, f"{left:.4g} J{share}", o

    def __str__(self):
        text = self.verdict
        for k, law, what, energy, o in self._lines():
            text += f"\n  {k}: {what}; energy {energy}; {law}"
        more = len(self.outcomes) - 12
        return text + (f"\n  .. {more} more" if more > 0 else "") + self._more()

    def _more(self):
        text = ""
        for what, bound, found in (("largest", "at most", self.maxima), ("smallest", "at least", self.minima)):
            for name, e in found.items():
                text += f"\n  {what} {name}: {e.value:.6g} {'J' if name == 'energy' else 'm/s'}"
                text += f", {bound} {e.bound:.6g}" if e.bound is not None else ""
                text += "".join(f"\n    {'then ' if k else ''}{phase}" for k, phase in enumerate(e.order or ()))
        return text

    def __repr__(self):
        return f"<routh.{type(self).__name__} by {self.law!r}: {self.verdict}>"

    def _repr_html_(self):
        rows = [(k, what, energy, np.array2string(o.velocity, precision=4, suppress_small=True, threshold=8), law)
                for k, law, what, energy, o in self._lines()]
        shown = _html.table(["", "contacts", "energy", "velocity", "law"], rows) if rows else ""
        return _html.verdict(self.verdict, self.unique) + shown + _html.svg(self._core.draw)


class SampledSet(ImpactResult):
    """Samples of the set of outcomes under any interleaving of impulses, P1 Algorithms 1 and 2.

    >>> from routh import load
    >>> w = load("compass-gait").impact(law="set", samples=1000, seed=7)
    >>> w.velocities.shape, w.velocities.flags.owndata
    ((1000, 4), False)
    """

    samples = property(lambda self: self._core.samples, doc="Samples done.")
    velocities = property(lambda self: self._core.velocities,
                          doc="Generalised velocities afterwards, one row a sample, read-only: the library's own memory. "
                              "Of the first samples, as many as half a gigabyte holds; all count in `ranges`.")
    contact_velocities = property(lambda self: self._core.contact_velocities,
                                  doc="Contact velocities afterwards, normals first, one row a sample [m/s].")
    impulses = property(lambda self: self._core.impulses, doc="Total impulses, one row a sample [N s].")
    steps = property(lambda self: self._core.steps, doc="Step problems solved by each sample.")
    ended = property(lambda self: self._core.ended.view(bool),
                     doc="Did each sample end with no approaching contact? If not it is no outcome.")

    certificate = property(lambda self: self.to_dict().get("certificate"),
                           doc="With epsilon: what P1 Theorem 9 promises of these samples, as a dict; does it hold? None otherwise.")

    @property
    def ranges(self):
        """The smallest and the largest contact velocities of all outcomes [m/s], normals first.

        >>> from routh import load
        >>> low, high = load("compass-gait").impact(law="set", samples=500).ranges
        >>> bool((low[:2] >= 0).all()), bool(high[1] > 0.05)      # B may separate
        (True, True)
        """
        return self._core.ranges

    def _lines(self):
        return iter(())

    def __str__(self):
        low, high = self.ranges
        text = f"{self.verdict}\n  {self.samples} samples, {self._core.terminated} ended"
        for i, name in enumerate(self.contacts) if len(low) else ():
            text += f"\n  {name}: normal {low[i]:.4g} to {high[i]:.4g} m/s"
        return text


class ExactSet(ImpactResult):
    """The set of outcomes under any interleaving of impulses, as convex pieces.

    >>> from routh import load
    >>> s = load("box-and-wall").impact(law="exact")
    >>> s.maximize("normal.A").value >= 0
    True
    """

    status = property(lambda self: self._core.status,
                      doc="exact; bracket: it contains the set; jammed or incomplete: there is none.")

    @property
    def pieces(self):
        """Convex pieces of the set, a list of `Piece`; corners are contact velocities [m/s].

        >>> from routh import load
        >>> p = load("rocking-block").impact(law="exact").pieces[0]
        >>> p.corners.shape[1]                                    # two normals, two tangentials
        4
        """
        return [Piece(*p[:3], [m and Moves(**m) for m in p[3]]) for p in self._core.pieces]

    def maximize(self, what):
        """The largest "energy", "normal.NAME", "tangential.NAME", "v[K]" or a sum of these with factors: an `Extreme`.

        How it is reached is told where `maximize=` asked for it together with the law, by `maxima`.

        >>> from routh import load
        >>> s = load("compass-gait").impact(law="exact")
        >>> round(s.maximize("normal.B").value, 3)                # [m/s]
        0.1
        """
        with library_words():
            return _extreme(self._core.maximize(str(what)))

    def minimize(self, what):
        """The smallest: an `Extreme`.

        >>> from routh import load
        >>> bool(abs(load("compass-gait").impact(law="exact").minimize("normal.B").value) < 1e-12)
        True
        """
        with library_words():
            return _extreme(self._core.minimize(str(what)))

    def contains(self, c):
        """Can the impact end with these contact velocities [m/s], normals first? A `Containment`.

        >>> from routh import load
        >>> s = load("rocking-block").impact(law="exact")
        >>> bool(s.contains([0, 0, 0, 0])), bool(s.contains([1, 0, 0, 0]))
        (True, False)
        """
        with library_words():
            return Containment(*self._core.contains(finite(vector(c, "c"), "c")))

    def _more(self):
        return "".join(f"\n  piece {k}: dimension {p.dimension}, {len(p.corners)} corners"
                       for k, p in enumerate(self.pieces[:12], 1)) + super()._more()


class CheckResult(Written):
    """Is the outcome of an impact well defined?

    >>> from routh import load
    >>> load("compass-gait").check().unique
    False
    """

    def __init__(self, core):
        self._core = core

    verdict = property(lambda self: self._core.verdict, doc="One line that a person can act on.")
    unique = property(lambda self: self._core.unique, doc="None: not known.")
    spread = property(lambda self: self._core.spread, doc="Range of contact velocities over all outcomes [m/s].")
    pointed = property(lambda self: self._core.pointed, doc="Is the friction cone? If not the contacts can jam.")
    searched = property(lambda self: self._core.searched, doc="What was searched, in words.")
    incomplete = property(lambda self: self._core.incomplete, doc="Interrupted: more was to be searched.")

    @property
    def spreads(self):
        """Of contacts whose outcomes differ, by name: the range of their velocity [m/s], widest first.

        >>> from routh import load
        >>> list(load("compass-gait").check().spreads)
        ['B', 'A']
        """
        return {c["name"]: c["spread"] for c in self.to_dict()["ambiguous_contacts"]}

    @property
    def worst(self):
        """Of a model whose outcome is not unique, for its base and each body that touches: how far its velocity
        lies from what all contacts at once make of it (`away`), or how fast it slides and lifts [m/s], and `by` which order.

        >>> from routh import load
        >>> load("compass-gait").check().worst                    # no model, no bodies to name
        []
        """
        return self.to_dict().get("worst", [])

    def __str__(self):
        text = f"{self.verdict}\n  searched: {self.searched}\n  friction cone pointed: {'yes' if self.pointed else 'no'}"
        for name, spread in self.spreads.items():
            text += f"\n  {name}: spreads over {spread:.4g} m/s"
        for w in self.worst:
            how = f"{w['away']:.3g} m/s away" if w["base"] else f"slides at up to {w['slides']:.3g}, lifts at up to {w['lifts']:.3g} m/s"
            text += f"\n  worst for {w['body']}: {how}; {w['by']}"
        return text

    def __repr__(self):
        return f"<routh.CheckResult: {self.verdict}>"

    def _repr_html_(self):
        facts = [("searched", self.searched), ("friction cone pointed", "yes" if self.pointed else "no"),
                 ("spread", f"{self.spread:.4g} m/s")]
        return _html.verdict(self.verdict, self.unique) + _html.table(["", ""], facts)


def ask(scenario, law, given, progress):
    asked = dict(given)
    contains = asked.pop("contains", None)
    compare = asked.pop("compare", None)
    options = law_options(law, {**asked, **({"contains": contains} if contains is not None else {})})
    options.pop("contains", None)
    if contains is not None:
        options["contains"] = [finite(row, "contains") for row in matrix(np.atleast_2d(contains), "contains")]
    if compare is not None:
        one_of("compare", compare, ["mujoco"])
        if scenario.kind != "model":
            raise ValueError(f"compare: {scenario.name} is not a model of MuJoCo")
        options["compare"] = compare
    options["law"] = law
    made = run("sampling" if law == "set" else law, progress, lambda tell: _core.impact(scenario._core, options, tell))
    kind = {"set": SampledSet, "exact": ExactSet}.get(law, ImpactResult)
    return kind(made, scenario)


def check(scenario, progress=None, restitution=None):
    means = {} if restitution is None else {"restitution": one_of("restitution", restitution, MEANINGS)}
    return CheckResult(run("checking", progress, lambda tell: _core.check(scenario._core, means, tell)))


def impact(M, Jn, Jt, mu, v, A=None, law="all", *, e=0, names=None, cone=None, edges=None, progress=None, **options):
    """Every outcome of an impact that is given by plain matrices.

    M -- inertia, nv x nv
    Jn -- normal rows, one a contact; Jn v < 0 approaches
    Jt -- tangent rows: one a contact in the plane, two in space, contact by contact
    mu -- friction, of each contact or of all
    v -- generalised velocity before the impact, nv [m/s, rad/s]
    A -- bilateral rows (joints), A v = 0
    law -- "all": every outcome of simultaneous and sequential and a few samples of set; or
        another of `routh.LAWS`: "simultaneous", "sequential", "set", "exact", "witnesses", "binary", "lzb", "single"
    e -- restitution, of each contact or of all, from 0 to 1
    names -- of the contacts (default: A, B, ..)
    cone, edges -- in space: "circular" or "polygon", and of how many edges
    options -- of the law: samples, seed, threads, device ("cpu" or "cuda"), draws, order, single, step [N s], limit,
        final_step [N s], epsilon [m/s], delta, keep, coverage, contact, stiffness, exponent, maximize, minimize, sensitivity,
        contains, max_seconds, max_polyhedra; restitution: what e is a ratio of, "newton"
        (velocities), "poisson" (impulses) or "stronge" (works; default: as suits the law)
    progress -- True or False to show it, or a function of the part that is done

    >>> r = impact([[1, 0], [0, 1]], [[0, 1]], [[1, 0]], 0.5, [1, -1])
    >>> print(r.unique, r.outcomes[0].velocity)
    True [0.5 0. ]
    """
    scenario = _matrices(M, Jn, Jt, mu, v, A, names, cone, edges, e)
    return ask(scenario, law, options, progress)


def _matrices(M, Jn, Jt, mu, v, A, names, cone, edges, e=0):
    M, Jn, v = matrix(M, "M"), rows(Jn, "Jn"), vector(v, "v")
    A = np.zeros((0, 0)) if A is None else rows(A, "A")
    mu, e = frictions(mu, len(Jn)), frictions(e, len(Jn), "e")
    options = cone_options(cone, edges) if cone is not None or edges is not None else {}
    Jt = rows(Jt, "Jt")
    if options and len(Jt) == len(Jn):
        raise ValueError(f"{'cone' if edges is None else 'edges'}: belongs to contacts in space, with two tangents each")
    with library_words():
        core = _core.matrices(M, Jn, Jt, mu, v, A, contact_names(names), e, options)
    M, Jn, Jt, mu, v, A, e = (a.copy() for a in (M, Jn, Jt, mu, v, A, e))  # the caller's may change
    return Scenario(core, (_matrices, M, Jn, Jt, mu, v, A if A.size else None, names, cone, edges, e))


def impact_in_contact_space(G, c, mu, tangents=1, law="all", *, e=0, names=None, cone=None, edges=None, progress=None,
                            **options):
    """The same where only contact space is known: c+ = c + G lambda.

    G -- Delassus matrix [1/kg], normals first, then the tangents contact by contact
    c -- contact velocity before the impact [m/s], ordered as G
    e -- coefficient of restitution, of each contact or of all

    >>> impact_in_contact_space([[1, 0], [0, 1]], [-1, 1], 0.5).outcomes[0].contact_velocity
    array([0. , 0.5])
    """
    return ask(_contact_space(G, c, mu, tangents, names, cone, edges, e), law, options, progress)


def _contact_space(G, c, mu, tangents, names, cone, edges, e=0):
    tangents = count("tangents", tangents)
    if tangents not in (1, 2):
        raise ValueError(f"tangents {tangents}: must be 1 (planar) or 2 (in space)")
    c = vector(c, "c")
    cones = cone_options(cone, edges)
    if cones and tangents == 1:
        raise ValueError(f"{'cone' if edges is None else 'edges'}: belongs to contacts in space, with two tangents each")
    with library_words():
        m = len(c) // (1 + tangents)
        G, mu, e = matrix(G, "G"), frictions(mu, m), frictions(e, m, "e")
        core = _core.contact_space(G, c, mu, tangents, contact_names(names), e, cones)
    G, c, mu, e = (a.copy() for a in (G, c, mu, e))
    return Scenario(core, (_contact_space, G, c, mu, tangents, names, cone, edges, e))
