"""Maps are what single impacts are, cell by cell."""

import numpy as np
import pytest

import routh


def test_cells_are_what_impacts_with_the_same_parameters_are():
    m = routh.map("compass-gait", {"friction": (1, 5, 3), "rate": (0.1, 0.9, 2)}, measure=["simultaneous", "spread"],
                  samples=256)
    for i in range(3):
        for k in range(2):
            one = routh.load("compass-gait", friction=m["friction"][i, k], rate=m["rate"][i, k])
            assert m["simultaneous"][i, k] == len(one.impact(law="simultaneous").outcomes)
            low, high = one.impact(law="set", samples=256).ranges
            assert m["spread"][i, k] == (high - low).max()


def test_what_has_no_value_is_nan_and_says_why():
    m = routh.map("rocking-block", {"friction": (-1, 1, 3)}, samples=16)
    assert m.status == ["refused", "decided", "decided"]
    assert "friction" in m.why[0] and np.isnan(m["spread"][0]) and np.isfinite(m["spread"][1])


def test_matrices_map_their_velocities_and_friction():
    # a point mass lands: it sticks where mu >= |vx|, else it keeps |vx| - mu
    block = routh.impact(np.eye(2), [[0, 1]], [[1, 0]], 0.5, [1, -1]).scenario
    m = routh.map(block, {"v[0]": (0, 2, 5), "friction": (0, 1, 3)}, measure="worst.tangential.A", law="simultaneous")
    expected = np.maximum(0, m["v[0]"] - m["friction"])
    assert np.allclose(m["worst.tangential.A"], expected, atol=1e-14)


def test_draws_depend_on_the_seed_alone():
    def drawn(**options):
        return routh.map("pushing", draw={"friction": ("uniform", 0.2, 1)}, points=8, law="simultaneous", **options)
    assert (drawn()["friction"] == drawn(threads=1)["friction"]).all()
    assert (drawn()["friction"] != drawn(seed=1)["friction"]).all()
    assert drawn()["friction"].min() >= 0.2 and drawn()["friction"].max() <= 1


@pytest.mark.parametrize("given, says", [
    (dict(vary={"frction": (0, 1, 3)}), "did you mean 'friction'"),
    (dict(vary={"friction": (0, 1)}), "from, to, count"),
    (dict(vary={"friction": (0, 1, 0)}), "empty"),
    (dict(vary={"friction": (0, 1, 3)}, measure="spred"), "did you mean 'spread'"),
    (dict(vary={"friction": (0, 1, 3)}, law="exact"), "law"),
    (dict(vary={"friction": (0, 1, 3)}, runs=4, samples=3), "samples"),
    (dict(), "vary"),
])
def test_mistakes_say_what_to_change(given, says):
    with pytest.raises(ValueError, match=says):
        routh.map("rocking-block", **given)
