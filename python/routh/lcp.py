"""Linear complementarity problems: find z with 0 <= z, W z + w >= 0 and z (W z + w) = 0.

>>> from routh import lcp
>>> lcp.lemke([[2, 1], [1, 2]], [-5, -6]).z
array([1.33333333, 2.33333333])
"""

import warnings
from typing import NamedTuple

import numpy as np

from . import _core
from ._arrays import finite, matrix, vector
from ._options import count, number


class LemkeResult(NamedTuple):
    """Where Lemke's algorithm ended."""
    status: str        #: solved, ray, pivot limit or inaccurate
    z: np.ndarray      #: the last iterate, a solution only when solved
    residual: float    #: measured, relative
    pivots: int

    def __bool__(self):
        return self.status == "solved"


class Solution(NamedTuple):
    """One solution."""
    z: np.ndarray
    residual: float


class Continuum(NamedTuple):
    """Infinitely many solutions: the hull of some, and directions without end."""
    corners: list       #: places in `Solutions.all`
    rays: np.ndarray


class Solutions:
    """Every solution: a list of `Solution`, and the continua among them."""

    def __init__(self, all, continua, incomplete=False):
        self.all = all                #: of a continuum its corners
        self.continua = continua      #: of `Continuum`
        self.incomplete = incomplete  #: interrupted: others may exist

    def __len__(self):
        return len(self.all)

    def __iter__(self):
        return iter(self.all)

    def __getitem__(self, k):
        return self.all[k]

    def __repr__(self):
        return f"<routh.lcp.Solutions: {len(self.all)} solutions, {len(self.continua)} continua>"


def _problem(W, w):
    return finite(matrix(W, "W"), "W"), finite(vector(w, "w"), "w")


def lemke(W, w, *, tolerance=1e-10, max_pivots=0, cover=None):
    """One solution by Lemke's algorithm, with the lexicographic rule against cycling.

    cover -- covering vector, positive (default: ones); others may lead to other solutions

    >>> bool(lemke([[1]], [-2]))
    True
    """
    W, w = _problem(W, w)
    d = np.zeros(0) if cover is None else finite(vector(cover, "cover"), "cover")
    return LemkeResult(*_core.lemke(W, w, number("tolerance", tolerance, above=0),
                                    count("max_pivots", max_pivots, 0, 2**31 - 1), d))


def enumerate(W, w, *, tolerance=1e-10, same=1e-8, max_size=18):
    """Every solution, one complementary support after the other; the cost doubles with every variable.

    >>> sorted(s.z.tolist() for s in enumerate([[0, 1], [1, 0]], [-1, -1]))
    [[1.0, 1.0]]
    """
    W, w = _problem(W, w)
    all_, continua, complete = _core.enumerate(W, w, number("tolerance", tolerance, above=0),
                                               number("same", same, above=0), count("max_size", max_size, 1, 30))
    if not complete:
        warnings.warn("interrupted: this is what there was, it is incomplete", RuntimeWarning, stacklevel=2)
    return Solutions([Solution(*s) for s in all_], [Continuum(*c) for c in continua], not complete)


def residual(W, w, z):
    """How far z is from a solution; no unit, zero exactly at solutions.

    >>> residual([[1]], [-2], [2])
    0.0
    """
    W, w = _problem(W, w)
    z = vector(z, "z")
    if len(z) != len(w):
        raise ValueError(f"z: has {len(z)} entries; w has {len(w)}")
    return _core.residual(W, w, z)
