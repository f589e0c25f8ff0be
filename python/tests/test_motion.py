"""Motions: the command's answers, order, forces from Python, ensembles, bad input."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import routh
from conftest import needs_models
from test_impact import timeless


@pytest.mark.parametrize("scenario, options", [
    ("tilted-box", {"method": "time-stepping", "h": 1e-3, "end": 0.4}),
    ("rocking-block-p4", {"method": "hybrid", "end": 0.3}),
    ("plate", {"method": "event-selected", "end": 0.5}),
    ("tilted-box", {"method": "compliant", "end": 0.05}),
    ("rocking-block", {"method": "time-stepping", "law": "set", "seed": 3, "end": 0.2})])
def test_dictionaries_are_those_of_the_command(command, scenario, options):
    arguments = [x for name, value in options.items()
                 for x in ("--" + {"h": "step"}.get(name, name), f"{value:g}" if isinstance(value, float) else str(value))]
    ours = routh.simulate(scenario, **options)
    assert timeless(ours.to_dict()) == timeless(command("simulate", scenario, *arguments))


def test_ensembles_are_those_of_the_command(command):
    ours = routh.ensemble("compass-gait", runs=32, seed=5, end=0.3)
    assert timeless(ours.to_dict()) == timeless(command("ensemble", "compass-gait", "--runs", "32", "--seed", "5",
                                                        "--end", "0.3"))
    assert sum(w.count for w in ours.words) == len(ours) == len(ours.runs) == 32
    assert ours.final_q.shape == (32, 4) and len(ours.kept) == 32
    one = routh.ensemble("compass-gait", runs=32, seed=5, end=0.3, threads=1)
    assert [r.word for r in one.runs] == [r.word for r in ours.runs]


def test_a_trajectory_is_arrays():
    t = routh.simulate("tilted-box", end=0.5)
    assert t.q.shape == t.v.shape == (len(t.time), 3) and len(t.energy) == len(t.time)
    assert t.status == "done" and not t.stopped and (np.diff(t.time) >= 0).all()
    assert any(e.kind == "impact" for e in t.events)
    assert "tilted-box" in str(t) and "<table>" in t._repr_html_() and t.to_csv().startswith("time")


def test_a_stepper_makes_the_same_motion():
    t = routh.simulate("tilted-box", h=1e-3, end=0.3)
    s = routh.stepper("tilted-box", h=1e-3)
    for state in s.until(0.3):
        pass
    assert s.time == pytest.approx(0.3) and np.allclose(s.q, t.q[-1], atol=1e-12)
    assert np.allclose(state.q, s.q) and len(s.impacts) == sum(e.kind == "impact" for e in t.events)


def test_forces_of_a_stepper_act_from_the_next_step_on():
    # a point of mass m pushed up by its weight floats; by twice its weight it falls upwards
    m = routh.load("point-drop")
    s = routh.stepper(m, h=1e-3)
    s.force = -m.forces
    s.step(100)
    assert np.allclose(s.v, m.v, atol=1e-12)
    s.force = -2 * m.forces
    s.step(100)
    # v is that of the middle of the last step
    assert np.allclose(s.v - m.v, -(0.1 - 0.5e-3) * np.linalg.solve(m.M, m.forces), atol=1e-9)
    for bad, says in (([1] * 99, "force: has 99"), ([np.nan] * len(m.v), "force: has a number"), ("x", "force")):
        with pytest.raises(ValueError, match=says):
            s.force = bad


@needs_models
def test_forces_reach_a_model_at_once():
    m = routh.load("thrown-box", drop=1.0)
    s = routh.stepper(m, h=1e-3)
    t = s.time
    s.step()
    v = s.v
    s.force = -m.terms(s.q, s.v, s.time)["forces"]
    s.step()
    assert np.allclose(s.v, v, atol=1e-6) and s.time == pytest.approx(t + 2e-3)


@pytest.mark.parametrize("options, says", [
    ({"method": "magic"}, "method 'magic'"), ({"h": -1}, "h -1: must be above 0"), ({"end": 0}, "end 0"),
    ({"end": float("inf")}, "end inf: must be finite"), ({"rtol": 1e-6}, "rtol does not belong to method 'time-stepping'"),
    ({"seed": 3}, "seed: belongs to law 'set'"), ({"law": "plastic"}, "law plastic: only method hybrid"),
    ({"h": 1e-12, "end": 1e6}, "steps"), ({"detection": 1}, "detection 1: must be True or False"),
    ({"alpha": 2}, "alpha 2: must be"), ({"q": [0]}, "q, v: belong to a routh.System")])
def test_a_mistake_is_a_value_error_that_names_it(options, says):
    with pytest.raises(ValueError, match=says):
        routh.simulate("tilted-box", **options)


def test_scenarios_say_what_is_wrong_with_them(tmp_path):
    for call, says in ((lambda: routh.load("rocking-blok"), "rocking-block"), (lambda: routh.load(7), "name 7"), (lambda: routh.load("-"), "name '-'"),
                       (lambda: routh.load(tmp_path), "is|read|folder"),
                       (lambda: routh.load("rocking-block", frictoin=1), "friction"),
                       (lambda: routh.load("rocking-block", friction="high"), "friction 'high'"),
                       (lambda: routh.load("rocking-block", state="land"), "rocking-block|model"),
                       (lambda: routh.load("rocking-block", edges=8), "edges: belongs to"),
                       (lambda: routh.load("rocking-block", touching=0), "touching 0"),
                       (lambda: routh.load(tmp_path / "missing.yaml"), "missing.yaml"),
                       (lambda: routh.simulate(3), "must be a scenario"),
                       (lambda: routh.load("plate").impact(), "event-selected system has no impacts"),
                       (lambda: routh.ensemble("plate"), "ensemble needs a mechanism"),
                       (lambda: routh.ensemble("compass-gait", runs=0), "runs 0"),
                       (lambda: routh.stepper("plate"), "stepper needs")):
        with pytest.raises(ValueError, match=says):
            call()
    assert "rocking-block" in routh.scenario_names() and "mechanism" in routh.scenario_text("rocking-block")


def test_motions_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt
    t = routh.simulate("tilted-box", end=0.2)
    assert len(t.plot().axes) == 3
    e = routh.ensemble("compass-gait", runs=8, end=0.2)
    assert len(e.plot().axes) == 2
    with pytest.raises(ValueError, match="coordinate"):
        e.plot("nose")
    plt.close("all")
    path = t.animate(tmp_path / "box.svg")
    assert open(path).read(200).count("svg")
    with pytest.raises(ValueError, match="svg"):
        t.animate(tmp_path / "box.avi")


# Ctrl-C, progress, threads, fork

# Ctrl-C comes when something is done, however slow the machine is
LONG = """
import os, routh, signal, warnings
warnings.simplefilter("always")
heard = []
def progress(part):
    if part > 0 and not heard:
        heard.append(part)
        os.kill(os.getpid(), signal.SIGINT)
r = {}
print({}, flush=True)
"""


@pytest.mark.parametrize("work, show", [
    ("routh.load('ramone').impact(law='set', samples=2**34, progress=progress)", "r.incomplete, r.samples > 0"),
    ("routh.simulate('tilted-box', h=1e-7, end=1e3, every=1, progress=progress)", "r.status, r.time[-1] > 0"),
    ("routh.ensemble('compass-gait', runs=10**6, end=1, progress=progress)", "r.stopped, len(r) > 0")])
def test_an_interrupt_returns_what_there_is(work, show):
    done = subprocess.run([sys.executable, "-c", LONG.format(work, show)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in ("True True", "interrupted True") and "it is incomplete" in done.stderr


def test_progress_is_told_and_may_raise():
    parts = []
    routh.load("ramone").impact(law="set", samples=2**22, progress=parts.append)
    assert all(0 <= p <= 1 for p in parts) and parts == sorted(parts)

    def fails(part):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        routh.load("ramone").impact(law="set", samples=2**33, progress=fails)


def test_threads_work_side_by_side():
    results = [None] * 4

    def work(k):
        results[k] = routh.simulate("tilted-box", end=0.2).q[-1]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(np.array_equal(r, results[0]) for r in results)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_computes_as_well():
    routh.load("compass-gait").impact(law="set", samples=2**12)
    pid = os.fork()
    if pid == 0:
        try:
            ok = len(routh.load("compass-gait").impact(law="set", samples=2**12, seed=1).velocities) == 2**12
        except BaseException:
            ok = False
        os._exit(0 if ok else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.parametrize("method", ["time-stepping", "hybrid"])
def test_every_law_through_time_can_be_asked(method):
    for law in routh._core.through_time():
        assert routh.simulate("rocking-block", method, law=law, end=0.05).status in ("done", "ambiguous")
    assert "binary" in routh._core.through_time()


def test_a_step_of_a_stepper_hears_an_interrupt():
    s = routh.stepper("domino-row", h=1e-4)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        s.step(10**9)
    assert s.time > 0


@pytest.mark.parametrize("work", ["routh.load('ramone').impact(law='set', samples=2**34)",
                                  "routh.simulate('domino-row', end=1e5, every=1)",
                                  "routh.simulate('domino-row', end=1e5, every=1, progress=lambda part: None)",
                                  "routh.simulate(Own(), 'time-stepping', q=[0], v=[1], end=1e3)"])
def test_the_program_ends_while_a_thread_works(work):
    code = "class Own(routh.System):\n  nv = 1\n  def mass(self, q): return [[1.]]\n  def forces(self, t, q, v): return [0.]\n"
    code = f"import routh, threading, time\n{code}threading.Thread(target=lambda: {work}, daemon=True).start(); time.sleep(.2)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=20).returncode == 0


def test_the_interpreter_is_not_touched_without_its_lock():
    """A development build of the interpreter watches over its allocator; so does this mode of any."""
    code = ("import numpy as np, routh\n"
            "r = routh.impact(np.eye(2), [0, 1], [1, 0], 0.5, [1, -1]); r.set(samples=16)\n"
            "routh.load('compass-gait').check(); routh.impact_batch(np.eye(2), [[-1, 0]] * 64, 0.5)\n"
            "routh.simulate('tilted-box', end=0.1); routh.ensemble('rocking-block', runs=8, end=0.05)\n"
            "routh.branch('compass-gait', 1, end=0.1); routh.at_start('massless-leg'); routh.stepper('tilted-box', h=1e-3).step(3)\n"
            "routh.lcp.lemke([[1]], [-1]); routh.lcp.enumerate([[1]], [-1])\n"
            "r.exact(maximize='energy')\n")
    done = subprocess.run([sys.executable, "-X", "dev", "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
