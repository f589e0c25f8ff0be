"""Impacts: all outcomes, sampled sets, exact sets, many at once."""

from typing import NamedTuple, Optional

import numpy as np

from . import _core, _html
from ._arrays import array, finite, frictions, matrix, vector
from ._options import MEANINGS, Progress, contact_names, count, law_options, library_words, one_of, run
from ._options import threads as number_of_threads
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


class Piece(NamedTuple):
    """A convex piece of an exact set: the hull of its corners."""
    dimension: int
    corners: np.ndarray  #: contact velocities, normals first, one row a corner [m/s]
    modes: list          #: of the contacts inside the piece


class Extreme(NamedTuple):
    """Where a set is largest or smallest in something."""
    value: float                  #: [m/s], of energy [J]
    contact_velocity: np.ndarray  #: [m/s]
    velocity: np.ndarray          #: generalised [m/s, rad/s]


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
        """Every outcome found, as a list of `Outcome`."""
        if self._outcomes is None:
            self._outcomes = [Outcome(**o) for o in self._core.outcomes]
        return self._outcomes

    @property
    def borderline(self):
        """Candidates that rounding can neither confirm nor refute."""
        return [Outcome(**o) for o in self._core.borderline]

    @property
    def unfinished(self):
        """Sequences of single impacts that were given up."""
        return [Outcome(**o) for o in self._core.unfinished]

    def exact(self, progress=None, **options):
        """The whole set of outcomes under any interleaving of impulses, computed: an `ExactSet`.

        max_seconds, max_polyhedra -- the budget; a ValueError where Routh was built without exact sets.
        """
        return ask(self.scenario, "exact", options, progress)

    def set(self, samples=None, seed=0, progress=None, **options):
        """Samples of that set: a `SampledSet`.

        samples -- how many (default: the scenario's); seed -- the same seed gives the same samples
        """
        return ask(self.scenario, "set", {"samples": samples, "seed": seed, **options}, progress)

    def plot(self, axes=None):
        """Outcomes over the velocities of the contacts, with Matplotlib; returns the figure."""
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
        return ""

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

    @property
    def ranges(self):
        """The smallest and the largest contact velocities of all outcomes [m/s], normals first."""
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

    >>> from routh import has_exact, load
    >>> s = load("box-and-wall").impact(law="exact") if has_exact else None
    >>> s is None or s.maximize("normal.A").value >= 0
    True
    """

    status = property(lambda self: self._core.status,
                      doc="exact; outer: it contains the set; jammed or incomplete: there is none.")

    @property
    def pieces(self):
        """A list of `Piece`."""
        return [Piece(*p) for p in self._core.pieces]

    def maximize(self, what):
        """The largest "energy", "normal.NAME" or "tangential.NAME" of an outcome: an `Extreme`."""
        with library_words():
            return Extreme(**self._core.maximize(str(what)))

    def minimize(self, what):
        """The smallest: an `Extreme`."""
        with library_words():
            return Extreme(**self._core.minimize(str(what)))

    def contains(self, c):
        """Can the impact end with these contact velocities [m/s], normals first? A `Containment`."""
        with library_words():
            return Containment(*self._core.contains(finite(vector(c, "c"), "c")))

    def _more(self):
        return "".join(f"\n  piece {k}: dimension {p.dimension}, {len(p.corners)} corners"
                       for k, p in enumerate(self.pieces[:12], 1))


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

    def __str__(self):
        return f"{self.verdict}\n  searched: {self.searched}\n  friction cone pointed: {'yes' if self.pointed else 'no'}"

    def __repr__(self):
        return f"<routh.CheckResult: {self.verdict}>"

    def _repr_html_(self):
        facts = [("searched", self.searched), ("friction cone pointed", "yes" if self.pointed else "no"),
                 ("spread", f"{self.spread:.4g} m/s")]
        return _html.verdict(self.verdict, self.unique) + _html.table(["", ""], facts)


class BatchResult(NamedTuple):
    """Outcomes of many impacts: those of problem k are rows offsets[k] to offsets[k + 1]."""
    offsets: np.ndarray             #: one more than there are problems
    contact_velocities: np.ndarray  #: one row an outcome, normals first [m/s]
    impulses: np.ndarray            #: one row an outcome [N s]
    residuals: np.ndarray           #: one an outcome
    unique: np.ndarray              #: of each problem 1, 0, or -1 where it is not known
    incomplete: bool                #: interrupted: problems without outcomes may not have been done

    @property
    def counts(self):
        """Outcomes of each problem."""
        return np.diff(self.offsets)


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
    options -- of the law: samples, seed, threads, draws, order, single, step [N s], limit,
        final_step [N s], keep, coverage, contact, stiffness, exponent, maximize, minimize,
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
    Jn = matrix(Jn, "Jn")
    bilateral = np.zeros((0, 0)) if A is None else matrix(A, "A")
    options = cone_options(cone, edges) if cone is not None or edges is not None else {}
    Jt = matrix(Jt, "Jt")
    if options and len(Jt) == len(Jn):
        raise ValueError(f"{'cone' if edges is None else 'edges'}: belongs to contacts in space, with two tangents each")
    with library_words():
        return Scenario(_core.matrices(matrix(M, "M"), Jn, Jt, frictions(mu, len(Jn)), vector(v, "v"), bilateral,
                                       contact_names(names), frictions(e, len(Jn), "e"), options),
                        (_matrices, M, Jn, Jt, mu, v, A, names, cone, edges, e))


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
        return Scenario(_core.contact_space(matrix(G, "G"), c, frictions(mu, m), tangents, contact_names(names),
                                            frictions(e, m, "e"), cones),
                        (_contact_space, G, c, mu, tangents, names, cone, edges, e))


def impact_batch(G, c, mu, law="simultaneous", *, e=0, restitution=None, tangents=1, edges=None, threads=0,
                 progress=None):
    """Many impacts of the same size in contact space, on all cores: a `BatchResult`.

    G -- n x k x k, or k x k for all; c -- n x k; mu -- n x m, m, or one number
    law -- "simultaneous", "sequential", "binary", "lzb" or "all"
    e, restitution -- as of `routh.impact`; e as mu
    edges -- in space: of the friction cones; 0: circular (the default)

    >>> b = impact_batch([[1, 0], [0, 1]], [[-1, 1], [-1, 0.2]], 0.5)
    >>> b.counts, b.contact_velocities
    (array([1, 1]), array([[0. , 0.5],
           [0. , 0. ]]))
    """
    one_of("law", law, _core.batch_laws())
    tangents = count("tangents", tangents)
    if tangents not in (1, 2):
        raise ValueError(f"tangents {tangents}: must be 1 (planar) or 2 (in space)")
    c = finite(array(c, "c", 2), "c")
    n, k = c.shape
    m = k // (1 + tangents)
    if k == 0 or k % (1 + tangents):
        raise ValueError(f"c: is {n} x {k}; with {tangents} tangents of every contact it must have {1 + tangents} "
                         f"columns a contact")
    G = np.asarray(G)
    G = finite(array(G, "G", 3) if G.ndim == 3 else matrix(G, "G")[None], "G")
    if G.shape[1:] != (k, k) or G.shape[0] not in (1, n):
        raise ValueError(f"G: is {' x '.join(map(str, G.shape))}; c is {n} x {k}, so G must be {n} x {k} x {k}")
    mu, e = _of_each(mu, "mu", n, m), _of_each(e, "e", n, m)
    means = "" if restitution is None else one_of("restitution", restitution, MEANINGS)
    if means and not (e > 0).any():
        raise ValueError(f"restitution {means!r}: no contact bounces; give contacts an e above zero")
    edges = 0 if edges is None else count("edges", edges)
    if tangents == 1 and edges:
        raise ValueError("edges: belongs to contacts in space, with two tangents each")
    whole = [np.ascontiguousarray(np.broadcast_to(a, (n,) + a.shape[1:])) for a in (G, mu, e)]
    tell = Progress("impacts", progress)
    with library_words():
        result = BatchResult(*_core.batch(whole[0], c, whole[1], whole[2], means, tangents, edges, law,
                                          number_of_threads(threads), tell.callback()))
    tell.end(result.incomplete, 3)
    return result


def _of_each(value, name, problems, contacts):
    """One number for all contacts, one for each, or one for each of every problem."""
    a = np.asarray(frictions(value, contacts, name) if np.ndim(value) < 2 else matrix(value, name))
    a = finite(a[None] if a.ndim == 1 else a, name)
    if a.shape[1] != contacts or a.shape[0] not in (1, problems):
        raise ValueError(f"{name}: is {' x '.join(map(str, a.shape))}; there are {problems} problems of {contacts} contacts")
    return a
