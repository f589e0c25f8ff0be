import os
import subprocess

import numpy as np
import pytest

import routh

BLOCK = dict(M=np.diag([1, 1, 5 / 12]), Jn=np.array([[0, 1, -0.5], [0, 1, 0.5]]),
             Jt=np.array([[1.0, 0, 1], [1, 0, 1]]), mu=np.ones(2), v=np.array([0, -0.4429, 0]))


@pytest.fixture
def block():
    return {name: np.array(value) for name, value in BLOCK.items()}


@pytest.fixture
def command():
    """Runs the command and returns its JSON."""
    import json
    program = os.environ.get("ROUTH_PROGRAM", "")
    if not os.path.exists(program):
        pytest.skip("the command was not built")

    def run(*arguments):
        done = subprocess.run([program, *arguments, "--json", "-"], capture_output=True, text=True)
        assert done.returncode in (0, 3), done.stderr
        return json.loads(done.stdout)

    return run


needs_models = pytest.mark.skipif(not routh.has_models, reason="built without MuJoCo")
