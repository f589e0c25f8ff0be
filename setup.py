"""The compiled half of the Python package is built by CMake; everything else is in pyproject.toml.

    python3 -m pip wheel . --no-build-isolation --no-deps

ROUTH_CMAKE_ARGS adds options, such as -DROUTH_MUJOCO=OFF. ROUTH_BUILD names a build
folder to take it from, as `make wheel` does, instead of building from scratch.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).parent.resolve()


class CMakeBuild(build_ext):
    def build_extension(self, ext):
        there = os.environ.get("ROUTH_BUILD")
        build = pathlib.Path(there or self.build_temp).resolve()
        target = pathlib.Path(self.get_ext_fullpath(ext.name)).resolve().parent
        if not there:
            subprocess.run(["cmake", "-S", str(ROOT), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release",
                            "-DROUTH_TESTS=OFF", "-DROUTH_COMMAND=OFF", "-DROUTH_INSTALL=OFF", "-DROUTH_PYTHON=ON",
                            f"-DPython_EXECUTABLE={sys.executable}",
                            *shlex.split(os.environ.get("ROUTH_CMAKE_ARGS", ""))], check=True)
        subprocess.run(["cmake", "--build", str(build), "--target", "routh_python", "-j",
                        str(os.cpu_count() or 1)], check=True)
        target.mkdir(parents=True, exist_ok=True)
        made, = (build / "python" / "routh").glob("_core*.so")
        self.copy_file(str(made), str(target / made.name))


version = re.search(r"project\(routh VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
setup(version=version, ext_modules=[Extension("routh._core", [])], cmdclass={"build_ext": CMakeBuild})
