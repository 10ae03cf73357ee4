# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tenon.check: kernels as pytest tests, without a GPU."""
import subprocess
import sys

import numpy
import pytest
import tenon
from conftest import SAXPY

TESTS = f"""
import numpy, tenon
SOURCE = {SAXPY!r}
saxpy = tenon.cuda_kernel(SOURCE, "saxpy", targets="sm_80,sm_90")
beyond = tenon.cuda_kernel(SOURCE, "beyond")

@tenon.check(saxpy, sizes={{"n": [1, 129]}}, values={{"a": 2.5}})
def test_saxpy(x, y, a, n):
    return y + numpy.float32(a) * x

@tenon.check(beyond, sizes={{"n": [10]}}, reference=lambda x: x)
def test_beyond():
    pass

@tenon.check(saxpy, sizes={{"n": [4]}}, values={{"a": 1, "y": 3}})
def test_wrong(x, y):
    return y - x
"""


def test_cases_pass_and_fail_with_the_tools_table(nvcc, tmp_path):
    (tmp_path / "test_kernels.py").write_text(TESTS)
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "tenon.pytest_plugin", "--tenon-devices=emulator",
                           str(tmp_path)], capture_output=True, text=True, cwd=tmp_path)
    said = done.stdout + done.stderr
    # Two sizes on two architectures pass; one wrong kernel, and one wrong reference on two architectures, fail.
    assert "3 failed, 4 passed" in said, said
    assert "test_beyond[emulator-sm_90-n=10]" in said and "source: beyond.cu:11:5" in said
    assert "out-of-bounds global read of 4 bytes" in said and "thread (10,0,0)" in said
    assert "reference  FAILED" in said and "tenon: " in said


@pytest.mark.parametrize("arguments, text", [
    ({"sizes": {"n": [1]}}, "values: what is 'a'"),
    ({"sizes": {"n": [1], "m": [2]}, "values": {"a": 1}}, "what is the shape of 'x'"),
    ({"sizes": {"n": [1]}, "values": {"b": 1}}, "has no parameter b"),
    ({"sizes": {"n": [1]}, "values": {"a": 1}, "reference": lambda z: z}, "takes z"),
    ({"sizes": {"n": [1]}, "values": {"a": 1}, "reference": lambda x: (x, x)}, "returns 2 arrays"),
    ({"sizes": {"n": [2]}, "values": {"a": 1}, "reference": lambda x: x[:1]}, "has shape (1,)"),
    ({"sizes": {"n": [2]}, "values": {"a": 1}, "shapes": {"x": "n; m"}, "reference": lambda x: x}, "no expression"),
    ({"sizes": {"n": [2]}, "values": {"a": 1}, "shapes": {"x": "2*m"}}, "'2*m' is no expression of the sizes n: name 'm' is not defined"),
    ({"sizes": {"n": [2]}, "values": {"a": 1}, "shapes": {"x": "n +"}}, "'n +' is no expression of the sizes n: invalid syntax"),
    ({"sizes": {"n": [-2]}, "values": {"a": 1}}, "the shape of 'x' is (-2,) with n=-2; wanted: numbers from 0 on"),
    ({"sizes": {}, "values": {"a": 1}}, "what is the shape of 'x'? There are no sizes: sizes={'n': [1, 32, 1000]}"),
    ({"sizes": {"n": 5}, "values": {"a": 1}}, "sizes: 'n' is 5; wanted: the numbers to try, as in sizes={'n': [1, 31, 1000]}"),
    ({"sizes": {"n": ["5"]}, "values": {"a": 1}}, "sizes: 'n' is ['5']; wanted"),
    ({"sizes": [1, 2], "values": {"a": 1}}, "sizes is [1, 2]; wanted: a dict"),
    ({"sizes": {"n": [2]}, "values": {"a": 1}, "reference": lambda x: None}, "the reference returns None; wanted: what y must hold"),
    ({"sizes": {"n": [2]}, "values": {"a": 1, "x": [1, 2, 3]}}, "values: 'x' has the shape (3,), which is not made into (2,)"),
])
def test_what_is_refused(saxpy, arguments, text):
    from tenon.checks import _Check

    given = {"shapes": {}, "values": {}, "grid": None, "tolerance": None, "partial": (), "seed": 1, "reference": None, **arguments}
    with pytest.raises(ValueError) as raised:
        check = _Check(saxpy, **given)
        check.run({name: values[0] for name, values in check.sizes.items()}, "emulator", None)
    assert text in str(raised.value)


def test_shapes_are_expressions(saxpy):
    from tenon.checks import _evaluate

    sizes = {"m": 7, "n": 3}
    assert [_evaluate(text, sizes) for text in ("m", "2*n + 1", "ceildiv(m, 2)", "min(m, n)", "m / 2", "12")] == [7, 7, 4, 3, 3, 12]
