"""Mechanisms written in Python."""

import numbers
from typing import NamedTuple, Optional

import numpy as np

from . import _core
from ._arrays import array, finite, frozen, rows
from ._options import library_words, number, text
from ._scenario import Scenario


MOST = 6000  #: coordinates of a system, as of any mechanism


class Contact(NamedTuple):
    """A contact of a `System` at a configuration."""
    name: str
    phi: float             #: gap [m], positive apart
    Jn: object             #: normal row, nv: the gap's derivative; Jn v < 0 approaches
    Jt: object             #: tangent row, nv; two of them in space
    mu: float = 0.0        #: friction
    bias_n: Optional[float] = None  #: d/dt(Jn) v [m/s^2]; None: found by differences
    bias_t: Optional[float] = None  #: d/dt(Jt) v [m/s^2], of planar contacts
    e: float = 0.0         #: restitution, from 0 to 1


class System:
    """A mechanism of your own:  M(q) dv/dt = forces(t, q, v) + contact forces,  A v = 0.

    Derive from it, say how many coordinates there are and write `mass` and `forces`; `contacts`,
    `joints`, `potential_energy` and `integrate` where there is something to say. What a method
    raises comes out of `routh.simulate` as it is; what has the wrong size is a ValueError.

    >>> class Ball(System):
    ...     nv = 2                                        # x, y
    ...     def mass(self, q): return np.diag([2.0, 2.0])
    ...     def forces(self, t, q, v): return [0, -2 * 9.81]
    ...     def contacts(self, q):
    ...         return [Contact("floor", q[1], [0, 1], [1, 0], mu=0.5)]
    >>> from routh import simulate
    >>> t = simulate(Ball(), "time-stepping", q=[0, 0.1], v=[1, 0], h=1e-3, end=0.5)
    >>> abs(t.q[-1][1]) < 1e-9
    True
    """

    #: Velocities, and coordinates where they are not as many.
    nv = 0
    nq = None
    #: Names of coordinates and velocities, for tables and figures.
    coordinates = None
    velocities = None

    # what a subclass writes

    def mass(self, q):
        """Inertia, nv x nv, symmetric [kg, kg m, kg m^2]; see the example of the class."""
        raise NotImplementedError(f"{type(self).__name__}.mass(q) must return the inertia")

    def forces(self, t, q, v):
        """Gravity, springs, velocity terms, controls: nv [N, N m]; see the example of the class."""
        raise NotImplementedError(f"{type(self).__name__}.forces(t, q, v) must return the forces")

    def contacts(self, q):
        """All contacts that there can be, touching or not, always the same ones in one order; see the example of the class."""
        return []

    def joints(self, q):
        """Bilateral rows: (A, gaps) with A v = 0 and how far each is from closed [m].

        >>> class Bead(System):                               # of 1 kg on a wire at 45 degrees
        ...     nv = 2
        ...     def mass(self, q): return np.eye(2)
        ...     def forces(self, t, q, v): return [0, -10]
        ...     def joints(self, q): return [[1, -1]], [q[0] - q[1]]
        >>> from routh import simulate
        >>> q = simulate(Bead(), q=[0, 0], h=1e-2, end=1).q[-1]
        >>> bool(np.allclose(q, -2.5, rtol=0.02))            # half of the acceleration along the wire
        True
        """
        return None

    def potential_energy(self, q):
        """Of gravity and springs [J], for the energy that motions report.

        >>> class Stone(System):
        ...     nv = 1
        ...     def mass(self, q): return [[2.0]]
        ...     def forces(self, t, q, v): return [-2 * 9.81]
        ...     def potential_energy(self, q): return 2 * 9.81 * q[0]
        >>> from routh import simulate
        >>> E = simulate(Stone(), q=[1.0], h=1e-2, end=0.3).energy
        >>> bool(np.allclose(E, 2 * 9.81, rtol=1e-3))
        True
        """
        return 0.0

    def integrate(self, q, v, dt):
        """q moved by v for dt [s]: q + dt v unless coordinates live on a manifold.

        >>> class Wheel(System):                              # its angle as a point of the circle
        ...     nv, nq = 1, 2
        ...     def mass(self, q): return [[1.0]]
        ...     def forces(self, t, q, v): return [0.0]
        ...     def integrate(self, q, v, dt):
        ...         c, s = np.cos(dt * v[0]), np.sin(dt * v[0])
        ...         return [c * q[0] - s * q[1], s * q[0] + c * q[1]]
        >>> from routh import simulate
        >>> q = simulate(Wheel(), q=[1, 0], v=[np.pi], h=1e-2, end=1).q[-1]
        >>> bool(np.allclose(q, [-1, 0], atol=1e-9))
        True
        """
        return q + dt * v

    # what the library asks

    def scenario(self, q, v=None):
        """This system at a state, as a `routh.Scenario`: its `impact`, `check` and `simulate`.

        >>> class Ball(System):
        ...     nv = 2
        ...     def mass(self, q): return np.eye(2)
        ...     def forces(self, t, q, v): return [0, -9.81]
        ...     def contacts(self, q): return [Contact("floor", q[1], [0, 1], [1, 0], mu=0.5)]
        >>> Ball().scenario([0, 0], [1, -1]).impact().outcomes[0].velocity   # [m/s]
        array([0.5, 0. ])
        """
        self._sizes()
        if q is None:
            raise ValueError("q: a System needs its coordinates at the start")
        q = self._sized(q, "q", self.nq)
        v = self._sized(np.zeros(self.nv) if v is None else v, "v", self.nv)
        self._keep("_listed", None)
        with library_words():
            return Scenario(_core.own(self, q, v, type(self).__name__), (_scenario_again, self, q.copy(), v.copy()))

    def _keep(self, name, value):
        object.__setattr__(self, name, value)  # frozen dataclasses are systems too

    #: Contacts and joints at the start: there must be as many ever after.
    _listed = None

    def _same_number(self, contacts, joints):
        if self._listed is None:
            self._keep("_listed", (contacts, joints))
        for name, now, before in zip(("contacts", "joints"), (contacts, joints), self._listed):
            if now != before:
                raise ValueError(f"{type(self).__name__}.{name}: returned {before} at first and {now} now; it must return "
                                 f"the same ones at every configuration, touching or not")

    def _sizes(self):
        cls = type(self).__name__
        if self.nq is None:
            self._keep("nq", self.nv)
        for name, what in (("nv", "velocities"), ("nq", "coordinates")):
            n = getattr(self, name)
            if isinstance(n, bool) or not isinstance(n, numbers.Integral) or n < 1:
                raise ValueError(f"{cls}.{name}: must be the number of {what}, and is {n!r}")
            if n > MOST:
                raise ValueError(f"{cls}.{name}: {n} is too many; a system may have up to {MOST} {what}")
            self._keep(name, int(n))
        if self.nq != self.nv and not self._overrides("integrate"):
            raise ValueError(f"{cls}.integrate(q, v, dt): must be written where nq and nv differ")
        if self.coordinates is None:
            self._keep("coordinates", [f"q{i}" for i in range(self.nq)])
        if self.velocities is None:
            self._keep("velocities", self.coordinates if self.nq == self.nv else [f"v{i}" for i in range(self.nv)])
        for name, n in (("coordinates", self.nq), ("velocities", self.nv)):
            self._keep(name, [str(word) for word in getattr(self, name)])
            if len(getattr(self, name)) != n:
                raise ValueError(f"{cls}.{name}: has {len(getattr(self, name))} names; there are {n}")

    def _overrides(self, name):
        return getattr(type(self), name) is not getattr(System, name)

    def _sized(self, value, name, *shape):
        where = name if name in ("q", "v") else f"{type(self).__name__}.{name}"
        a = finite(array(value, where, len(shape)), where)
        if a.shape != shape:
            raise ValueError(f"{where}: is {' x '.join(map(str, a.shape)) or 'a number'}; "
                             f"it must be {' x '.join(map(str, shape))}")
        return a

    def _contacts(self, q):
        cls = type(self).__name__
        listed = self.contacts(q)
        try:
            listed = iter(listed)
        except TypeError:
            raise ValueError(f"{cls}.contacts: must return a list of routh.Contact") from None
        found = [self._contact(f"{cls}.contacts[{k}]", c) for k, c in enumerate(listed)]
        for k, c in enumerate(found):
            if len(c.Jt) != len(found[0].Jt):
                raise ValueError(f"{cls}.contacts[{k}].Jt: has {len(c.Jt)} rows; that of contacts[0] has {len(found[0].Jt)}, "
                                 f"and all must be planar or all in space")
        if len({c.name for c in found}) < len(found):
            raise ValueError(f"{cls}.contacts: two are called by the same name")
        return found

    def _contact(self, where, c):
        try:
            c = Contact(**c) if isinstance(c, dict) else c
        except TypeError as e:
            raise ValueError(f"{where}: {e}") from None
        if not isinstance(c, Contact):
            raise ValueError(f"{where}: must be a routh.Contact")
        own = where.split(".", 1)[1]
        Jt = finite(rows(c.Jt, f"{where}.Jt"), f"{where}.Jt")
        if Jt.shape not in ((1, self.nv), (2, self.nv)):
            raise ValueError(f"{where}.Jt: is {' x '.join(map(str, Jt.shape))}; "
                             f"it must be 1 x {self.nv} (planar) or 2 x {self.nv} (in space)")
        if len(Jt) == 2 and c.bias_t is not None:
            raise ValueError(f"{where}.bias_t: belongs to planar contacts, with one tangent")
        bias_n, bias_t = (None if b is None else number(f"{where}.{name}", b)
                          for name, b in (("bias_n", c.bias_n), ("bias_t", 0.0 if len(Jt) == 2 else c.bias_t)))
        return Contact(text(f"{where}.name", str(c.name)), number(f"{where}.phi", c.phi),
                       self._sized(c.Jn, f"{own}.Jn", self.nv), Jt, number(f"{where}.mu", c.mu, 0), bias_n, bias_t,
                       number(f"{where}.e", c.e, 0, 1))

    def _with_bias(self, q, v):
        here = self._contacts(q)
        if all(c.bias_n is not None and c.bias_t is not None for c in here):
            return here
        if not np.any(v):
            return [c._replace(bias_n=c.bias_n or 0.0, bias_t=c.bias_t or 0.0) for c in here]
        # d/dt(J) v by central differences along the motion
        dt = 1e-6 * max(1.0, np.abs(q).max()) / max(1e-300, np.abs(v).max())
        ahead = self._contacts(self._moved(q, v, dt))
        behind = self._contacts(self._moved(q, v, -dt))

        def rate(row, i):
            return float(((getattr(ahead[i], row) - getattr(behind[i], row)).reshape(-1, self.nv) @ v)[0] / (2 * dt))

        if not len(ahead) == len(behind) == len(here):
            raise ValueError(f"{type(self).__name__}.contacts: must return the same contacts at every configuration")
        return [c._replace(bias_n=rate("Jn", i) if c.bias_n is None else c.bias_n,
                           bias_t=rate("Jt", i) if c.bias_t is None else c.bias_t)
                for i, c in enumerate(here)]

    def _joints(self, q):
        told = self.joints(q)
        if told is None:
            return np.zeros((0, self.nv)), np.zeros(0)
        try:
            A, gaps = told
        except (TypeError, ValueError):
            raise ValueError(f"{type(self).__name__}.joints: must return (A, gaps)") from None
        A = rows(A, f"{type(self).__name__}.joints")
        return (self._sized(A, "joints", len(A), self.nv), self._sized(np.atleast_1d(gaps), "joints", len(A)))

    def _terms(self, t, q, v):
        nv, q, v = self.nv, frozen(q), frozen(v)  # a method that writes into them would mislead the next
        if q.shape != (self.nq,) or v.shape != (nv,):
            raise ValueError(f"q, v: have {q.size} and {v.size} entries; there are {self.nq} and {nv}")
        M = self._sized(self.mass(q), "mass", nv, nv)
        if np.abs(M - M.T).max() > 1e-8 * np.abs(M).max():
            raise ValueError(f"{type(self).__name__}.mass: must be symmetric")
        forces = self._sized(self.forces(t, q, v), "forces", nv)
        A, gaps = self._joints(q)
        bias = np.zeros(len(A))
        if len(A) and np.any(v):
            dt = 1e-6 * max(1.0, np.abs(q).max()) / max(1e-300, np.abs(v).max())
            bias = (self._joints(self._moved(q, v, dt))[0] - self._joints(self._moved(q, v, -dt))[0]) @ v / (2 * dt)
        contacts = [tuple(c) for c in self._with_bias(q, v)]
        self._same_number(len(contacts), len(A))
        return M, forces, self._derivative(t, q, v, forces, 0), self._derivative(t, q, v, forces, 1), A, gaps, bias, contacts

    def _derivative(self, t, q, v, forces, of):
        """d forces/dq or /dv by differences: time-stepping is second order and stiff springs stay tame with it."""
        nv = self.nv
        K = np.zeros((nv, nv))
        size = max(1.0, np.abs(v if of else q).max(initial=0.0))
        step = 1e-7 * size
        for i in range(nv):
            unit = np.zeros(nv)
            unit[i] = 1.0
            at = (q, v + step * unit) if of else (self._moved(q, unit, step), v)
            K[:, i] = (self._sized(self.forces(t, *at), "forces", nv) - forces) / step
        return K

    def _gaps(self, q):
        q = frozen(q)
        contacts, joints = np.array([c.phi for c in self._contacts(q)]), self._joints(q)[1]
        self._same_number(len(contacts), len(joints))
        return contacts, joints

    def _energy(self, q):
        return number(f"{type(self).__name__}.potential_energy", self.potential_energy(frozen(q)))

    def _moved(self, q, v, dt):
        return self._sized(self.integrate(frozen(q), frozen(v), dt), "integrate", self.nq) if self._overrides("integrate") \
            else q + dt * v


def _scenario_again(system, q, v):
    return system.scenario(q, v)
