# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels made in place, and .tnx files: launches on NumPy's memory, and what is refused."""
import ctypes

import numpy
import pytest
import tenon
from conftest import SAXPY


def arrays(n=1000):
    return numpy.arange(n, dtype=numpy.float32), numpy.ones(n, numpy.float32)


def test_writes_numpys_own_memory(saxpy):
    x, y = arrays()
    saxpy(x, y, 2.0, 1000, grid=8)
    assert (y == 1 + 2 * x).all()
    saxpy[8](x, y, -2.0, 1000)
    assert (y == 1).all()
    saxpy(x, x, 1.0, 1000, grid=(8, 1))  # one array twice
    assert (x == 2 * numpy.arange(1000)).all()


def test_overlapping_views_are_copied(saxpy):
    memory = numpy.ones(1001, numpy.float32)
    saxpy(memory[:1000], memory[1:], 1.0, 1000, grid=8)
    assert (memory[1:] == 2).all() and memory[0] == 1


def test_a_grid_function(nvcc):
    kernel = tenon.cuda_kernel(SAXPY, "saxpy", grid=lambda x, y, a, n: -(-n // 128))
    x, y = arrays(129)
    kernel(x, y, 1, 129)
    assert (y == 1 + x).all()
    kernel.grid = None


def test_what_is_known_of_it(saxpy):
    info = tenon.KernelInfo.of(saxpy)
    assert info.name == "saxpy" and info.workgroup_size == (128, 1, 1)
    assert [(one.name, one.kind, one.element, one.read_only) for one in info.parameters] == [
        ("x", "binding", "f32", True), ("y", "binding", "f32", False), ("a", "scalar", "f32", False),
        ("n", "scalar", "i32", False)]
    assert saxpy.meta.executable.exists() and saxpy.meta.targets == ("sm_80", "sm_90")
    assert "sm_80" in tenon.load(saxpy.meta.executable).explain()
    assert "saxpy" in tenon.dump(saxpy.meta.executable)


@pytest.mark.parametrize("change, error, text", [
    ({"n": None}, TypeError, "takes 4 arguments (x, y, a, n), 3 were given"),
    ({"grid": None}, TypeError, "needs a grid"),
    ({"grid": (1, 2, 3, 4)}, ValueError, "one to three numbers"),
    ({"grid": (1, 70000)}, tenon.Error, "the workgroup count is 70000 along y"),
    ({"grid": -1}, ValueError, "grid of kernel 'saxpy': -1 workgroups; wanted: 0 to 2147483647 along x"),
    ({"grid": 2**70}, ValueError, "grid of kernel 'saxpy': 1180591620717411303424 workgroups"),
    ({"grid": 1.5}, TypeError, "grid of kernel 'saxpy': 1.5 is no number of workgroups: expected whole numbers"),
    ({"grid": "8"}, TypeError, "grid of kernel 'saxpy': '8' is no number of workgroups"),
    ({"grid": lambda *_: None}, TypeError, "grid of kernel 'saxpy': None is no number of workgroups"),
    ({"x": numpy.ones(1000)}, TypeError, "argument 0, x of kernel 'saxpy': its elements are float64, the kernel takes float32"),
    ({"x": numpy.ones((10, 10), numpy.float32).T}, ValueError, "not dense in row-major order"),
    ({"x": "text"}, TypeError, "is no array"),
    ({"x": numpy.ma.array(numpy.zeros(1000, "f4"), mask=True)}, TypeError, "argument 0, x of kernel 'saxpy': it is a masked array, whose mask a kernel would"),
    ({"x": [1.0] * 1000}, TypeError, "<class 'list'> is no array: expected one of NumPy"),
    ({"x": numpy.ones(1000, ">f4")}, TypeError, "an array of >f4: supported are bool, 8 to 64 bit integers"),
    ({"x": numpy.ones(1000, "c8")}, TypeError, "an array of complex64: supported are"),
    ({"x": numpy.zeros(4001, "i1")[1:].view("f4")}, ValueError, "argument 0, x of kernel 'saxpy': the array begins at an address that is no "
                                                               "multiple of the 4 bytes of its elements, which are float32: copy it first"),
    ({"a": "text"}, TypeError, "argument 2, a"),
    ({"a": 1e300}, OverflowError, "does not fit f32"),
    ({"n": 2**40}, OverflowError, "does not fit i32"),
    ({"n": 1.5}, TypeError, "argument 3, n"),
    ({"stream": "text"}, TypeError, "expected an integer (a CUstream)"),
    ({"colour": 1}, TypeError, "not 'colour'"),
])
def test_what_is_refused(saxpy, change, error, text):
    x, y = arrays()
    given = {"x": x, "y": y, "a": 2.0, "n": 1000, "grid": 8, **change}
    positional = [given.pop(name) for name in ("x", "y", "a", "n")]
    with pytest.raises(error) as raised:
        saxpy(*[one for one in positional if one is not None], **{name: one for name, one in given.items() if one is not None})
    assert text in str(raised.value)
    assert (y == 1).all()


def test_read_only_arrays_are_not_written(saxpy):
    x, y = arrays()
    y.flags.writeable = False
    with pytest.raises(ValueError, match="argument 1, y of kernel 'saxpy': the array is read only, and it would be written"):
        saxpy(x, y, 2.0, 1000, grid=8)
    saxpy(y, x, 2.0, 1000, grid=8)


def test_an_interface_of_an_object_not_of_its_type(saxpy):
    class Made:
        pass

    made = Made()
    made.__cuda_array_interface__ = {"version": 3, "shape": (4,), "typestr": "<f8", "data": (256, False)}
    x, y = arrays(4)
    with pytest.raises(TypeError, match="argument 0, x of kernel 'saxpy': its elements are float64"):
        saxpy(made, y, 2.0, 4, grid=1)
    made.__cuda_array_interface__ |= {"typestr": "<f4", "mask": x}
    with pytest.raises(TypeError, match="argument 0, x of kernel 'saxpy': its __cuda_array_interface__ has a mask"):
        saxpy(made, y, 2.0, 4, grid=1)
    made.__cuda_array_interface__ |= {"mask": None, "strides": (4, 4)}
    with pytest.raises(ValueError, match="argument 0, x of kernel 'saxpy': the array is not dense"):
        saxpy(made, y, 2.0, 4, grid=1)


def test_numbers_of_numpys_are_not_written(saxpy):
    one, y = numpy.float32(1), numpy.ones(1, numpy.float32)
    with pytest.raises(ValueError, match="argument 1, y of kernel 'saxpy': the array is read only"):
        saxpy(y, one, 2.0, 1, grid=1)  # the sum would be in memory that nobody has
    saxpy(one, y, numpy.float16(2), numpy.int64(1), grid=numpy.int32(1))
    assert y[0] == 3


def test_two_written_views_that_overlap_are_refused(nvcc):
    both = tenon.cuda_kernel('extern "C" __global__ void both(float *a, float *b) { a[threadIdx.x] = 1; b[threadIdx.x] = 2; }', "both", block=8)
    memory = numpy.zeros(16, numpy.float32)
    with pytest.raises(ValueError, match="argument 1, b of kernel 'both': the array shares a part of its memory with another argument, and both"):
        both(memory[:8], memory[4:12], grid=1)
    both(memory[:8], memory[8:], grid=1)
    assert memory.tolist() == [1] * 8 + [2] * 8


def test_ways_to_say_a_grid(saxpy, nvcc):
    x, y = arrays(300)
    blocks = lambda x, y, a, n: -(-n // 128)  # noqa: E731
    saxpy(x, y, 1.0, 300, grid=blocks)
    saxpy[blocks](x, y, 1.0, 300)
    saxpy(x, y, 1.0, 300, grid=[3, 1])
    assert (y == 1 + 3 * x).all()
    with pytest.raises(TypeError, match=r"is given two grids: saxpy\[grid\]"):
        saxpy[3](x, y, 1.0, 300, grid=3)
    # A grid is that of who said it.
    small = tenon.cuda_kernel(SAXPY, "saxpy", grid=1)
    large = tenon.cuda_kernel(SAXPY, "saxpy", grid=(3,))
    assert small.grid == 1 and large.grid == (3,) and tenon.cuda_kernel(SAXPY, "saxpy").grid is None
    small(x, y, -3.0, 300)
    assert (y[:128] == 1).all() and (y[128:] == 1 + 3 * x[128:]).all()
    for wrong in ("three", 1.5, (1, 2, 3, 4)):
        with pytest.raises((TypeError, ValueError), match="grid of kernel 'saxpy'"):
            small.grid = wrong


def test_a_fault_names_its_thread_and_line(nvcc):
    # A process of its own: a fault ends CUDA for the whole process, as on a GPU.
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", f"""
import numpy, tenon
k = tenon.cuda_kernel({SAXPY!r}, "beyond")
try:
    k(numpy.ones(10, numpy.float32), numpy.ones(10, numpy.float32), 10, grid=1)
except tenon.Error as error:
    print(error.code, error)
"""], capture_output=True, text=True)
    assert "thread (10,0,0)" in done.stdout and "beyond.cu:11:5" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("source, arguments, error, text", [
    ("int x;", {}, ValueError, "no `__global__ void f(...)`; there are none"),
    ('extern "C" __global__ void g(float *x) {}', {}, ValueError, "no `__global__ void f(...)`; there is g"),
    (None, {}, TypeError, "the source of kernel 'f' is a NoneType; wanted: text, or the path of a .cu file"),
    ('extern "C" __global__ void f(float *x) {}', {"block": 0}, ValueError, "block is 0; wanted: 1 to 3 numbers of threads"),
    ('extern "C" __global__ void f(float *x) {}', {"block": "64"}, ValueError, "block is '64'; wanted"),
    ('extern "C" __global__ void f(float *x) {}', {"block": 1, "layout": "in f32 x"}, TypeError, "layout is the text 'in f32 x'; wanted: one text for each"),
    ('extern "C" __global__ void f(float *x) {}', {"block": 1, "layout": [3]}, ValueError, "layout[0] is 3: expected 'in f32 x'"),
    ('extern "C" __global__ void f(float *x) {}', {}, ValueError, "how many threads"),
    ('extern "C" __global__ void f(float **x) {}', {"block": 1}, ValueError, "say what it is"),
    ('extern "C" __global__ void f(float *x[3]) {}', {"block": 1}, ValueError, "say what it is"),
    ('struct S {}; extern "C" __global__ void f(S s) {}', {"block": 1}, ValueError, "type that is not known"),
    ('extern "C" __global__ void f(float *x) { y; }', {"block": 1}, tenon.ToolError, '"y" is undefined'),
    ('extern "C" __global__ void f(float *x) { x[0] = 1; }', {"block": 1, "layout": ["in f32 x"]}, tenon.ToolError, "[K-13]"),
    ('extern "C" __global__ void f(float *x) {}', {"block": 1, "layout": ["in f32 x", "i32 n"]}, tenon.ToolError, "[K-11]"),
    ('extern "C" __global__ void f(float *x) {}', {"block": 1, "layout": ["in float x"]}, ValueError, "layout[0]"),
])
def test_kernels_that_are_refused(nvcc, source, arguments, error, text):
    with pytest.raises(error) as raised:
        tenon.cuda_kernel(source, "f", **arguments)
    assert text in str(raised.value)


def test_spellings_of_types_in_a_signature(nvcc):
    kernel = tenon.cuda_kernel("""
extern "C" __global__ void sum(const short int x[], unsigned long int y[1], long long int a, int unsigned b, char signed c,
                               short unsigned int) {
  y[0] = x[0] + a + b + c;
}""", "sum", block=1)
    x, y = numpy.array([5], "i2"), numpy.zeros(1, "i8")
    kernel(x, y, 2**40, 1000, -7, 9, grid=1)
    assert y[0] == 5 + 2**40 + 1000 - 7
    tenon.cuda_kernel('extern "C" __global__ void nothing(void) {}', "nothing", block=1)(grid=1)


def test_declared_beside_the_kernel(nvcc):
    kernel = tenon.cuda_kernel("""
#include <tenon/kernel.cuh>
struct Range { int first, count; };
extern "C" __global__ void fill(Range range, long long value, long long *out) {
  if (threadIdx.x < range.count) out[range.first + threadIdx.x] = value;
}
TENON_KERNEL(fill, TENON_WORKGROUP(32), TENON_CONSTANT(Range, range), TENON_CONSTANT(long long, value),
             TENON_WRITE(long long *, out));
""", "fill")

    class Range(ctypes.Structure):
        _fields_ = [("first", ctypes.c_int), ("count", ctypes.c_int)]

    out = numpy.zeros(8, numpy.int64)
    kernel(Range(2, 3), -5, out, grid=1)
    assert out.tolist() == [0, 0, -5, -5, -5, 0, 0, 0]
    with pytest.raises(ValueError, match="it has 3 bytes, the struct 8"):
        kernel(b"123", -5, out, grid=1)


def test_many_arguments(nvcc):
    count = 20
    parameters = ", ".join([f"const int *p{i}" for i in range(count)] + [f"double s{i}" for i in range(70)] + ["double *out"])
    total = " + ".join([f"*p{i}" for i in range(count)] + [f"s{i}" for i in range(70)])
    kernel = tenon.cuda_kernel(f'extern "C" __global__ void many({parameters}) {{ *out = {total}; }}', "many", block=1)
    out = numpy.zeros(1)
    kernel(*[numpy.full(1, i, numpy.int32) for i in range(count)], *[float(i) for i in range(70)], out, grid=1)
    assert out[0] == sum(range(count)) + sum(range(70))


def test_one_kernel_is_built_once(nvcc):
    assert tenon.cuda_kernel(SAXPY, "saxpy", targets="sm_80,sm_90") is tenon.cuda_kernel(SAXPY, "saxpy", targets=["sm_80", "sm_90"])
