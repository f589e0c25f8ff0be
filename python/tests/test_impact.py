"""Impacts from matrices and scenarios: hand answers, the command's own answers, bad input."""

import json
import warnings

import numpy as np
import pytest

import routh
from conftest import needs_models


def timeless(j):
    """Without what differs from run to run, or belongs to a command."""
    if isinstance(j, dict):
        return {k: timeless(x) for k, x in j.items() if "second" not in k and k != "command"}
    return [timeless(x) for x in j] if isinstance(j, list) else j


def test_the_block_of_the_readme_has_three_outcomes(block):
    r = routh.impact(**block)
    assert r.unique is False and len(r.outcomes) == 3
    assert "NOT unique" in r.verdict and r.contacts == ["A", "B"]
    # all at once it stops; one corner first and it rocks about the other
    assert np.allclose(r.outcomes[0].velocity, 0, atol=1e-12)
    assert sorted(o.modes for o in r.outcomes) == sorted(
        [["sticks", "sticks"], ["separates", "sticks"], ["sticks", "separates"]])


def test_a_point_with_friction_keeps_what_the_cone_leaves():
    # stopped normally by an impulse of 1, slowed tangentially by 0.5 of it
    o, = routh.impact(np.eye(2), [[0, 1]], [[1, 0]], 0.5, [1, -1]).outcomes
    assert np.allclose(o.velocity, [0.5, 0]) and np.allclose(o.impulse, [1, -0.5])
    assert o.energy == pytest.approx(0.125) and o.residual < 1e-12


def test_nothing_approaches_nothing_changes():
    r = routh.impact(np.eye(2), [[0, 1]], [[1, 0]], 0.5, [1, 1])
    assert r.unique and np.allclose(r.outcomes[0].velocity, [1, 1])


@pytest.mark.parametrize("law", list(routh.LAWS))
def test_every_law_of_the_command_can_be_asked(block, law):
    r = routh.impact(**block, law=law)
    assert r.law == law and r.verdict and str(r) and repr(r)
    assert r.to_dict()["law"] == law


@pytest.mark.parametrize("scenario", ["rocking-block", "compass-gait", "box-and-wall", "disk-stack"])
@pytest.mark.parametrize("law", ["all", "simultaneous", "sequential", "single", "binary", "set", "exact"])
def test_dictionaries_are_those_of_the_command(command, scenario, law):
    if law == "exact" and scenario == "disk-stack":
        pytest.skip("this set takes long")
    arguments = ["--law", law] + (["--samples", "512", "--seed", "3"] if law == "set" else [])
    options = {"samples": 512, "seed": 3} if law == "set" else {}
    ours = routh.load(scenario).impact(law=law, **options)
    assert timeless(ours.to_dict()) == timeless(command("impact", scenario, *arguments))
    assert json.loads(ours.to_json(indent=2)) == ours.to_dict()


def test_check_is_the_command_s(command):
    assert timeless(routh.load("compass-gait").check().to_dict()) == timeless(command("check", "compass-gait"))


@needs_models
def test_a_model_is_asked_as_by_the_command(command):
    ours = routh.load("biped").impact(law="set", samples=64, seed=1)
    assert timeless(ours.to_dict()) == timeless(command("impact", "biped", "--law", "set", "--samples", "64", "--seed", "1"))
    beside = routh.load("quadruped").impact(law="set", samples=64, compare="mujoco").to_dict()["compare"]
    assert beside["simulator"] == "mujoco"


def test_samples_are_the_library_s_memory_and_repeat(block):
    r = routh.impact(**block)
    w, again = r.set(samples=4096, seed=7), r.set(samples=4096, seed=7, threads=1)
    assert w.velocities.shape == (4096, 3) and not w.velocities.flags.owndata
    assert not w.velocities.flags.writeable and w.velocities.flags.c_contiguous
    with pytest.raises(ValueError):
        w.velocities[0, 0] = 1
    assert np.array_equal(w.velocities, again.velocities)
    assert not np.array_equal(w.velocities, r.set(samples=4096, seed=8).velocities)
    assert w.ended.dtype == bool and w.ended.all() and (w.steps >= 1).all()
    # they are outcomes: J v is what they say, and no contact approaches
    J = np.vstack([block["Jn"], block["Jt"]])
    assert np.allclose(w.velocities @ J.T, w.contact_velocities, atol=1e-12)
    assert (w.contact_velocities[:, :2] > -1e-8).all()
    assert np.allclose(r.c + w.impulses @ r.G, w.contact_velocities, atol=1e-12)
    low, high = w.ranges
    assert np.allclose(low, w.contact_velocities.min(axis=0)) and np.allclose(high, w.contact_velocities.max(axis=0))
    for k, o in enumerate(w.outcomes[:50]):
        assert np.array_equal(o.contact_velocity, w.contact_velocities[k])


def test_arrays_outlive_their_result(block):
    velocities = routh.impact(**block, law="set", samples=1000).velocities
    import gc
    gc.collect()
    assert np.isfinite(velocities).all()


@needs_models
@pytest.mark.parametrize("scenario", ["disk-stack", "biped"])
def test_rows_of_samples_are_the_outcomes(scenario):
    w = routh.load(scenario).impact(law="set", samples=200, seed=2)
    ended = np.flatnonzero(w.ended)
    for o, row in zip(w.outcomes, ended):
        assert np.allclose(o.velocity, w.velocities[row], atol=1e-12)
        assert np.array_equal(o.contact_velocity, w.contact_velocities[row])


def test_samples_lie_in_the_exact_set(block):
    r = routh.impact(**block)
    s, w = r.exact(), r.set(samples=256, seed=1)
    assert s.status == "exact" and s.pieces
    for c in w.contact_velocities:
        assert s.contains(c).distance < 1e-9
    assert not s.contains(w.contact_velocities[0] + 1)
    top = s.maximize("normal.A")
    assert top.value >= w.ranges[1][0] - 1e-9 and s.minimize("energy").value == pytest.approx(0, abs=1e-12)
    with pytest.raises(ValueError, match="normal.Z"):
        s.maximize("normal.Z")
    with pytest.raises(ValueError, match="contains"):
        s.contains([0, 0])


@pytest.mark.skipif(routh.has_cuda, reason="built with CUDA")
def test_without_the_component_a_gpu_says_how_to_get_it(block):
    for asked in (lambda: routh.impact(**block, law="set", samples=9, device="cuda"),
                  lambda: routh.map("rocking-block", {"friction": (0, 1, 2)}, samples=9, device="cuda")):
        with pytest.raises(ValueError, match="make cuda"):
            asked()
    with pytest.raises(ValueError, match="device"):
        routh.impact(**block, law="set", device="gpu")


@pytest.mark.skipif(not routh.has_cuda, reason="built without CUDA")
def test_a_gpu_draws_the_samples_of_the_cpu_which_takes_its_place_where_there_is_none(block):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        r = routh.impact(**block, law="set", samples=500, device="cuda")
    summary = json.loads(r.to_json())["summary"]
    assert (summary["device"] == "cpu") == any("the CPU takes its place" in str(w.message) for w in told)
    cpu = routh.impact(**block, law="set", samples=500)
    assert np.allclose(r.ranges, cpu.ranges, atol=1e-9)


def test_units_do_not_matter(block):
    for unit in (1e-9, 1e9):
        scaled = dict(block, M=block["M"] * unit)
        assert len(routh.impact(**scaled).outcomes) == 3


def test_joints_hold(block):
    A = [[1.0, 0, 0]]  # no sideways motion
    for o in routh.impact(**block, A=A).outcomes:
        assert abs(o.velocity[0]) < 1e-12
    with pytest.raises(ValueError, match="A v must be zero"):
        routh.impact(**dict(block, v=[1, -1, 0]), A=A)


# what people pass

@pytest.mark.parametrize("change", [
    lambda x: x.astype(np.float32), lambda x: x.tolist(), lambda x: np.asfortranarray(x),
    lambda x: np.repeat(x, 2, axis=-1)[..., ::2], lambda x: x.astype(object), lambda x: x.astype(">f8"),
    lambda x: (x.setflags(write=False), x)[1]])
def test_arrays_of_any_kind_will_do(block, change):
    given = {name: change(value) for name, value in block.items()}
    assert len(routh.impact(**given).outcomes) == 3


def test_integers_will_do():
    assert routh.impact(np.eye(2, dtype=int), [[0, 1]], [[1, 0]], 1, np.array([0, -1])).unique


@pytest.mark.parametrize("name, value, says", [
    ("M", np.eye(2), "M: is 2 x 2; v has 3"), ("M", np.zeros(3), "M: is a vector of 3; it must be a matrix"),
    ("Jn", np.zeros((2, 2)), "Jn: has 2 columns"), ("Jn", np.zeros((0, 3)), "Jn: there must be"),
    ("Jt", np.zeros((3, 3)), "Jt: has 3 rows"), ("mu", [1, 2, 3], "mu: has 3 entries"),
    ("mu", -1, "mu: friction must not be negative"), ("v", [], "v: must have at least one"),
    ("M", np.diag([1, 1, np.nan]), "M: has a number that is not finite"), ("v", [0, np.inf, 0], "v: has a number"),
    ("mu", [1, np.nan], "mu: has a number"), ("M", [[1, 2], [3]], "M: must be numbers"),
    ("M", "matrix", "M: "), ("M", [[10**400] * 3] * 3, "M: must be numbers"),
    ("v", np.ma.array([0, -1, 0], mask=[0, 1, 0]), "v: has masked entries"), ("M", None, "M: "), ("v", [1j, 0, 0], "v: must be numbers"),
    ("M", np.array([[object()] * 3] * 3), "M: must be numbers"), ("M", -np.eye(3), "positive"),
    ("M", np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1.0]]), "symmetric"), ("mu", "steel", "mu: must be")])
def test_a_mistake_is_a_value_error_that_names_it(block, name, value, says):
    with pytest.raises(ValueError, match=says):
        routh.impact(**dict(block, **{name: value}))


@pytest.mark.parametrize("options, says", [
    ({"law": "best"}, "law 'best': known are all"), ({"law": "simultaneous", "samples": 3}, "samples does not belong"),
    ({"law": "set", "samples": 0}, "samples 0: must be at least 1"), ({"law": "set", "samples": 1.5}, "whole number"),
    ({"law": "set", "step": -1}, "step -1: must be above 0"), ({"law": "set", "step": float("nan")}, "finite"),
    ({"law": "set", "draws": "lucky"}, "draws 'lucky'"), ({"order": ["Z"]}, "order Z: there is no touching contact"),
    ({"law": "set", "keep": 10**9, "samples": 2**30}, "keep"), ({"names": ["A"]}, "names: must name all"),
    ({"names": 5}, "names: must be one"), ({"names": ["\udcff", "B"]}, "UTF-8"), ({"progress": 3}, "progress 3"),
    ({"law": "set", "limit": 2**40}, "limit 1099511627776: must be at most 1000000"),
    ({"names": ["A", "A"]}, "another contact is called 'A'"), ({"cone": "circular"}, "cone: belongs to contacts in space"),
    ({"law": "single", "contact": "Q"}, "contact Q"), ({"threads": 10**6}, "threads 1000000: at most 1024")])
def test_an_option_that_cannot_be_is_refused(block, options, says):
    with pytest.raises(ValueError, match=says):
        routh.impact(**block, **options)


def test_an_unknown_option_is_a_type_error(block):
    with pytest.raises(TypeError, match="smaples"):
        routh.impact(**block, law="set", smaples=3)


def test_friction_cones_in_space():
    J = np.eye(3)
    circular = routh.impact(np.eye(3), J[2:], J[:2], 0.5, [1, 1, -1], cone="circular").outcomes[0].velocity
    # friction against the slip, of 0.5: sqrt(2) - 0.5 is left
    assert np.hypot(*circular[:2]) == pytest.approx(np.sqrt(2) - 0.5, rel=1e-6)
    with pytest.raises(ValueError, match="edges 2"):
        routh.impact(np.eye(3), J[2:], J[:2], 0.5, [1, 1, -1], edges=2)
    with pytest.raises(ValueError, match="needs a polygon"):
        routh.impact(np.eye(3), J[2:], J[:2], 0.5, [1, 1, -1], cone="circular", law="set")


def test_contact_space_gives_the_same(block):
    r = routh.impact(**block)
    same = routh.impact_in_contact_space(r.G, r.c, r.mu)
    assert [o.modes for o in same.outcomes] == [o.modes for o in r.outcomes]
    with pytest.raises(ValueError, match="G: must be symmetric"):
        routh.impact_in_contact_space([[1, 1], [0, 1]], [-1, 0], 1)
    with pytest.raises(ValueError, match="c: has 3 entries"):
        routh.impact_in_contact_space(np.eye(3), [-1, 0, 0], 1)


def test_a_batch_is_one_impact_after_the_other(block):
    rng = np.random.default_rng(5)
    n = 200
    A = rng.normal(size=(n, 4, 6))
    G, c = A @ A.transpose(0, 2, 1), rng.normal(size=(n, 4))
    mu = rng.uniform(0, 1, size=(n, 2))
    for law in ("simultaneous", "sequential", "binary"):
        b = routh.impact_batch(G, c, mu, law)
        assert b.offsets[0] == 0 and b.offsets[-1] == len(b.contact_velocities) and len(b.unique) == n
        for k in range(0, n, 17):
            one = routh.impact_in_contact_space(G[k], c[k], mu[k], law=law).outcomes
            rows = b.contact_velocities[b.offsets[k]:b.offsets[k + 1]]
            assert np.allclose(sorted(rows.tolist()), sorted(o.contact_velocity.tolist() for o in one), atol=1e-9)
    none = routh.impact_batch(G[:0], c[:0], mu[:0])
    assert len(none.counts) == 0 and none.contact_velocities.shape == (0, 4)
    assert (routh.impact_batch(G[:9], c[:9], 0.3, "all", threads=2).counts >= 1).all()
    for given, says in (((G[:3], c, mu), "G: is 3"), ((G, c, mu[:, :1]), "mu: is"), ((G, c[:, :3], mu), "c: is"),
                        ((G, c * np.nan, mu), "c: has a number")):
        with pytest.raises(ValueError, match=says):
            routh.impact_batch(*given)


def test_results_show_themselves_in_notebooks(block):
    r = routh.impact(**block)
    html = r._repr_html_()
    assert "NOT unique" in html and "<table>" in html
    evil = routh.impact(**block, names=["<script>alert(1)</script>", "B"])._repr_html_()
    assert "<script>alert" not in evil
    assert "<table>" in routh.load("compass-gait").check()._repr_html_()
    # notebooks keep what they show: large drawings come as pixels
    large = routh.load("compass-gait").impact()._repr_html_()
    assert len(large) < 500_000 and ("<svg" in large or "data:image/png;base64," in large)
    assert "friction" in routh.load("rocking-block")._repr_html_()


def test_figures_are_drawn(block, tmp_path):
    pytest.importorskip("matplotlib")
    import pickle
    import matplotlib.pyplot as plt
    r = routh.impact(**block)
    for result in [r, r.set(samples=500), r.exact()]:
        figure = result.plot()
        assert len(figure.axes) == 3
        # nothing slips: rounding does not become a picture
        low, high = figure.axes[0].get_xlim()
        assert high - low > 1e-3
        plt.close(figure)
    # notebooks ask this before they show it; elsewhere it stays open
    figure = pickle.loads(pickle.dumps(r.plot()))
    with pytest.raises(NotImplementedError):
        figure._ipython_display_()
    assert plt.fignum_exists(figure.number)
    plt.close(figure)
    axes = plt.subplots(1, 3)[1]
    assert r.plot(axes) is axes[0].figure
    with pytest.raises(ValueError, match="axes"):
        r.plot(axes[:1])
    plt.close("all")


def test_tables(block):
    assert routh.impact(**block).to_csv().count("\n") == 4


@pytest.mark.parametrize("law", ["exact", "witnesses"])
def test_sets_of_contacts_that_bounce_are_refused(law):
    with pytest.raises(ValueError, match="restitution|without"):
        routh.load("two-balls-on-one").impact(law=law)


def test_scenarios_go_to_other_processes_and_results_say_what_can(block):
    import copy
    import pickle
    r = routh.impact(**block, names=["left", "right"])
    for scene in (r.scenario, routh.load("rocking-block", friction=0.4),
                  routh.impact_in_contact_space(r.G, r.c, r.mu).scenario):
        again = pickle.loads(pickle.dumps(scene))
        assert again.contacts == scene.contacts and np.array_equal(again.mu, scene.mu)
        assert [o.modes for o in again.impact(law="binary").outcomes] == [o.modes for o in scene.impact(law="binary").outcomes]
    assert copy.deepcopy(r) is r and copy.copy(r.scenario) is r.scenario
    with pytest.raises(TypeError, match="to_dict"):
        pickle.dumps(r)
    with pytest.raises(TypeError, match="Stepper"):
        copy.copy(routh.stepper("tilted-box", h=1e-3))


@pytest.mark.parametrize("arguments, says", [
    (("\udcff",), "UTF-8"), (("rocking-block", {"set": [1]}), "set: must be a dictionary"),
    (("rocking-block", {"set": {1: 2}}), "set 1: must be a name"), (("a\0b",), "no scenario")])
def test_a_scenario_that_cannot_be_is_refused(arguments, says):
    with pytest.raises(ValueError, match=says):
        routh.load(arguments[0], **(arguments[1] if len(arguments) > 1 else {}))


def test_without_mujoco_its_data_says_what_is_missing(monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ImportError, match="needs MuJoCo's own Python package"):
        routh.from_mujoco(None, None)


def test_lzb_takes_the_stiffness_of_contacts():
    m = routh.load("newtons-cradle")
    equal = m.impact(law="lzb").outcomes[0]
    assert np.allclose(equal.velocity, [-0.0709, 0.0763, 0.9946], atol=2e-4)
    # a stiff first contact is done before the second begins: the last ball flies off alone
    first = m.impact(law="lzb", stiffness=[1e6, 1], exponent=1).outcomes[0]
    assert np.allclose(first.velocity, [0, 0, 1], atol=5e-3)
    for wrong in (0, -1, [1, 0], [1, float("nan")], "stiff", [1, 2, 3]):
        with pytest.raises(ValueError, match="stiffness"):
            m.impact(law="lzb", stiffness=wrong)
    with pytest.raises(ValueError, match="exponent"):
        m.impact(law="lzb", exponent=0.5)
    with pytest.raises(ValueError, match="stiffness"):
        m.impact(law="set", stiffness=1)


def test_what_is_read_never_changes_behind_its_owner(block):
    r = routh.impact(**block)
    m, t, s = routh.load("rocking-block"), routh.simulate("tilted-box", end=0.05), routh.stepper("tilted-box", h=1e-3)
    for array in (m.M, m.Jn, t.q, t.v, t.time, s.force, r.set(samples=8).velocities):
        with pytest.raises(ValueError, match="read-only"):
            array.flat[0] = 99 if array.flat[0] != 99 else 1
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 99
    r.G[0, 0] = 99  # a copy of one's own
    assert r.G[0, 0] != 99


def test_a_scenario_does_not_follow_the_caller_s_arrays(block):
    import pickle
    r = routh.impact(**block)
    block["M"][0, 0] = 99
    block["mu"][0] = 0
    assert pickle.loads(pickle.dumps(r.scenario)).M[0, 0] == 1 == r.scenario.M[0, 0]
    assert pickle.loads(pickle.dumps(r.scenario)).mu.tolist() == [1, 1]


def test_one_contact_may_come_as_one_row_and_sparse_matrices_as_they_are():
    class Sparse:
        """As those of SciPy: np.asarray makes nothing of it."""
        def toarray(self):
            return np.eye(2)

    o, = routh.impact(Sparse(), [0, 1], [1, 0], 0.5, [1, -1]).outcomes
    assert np.allclose(o.velocity, [0.5, 0])
    # joints too: one bilateral row
    o, = routh.impact(np.eye(2), [0, 1], [1, 0], 0.5, [0, -1], A=[1, 0]).outcomes
    assert np.allclose(o.velocity, 0)


@pytest.mark.parametrize("ask, says", [
    (lambda: routh.impact([1, 1], [0, 1], [1, 0], 0, [0, -1]), "M: is a vector of 2; it must be a matrix"),
    (lambda: routh.impact(np.eye(2), [0, 1], [1, 0], 0, [[0], [-1]]), "v: is 2 x 1; it must be a vector"),
    (lambda: routh.impact(np.eye(2), [0, 1], None, 0, [0, -1]), "Jt: is a number"),
    (lambda: routh.impact(np.eye(2), [[0, 1], [1]], [1, 0], 0, [0, -1]), "Jn: must be numbers in rows of equal length"),
    (lambda: routh.impact(np.eye(2), [0, 1], [1, 0], [[1], [1, 2]], [0, -1]), "mu: must be numbers in rows of equal length"),
    (lambda: routh.impact_batch([[1, 0], [0]], [[-1, 0]], 0.5), "G: must be numbers in rows of equal length"),
    (lambda: routh.impact_batch(np.eye(2), [[-1, 0]], [[0.5], [1, 2]]), "mu: must be numbers in rows of equal length"),
    (lambda: routh.load("rocking-block").impact(law="simultanous"), "did you mean 'simultaneous'"),
    (lambda: routh.impact(np.eye(2), [0, 1], [1, 0], 10**400, [0, -1]), "mu: must be a number"),
    (lambda: routh.simulate("point-drop", end=10**400), "end inf: must be finite"),
    (lambda: routh.load("quadruped", state=[]), r"state \[\]: must be a name"),
    (lambda: routh.measured(b"impacts.csv"), "must be a name"),
    (lambda: routh.load("pushing").impact().plot([1, 2, 3]), "axes: must be of Matplotlib"),
    (lambda: routh.load("nothing-like-it.xml"), r"routh.scenario_names\(\) shows"),
    (lambda: routh.load("plate").impact(), r"routh.simulate\('plate'\) moves it")])
def test_messages_say_in_python_what_to_do(ask, says):
    with pytest.raises(ValueError, match=says):
        ask()


def test_one_problem_for_all_is_not_copied():
    import tracemalloc
    G, c = np.eye(24), np.ones((2000, 24))
    tracemalloc.start()
    for given in (G, np.broadcast_to(G, (2000, 24, 24))):
        tracemalloc.reset_peak()
        b = routh.impact_batch(given, c, 0.5, threads=1)
        # 2000 copies would take 9 MB
        assert tracemalloc.get_traced_memory()[1] < 4e6 and len(b.unique) == 2000
    tracemalloc.stop()


def test_a_batch_shows_itself():
    b = routh.impact_batch(np.eye(2), [[-1, 0]] * 3, 0.5)
    assert repr(b) == "<routh.BatchResult: 3 impacts, 3 outcomes; 3 unique, 0 NOT unique, 0 not known>"
    assert b._repr_html_().count("<table>") == 2


def test_extremes_and_corners_say_how_they_move():
    scenario = routh.load("box-and-wall")
    s = scenario.impact(law="exact", maximize=["tangential.A"], sensitivity=True)
    moves = s.maxima["tangential.A"].sensitivity
    assert moves.velocity.shape == (3,) and moves.friction.shape == (2,) and moves.mass.shape == (1,)
    assert not moves.smooth and np.isnan(moves.velocity[1]) and moves.velocity[0] > 0
    assert all(m is None or m.by_friction.shape == (4, 2) for p in s.pieces for m in p.moves)
    assert scenario.impact(law="exact", maximize=["impulse"]).maxima["impulse"].bound == pytest.approx(1)
    with pytest.raises(ValueError, match="sensitivity does not belong to law 'set'"):
        scenario.impact(law="set", sensitivity=True)


def test_a_certificate_says_what_samples_promise():
    certificate = routh.load("pushing").impact(law="set", samples=100, epsilon=0.05, delta=0.05).certificate
    assert certificate["assumption_6"] == "certified" and not certificate["holds"]
    assert certificate["log10_samples"] > 100
    assert routh.load("pushing").impact(law="set", samples=100).certificate is None
