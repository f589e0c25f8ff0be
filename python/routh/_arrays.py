"""What people pass, as arrays of floating-point numbers."""

import numpy as np


def array(value, name, ndim):
    """An array of doubles with `ndim` dimensions, C-contiguous; copies only what must be copied."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"{name}: has masked entries; fill them or leave them out")
    try:
        a = np.asarray(value)
        if a.dtype.kind not in "fiubO":
            raise TypeError
        a = np.asarray(a, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}: must be numbers in {'a list' if ndim == 1 else 'rows of equal length'}, "
                         f"such as an array of NumPy") from None
    if a.ndim != ndim:
        raise ValueError(f"{name}: has {a.ndim} dimensions; it must have {ndim}")
    return a


def rows(value, name):
    """A matrix; one row may come as a vector."""
    try:
        return array(value, name, 1 if np.ndim(value) == 1 else 2).reshape(-1, np.shape(value)[-1])
    except ValueError as e:
        raise e if str(e).startswith(name) else ValueError(f"{name}: must be numbers in rows of equal length") from None


def vector(value, name):
    return array(value, name, 1)


def matrix(value, name):
    return array(value, name, 2)


def finite(a, name):
    if not np.isfinite(a).all():
        raise ValueError(f"{name}: has a number that is not finite")
    return a


def frictions(mu, contacts, name="mu"):
    """One number for all contacts, or one for each."""
    if np.ndim(mu) == 0:
        try:
            return np.full(contacts, float(mu))
        except (TypeError, ValueError):
            raise ValueError(f"{name}: must be a number, or one for each contact") from None
    return vector(mu, name)
