"""Contacts that bounce: hand answers, and the same refusals as the command's."""

import numpy as np
import pytest

import routh
from conftest import needs_models

BALL = dict(M=np.eye(2), Jn=[[0, 1]], Jt=[[1, 0]], mu=0, v=[1, -2])


@pytest.mark.parametrize("law", ["simultaneous", "sequential", "single", "binary", "lzb"])
def test_a_ball_comes_back_with_e_times_its_speed(law):
    o, = routh.impact(**BALL, e=0.5, law=law).outcomes
    assert np.allclose(o.velocity, [1, 1])


def test_the_three_meanings_by_hand_where_a_slip_stops():
    # the slip of 0.2 stops after an impulse of 0.4, when cn is -0.3; from there it sticks, and cn grows by 1.875 an impulse.
    # Compression ends after 0.56, with a work of 0.4 (1 + 0.3)/2 + 0.16 0.3/2 = 0.284
    by_hand = {"newton": 0.8, "poisson": 0.8 * 0.56 * 1.875, "stronge": np.sqrt(2 * 1.875 * 0.64 * 0.284)}
    for means, normal in by_hand.items():
        r = routh.impact_in_contact_space([[2, 0.5], [0.5, 2]], [-1, 0.2], 0.5, e=0.8, law="single", restitution=means)
        assert r.e.tolist() == [0.8] and r.to_dict()["restitution"]["meaning"] == means
        assert r.outcomes[0].normal[0] == pytest.approx(normal, abs=1e-12)


@pytest.mark.parametrize("law, means", [("simultaneous", "stronge"), ("set", "newton"), ("all", "stronge"),
                                        ("binary", "poisson"), ("lzb", "newton"), ("single", "young")])
def test_a_meaning_that_a_law_does_not_have_is_refused(law, means):
    with pytest.raises(ValueError, match="restitution"):
        routh.impact(**BALL, e=0.5, law=law, restitution=means)


def test_a_meaning_without_a_bounce_is_refused():
    for ask in (lambda: routh.impact(**BALL, law="single", restitution="newton"),
                lambda: routh.simulate("tilted-box", restitution="newton", end=0.1),
                lambda: routh.stepper("tilted-box", restitution="newton"),
                lambda: routh.ensemble("rocking-block", runs=2, end=0.1, restitution="stronge"),
                lambda: routh.impact_batch(np.eye(2), [[-1, 0]], 0.5, restitution="newton")):
        with pytest.raises(ValueError, match="bounces"):
            ask()


@pytest.mark.parametrize("e", [-0.1, 1.5, np.nan, [0.5, 0.5], "much"])
def test_what_is_no_coefficient_is_refused(e):
    with pytest.raises(ValueError, match="^e"):
        routh.impact(**BALL, e=e)
    with pytest.raises(ValueError, match="e"):
        routh.impact_batch(np.eye(2), [[-1, 0]], 0.5, e=e)


def test_many_at_once_bounce_as_one_does():
    e = np.array([[0.0], [0.5], [1.0]])
    b = routh.impact_batch(np.eye(2), [[-1, 0]] * 3, 0.5, e=e)
    assert np.allclose(b.contact_velocities[:, 0], e[:, 0])


def test_a_check_takes_one_meaning_for_all_laws(tmp_path):
    # the slip of the hand answer above stops: by impulses and by works it ends differently
    file = tmp_path / "stops.yaml"
    file.write_text("G: [[2, 0.5], [0.5, 2]]\nc: [-1, 0.2]\nmu: 0.5\ne: 0.8\n")
    s = routh.load(str(file))
    assert s.check().unique is False
    assert s.check(restitution="poisson").unique is True
    with pytest.raises(ValueError, match="restitution"):
        s.check(restitution="stronge")


def test_scenarios_tell_their_coefficients_and_take_a_meaning():
    m = routh.load("dropped-box", restitution=0.4)
    assert m.e.tolist() == [0.4, 0.4] and m.terms(m.q, m.v)["e"].tolist() == [0.4, 0.4]
    newton, poisson = (m.impact(law="simultaneous", restitution=r).outcomes[0].normal for r in ("newton", "poisson"))
    assert np.all(newton >= 0) and np.all(poisson >= 0)


@pytest.mark.parametrize("method", ["compliant", "event-selected"])
def test_springs_refuse_coefficients(method):
    with pytest.raises(ValueError, match="restitution"):
        routh.simulate("bouncing-ball", method)


class Ball(routh.System):
    nv = 2
    def mass(self, q): return np.eye(2)
    def forces(self, t, q, v): return [0, -10.0]
    def potential_energy(self, q): return 10.0 * q[1]
    def contacts(self, q): return [routh.Contact("floor", q[1], [0, 1], [1, 0], e=0.5)]


def test_a_system_of_ones_own_bounces_like_the_parabola():
    # falls 5 m in 1 s, comes back with 5 m/s and lands again 1 s later; hybrid locates both
    t = routh.simulate(Ball(), "hybrid", q=[0, 5], end=2.5)
    impacts = [e.time for e in t.events if e.kind == "impact"]
    assert impacts[:2] == pytest.approx([1, 2], abs=1e-6)
    s = routh.stepper(Ball(), h=1e-2, q=[0, 5])
    for state in s.until(1.5):
        pass
    assert s.impacts == pytest.approx([1], abs=1e-6)
    assert state.q[1] == pytest.approx(1.25, abs=1e-2)


@needs_models
def test_friction_of_a_model_is_a_parameter():
    m = routh.load("quadruped", state="land", friction=0.3)
    feet, file = m.mu > 0, routh.load("quadruped", state="land").mu
    assert feet.sum() == 4 and np.allclose(m.mu[feet], 0.3) and m.parameters["friction"] == 0.3
    assert np.array_equal(file > 0, feet) and not np.isclose(file[feet], 0.3).any()  # limits of joints have none
    with pytest.raises(ValueError, match="friction"):
        routh.load("quadruped", friction=-1)
