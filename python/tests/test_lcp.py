import numpy as np
import pytest

from routh import lcp


def test_lemke_solves_by_hand():
    r = lcp.lemke([[2, 1], [1, 2]], [-5, -6])
    assert r and r.status == "solved" and np.allclose(r.z, [4 / 3, 7 / 3]) and r.residual < 1e-12


def test_enumeration_finds_what_lemke_finds():
    rng = np.random.default_rng(3)
    for _ in range(50):
        A = rng.normal(size=(4, 4))
        W, w = A @ A.T + 0.1 * np.eye(4), rng.normal(size=4)
        one, all_ = lcp.lemke(W, w), lcp.enumerate(W, w)
        assert len(all_) == 1 and np.allclose(all_[0].z, one.z, atol=1e-8)
        assert lcp.residual(W, w, one.z) < 1e-9


def test_several_solutions_are_all_found():
    # z = (1, 0), (0, 1) and in between by symmetry: W = -I has z = 0 and each unit vector
    found = {tuple(np.round(s.z, 9)) for s in lcp.enumerate(-np.eye(2), [1, 1])}
    assert found == {(0, 0), (1, 0), (0, 1), (1, 1)}


def test_no_solution_is_a_ray():
    r = lcp.lemke([[-1.0]], [-1.0])
    assert not r and r.status != "solved"
    assert len(lcp.enumerate([[-1.0]], [-1.0])) == 0


@pytest.mark.parametrize("W, w, says", [(np.eye(2), [1], "W|w"), (np.zeros((2, 3)), [1, 1], "square|W"),
                                        ([[np.nan]], [1], "W: has a number"), (np.eye(30), -np.ones(30), "18|size")])
def test_bad_problems_are_value_errors(W, w, says):
    with pytest.raises(ValueError, match=says):
        lcp.enumerate(W, w)


def test_an_interrupted_enumeration_has_what_it_found():
    import os
    import signal
    import threading
    n = 24
    A = np.random.default_rng(0).normal(size=(n, n))
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.warns(RuntimeWarning, match="incomplete"):
        found = lcp.enumerate(A @ A.T, A[0], max_size=n)
    assert found.incomplete and not lcp.enumerate([[1]], [-1]).incomplete


def test_sizes_that_no_enumeration_ends_for_are_refused():
    with pytest.raises(ValueError, match="max_size 40: must be at most 30"):
        lcp.enumerate(np.eye(2), [-1, -1], max_size=40)
    with pytest.raises(ValueError, match="31 variables, at most 30"):
        lcp.enumerate(np.eye(31), -np.ones(31), max_size=30)
    with pytest.raises(ValueError, match="max_pivots"):
        lcp.lemke(np.eye(2), [-1, -1], max_pivots=2**40)
