"""Systems written in Python: the same as the library's own, and what they do wrong."""

import numpy as np
import pytest

import routh
from routh import Contact


class Box(routh.System):
    """A box in the plane: x, y, angle; its corners may touch the floor."""
    nv = 3
    coordinates = ["x", "y", "angle"]
    half = np.array([[-0.2, -0.1], [0.2, -0.1], [0.2, 0.1], [-0.2, 0.1]])

    def __init__(self, mass=1.0, friction=0.6):
        self.m, self.mu = mass, friction
        self.inertia = mass * (0.4**2 + 0.2**2) / 12

    def mass(self, q):
        return np.diag([self.m, self.m, self.inertia])

    def forces(self, t, q, v):
        return [0, -9.81 * self.m, 0]

    def potential_energy(self, q):
        return 9.81 * self.m * q[1]

    def contacts(self, q):
        s, c = np.sin(q[2]), np.cos(q[2])
        for k, (a, b) in enumerate(self.half):
            x, y = c * a - s * b, s * a + c * b
            yield Contact(f"corner{k}", q[1] + y, [0, 1, x], [1, 0, -y], self.mu)


START = dict(q=[0, 0.5, 0.8], v=[1, 0, -3])


class Block(Box):
    """That of the README: 1 m wide, 2 m high."""
    half = np.array([[-0.5, -1], [0.5, -1], [0.5, 1], [-0.5, 1]])

    def __init__(self):
        super().__init__(friction=1.0)
        self.inertia = 5 / 12


def test_a_box_in_python_tumbles_and_rests():
    t = routh.simulate(Box(), "time-stepping", **START, h=2e-3, end=1.2)
    assert t.status == "done" and t.energy[-1] < t.energy[0]
    assert np.abs(t.v[-1]).max() < 1e-8 and min(abs(t.q[-1][1] - 0.1), abs(t.q[-1][1] - 0.2)) < 1e-8
    assert t.max_penetration < 1e-3


def test_methods_agree_on_a_system_of_one_s_own():
    # free flight, then the first corner: hybrid and time-stepping meet at the impact
    hybrid = routh.simulate(Box(), "hybrid", **START, end=0.35)
    steps = routh.simulate(Box(), "time-stepping", **START, h=1e-3, end=0.35)
    first = [next(e for e in t.events if e.kind == "impact") for t in (hybrid, steps)]
    assert first[0].time == pytest.approx(first[1].time, abs=1e-6)
    assert np.allclose(first[0].v_minus, first[1].v_minus, atol=1e-5)
    assert np.allclose(hybrid.q[-1], steps.q[-1], atol=1e-4)


def test_an_impact_of_one_s_own_system():
    flat = Block().scenario([0, 1, 0], [0, -0.4429, 0])
    assert flat.kind == "system" and len(flat.contacts) == 4
    r = flat.impact()
    assert r.contacts == ["corner0", "corner1"] and len(r.outcomes) == 3
    assert flat.check().unique is False


def test_ensembles_run_in_python_too():
    e = routh.ensemble(Block(), runs=6, q=[0, 1, 0], v=[0, -0.4429, 0], end=0.05, threads=2)
    assert len(e) == 6 and len(e.words) > 1


def test_forces_of_a_stepper_reach_a_system():
    s = routh.stepper(Box(), h=1e-3, q=[0, 1, 0], v=[0, 0, 0])
    s.force = [0, 9.81, 0]
    s.step(50)
    assert np.allclose(s.v, 0, atol=1e-9)


class Pendulum(routh.System):
    """A point on a rod, with a joint instead of an angle."""
    nv = 2

    def mass(self, q):
        return np.eye(2)

    def forces(self, t, q, v):
        return [0, -9.81]

    def joints(self, q):
        length = np.hypot(*q)
        return [q / length], [length - 1]


def test_joints_of_one_s_own_hold():
    t = routh.simulate(Pendulum(), "time-stepping", q=[1, 0], h=1e-3, end=1)
    assert t.max_joint_error < 1e-6
    # the same as an angle, by Runge and Kutta
    angle, rate, h = 0.0, 0.0, 1e-4
    f = lambda a: -9.81 * np.cos(a)
    for _ in range(10000):
        k1, l1 = rate, f(angle)
        k2, l2 = rate + h / 2 * l1, f(angle + h / 2 * k1)
        k3, l3 = rate + h / 2 * l2, f(angle + h / 2 * k2)
        k4, l4 = rate + h * l3, f(angle + h * k3)
        angle, rate = angle + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), rate + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
    assert np.allclose(t.q[-1], [np.cos(angle), np.sin(angle)], atol=1e-4)
    with pytest.raises(ValueError, match="joints are open"):
        routh.simulate(Pendulum(), "time-stepping", q=[1.1, 0], h=1e-3, end=1)


def changed(**methods):
    return type("Changed", (Box,), methods)()


class Trouble(Exception):
    pass


def raises(*_):
    raise Trouble("mine")


@pytest.mark.parametrize("name", ["mass", "forces", "contacts", "potential_energy", "joints", "integrate"])
def test_what_a_method_raises_comes_out(name):
    with pytest.raises(Trouble, match="mine"):
        routh.simulate(changed(**{name: raises}), "time-stepping", **START, end=0.1)


def test_an_exception_on_the_way_comes_out():
    def later(self, t, q, v):
        if t > 0.05:
            raise Trouble("late")
        return [0, -9.81, 0]

    for method in ("time-stepping", "hybrid"):
        with pytest.raises(Trouble, match="late"):
            routh.simulate(changed(forces=later), method, **START, end=0.2)
    with pytest.raises(Trouble, match="late"):
        routh.ensemble(changed(forces=later), runs=4, **START, end=0.2)


@pytest.mark.parametrize("methods, says", [
    ({"mass": lambda s, q: np.eye(2)}, "mass: is 2 x 2; it must be 3 x 3"),
    ({"mass": lambda s, q: None}, "mass"), ({"forces": lambda s, t, q, v: [1]}, "forces: is 1; it must be 3"),
    ({"forces": lambda s, t, q, v: "down"}, "forces"), ({"contacts": lambda s, q: 3}, "contacts: must return a list"),
    ({"contacts": lambda s, q: [(1, 2)]}, "routh.Contact"),
    ({"contacts": lambda s, q: [Contact("A", 1, [0, 1], [1, 0, 0])]}, "Jn: is 2; it must be 3"),
    ({"contacts": lambda s, q: [Contact("A", 1, [0, 1, 0], [1, 0])]}, "Jt: is 1 x 2"),
    ({"contacts": lambda s, q: [Contact("A", float("nan"), [0, 1, 0], [1, 0, 0])]}, "phi"),
    ({"contacts": lambda s, q: [Contact("A", 1, [0, 1, 0], [1, 0, 0], mu=-1)]}, "mu -1"),
    ({"contacts": lambda s, q: [Contact("A", 1, [0, 1, 0], "abc")]}, r"contacts\[0\].Jt: "),
    ({"contacts": lambda s, q: [Contact("A", 1, [0, 1, 0], [[1, 0, 0], [0, 1]])]}, r"contacts\[0\].Jt: "),
    ({"contacts": lambda s, q: [Contact("A", 1, [0, 1, 0], [1j, 0, 0])]}, r"contacts\[0\].Jt: "),
    ({"contacts": lambda s, q: [Contact("A", 1, [0, 1, 0], [np.nan, 0, 0])]}, "Jt: has a number that is not finite"),
    ({"contacts": lambda s, q: [Contact("A", 1, [0, np.inf, 0], [1, 0, 0])]}, "Jn: has a number that is not finite"),
    ({"contacts": lambda s, q: [Contact("A", 1, [0, 1, 0], [1, 0, 0], bias_n=np.nan)]}, "bias_n nan: must be finite"),
    ({"contacts": lambda s, q: [Contact("A", 1, [0, 1, 0], [1, 0, 0], bias_t="x")]}, "bias_t 'x': must be a number"),
    ({"contacts": lambda s, q: [Contact("A", 1, [0, 1, 0], np.eye(3)[:2], bias_t=0.0)]}, "bias_t: belongs to planar"),
    ({"contacts": lambda s, q: [Contact("A", 1, [0, 1, 0], [1, 0, 0]), Contact("B", 1, [0, 1, 0], np.eye(3)[:2])]},
     r"contacts\[1\].Jt: has 2 rows"),
    ({"contacts": lambda s, q: 2 * [Contact("A", 1, [0, 1, 0], [1, 0, 0])]}, "two are called by the same name"),
    ({"contacts": lambda s, q: [{"name": "A", "gap": 1}]}, r"contacts\[0\]: .*gap"),
    ({"mass": lambda s, q: np.triu(np.ones((3, 3)))}, "mass: must be symmetric"),
    ({"mass": lambda s, q: np.full((3, 3), np.nan)}, "mass: has a number that is not finite"),
    ({"nv": True}, "nv: must be the number"), ({"nv": 3.0}, "nv: must be the number"),
    ({"joints": lambda s, q: 5}, r"joints: must return \(A, gaps\)"),
    ({"potential_energy": lambda s, q: "much"}, "potential_energy"),
    ({"nv": 0}, "nv"), ({"nq": 4}, "integrate"), ({"coordinates": ["x"]}, "coordinates: has 1 names"),
    ({"forces": lambda s, t, q, v: [np.nan] * 3}, "finite")])
def test_what_has_the_wrong_size_is_a_value_error(methods, says):
    with pytest.raises(ValueError, match=says):
        routh.simulate(changed(**methods), "time-stepping", **START, end=0.1)


def test_a_start_is_needed():
    with pytest.raises(ValueError, match="q: a System needs"):
        routh.simulate(Box())
    with pytest.raises(ValueError, match="q: is 2; it must be 3"):
        routh.simulate(Box(), q=[0, 1])
    with pytest.raises(NotImplementedError, match="mass"):
        routh.simulate(type("Bare", (routh.System,), {"nv": 1})(), q=[0])


def test_contacts_that_come_and_go_are_refused():
    class Fickle(Box):
        def contacts(self, q):
            return list(super().contacts(q))[:4 if q[1] > 0.45 else 2]

    for method in ("time-stepping", "hybrid"):
        with pytest.raises(ValueError, match="returned 4 at first and 2 now"):
            routh.simulate(Fickle(), method, **START, end=0.5)


def test_an_interrupt_in_a_method_leaves_what_there_is():
    class Stopped(Box):
        calls = 0

        def forces(self, t, q, v):
            self.calls += 1
            if self.calls == 2000:
                raise KeyboardInterrupt
            return super().forces(t, q, v)

    with pytest.warns(RuntimeWarning, match="incomplete"):
        t = routh.simulate(Stopped(), "time-stepping", q=[0, 100, 0], v=[0, 0, 0], h=1e-3, end=10)
    assert t.status == "interrupted" and 0 < t.time[-1] < 10


def test_integers_of_numpy_count_velocities():
    t = routh.simulate(changed(nv=np.int64(3)), "time-stepping", **START, end=0.02)
    assert t.q.shape[1] == 3


def test_a_mistake_within_a_generator_of_contacts_is_not_hidden():
    def contacts(self, q):
        yield Contact("A", q[1] + None, [0, 1, 0], [1, 0, 0])

    with pytest.raises(TypeError, match="NoneType"):
        routh.simulate(changed(contacts=contacts), "time-stepping", **START, end=0.1)


def test_the_rate_of_a_normal_that_turns_is_found_by_differences():
    class Bowl(routh.System):
        """A point in a circle of radius 1: n = -q/r, so that dn/dt v = -(v.v - (n.v)^2)/r."""
        nv = 2
        def mass(self, q): return np.eye(2)
        def forces(self, t, q, v): return [0, 0]
        def contacts(self, q):
            r = np.hypot(*q)
            return [Contact("wall", 1 - r, -q / r, [-q[1] / r, q[0] / r])]

    bowl = Bowl()
    bowl.scenario([0.6, 0.8])
    q, v = np.array([0.6, 0.8]), np.array([0.8, -0.6])
    wall, = bowl._with_bias(q, v)
    assert wall.bias_n == pytest.approx(-1, rel=1e-7) and wall.bias_t == pytest.approx(0, abs=1e-7)


class Interrupted(Box):
    calls = 0

    def forces(self, t, q, v):
        self.calls += 1
        if self.calls == 100:
            raise KeyboardInterrupt
        return super().forces(t, q, v)


def test_an_interrupt_in_a_method_ends_ensembles_and_steppers():
    with pytest.warns(RuntimeWarning, match="incomplete"):
        e = routh.ensemble(Interrupted(), runs=1000, q=[0, 100, 0], end=0.5, threads=1)
    assert e.stopped and len(e) < 1000
    s = routh.stepper(Interrupted(), h=1e-3, q=[0, 100, 0])
    with pytest.raises(KeyboardInterrupt):
        s.step(10**6)
    before = s.time
    assert 0 < before < 1 and s.step().time > before


def test_a_stepper_is_not_stepped_within_its_own_step():
    class Loop(Box):
        stepper = None

        def forces(self, t, q, v):
            if self.stepper is not None:
                self.stepper.step()
            return super().forces(t, q, v)

    loop = Loop()
    s = routh.stepper(loop, h=1e-3, q=[0, 1, 0])
    loop.stepper = s
    with pytest.raises(RuntimeError, match="within a step"):
        s.step(3)
    loop.stepper = None
    s.step()


def test_a_system_lives_as_long_as_its_scenario():
    import gc
    import weakref
    box = Box()
    there, scene = weakref.ref(box), box.scenario([0, 1, 0])
    del box
    assert routh.simulate(scene, "time-stepping", h=1e-3, end=0.01).status == "done"
    del scene
    gc.collect()
    assert there() is None


def test_a_system_without_a_picture_is_not_animated():
    for t in (routh.simulate(Box(), "time-stepping", **START, h=2e-3, end=0.1), routh.simulate("order-test", end=0.1)):
        with pytest.raises(ValueError, match="no picture"):
            t.animate("there_is_none.gif")


def test_a_method_cannot_change_what_the_next_one_sees():
    def forces(self, t, q, v):
        q[1] = 0
        return [0, -9.81, 0]

    with pytest.raises(ValueError, match="read-only"):
        routh.simulate(changed(forces=forces), "time-stepping", **START, end=0.1)


def test_frozen_dataclasses_are_systems():
    import dataclasses

    @dataclasses.dataclass(frozen=True)
    class Ball(routh.System):
        mass_of_it: float
        nv = 2
        def mass(self, q): return self.mass_of_it * np.eye(2)
        def forces(self, t, q, v): return [0, -10 * self.mass_of_it]

    t = routh.simulate(Ball(2.0), "time-stepping", q=[0, 0], v=[1, 0], h=1e-2, end=1)
    assert t.q[-1] == pytest.approx([1, -5], abs=1e-9)


def test_one_system_serves_several_threads():
    import threading
    scene, ends = Box().scenario(**START), []
    threads = [threading.Thread(target=lambda: ends.append(routh.simulate(scene, "time-stepping", h=2e-3, end=0.1).q[-1]))
               for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(ends) == 4 and all(np.array_equal(q, ends[0]) for q in ends)
