"""Many impacts of one size at once."""

from typing import NamedTuple

import numpy as np

from . import _core, _html
from ._arrays import array, depth, finite, frictions, matrix
from ._options import MEANINGS, Progress, count, library_words, one_of
from ._options import threads as number_of_threads


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
        """Outcomes of each problem.

        >>> impact_batch([[1, 0], [0, 1]], [[-1, 1], [1, 0]], 0.5).counts
        array([1, 1])
        """
        return np.diff(self.offsets)

    def __repr__(self):
        return (f"<routh.BatchResult: {len(self.unique)} impacts, {len(self.residuals)} outcomes; "
                f"{', '.join(f'{n} {what}' for what, n in self._judged())}{'; incomplete' if self.incomplete else ''}>")

    def _judged(self):
        return [(what, int((self.unique == k).sum())) for k, what in ((1, "unique"), (0, "NOT unique"), (-1, "not known"))]

    def _repr_html_(self):
        often, impacts = np.unique(self.counts, return_counts=True)
        return (_html.table(["", "impacts"], self._judged())
                + _html.table(["outcomes", "impacts"], zip(often.tolist(), impacts.tolist())))


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
    if isinstance(G, np.ndarray) and G.ndim == 3 and G.strides[0] == 0 and len(G) == n > 0:
        G = G[0]  # one for all, broadcast
    G = finite(array(G, "G", 3) if depth(G, "G") == 3 else matrix(G, "G")[None], "G")
    if G.shape[1:] != (k, k) or G.shape[0] not in (1, n):
        raise ValueError(f"G: is {' x '.join(map(str, G.shape))}; c is {n} x {k}, so G must be {n} x {k} x {k}")
    mu, e = _of_each(mu, "mu", n, m), _of_each(e, "e", n, m)
    means = "" if restitution is None else one_of("restitution", restitution, MEANINGS)
    if means and not (e > 0).any():
        raise ValueError(f"restitution {means!r}: no contact bounces; give contacts an e above zero")
    edges = 0 if edges is None else count("edges", edges)
    if tangents == 1 and edges:
        raise ValueError("edges: belongs to contacts in space, with two tangents each")
    tell = Progress("impacts", progress)
    with library_words():
        result = BatchResult(*_core.batch(G, c, mu, e, means, tangents, edges, law,
                                          number_of_threads(threads), tell.callback()))
    tell.end(result.incomplete, 3)
    return result


def _of_each(value, name, problems, contacts):
    """One number for all contacts, one for each, or one for each of every problem."""
    a = np.asarray(frictions(value, contacts, name) if depth(value, name) < 2 else matrix(value, name))
    a = finite(a[None] if a.ndim == 1 else a, name)
    if a.shape[1] != contacts or a.shape[0] not in (1, problems):
        raise ValueError(f"{name}: is {' x '.join(map(str, a.shape))}; there are {problems} problems of {contacts} contacts")
    return a
