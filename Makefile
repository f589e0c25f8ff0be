# make demo    installs what is missing, builds, runs the main job
# make test    the same set-up, then all tests
# make build   leaves the command at build/routh
# make python  the Python package, importable from build/python, and its tests; make wheel for an environment of your own
# make docs    the documentation site, at build/docs/site/index.html
# make package Debian packages of the command and of the library, in build/
# make mpi     the command for clusters: maps, ensembles and samples by many processes
# make cuda    the command with --device cuda: the set law and its maps on a GPU
# make bench   speed, with residuals and peers
# make check   format, warnings with GCC and Clang, sanitizers, fuzzers for seconds (what CI runs after the tests)
# make soak    fuzzers for a minute each, random problems for minutes
# make format  formats the code

JOBS ?= $(shell nproc)
WERROR ?= OFF
CMAKE := cmake -S . -DCMAKE_BUILD_TYPE=Release -DROUTH_WERROR=$(WERROR)
ifeq ($(VERBOSE),)
QUIET := > /dev/null
endif

.PHONY: demo test build setup mpi cuda python wheel docs package bench check check-format check-clang check-fuzz check-cuda soak \
  format clean

build: setup
	@echo "== building build/routh (a minute or two the first time)"
	@$(CMAKE) -B build -DROUTH_TESTS=OFF $(QUIET)
	@cmake --build build -j $(JOBS) --target routh $(QUIET)

demo: build
	@echo "== the rocking block: every outcome, then the exact set of outcomes drawn into figures/"
	@build/routh impact rocking-block
	@build/routh impact rocking-block --law exact --plot figures || build/routh impact rocking-block --law set --plot figures
	@echo
	@echo "next: build/routh list, build/routh check compass-gait, build/routh reproduce all"

test: setup
	@tools/setup packages-test.txt --optional packages-python.txt packages-hdf5.txt
	@echo "== building the program and its tests (a few minutes the first time)"
	@$(CMAKE) -B build -DROUTH_TESTS=ON -DROUTH_HDF5=ON $(QUIET)
	@cmake --build build -j $(JOBS) $(QUIET)
	@echo "== running all tests"
	@ctest --test-dir build -j $(JOBS) --output-on-failure

# Debian's Python, which Debian's packages are for
PYTHON ?= /usr/bin/python3

mpi: setup
	@tools/setup packages-mpi.txt --optional packages-hdf5.txt
	@echo "== building build/routh for many processes"
	@$(CMAKE) -B build -DROUTH_MPI=ON -DROUTH_HDF5=ON $(QUIET)
	@cmake --build build -j $(JOBS) --target routh $(QUIET)
	@echo "next: mpirun -n 4 build/routh map compass-gait --vary friction=0.2:5:64 --csv map.csv"

cuda: setup
	@echo "== building build/routh for GPUs (it needs nvcc)"
	@$(CMAKE) -B build -DROUTH_CUDA=ON $(QUIET)
	@cmake --build build -j $(JOBS) --target routh $(QUIET)
	@echo "next: build/routh impact compass-gait --law set --samples 2^24 --device cuda"

python: setup
	@tools/setup packages-python.txt
	@echo "== building the Python package into build/python (a minute or two the first time)"
	@$(CMAKE) -B build -DROUTH_TESTS=OFF -DROUTH_PYTHON=ON -DPython_EXECUTABLE=$(PYTHON) $(QUIET)
	@cmake --build build -j $(JOBS) --target python_package routh $(QUIET)
	@echo "== testing it"
	@PYTHONPATH=build/python PYTHONDONTWRITEBYTECODE=1 ROUTH_PROGRAM=$(CURDIR)/build/routh MPLBACKEND=agg \
	  $(PYTHON) -m pytest -q -rs -p no:cacheprovider python/tests
	@echo "next: PYTHONPATH=build/python $(PYTHON), import routh; make docs, make wheel"

wheel: setup
	@tools/setup packages-python.txt
	@echo "== building a wheel into build/wheel"
	@$(CMAKE) -B build -DROUTH_TESTS=OFF -DROUTH_PYTHON=ON -DPython_EXECUTABLE=$(PYTHON) $(QUIET)
	@cmake --build build -j $(JOBS) --target python_package $(QUIET)
	@ROUTH_BUILD=build $(PYTHON) -m pip wheel . --no-build-isolation --no-deps -w build/wheel $(QUIET)
	@ls build/wheel/*.whl

docs: setup
	@tools/setup packages-python.txt packages-docs.txt
	@echo "== building the command, the Python package and the site"
	@$(CMAKE) -B build -DROUTH_TESTS=OFF -DROUTH_PYTHON=ON -DPython_EXECUTABLE=$(PYTHON) $(QUIET)
	@cmake --build build -j $(JOBS) --target python_package routh $(QUIET)
	@PYTHON=$(PYTHON) tools/site build
	@echo "next: open build/docs/site/index.html"

package: build
	@echo "== packing"
	@$(CMAKE) -B build -DROUTH_MPI=OFF -DROUTH_HDF5=OFF -DROUTH_CUDA=OFF $(QUIET)
	@cmake --build build -j $(JOBS) $(QUIET)
	@cd build && cpack $(QUIET) && ls *.deb

bench: setup
	@echo "== building and running the benchmarks"
	@tools/setup --optional packages-bench.txt
	@$(CMAKE) -B build -DROUTH_TESTS=OFF -DROUTH_BENCH=ON $(QUIET)
	@cmake --build build -j $(JOBS) $(QUIET)
	@build/bench/routh_bench
	@build/bench/stack_bench
	@if [ -x build/bench/cuda_bench ]; then build/bench/cuda_bench; fi
	@if [ -x build/bench/model_bench ]; then build/bench/model_bench; fi
	@build/bench/event_selected_bench results
	@if [ -d build/python/routh ]; then PYTHONPATH=build/python $(PYTHON) bench/python_bench.py build/bench/python_peer; fi

setup:
	@tools/setup packages.txt --optional packages-optional.txt

check: check-format check-clang check-fuzz check-cuda

check-format:
	@echo "== format"
	@tools/setup packages-check.txt
	@git ls-files '*.h' '*.cc' '*.cu' '*.inc' | xargs clang-format --dry-run -Werror

SANITIZED := -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" -DROUTH_SANITIZE=ON -DROUTH_WERROR=ON

# Clang compiles faster with sanitizers than GCC
check-clang:
	@echo "== Clang, warnings as errors; tests under the address and undefined-behaviour sanitizers"
	@tools/setup packages-test.txt packages-check.txt
	@CXX=clang++ cmake -S . -B build-clang $(SANITIZED) -DROUTH_FUZZ=ON $(QUIET)
	@cmake --build build-clang -j $(JOBS) $(QUIET)
	@ctest --test-dir build-clang -j $(JOBS) --output-on-failure

# what check-clang built, on inputs of any kind
check-fuzz: check-clang
	@echo "== fuzzers"
	@FUZZ_SEED=1 tools/fuzz build-clang 8

# where there is nvcc; what needs a GPU is skipped where there is none
NVCC := $(shell command -v nvcc || ls /usr/local/cuda/bin/nvcc 2> /dev/null)
check-cuda: setup
ifeq ($(NVCC),)
	@echo "== CUDA is not compiled: there is no nvcc"
else
	@echo "== CUDA, compiled by $(NVCC)"
	@tools/setup packages-test.txt
	@$(CMAKE) -B build -DROUTH_TESTS=ON -DROUTH_CUDA=ON $(QUIET)
	@cmake --build build -j $(JOBS) --target cuda_test $(QUIET)
	@build/tests/cuda_test --gtest_brief=1
	@$(CMAKE) -B build -DROUTH_CUDA=OFF $(QUIET)
endif

soak: setup
	@echo "== fuzzers, a minute each (a while longer the first time: they are built)"
	@tools/setup packages-test.txt packages-check.txt
	@CXX=clang++ cmake -S . -B build-clang $(SANITIZED) -DROUTH_FUZZ=ON $(QUIET)
	@cmake --build build-clang -j $(JOBS) $(QUIET)
	@tools/fuzz build-clang 60
	@echo "== random problems against rational arithmetic, in all units, orders and frames"
	@$(CMAKE) -B build -DROUTH_TESTS=ON $(QUIET)
	@cmake --build build -j $(JOBS) --target impact_test $(QUIET)
	@ROUTH_SOAK=25 build/tests/impact_test --gtest_brief=1 --gtest_filter='Referee*:Invariance*'

format:
	@git ls-files '*.h' '*.cc' '*.cu' '*.inc' | xargs clang-format -i

clean:
	rm -rf build build-clang figures results routh.egg-info
