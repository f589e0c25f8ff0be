"""Docstrings, examples, stubs, and MuJoCo's model and data."""

import ast
import doctest
import importlib
import importlib.util
import pathlib
import runpy
import shutil
import types

import numpy as np
import pytest

import routh
from conftest import needs_models

HERE = pathlib.Path(__file__).resolve().parent
MODULES = ["_batch", "_ensemble", "_impact", "_map", "_measured", "_motion", "_saved", "_scenario", "_selected", "_system",
           "lcp"]


def can_run(text):
    """What an example needs may be missing: Matplotlib, or gnuplot."""
    if ".plot(" in text and importlib.util.find_spec("matplotlib") is None:
        return False
    return shutil.which("gnuplot") or ".draw(" not in text


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_docstrings_hold(name):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder().find(importlib.import_module("routh." + name)):
        if can_run(test.docstring):
            runner.run(test)
    assert runner.tries > 0 and runner.failures == 0


def test_every_method_says_what_it_does_and_shows_it():
    # of a table that has to be there
    shown_in_words = {"MeasuredResult.to_csv", "MeasuredResult.draw"}
    for name in routh.__all__:
        thing = getattr(routh, name)
        for part, value in vars(thing).items() if isinstance(thing, type) else ():
            read = isinstance(value, property) and value.fget.__name__ != "<lambda>"
            if part.startswith("_") or not (read or isinstance(value, types.FunctionType)):
                continue
            text = value.__doc__ or ""
            assert (">>> " in text or "see the example of the class" in text or f"{name}.{part}" in shown_in_words), (name, part)


def test_everything_public_says_what_it_is():
    for name in routh.__all__:
        thing = getattr(routh, name)
        if isinstance(thing, (types.FunctionType, type)):
            assert thing.__doc__, name


def test_what_can_be_called_has_an_example_that_runs():
    for name in routh.__all__:
        thing = getattr(routh, name)
        record = isinstance(thing, type) and (issubclass(thing, tuple) or thing.__init__ is object.__init__)
        made = {"BranchTree", "MeasuredResult"}  # by the function that is shown
        if isinstance(thing, (types.FunctionType, type)) and not record and name not in made | {"from_mujoco"}:
            assert ">>>" in thing.__doc__, name


def test_the_reference_has_everything_public():
    page = HERE.parents[1] / "docs" / "python-reference.md"
    if not page.exists():
        pytest.skip("the tests are not beside the documentation")
    shown = page.read_text()
    for name in routh.__all__:
        if isinstance(getattr(routh, name), (types.FunctionType, type)):
            assert f"routh.{name}\n" in shown, name


@pytest.mark.parametrize("example", sorted(p.name for p in (HERE.parent / "examples").glob("*.py")))
def test_examples_run(example, capsys):
    runpy.run_path(str(HERE.parent / "examples" / example), run_name="__main__")
    assert capsys.readouterr().out


def test_stubs_name_what_there_is():
    package = pathlib.Path(routh.__file__).parent
    assert (package / "py.typed").exists()
    for stub, module in (("__init__.pyi", routh), ("lcp.pyi", routh.lcp)):
        tree = ast.parse((package / stub).read_text())
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                thing = getattr(module, node.name)
                for part in node.body if isinstance(node, ast.ClassDef) else ():
                    name = part.name if isinstance(part, ast.FunctionDef) else getattr(getattr(part, "target", None), "id", None)
                    # what is made in __init__ is not in the class
                    assert name is None or hasattr(thing, name) or name in ("scenario", "all", "continua", "incomplete"), (node.name, name)
    stubbed = (package / "__init__.pyi").read_text()
    for name in routh.__all__:
        assert name in stubbed, name


def test_stubs_have_the_arguments_that_functions_take():
    import inspect
    package = pathlib.Path(routh.__file__).parent
    for stub, module in (("__init__.pyi", routh), ("lcp.pyi", routh.lcp)):
        for node in ast.parse((package / stub).read_text()).body:
            if not isinstance(node, ast.FunctionDef):
                continue
            taken = inspect.signature(getattr(module, node.name)).parameters.values()
            named = lambda *kinds: [p.name for p in taken if p.kind in kinds]
            assert named(inspect.Parameter.POSITIONAL_OR_KEYWORD) == [a.arg for a in node.args.args], node.name
            assert named(inspect.Parameter.KEYWORD_ONLY) == [a.arg for a in node.args.kwonlyargs], node.name
            assert named(inspect.Parameter.VAR_KEYWORD) == ([node.args.kwarg.arg] if node.args.kwarg else []), node.name


# MuJoCo: its functions for a free box, written down from its documentation

class FreeBox:
    """What mujoco.MjModel and MjData have, of one box on a plane."""

    def __init__(self, m, q, v, frames):
        self.nv, self.qM, self.qvel = 6, m, v
        self.geom_bodyid = [0, 1]
        self.contact, self.ncon, self.nefc, self.ne = frames, len(frames), 0, 0
        self.xpos, self.rotation = q[:3], np.eye(3)

    def geom(self, k):
        return types.SimpleNamespace(name=["floor", "box"][k])


FAKE = types.SimpleNamespace(mj_fullM=lambda model, M, qM: M.__setitem__(slice(None), qM))


def _jac(model, data, jacp, jacr, point, body):
    """Velocity of a point of a free body: linear in the world, angular in its own frame."""
    if body:
        r = point - data.xpos
        cross = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
        jacp[:] = np.hstack([np.eye(3), -cross @ data.rotation])


FAKE.mj_jac = _jac


@needs_models
def test_mujoco_s_data_gives_the_impact_that_our_reader_gives(tmp_path):
    model = tmp_path / "box.xml"
    model.write_text("""<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1" friction=".4"/>
<body pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".3 .2 .1" mass="2" friction=".4"/></body>
</worldbody></mujoco>""")
    v = np.array([0.3, 0, -1, 0, 0.5, 0])
    ours = routh.load(str(model), qvel=v)
    frame = np.array([0, 0, 1, 0, 1, 0, -1, 0, 0.0])
    corners = [np.array([x, y, 0.0]) for x in (-0.3, 0.3) for y in (-0.2, 0.2)]
    contacts = [types.SimpleNamespace(dist=0.0, pos=p, frame=frame, friction=[0.4, 0.4, 0, 0, 0], dim=3, geom1=0, geom2=1)
                for p in corners]
    far = types.SimpleNamespace(**{**vars(contacts[0]), "dist": 0.01})
    data = FreeBox(ours.M, ours.q, v, contacts + [far])
    theirs = routh.from_mujoco(data, data, mujoco=FAKE)
    assert len(theirs.contacts) == 4 and theirs.contacts[0] == "box/floor" and theirs.contacts[1] == "box/floor 2"
    assert np.allclose(theirs.mu, 0.4)
    # the same corners have the same normal velocity, and slip as fast
    assert np.allclose(sorted(theirs.Jn @ v), sorted(ours.Jn @ v), atol=1e-9)
    slip = lambda s: sorted(np.linalg.norm((s.Jt @ v).reshape(-1, 2), axis=1))
    assert np.allclose(slip(theirs), slip(ours), atol=1e-9)
    a, b = (s.impact(law="simultaneous").outcomes[0] for s in (theirs, ours))
    assert np.allclose(a.velocity, b.velocity, atol=1e-6)
    # later versions: the inertia comes by data, not by its array
    later = types.SimpleNamespace(mj_jac=_jac, mj_fullM=lambda model, data, M: M.__setitem__(slice(None), data.M))
    data.M = data.__dict__.pop("qM")
    assert np.array_equal(routh.from_mujoco(data, data, mujoco=later).M, theirs.M)
    with pytest.raises(ValueError, match="touching"):
        routh.from_mujoco(data, data, touching=np.nan, mujoco=later)
    with pytest.raises(ValueError, match="no contact is nearer"):
        routh.from_mujoco(FreeBox(ours.M, ours.q, v, [far]), FreeBox(ours.M, ours.q, v, [far]), mujoco=FAKE)


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_of_mujoco_s_constraints_may_be_sparse(sparse):
    from routh import _mujoco
    J = np.array([[1.0, 0, 2], [0, 3, 0]])
    data = types.SimpleNamespace(nefc=2, efc_J=J)
    if sparse:
        data = types.SimpleNamespace(nefc=2, efc_J=np.array([1.0, 2, 3]), efc_J_colind=[0, 2, 1], efc_J_rowadr=[0, 2],
                                     efc_J_rownnz=[2, 1])
    mujoco = types.SimpleNamespace(mj_isSparse=lambda model: sparse)
    assert np.array_equal(_mujoco._constraint_rows(mujoco, types.SimpleNamespace(nv=3), data), J)


def test_mujoco_itself_where_it_is():
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(routh.scenario_text("quadruped"))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    ours = routh.load("quadruped").check()
    assert routh.from_mujoco(model, data).check().unique == ours.unique
