"""What the command can be asked, Python can be asked by the same name; the answers are the same."""

import os
import re
import subprocess

import numpy as np
import pytest

import routh
from conftest import needs_models
from routh import _options
from test_impact import timeless

# files, the screen, and what Python says otherwise: (command, option)
ELSEWHERE = {
    "": {"help", "json", "csv", "hdf5", "plot", "animate", "modes", "quiet", "checkpoint"},  # to_json, to_csv, draw, animate, print
    "simulate": {"no-detection", "raw", "at-start", "step", "contact-stiffness", "no-stabilise"},
    "ensemble": {"step", "branch"},                                     # h, routh.branch
    "measured": {"scenario"},                                           # the second argument
}
LOADING = {"set", "cone", "edges", "touching", "state", "qpos", "qvel", "ctrl", "drop", "float", "floor", "as-is", "extreme-points"}


def options_of(command):
    program = os.environ.get("ROUTH_PROGRAM", "")
    if not os.path.exists(program):
        pytest.skip("the command was not built")
    text = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^ .*?--([a-z][a-z0-9-]*)", text, re.M)) - ELSEWHERE[""] - ELSEWHERE.get(command, set())


def test_every_option_of_an_impact_has_its_name_here():
    ours = set().union(*_options._LAW_OPTIONS.values()) | {"law", "compare"} | LOADING
    ours |= {"contains", "maximize", "minimize"}
    assert {o.replace("-", "_") for o in options_of("impact")} <= {o.replace("-", "_") for o in ours}


@pytest.mark.parametrize("command", ["simulate", "ensemble"])
def test_every_option_of_a_motion_has_its_name_here(command):
    ours = set().union(*_options.METHOD_OPTIONS.values()) | LOADING | {"method", "law", "runs", "seed", "threads"}
    assert {o.replace("-", "_") for o in options_of(command)} <= {o.replace("-", "_") for o in ours}


def test_every_option_of_measured_has_its_name_here():
    import inspect
    assert options_of("measured") <= set(inspect.signature(routh.measured).parameters)


def test_extremes_come_with_their_paths_and_bounds():
    what = "v[1] - 0.5*tangential.B"
    r = routh.load("compass-gait").impact(law="exact", maximize=[what, "energy"], minimize="normal.B", threads=1)
    said = r.to_dict()
    said = r.to_dict()
    assert set(r.maxima) == {what, "energy"} and set(r.minima) == {"normal.B"}
    top = r.maxima[what]
    assert said["maximize"][what]["value"] == top.value and said["maximize"][what]["at_most"] == top.bound
    assert top.value <= top.bound + 1e-9 and top.order == said["maximize"][what]["order"]
    # the path is one: impulses lead from phase to phase to the extreme
    c = r.c
    for impulse, there in zip(top.impulses, top.path):
        c = c + r.G @ impulse
        assert np.allclose(c, there, atol=1e-9)
    assert np.allclose(top.path[-1], top.contact_velocity, atol=1e-9)
    assert what in str(r) and top.order[0] in str(r)


def test_witnesses_without_a_question_look_at_everything():
    r = routh.load("rocking-block").impact(law="witnesses")
    assert set(r.maxima) == set(r.minima) == {"normal.A", "normal.B", "tangential.A", "tangential.B", "energy"}
    assert r.maxima["normal.A"].value >= r.minima["normal.A"].value


def test_the_exact_set_and_its_witnesses_agree():
    m = routh.load("box-and-wall")
    s = m.impact(law="exact", maximize=["tangential.A", "v[0]"], minimize="energy")
    for name, e in s.maxima.items():
        assert e.value == pytest.approx(s.maximize(name).value, abs=1e-9)
        assert e.order and e.bound >= e.value - 1e-9
    assert s.minima["energy"].value == pytest.approx(s.minimize("energy").value, abs=1e-9)
    for wrong in ("normal.Z", "v[99]", "", "energy + 1", "__import__('os')"):
        with pytest.raises(ValueError, match="must be energy"):
            s.maximize(wrong)


def test_a_motion_over_time_and_impulse_is_the_command_s(command):
    t = routh.simulate("zeno-block", domain="s", every=0.01)
    said = command("simulate", "zeno-block", "--domain", "s", "--every", "0.01")
    assert timeless(t.to_dict()) == timeless(said)
    path = t.inclusion
    assert np.array_equal(path.s, said["inclusion"]["s"]) and path.q.shape == (len(path.s), len(t.q[0]))
    # time and impulse share s
    assert np.allclose(path.rate[:-1] + path.normal_rate[:-1].sum(axis=1), 1, atol=1e-9)
    assert path.residual < 1e-3 and path.zeno == said["inclusion"].get("zeno")
    assert routh.simulate("zeno-block").inclusion is None


@pytest.mark.parametrize("scenario, options, says", [
    ("tilted-box", {"domain": "s", "method": "event-selected"}, "domain does not belong"),
    ("tilted-box", {"domain": "x"}, "domain 'x': known are t, s")])
def test_domains_that_cannot_be_are_refused(scenario, options, says):
    with pytest.raises(ValueError, match=says):
        routh.simulate(scenario, **options)


@needs_models
def test_a_model_moves_over_time_alone():
    with pytest.raises(ValueError, match="over t"):
        routh.simulate("tower", domain="s")
    with pytest.raises(ValueError, match="model in space"):
        routh.at_start("quadruped")


def test_what_acts_at_the_start_is_the_command_s(command):
    now = routh.at_start("massless-leg")
    said = command("simulate", "massless-leg", "--at-start")
    assert now.mode == said["mode"] and now.acceleration.tolist() == list(said["acceleration"].values())
    assert now.normal.tolist() == [c["normal"] for c in said["contacts"]]
    assert now.tangential.tolist() == [c["tangential"] for c in said["contacts"]]


def test_what_acts_on_a_box_at_rest_is_its_weight():
    class Block(routh.System):
        nv = 3
        def mass(self, q): return np.diag([2.0, 2.0, 1.0])
        def forces(self, t, q, v): return [0, -20.0, 0]
        def contacts(self, q):
            return [routh.Contact("left", q[1] - 0.5, [0, 1, -0.5], [1, 0, 0.5], 0.5),
                    routh.Contact("right", q[1] - 0.5, [0, 1, 0.5], [1, 0, 0.5], 0.5)]
    now = routh.at_start(Block(), q=[0, 0.5, 0])
    assert np.allclose(now.acceleration, 0, atol=1e-12) and np.allclose(now.normal, 10) and now.mode == ["left", "right"]


def test_hybrid_tells_its_modes_and_accumulation_points(command):
    t = routh.simulate("zeno-block", "hybrid")
    said = command("simulate", "zeno-block", "--method", "hybrid")
    assert t.modes == said["modes"] and len(t.zeno) == len(said["zeno"]) > 0
    assert t.zeno[0].time == said["zeno"][0]["time"] and t.zeno[0].ratio < 1
    assert all(e.mode_after is not None for e in t.events)
    stepped = routh.simulate("stick-slip", end=0.1)
    assert stepped.modes == [] == stepped.zeno and stepped.v_raw.shape == stepped.v.shape


def test_trees_are_those_of_the_command(command):
    tree = routh.branch("compass-gait", 2, end=0.5)
    assert timeless(tree.to_dict()) == timeless(command("ensemble", "compass-gait", "--branch", "2", "--end", "0.5"))
    assert tree.branches[0].parent == -1 and tree.branches[1].parent == 0 and not tree.incomplete
    assert str(len(tree)) in str(tree) and "<table>" in tree._repr_html_()
    for given, says in (((0,), "depth 0"), ((31,), "depth 31: must be at most 30"), ((1.5,), "depth 1.5")):
        with pytest.raises(ValueError, match=says):
            routh.branch("compass-gait", *given)


def test_an_interrupt_in_a_method_leaves_the_branches_there_are():
    class Falling(routh.System):
        nv = 1
        calls = 0
        def mass(self, q): return [[1.0]]
        def forces(self, t, q, v):
            self.calls += 1
            if self.calls == 200:
                raise KeyboardInterrupt
            return [-1.0]
        def contacts(self, q): return [routh.Contact("floor", q[0], [1], [0])]
    with pytest.warns(RuntimeWarning, match="incomplete"):
        tree = routh.branch(Falling(), 3, q=[1.0], end=5)
    assert tree.incomplete


def test_ensembles_of_many_contacts_move_as_the_command_s(command):
    ours = routh.ensemble("domino-row", runs=2, end=0.02)
    assert ours.method == command("ensemble", "domino-row", "--runs", "2", "--end", "0.02")["method"]


@needs_models
def test_what_is_worst_is_said():
    c = routh.load("quadruped").check()
    assert c.worst == c.to_dict()["worst"] and any(w["base"] for w in c.worst)
    assert "worst for" in str(c) and max(c.spreads.values()) == pytest.approx(c.spread)


def test_derivatives_are_those_of_the_command():
    outcome = routh.load("compass-gait").impact(law="simultaneous", derivative=True).to_dict()["outcomes"][0]
    assert np.shape(outcome["derivative"]["velocity"]) == (4, 4)
    motion = routh.simulate("preloaded-hopper", derivative=True).to_dict()
    assert np.shape(motion["derivative"]["matrix"]) == (len(motion["derivative"]["names"]),) * 2
    stepped = routh.simulate("four-bar", h=0.01, end=0.05, derivative=True).to_dict()["derivative"]
    assert stepped["differentiable"] and np.shape(stepped["mass"]) == (len(stepped["names"]), len(stepped["bodies"]))
    with pytest.raises(ValueError, match="derivative does not belong to law 'set'"):
        routh.load("compass-gait").impact(law="set", derivative=True)
