"""What people pass, as arrays of floating-point numbers."""

import numpy as np


def array(value, name, ndim):
    """An array of doubles with `ndim` dimensions, C-contiguous; copies only what must be copied."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"{name}: has masked entries; fill them or leave them out")
    try:
        a = np.asarray(value.toarray() if hasattr(value, "toarray") else value)  # SciPy's sparse matrices
        if a.dtype.kind not in "fiubO":
            raise TypeError
        a = np.asarray(a, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}: must be numbers in {'a list' if ndim == 1 else 'rows of equal length'}, "
                         f"such as an array of NumPy") from None
    if a.ndim != ndim:
        raise ValueError(f"{name}: is {sizes(a)}; it must be {['a number', 'a vector', 'a matrix', 'a stack of matrices'][ndim]}")
    return a


def sizes(a):
    """3 x 4"""
    return " x ".join(map(str, a.shape)) if a.ndim > 1 else f"a vector of {a.size}" if a.ndim else "a number"


def depth(value, name):
    """How many dimensions it has; rows of several lengths are refused."""
    try:
        return np.ndim(value)
    except ValueError:
        raise ValueError(f"{name}: must be numbers in rows of equal length") from None


def rows(value, name):
    """A matrix; one row may come as a vector."""
    one = depth(value, name) == 1 and np.size(value) > 0
    return array(value, name, 1)[None] if one else array(value, name, 2)


def vector(value, name):
    return array(value, name, 1)


def matrix(value, name):
    return array(value, name, 2)


def frozen(a):
    """Read-only, where it is an array: what never changes, and what writing into would change nothing."""
    if isinstance(a, np.ndarray):
        a.flags.writeable = False
    return a


def finite(a, name):
    if not np.isfinite(a).all():
        raise ValueError(f"{name}: has a number that is not finite")
    return a


def frictions(mu, contacts, name="mu"):
    """One number for all contacts, or one for each."""
    if depth(mu, name) == 0:
        try:
            return np.full(contacts, float(mu))
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"{name}: must be a number, or one for each contact") from None
    return vector(mu, name)
