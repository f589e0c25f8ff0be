"""Measured impacts and coefficients of restitution."""

import json
import os
import subprocess

import numpy as np
import pytest

import routh

HEAD = "vx_minus,vy_minus,w_minus,vx_plus,vy_plus,w_plus,jn_x,jn_y,jn_w,jt_x,jt_y,jt_w"


@pytest.fixture
def table(tmp_path):
    """A disc that bounces with e = 1/2 and keeps its slip."""
    rows = [f"{0.01 * (k % 7)},{-1 - 0.1 * (k % 5)},0,{0.01 * (k % 7)},{0.5 + 0.05 * (k % 5)},0,0,1,0,1,0,1"
            for k in range(24)]
    file = tmp_path / "m.csv"
    file.write_text("\n".join([HEAD, *rows, "0,-1,0,0,2,0,0,1,0,1,0,1"]) + "\n")
    return file


def test_a_table_is_held_against_the_laws_as_by_the_command(table, tmp_path):
    r = routh.measured(table, samples=20)
    assert abs(r.fits[0]["e"] - 0.5) < 0.02 and r.energy_grows == ["26"]
    assert [s["law"] for s in r.laws] == ["simultaneous", "sequential", "set", "binary", "lzb"]
    assert len(r.rows) == 12 and set(r.rows[0].nearest) == {s["law"] for s in r.laws}
    assert r.to_csv().count("\n") == 13 and "no law" in str(r) and "<table>" in r._repr_html_()
    program = os.environ.get("ROUTH_PROGRAM")
    if program:
        told = subprocess.run([program, "measured", str(table), "--samples", "20", "--json", "-"], capture_output=True,
                              text=True, check=True)
        assert json.loads(told.stdout)["laws"] == r.to_dict()["laws"]


@pytest.mark.skipif(not routh.has_models, reason="built without MuJoCo")
def test_mujoco_stands_beside_the_laws(table):
    r = routh.measured(table, samples=1, compare="mujoco")
    assert r.peers[0]["name"] == "mujoco" and r.peers[0]["held_out"] < 0.05
    assert r.rows[0].nearest["mujoco"] >= 0


@pytest.mark.parametrize("options, says", [
    ({"samples": 0}, "samples"), ({"most": -1}, "most"), ({"touching": 0}, "touching"), ({"centre": [1, 2]}, "centre"),
    ({"centre": [1, 2, np.nan]}, "centre"), ({"compare": "bullet"}, "compare"), ({"seed": 0.5}, "seed"),
    ({"scenario": "plate"}, "scenario"), ({"scenario": "rocking-block", "centre": [0, 0, 0]}, "centre"),
    ({"scenario": "rocking-block"}, "block.x")])
def test_what_cannot_be_measured_is_refused(table, options, says):
    with pytest.raises(ValueError, match=says):
        routh.measured(table, **options)


def test_missing_columns_are_named(tmp_path):
    file = tmp_path / "m.csv"
    file.write_text("jn_x\n1\n")
    with pytest.raises(ValueError, match="jt_w"):
        routh.measured(file)


def test_contacts_bounce():
    ball = dict(M=np.eye(2), Jn=[[0, 1]], Jt=[[1, 0]], mu=0.2, v=[3, -1])
    for law in ("simultaneous", "sequential", "single", "binary", "lzb", "set"):
        r = routh.impact(**ball, e=0.5, law=law)
        v = r.velocities[0] if law == "set" else r.outcomes[0].velocity
        assert np.allclose(v, [2.7, 0.5]), law
    assert np.allclose(routh.impact_in_contact_space(np.eye(2), [-1, 3], 0.2, e=[0.5], law="single").outcomes[0].contact_velocity,
                       [0.5, 2.7])
    assert routh.impact(**ball, e=0.5).scenario.e == [0.5]
    for wrong in (-0.1, 1.1, np.nan, np.inf, [0.5, 0.5], "fast"):
        with pytest.raises(ValueError, match="e"):
            routh.impact(**ball, e=wrong)


def test_restitution_says_what_the_coefficient_means():
    # Kane's pendulum: Newton's meaning adds energy, the others do not
    a, b = np.radians([20, 30])
    M = [[4 / 3, 0.5 * np.cos(a - b)], [0.5 * np.cos(a - b), 1 / 3]]
    kane = dict(M=M, Jn=[[np.sin(a), np.sin(b)]], Jt=[[np.cos(a), np.cos(b)]], mu=0.7, v=[-0.1, -0.2], e=0.5, law="single")
    newton, poisson, stronge = (routh.impact(**kane, restitution=means) for means in ("newton", "poisson", "stronge"))
    assert newton.outcomes[0].energy > newton.energy_before
    assert poisson.outcomes[0].energy <= poisson.energy_before and stronge.outcomes[0].energy <= stronge.energy_before
    assert routh.impact(**kane).outcomes[0].energy == stronge.outcomes[0].energy
    m = routh.load("dropped-box", restitution=0.3)
    assert np.allclose(m.e, 0.3)
    assert m.impact(law="sequential", restitution="newton").outcomes[0].energy > 0
    t = m.simulate(method="time-stepping", end=0.1, law="sequential", restitution="poisson")
    assert t.energy[-1] <= t.energy[0]
    for ask in (lambda: routh.impact(**kane, restitution="young"), lambda: m.impact(law="set", restitution="newton"),
                lambda: m.ensemble(runs=1, restitution="young")):
        with pytest.raises(ValueError, match="restitution"):
            ask()


def test_contacts_of_a_system_bounce():
    class Ball(routh.System):
        nv = 2
        e = 0.5

        def mass(self, q):
            return np.eye(2)

        def forces(self, t, q, v):
            return [0, -9.81]

        def contacts(self, q):
            return [routh.Contact("floor", q[1], [0, 1], [1, 0], mu=0.2, e=self.e)]

    assert np.allclose(Ball().scenario([0, 0], [0, -1]).impact(law="single").outcomes[0].velocity, [0, 0.5])
    wrong = Ball()
    wrong.e = 2
    with pytest.raises(ValueError, match="e 2"):
        wrong.scenario([0, 0])
