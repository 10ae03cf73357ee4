# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""samples/python_kernels: its tests pass as a user runs them, and a race that is put in is found."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import tenon

SAMPLE = pathlib.Path(__file__).resolve().parent.parent.parent / "samples" / "python_kernels"


def run(folder):
    # The command of its CI; the plugin is named because nothing is installed here.
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tenon.pytest_plugin",
                           "--tenon-devices=emulator"], capture_output=True, text=True, cwd=folder)
    return done.returncode, done.stdout + done.stderr


def test_the_sample(nvcc, tmp_path):
    folder = tmp_path / "kernels"
    shutil.copytree(SAMPLE, folder)
    status, said = run(folder)
    assert status == 0 and "37 passed" in said, said
    file = folder / "kernels.cu"
    file.write_text(file.read_text().replace("__syncthreads();", ""))
    status, said = run(folder)
    assert status == 1 and "[races]" in said and "test_row_sums" in said and "source: kernels.cu:20:7" in said, said


def test_its_workflow_runs_what_its_readme_says():
    commands = [line.strip().removeprefix("- run: ") for line in (SAMPLE / ".github/workflows/kernels.yml").read_text().splitlines()
                if line.strip().startswith("- run: ")]
    assert commands == ["pip install -r requirements.txt", "pytest --tenon-devices=emulator"]
    readme = (SAMPLE / "README.md").read_text()
    assert "pip install -r requirements.txt\npytest\n" in readme
    wanted = [line for line in (SAMPLE / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    assert wanted == [f"./wheels/tenon-{tenon.__version__}-cp310-abi3-manylinux_2_34_x86_64.whl[nvcc]", "pytest"]


LADDER = SAMPLE.parent / "matmul_ladder"


def test_the_ladder(program, tmp_path):
    folder = tmp_path / "ladder"
    shutil.copytree(LADDER, folder, ignore=shutil.ignore_patterns("__pycache__"))

    def check():
        return subprocess.run([sys.executable, "ladder.py", "check"], capture_output=True, text=True, cwd=folder)

    done = check()
    rungs = ["naive", "coalesced", "shared", "tile_1d", "tile_2d", "vectorised", "autotuned", "warp_tiles", "double_buffered", "tensor_core", "hopper"]
    assert done.returncode == 0 and done.stdout.splitlines() == [f"{rung}: right" for rung in rungs], done.stdout + done.stderr
    # Without its barriers a rung is a race, which is at a line of its Python.
    source = (folder / "rungs.py").read_text()
    (folder / "rungs.py").write_text(source.replace("        of_b[y, x] = B[tile + y, column]\n        gpu.barrier()\n", "        of_b[y, x] = B[tile + y, column]\n"))
    done = check()
    assert done.returncode != 0 and "coalesced: right" in done.stdout and "shared: right" not in done.stdout
    assert "is not ordered" in done.stderr and "rungs.py:" in done.stderr, done.stderr
    refused = subprocess.run([sys.executable, "ladder.py", "check", "128", "100", "128"], capture_output=True, text=True, cwd=folder)
    assert refused.returncode == 1 and "wanted: multiples of 128" in refused.stderr


TURNS = """
import numpy, rungs
from tenon.gpu import f16

rungs.BLOCKS = 2  # several tiles for each, which are 256 wide
a, b = (numpy.random.default_rng(seed).integers(-3, 4, shape).astype("f2") for seed, shape in ((1, (384, 384)), (2, (384, 512))))
c = numpy.zeros((384, 512), "f2")
rungs.hopper[384, 512, 384, f16](a, b, c)
assert (c == (a.astype("f4") @ b.astype("f4")).astype("f2")).all()
"""


def test_the_hopper_rung_takes_turns(program):
    environment = {**os.environ, "TENON_EMULATOR_SM": "90", "TENON_EMULATOR_CHECK": "races,uninitialised,barriers"}
    done = subprocess.run([sys.executable, "-c", TURNS], capture_output=True, text=True, cwd=LADDER, env=environment)
    assert done.returncode == 0, done.stderr
    other = subprocess.run([sys.executable, "-c", TURNS], capture_output=True, text=True, cwd=LADDER, env={**environment, "TENON_EMULATOR_SM": "80"})
    assert other.returncode != 0 and "which sm_90a alone has; found: the target sm_80" in other.stderr and "rungs.py:" in other.stderr, other.stderr


def test_the_tiles_that_the_ladder_tries(program, tmp_path, monkeypatch):
    import json

    import numpy

    monkeypatch.syspath_prepend(str(LADDER))
    import rungs

    a, b = (numpy.random.default_rng(seed).integers(-4, 5, (128, 128)).astype("f4") for seed in (1, 2))
    for candidate in rungs.CANDIDATES[3:5]:
        c = numpy.zeros((128, 128), "f4")
        rungs.tiles[(128, 128, 128, *candidate)](a, b, c)
        numpy.testing.assert_array_equal(c, a @ b)
    for candidate in rungs.CANDIDATES:  # each of them is a kernel
        assert rungs.tiles[(128, 128, 128, *candidate)].mlir
    # What was measured for a size is taken there, and only there.
    monkeypatch.setattr(rungs, "TUNED", tmp_path / "tuned.json")
    assert rungs.autotuned[128, 128, 128] is rungs.tiles[(128, 128, 128, *rungs.CANDIDATES[0])]
    rungs.TUNED.write_text(json.dumps({"128x128x128": rungs.CANDIDATES[4]}))
    assert rungs.autotuned[128, 128, 128] is rungs.tiles[(128, 128, 128, *rungs.CANDIDATES[4])]
    assert rungs.autotuned[256, 128, 128] is rungs.tiles[(256, 128, 128, *rungs.CANDIDATES[0])]


def test_a_sample_that_is_not_there_names_those_that_are():
    with pytest.raises(FileNotFoundError, match="no sample 'other.tenon', there are .*example.mlir"):
        tenon.sample("other.tenon")
