# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that kernels written in Python have: shared memory, shuffles, vectors, atomics, tensor cores, conversions."""
from __future__ import annotations

import math
import os
import pathlib
import subprocess
import sys

import numpy
import pytest
from tenon import gpu
from tenon.gpu import f16, f32, f64, i1, i8, i16, i32, i64

pytestmark = pytest.mark.usefixtures("program")
ON_THE_EMULATOR = {**os.environ, "TENON_CUDA_DRIVER": "emulator"}  # what only it finds; the rest runs on a GPU where there is one


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
    script = "import numpy, test_gpu_builder_operations as t; t.misaligned(numpy.zeros((32, 7), 'f4'), numpy.zeros(32, 'f4'))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=pathlib.Path(__file__).parent,
                          env=ON_THE_EMULATOR)
    assert done.returncode != 0 and "misaligned" in done.stderr and "source: test_gpu_builder_operations.py" in done.stderr, done.stderr


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
