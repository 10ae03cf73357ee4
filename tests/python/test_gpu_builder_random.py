# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tenon.gpu against Python: random bodies, as a kernel on the emulator and as the same function that Python runs thread by thread."""
import importlib.util
import math
import os

import gpu_programs
import numpy
import pytest

SEED, COUNT = int(os.environ.get("TENON_TEST_SEED", "1")), int(os.environ.get("TENON_TEST_COUNT", "8"))
GROUP = 4  # bodies of one kernel: compiling is what takes time
TYPES = [("i64", "i8"), ("i32", "i4"), ("i8", "i1"), ("i16", "i2")]  # of the integers that bodies read

KERNEL = """
from tenon import gpu
from tenon.gpu import floor, static_range

@gpu.kernel(block=64)
def kernel(x: gpu.In[gpu.DTYPE, 64], f: gpu.In[gpu.f32, 64], out: gpu.InOut[gpu.i64, COUNT, 64], g: gpu.InOut[gpu.f32, COUNT, 64]):
    i = gpu.thread_id.x
"""


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(seeds, folder):
    """The first seed whose kernel and Python differ, with both results; None: there is none."""
    dtype, numpy_type = TYPES[seeds[0] // GROUP % len(TYPES)]
    text = KERNEL.replace("COUNT", str(len(seeds))).replace("DTYPE", dtype)
    bodies = []
    for number, seed in enumerate(seeds):
        source = gpu_programs.source(seed)
        text += f"    body{number}(i, x, f, out[{number}], g[{number}])\n"
        bodies.append(source.replace("def body(", f"def body{number}("))
    path = folder / f"random_{seeds[0]}_{len(seeds)}.py"
    path.write_text("\n".join(bodies) + text)
    module = load(path, path.stem)
    random = numpy.random.default_rng(seeds[0])
    x, f = random.integers(-100, 101, 64).astype(numpy_type), (random.integers(-20, 21, 64) / 2).astype("f4")
    out, g = numpy.zeros((len(seeds), 64), "i8"), numpy.zeros((len(seeds), 64), "f4")
    module.kernel(x, f, out, g, grid=1)
    module.static_range, module.floor = range, math.floor
    xs, fs = x.tolist(), f.tolist()
    for number, seed in enumerate(seeds):
        wanted, floats = [0] * 64, [0.0] * 64
        for i in range(64):
            getattr(module, f"body{number}")(i, xs, fs, wanted, floats)
        if out[number].tolist() != wanted or g[number].tolist() != floats:
            return seed, out[number].tolist(), wanted, g[number].tolist(), floats
    return None


@pytest.mark.parametrize("first", range(SEED, SEED + COUNT, GROUP))
def test_random_bodies(program, tmp_path, first):
    found = run(list(range(first, first + GROUP)), tmp_path)
    assert found is None, f"seed {found[0]} differs\n{gpu_programs.source(found[0])}\n{found[1:]}"


def test_a_wrong_body_is_seen(program, tmp_path, monkeypatch):
    # Python's remainder has the divisor's sign: one that had the dividend's is found.
    monkeypatch.setattr(gpu_programs, "source", lambda seed: gpu_programs.HEAD + "    out[i] = x[i] % -7 + REMAINDER\n".replace(
        "REMAINDER", "(x[i] % 7 - x[i] % 7 + 1) // 3"))
    assert run([1], tmp_path) is None
    monkeypatch.setattr(gpu_programs, "source", lambda seed: gpu_programs.HEAD + "    out[i] = x[i]\n    x = f\n    out[i] += 1 if static_range is range else 0\n")
    assert run([2], tmp_path)[0] == 2
