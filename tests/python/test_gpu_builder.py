# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels written in Python: what they compute on the emulator, and what they are as objects."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import numpy
import pytest
import tenon
from test_gpu_builder_operations import bytes_and_bools, large_shared, vectors
from tenon import gpu
from tenon.gpu import f16, f32, f64, i32

pytestmark = pytest.mark.usefixtures("program")
ON_THE_EMULATOR = {**os.environ, "TENON_CUDA_DRIVER": "emulator"}  # what only it finds; the rest runs on a GPU where there is one


@gpu.kernel(block=128)
def saxpy(x: gpu.In[f32, n], y: gpu.InOut[f32, n], a: f32, n: i32):
    """y += a * x"""
    i = gpu.global_id.x
    if i >= n:
        return
    y[i] += a * x[i]


@gpu.kernel(block=(16, 16), grid=lambda M, N: (-(-N // 16), -(-M // 16)))
def matmul(A: gpu.In[dtype, M, K], B: gpu.In[dtype, K, N], C: gpu.Out[dtype, M, N], *, M, K, N, dtype=f32):
    x, y = gpu.global_id.x, gpu.global_id.y
    if x < N and y < M:
        total = 0.0
        for k in range(K):
            total += A[y, k] * B[k, x]
        C[y, x] = total


def test_it_is_a_kernel():
    x, y = numpy.arange(1000, dtype="f4"), numpy.ones(1000, "f4")
    saxpy(x, y, 2.0, 1000, grid=8)
    assert (y == 1 + 2 * numpy.arange(1000)).all()
    saxpy[8](x, y, 1.0, 1000)
    assert (y == 1 + 3 * numpy.arange(1000)).all()
    assert saxpy.__doc__ == "y += a * x"
    assert saxpy.signature == 'extern "C" __global__ void __launch_bounds__(128) saxpy(const float *x, float *y, float a, int n)'
    assert repr(saxpy) == "<tenon.gpu kernel saxpy(in f32 x, inout f32 y, f32 a, i32 n), 128 x 1 x 1 threads>"


def test_how_many_blocks_a_multiprocessor_holds():
    @gpu.kernel(block=lambda N: N, grid=1, min_blocks=lambda N: 1024 // N)
    def twice(x: gpu.InOut[f32, N], *, N):
        x[gpu.thread_id.x] *= 2

    x = numpy.ones(128, "f4")
    twice[128](x)
    assert (x == 2).all()
    assert "__launch_bounds__(128, 8)" in twice[128].signature
    assert ".minnctapersm 8" in twice[128].ptx("sm_80") and ".minnctapersm 4" in twice[256].ptx("sm_80")

    @gpu.kernel(block=128, grid=2, cluster=2, min_blocks=4)
    def in_a_cluster(x: gpu.InOut[f32, 256]):
        x[gpu.global_id.x] *= 2

    assert ".minnctapersm 4" in in_a_cluster.ptx("sm_90")


def test_what_a_call_refuses():
    x, y = numpy.zeros(10, "f4"), numpy.zeros(10, "f4")
    with pytest.raises(TypeError, match="saxpy takes 4 arguments"):
        saxpy(x, y, grid=1)
    with pytest.raises(ValueError, match=r"saxpy: 'x' has the shape \(10,\); wanted: \(11\)"):
        saxpy(x, y, 1.0, 11, grid=1)
    with pytest.raises(ValueError, match=r"has the shape \(2, 5\)"):
        saxpy(x.reshape(2, 5), y, 1.0, 10, grid=1)
    with pytest.raises(TypeError, match="how many blocks"):
        saxpy(x, y, 1.0, 10)
    with pytest.raises(TypeError, match="is made for M, K, N, dtype first"):
        matmul(x, y)
    with pytest.raises(TypeError, match="missing: N"):
        matmul[4, 4]
    with pytest.raises(TypeError, match="has no 'L'"):
        matmul(M=1, K=1, N=1, L=1)
    with pytest.raises(TypeError, match="made for 4 things"):
        matmul[1, 2, 3, f32, 5]
    with pytest.raises(TypeError, match="M is array"):
        matmul(M=x, K=1, N=1)
    with pytest.raises(ValueError, match=r"'A' has the shape \(10,\); wanted: \(2, 3\)"):
        matmul[2, 3, 4](x, x, y)


@pytest.mark.parametrize("dtype, numpy_type", [(f32, "f4"), (f64, "f8"), (f16, "f2")])
def test_sizes_and_types_are_values(dtype, numpy_type):
    random = numpy.random.default_rng(1)
    a, b = (random.integers(-4, 5, shape).astype(numpy_type) for shape in ((33, 17), (17, 20)))
    c = numpy.zeros((33, 20), numpy_type)
    made = matmul[33, 17, 20, dtype] if dtype != f16 else matmul_f16
    assert matmul(M=33, K=17, N=20, dtype=dtype) is matmul[33, 17, 20, dtype]
    made(a, b, c)
    numpy.testing.assert_array_equal(c, (a.astype("f8") @ b.astype("f8")).astype(numpy_type))


@gpu.kernel(block=(16, 16), grid=(2, 3))
def matmul_f16(A: gpu.In[f16, 33, 17], B: gpu.In[f16, 17, 20], C: gpu.Out[f16, 33, 20]):
    x, y = gpu.global_id.x, gpu.global_id.y
    if x < 20 and y < 33:
        total: f32 = 0
        for k in range(17):
            total = gpu.fma(f32(A[y, k]), f32(B[k, x]), total)
        C[y, x] = f16(total)


BRACKETS = """
from tenon import gpu

@gpu.kernel(block=64, grid=lambda N: N // 64)
def scale[N, dtype, BY](x: gpu.In[dtype, N], y: gpu.Out[dtype, N]):
    y[gpu.global_id.x] = x[gpu.global_id.x] * BY
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="names in brackets are Python 3.12's")
def test_names_in_brackets(tmp_path):
    import importlib.util

    (tmp_path / "brackets.py").write_text(BRACKETS)
    spec = importlib.util.spec_from_file_location("brackets", tmp_path / "brackets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert repr(module.scale) == "<tenon.gpu kernel scale[N, dtype, BY]>"
    x, y = numpy.arange(128, dtype="f4"), numpy.zeros(128, "f4")
    module.scale[128, gpu.f32, 3](x, y)
    assert (y == 3 * x).all()


def test_a_kernel_for_any_sizes_is_none_yet():
    with pytest.raises(AttributeError, match=r"matmul is made for M, K, N, dtype first: matmul\[M, K, N, dtype\].mlir"):
        matmul.mlir
    with pytest.raises(AttributeError, match="first: .*write_object"):
        tenon.compile("func.func @f() {\n  return\n}\n", objects=[matmul])
    with pytest.raises(AttributeError, match="a kernel for any M, K, N, dtype has no 'other'"):
        matmul.other


def test_in_a_program():
    made = matmul[33, 17, 20, f32]
    built = tenon.compile(made.declaration("sm_80,sm_90") + """
func.func @product(%a: tensor<33x17xf32>, %b: tensor<17x20xf32>) -> tensor<33x20xf32> {
  %0 = flow.dispatch @matmul_kernel::@matmul(%a, %b) : (tensor<33x17xf32>, tensor<17x20xf32>) -> tensor<33x20xf32>
  %1 = arith.addf %0, %0 : tensor<33x20xf32>
  return %1 : tensor<33x20xf32>
}
""", targets="sm_80,sm_90", objects=[made])
    random = numpy.random.default_rng(1)
    a, b = (random.integers(-4, 5, shape).astype("f4") for shape in ((33, 17), (17, 20)))
    assert (tenon.load(built).product(a, b) == 2 * (a @ b)).all()


def test_a_dispatch_says_the_blocks():
    built = tenon.compile(saxpy.declaration("sm_90") + """
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>, %a: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %n = arith.index_cast %d : index to i32
  %blocks = arith.ceildivui %d, %c128 : index
  %0 = flow.dispatch @saxpy_kernel::@saxpy[%blocks, %c1, %c1](%a, %n, %x, %y) : (f32, i32, tensor<?xf32>{%d}, tensor<?xf32>{%d}) -> %y{%d}
  return %0 : tensor<?xf32>
}
""", targets="sm_90", objects=[saxpy])
    x, y = numpy.arange(300, dtype="f4"), numpy.ones(300, "f4")
    assert (tenon.load(built).f(x, y, 2.0) == 1 + 2 * x).all()
    # Python's a * x + y is rounded twice, whatever a program's own kernels do.
    assert "fma" not in tenon.dump(built, "--ptx=saxpy@sm_90")


def test_the_declaration_of_numbers_and_shared_memory():
    assert "constants = [f32, i32], bindings" in saxpy.declaration("sm_80") and "parameters" not in saxpy.declaration("sm_80")
    text = bytes_and_bools.declaration(["sm_80"])
    assert "parameters = [binding 0, binding 1, binding 2, constant 0, binding 3, binding 4]" in text
    assert f"workgroup_local_memory = {large_shared.dynamic_shared_bytes} : index" in large_shared.declaration("sm_80")
    assert "alignment = 16" in vectors.declaration("sm_80")


BEYOND = """
from tenon import gpu

@gpu.kernel(block=64, grid=1)
def beyond(x: gpu.In[gpu.f32, 60], y: gpu.Out[gpu.f32, 64]):
    i = gpu.thread_id.x
    y[i] = x[i]

@gpu.kernel(block=64, grid=1)
def race(x: gpu.In[gpu.f32, 64], y: gpu.Out[gpu.f32, 64]):
    i, held = gpu.thread_id.x, gpu.shared(64, gpu.f32)
    held[i] = x[i]
    y[i] = held[63 - i]
"""
TESTS = """
import tenon
from kernels import race
from test_gpu_builder import matmul, saxpy, f32

@tenon.check(saxpy, sizes={"n": [1, 31, 129]}, values={"a": 2.5}, architectures=["sm_80", "sm_90"])
def test_saxpy(x, y, a, n):
    return y + a * x

@tenon.check(matmul[33, 17, 20, f32], tolerance=1e-5)
def test_matmul(A, B):
    return A @ B

@tenon.check(race)
def test_race(x):
    return x[::-1]
"""


def test_checks_as_tests(tmp_path):
    (tmp_path / "test_kernels.py").write_text(TESTS)
    (tmp_path / "kernels.py").write_text(BEYOND)
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "tenon.pytest_plugin", "--tenon-devices=emulator",
                           str(tmp_path)], capture_output=True, text=True, cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join([os.environ["PYTHONPATH"], str(pathlib.Path(__file__).parent)])})
    said = done.stdout + done.stderr
    # Three sizes on two architectures, and one of fixed sizes; the race is at its lines of Python.
    assert "1 failed, 7 passed" in said, said
    assert "[races]" in said and "source: kernels.py:13:12" in said, said


def test_out_of_bounds_is_at_its_line(tmp_path):
    (tmp_path / "kernels.py").write_text(BEYOND)
    script = "import numpy, kernels; kernels.beyond(numpy.zeros(60, 'f4'), numpy.zeros(64, 'f4'))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, env=ON_THE_EMULATOR)
    assert done.returncode != 0 and "out-of-bounds global read" in done.stderr and "source: kernels.py:7:12" in done.stderr, done.stderr


def broken():
    from tenon.gpu.builder import current

    current().b.line('"scf.yield"() : () -> ()')


broken.tenon_intrinsic = True


@gpu.kernel(block=32)
def refused(x: gpu.In[f32, 32]):
    broken()


def test_what_mlir_refuses_is_at_its_line_of_python():
    # What a kernel may not say the builder finds; here an operation is written at a wrong place.
    line = refused.source.first + 2
    with pytest.raises(tenon.ToolError, match=rf"test_gpu_builder.py:{line}:5: error: .*scf.yield"):
        refused.ptx("sm_80")
