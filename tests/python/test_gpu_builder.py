# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels written in Python: what they compute on the emulator, and what they are as objects."""
from __future__ import annotations

import math
import os
import pathlib
import subprocess
import sys

import numpy
import pytest
import tenon
from tenon import gpu
from tenon.gpu import f16, f32, f64, i1, i8, i16, i32, i64

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


@gpu.kernel(block=128, grid=2)
def block_sums(x: gpu.In[f32, 2, 128], out: gpu.Out[f32, 2], halves: gpu.Out[f16, 2, 128]):
    t, b = gpu.thread_id.x, gpu.block_id.x
    part = gpu.shared(4, f32)
    v = x[b, t]
    for k in gpu.static_range(5):
        v += gpu.shuffle_xor(v, 1 << k)
    if gpu.lane_id() == 0:
        part[gpu.warp_id()] = v
    gpu.barrier()
    if t == 0:
        s = 0.0
        for w in range(4):
            s += part[w]
        out[b] = s
    halves[b, t] = f16(math.exp(x[b, t]))


def test_shared_memory_and_shuffles():
    x = numpy.random.default_rng(1).random((2, 128), "f4")
    out, halves = numpy.zeros(2, "f4"), numpy.zeros((2, 128), "f2")
    block_sums(x, out, halves)
    numpy.testing.assert_allclose(out, x.sum(axis=1), rtol=1e-5)
    numpy.testing.assert_allclose(halves, numpy.exp(x), rtol=1e-3)


@gpu.kernel(block=32, grid=1)
def shuffles(out: gpu.Out[i32, 4, 32]):
    t = i32(gpu.thread_id.x)
    out[0, t] = gpu.shuffle_up(t, 1)
    out[1, t] = gpu.shuffle_down(t, 2)
    out[2, t] = gpu.shuffle(t, 31 - t)
    gpu.sync_warp()
    out[3, t] = gpu.shuffle_xor(t, 3)


def test_each_shuffle():
    out, t = numpy.zeros((4, 32), "i4"), numpy.arange(32)
    shuffles(out)
    assert out.tolist() == [[0, *range(31)], [*range(2, 32), 30, 31], (31 - t).tolist(), (t ^ 3).tolist()]


@gpu.kernel(block=32, grid=1)
def vectors(x: gpu.In[f32, 32, 8], y: gpu.Out[f32, 32, 8], picked: gpu.Out[f32, 32, 2]):
    t = gpu.thread_id.x
    held = gpu.local((2, 4), f32, 1.5)
    row = x[t]
    for h in gpu.static_range(2):
        v = gpu.load(row[4 * h:4 * h + 4])
        for k in gpu.static_range(4):
            held[h, k] += v[k]
        y[t, 4 * h:4 * h + 4] = v * 2 + gpu.vector(held[h, 0], held[h, 1], held[h, 2], held[h, 3])
    picked[t, 0:2] = gpu.where(gpu.load(x[t, 0:2]) > gpu.load(x[t, 2:4]), gpu.splat(1.0, 2), gpu.splat(-1.0, 2))


def test_vectors():
    x = numpy.random.default_rng(1).random((32, 8), "f4")
    y, picked = numpy.zeros_like(x), numpy.zeros((32, 2), "f4")
    vectors(x, y, picked)
    numpy.testing.assert_allclose(y, 3 * x + 1.5, rtol=1e-6)
    assert (picked == numpy.where(x[:, 0:2] > x[:, 2:4], 1, -1)).all()
    # What is read 16 bytes at a time is declared to lie so, and the linker proves it.
    assert vectors.traced.alignments == {"x": 16, "y": 16, "picked": 8}
    assert "vector<4xf32>" in vectors.mlir and "ld.global" in vectors.ptx("sm_80") and ".v4" in vectors.ptx("sm_80")


@gpu.kernel(block=64, grid=1)
def atomics(c: gpu.InOut[i32, 8], s: gpu.InOut[f32, 2]):
    t = i32(gpu.thread_id.x)
    gpu.atomic_add(c, 0, 2)
    gpu.atomic_max(c, 1, t)
    gpu.atomic_min(c[2:], 0, -t)
    gpu.atomic_or(c, 3, 1 << (t % 8))
    gpu.atomic_xor(c, 4, t)
    gpu.atomic_and(c, 5, ~(1 << (t % 4)))
    gpu.atomic_add(s, 0, 0.5)
    if t == 0:
        gpu.atomic_exchange(c, 6, 9)
        if gpu.atomic_compare_exchange(c, 7, 5, 6) == 5:
            gpu.atomic_add(s, 1, 1.0)


def test_atomics():
    c, s = numpy.array([0, 0, 0, 0, 0, -1, 0, 5], "i4"), numpy.zeros(2, "f4")
    atomics(c, s)
    assert c.tolist() == [128, 63, -63, 255, 0, -16, 9, 6] and s.tolist() == [32, 1]


@gpu.kernel(block=32, grid=1)
def fragments(a: gpu.In[f16, 16, 16], b: gpu.In[f16, 16, 8], c: gpu.Out[f32, 16, 8], t: gpu.In[f32, 16, 8], u: gpu.In[f32, 8, 8],
              d: gpu.Out[f32, 16, 8]):
    l = gpu.lane_id()
    g, q = l // 4, l % 4
    sa, sb = gpu.shared((16, 16), f16), gpu.shared((16, 8), f16)
    gpu.copy_async(sa[l // 2, l % 2 * 8:l % 2 * 8 + 8], a[l // 2, l % 2 * 8:l % 2 * 8 + 8])
    gpu.copy_commit()
    for k in gpu.static_range(4):
        sb[l // 2, l % 2 * 4 + k] = b[l // 2, l % 2 * 4 + k]
    gpu.copy_wait(0)
    gpu.barrier()
    of_a = gpu.load_matrices(sa[l % 16, l // 16 * 8:l // 16 * 8 + 8], 4)
    of_b = gpu.load_matrices(sb[l % 16, 0:8], 2, transposed=True)
    store(c, gpu.mma(of_a, of_b, gpu.splat(0.0, 4)), g, q)
    store(d, gpu.mma(gpu.vector(t[g, q], t[g + 8, q], t[g, q + 4], t[g + 8, q + 4]), gpu.vector(u[q, g], u[q + 4, g]), gpu.splat(0.0, 4)), g, q)


def store(c, of_c, g, q):
    for k in gpu.static_range(4):
        c[g + 8 * (k // 2), 2 * q + k % 2] = of_c[k]


def test_tensor_cores():
    def numbers(*shape):
        return numpy.random.default_rng(len(shape)).integers(-4, 5, shape)

    a, b, t, u = numbers(16, 16).astype("f2"), numbers(16, 8).astype("f2"), numbers(16, 8).astype("f4"), numbers(8, 8).astype("f4")
    c, d = numpy.zeros((16, 8), "f4"), numpy.zeros((16, 8), "f4")
    fragments(a, b, c, t, u, d)
    numpy.testing.assert_array_equal(c, a.astype("f4") @ b.astype("f4"))
    numpy.testing.assert_array_equal(d, t @ u)
    with pytest.raises(gpu.KernelError, match="'fragments' uses gpu.copy_async, which needs sm_80 or later; found: the target sm_75"):
        fragments.ptx("sm_75")
    with pytest.raises(gpu.KernelError, match="the target of kernel 'fragments' is 'hopper'"):
        fragments.ptx("hopper")


@gpu.kernel(block=64, grid=1)
def bytes_and_bools(b: gpu.In[i8, 64], w: gpu.In[i16, 64], m: gpu.In[i1, 64], p: i1, out: gpu.Out[i1, 64], total: gpu.Out[i32, 64]):
    i = gpu.thread_id.x
    out[i] = m[i] if p else not m[i]
    total[i] = b[i] * 2 + w[i] + 300 if m[i] else w[i] * w[i]  # computed with 32 bits


@pytest.mark.parametrize("flag", [True, False])
def test_small_types(flag):
    random = numpy.random.default_rng(1)
    b, w, m = random.integers(-50, 51, 64).astype("i1"), random.integers(-1000, 1001, 64).astype("i2"), random.integers(0, 2, 64).astype(bool)
    out, total = numpy.zeros(64, bool), numpy.zeros(64, "i4")
    bytes_and_bools(b, w, m, flag, out, total)
    assert (out == (m if flag else ~m)).all()
    assert (total == numpy.where(m, b.astype("i4") * 2 + w + 300, w.astype("i4") ** 2)).all()


class Sizes:
    scale = numpy.float32(2.5)
    rows, columns = 4, 8


@gpu.kernel(block=32, grid=1)
def plain_objects(x: gpu.InOut[f32, 4, 8], n: i32):
    t = gpu.thread_id.x
    y, z = t // Sizes.columns, t % Sizes.columns
    held = gpu.local(8, f32)
    for k in range(Sizes.columns):  # an index that is not known: memory of the thread's own
        held[k] = x[y][(z + k) % Sizes.columns]
    gpu.barrier()
    x[y, z] = held[n] * Sizes.scale + numpy.pi


def test_names_from_around():
    x = numpy.arange(32, dtype="f4").reshape(4, 8)
    wanted = numpy.roll(x, -3, axis=1) * numpy.float32(2.5) + numpy.float32(numpy.pi)
    plain_objects(x, 3)
    assert (x == wanted).all()


@gpu.kernel(block=32, grid=1)
def misaligned(x: gpu.In[f32, 32, 7], y: gpu.Out[f32, 32]):
    t = gpu.thread_id.x
    v = gpu.load(x[t, 0:4])
    y[t] = v[0] * v[1] + v[2] * v[3]


def test_a_vector_that_is_misaligned_is_found():
    script = "import numpy, test_gpu_builder as t; t.misaligned(numpy.zeros((32, 7), 'f4'), numpy.zeros(32, 'f4'))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=pathlib.Path(__file__).parent,
                          env=ON_THE_EMULATOR)
    assert done.returncode != 0 and "misaligned" in done.stderr and "source: test_gpu_builder.py" in done.stderr, done.stderr


def test_a_kernel_for_any_sizes_is_none_yet():
    with pytest.raises(AttributeError, match=r"matmul is made for M, K, N, dtype first: matmul\[M, K, N, dtype\].mlir"):
        matmul.mlir
    with pytest.raises(AttributeError, match="first: .*write_object"):
        tenon.compile("func.func @f() {\n  return\n}\n", objects=[matmul])
    with pytest.raises(AttributeError, match="a kernel for any M, K, N, dtype has no 'other'"):
        matmul.other


@gpu.kernel(block=32, grid=1)
def converts(f: gpu.In[f64, 32], n: gpu.In[i64, 32], i: gpu.Out[i32, 32], g: gpu.Out[f32, 32], low: gpu.Out[i8, 32], bits: gpu.Out[i32, 32],
             shifts: gpu.Out[i32, 3, 32]):
    t = gpu.thread_id.x
    i[t] = i32(f[t])
    g[t] = f32(n[t]) + f32(f[t])
    low[t] = i8(n[t])
    bits[t] = gpu.bitcast(f32(f[t]), i32)
    shifts[0, t] = i32(n[t]) << i32(t * 2)
    shifts[1, t] = i32(n[t]) >> i32(t * 2)
    shifts[2, t] = i32(n[t] // -3 + n[t] % -3)


def test_conversions():
    random = numpy.random.default_rng(1)
    f, n = random.uniform(-1e3, 1e3, 32), random.integers(-1 << 20, 1 << 20, 32)
    f[:3] = [numpy.nan, 1e30, -1e30]
    i, g, low, bits, shifts = (numpy.zeros(shape, kind) for shape, kind in ((32, "i4"), (32, "f4"), (32, "i1"), (32, "i4"), ((3, 32), "i4")))
    converts(f, n, i, g, low, bits, shifts)
    assert i.tolist() == [0, 2**31 - 1, -(2**31), *map(int, f[3:])]
    assert (g[3:] == n[3:].astype("f4") + f[3:].astype("f4")).all() and (low == n.astype("i1")).all()
    assert (bits[1:] == f.astype("f4").view("i4")[1:]).all()
    # Python's shifts, of any distance.
    left = [(v << 2 * t) & 0xFFFFFFFF for t, v in enumerate(n.tolist())]
    assert (shifts[0] == numpy.array(left, "u4").view("i4")).all()
    assert shifts[1].tolist() == [v >> 2 * t for t, v in enumerate(n.tolist())]
    assert shifts[2].tolist() == [v // -3 + v % -3 for v in n.tolist()]


@gpu.kernel(block=64, grid=1)
def mathematics(x: gpu.In[f32, 64], out: gpu.Out[f32, 16, 64]):
    i = gpu.thread_id.x
    v = x[i]
    listed = (gpu.sqrt(v), gpu.rsqrt(v), gpu.exp(v), gpu.exp2(v), gpu.log(v), gpu.log2(v), gpu.log10(v), gpu.sin(v), gpu.cos(v), gpu.tan(v),
              gpu.tanh(v), gpu.floor(v), gpu.ceil(v), abs(-v), gpu.pow(v, 1.5), gpu.fmin(v, 1.0) + gpu.fmax(v, 1.0))
    for k in gpu.static_range(len(listed)):
        out[k, i] = listed[k]


def test_mathematics():
    x = numpy.random.default_rng(1).uniform(0.1, 4, 64).astype("f4")
    out = numpy.zeros((16, 64), "f4")
    mathematics(x, out)
    wanted = [f(x) for f in (numpy.sqrt, lambda v: 1 / numpy.sqrt(v), numpy.exp, numpy.exp2, numpy.log, numpy.log2, numpy.log10, numpy.sin, numpy.cos,
                             numpy.tan, numpy.tanh, numpy.floor, numpy.ceil, numpy.abs, lambda v: v**1.5, lambda v: v + 1)]
    numpy.testing.assert_allclose(out, wanted, rtol=2e-5, atol=1e-6)


@gpu.kernel(block=256, grid=1)
def large_shared(x: gpu.In[f32, 256], out: gpu.Out[f32, 256]):
    first, second = gpu.shared((100, 128), f32), gpu.shared(256, f32)
    t = gpu.thread_id.x
    first[t % 100, t // 100] = x[t]
    second[t] = -x[t]
    gpu.barrier()
    out[t] = first[(255 - t) % 100, (255 - t) // 100] + 3 * second[255 - t]


def test_more_shared_memory_than_is_static():
    assert large_shared.dynamic_shared_bytes == 100 * 128 * 4 + 256 * 4 and block_sums.dynamic_shared_bytes == 0
    x, out = numpy.arange(256, dtype="f4"), numpy.zeros(256, "f4")
    large_shared(x, out)
    assert (out == -2 * x[::-1]).all()


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
from test_gpu_builder import block_sums, matmul, saxpy, f32

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
