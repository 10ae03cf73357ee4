"""Kernels against NumPy, at many sizes and on several architectures, with no GPU; where there is one, on it too."""
import pathlib

import numpy
import tenon

KERNELS = pathlib.Path(__file__).parent / "kernels.cu"
ARCHITECTURES = "sm_75,sm_80,sm_90"
saxpy = tenon.cuda_kernel(KERNELS, "saxpy", targets=ARCHITECTURES)
row_sums = tenon.cuda_kernel(KERNELS, "row_sums", targets=ARCHITECTURES)


@tenon.check(saxpy, sizes={"n": [1, 31, 32, 127, 128, 1000]}, values={"a": 2.5})
def test_saxpy(x, y, a):
    return y + numpy.float32(a) * x


@tenon.check(row_sums, sizes={"rows": [1, 3], "columns": [1, 128, 300]}, shapes={"x": ("rows", "columns"), "sums": "rows"},
             grid="rows", tolerance=1e-5)
def test_row_sums(x):
    return x.sum(axis=1)


def test_saxpy_as_it_is_called():
    x, y = numpy.arange(1000, dtype=numpy.float32), numpy.ones(1000, numpy.float32)
    saxpy(x, y, 2.0, 1000, grid=8)
    numpy.testing.assert_array_equal(y, 1 + 2 * numpy.arange(1000))
