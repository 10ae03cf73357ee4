# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that people write, in Python: each against NumPy, with the emulator's checks."""
from __future__ import annotations

import os

import numpy
import pytest
import tenon
from tenon import gpu
from tenon.gpu import f32, i8, i32, i64

if not os.environ.get("TENON_COMPILE"):
    pytest.skip("the compiler is not built", allow_module_level=True)
random = numpy.random.default_rng(1)


def plus(a, b):
    return a + b


def over_block(v, part, operation):
    """What 256 threads have, as one; every thread gets it."""
    for k in gpu.static_range(5):
        v = operation(v, gpu.shuffle_xor(v, 16 >> k))
    if gpu.lane_id() == 0:
        part[gpu.warp_id()] = v
    gpu.barrier()
    v = part[0]
    for w in gpu.static_range(1, 8):
        v = operation(v, part[w])
    gpu.barrier()
    return v


@gpu.kernel(block=256)
def softmax(x: gpu.In[f32, rows, columns], y: gpu.Out[f32, rows, columns], rows: i32, columns: i32):
    row, t, part = gpu.block_id.x, gpu.thread_id.x, gpu.shared(8, f32)
    most = float("-inf")
    for c in range(t, columns, 256):
        most = max(most, x[row, c])
    most = over_block(most, part, max)
    total = 0.0
    for c in range(t, columns, 256):
        total += gpu.exp(x[row, c] - most)
    total = over_block(total, part, plus)
    for c in range(t, columns, 256):
        y[row, c] = gpu.exp(x[row, c] - most) / total


@gpu.kernel(block=(32, 8), grid=(2, 3))
def transpose(a: gpu.In[f32, m, n], b: gpu.Out[f32, n, m], m: i32, n: i32):
    tile, tx, ty = gpu.shared((32, 33), f32), gpu.thread_id.x, gpu.thread_id.y
    x, y = gpu.block_id.x * 32 + tx, gpu.block_id.y * 32 + ty
    for j in range(0, 32, 8):
        if x < n and y + j < m:
            tile[j + ty, tx] = a[y + j, x]
    gpu.barrier()
    x, y = gpu.block_id.y * 32 + tx, gpu.block_id.x * 32 + ty
    for j in range(0, 32, 8):
        if x < m and y + j < n:
            b[y + j, x] = tile[tx, j + ty]


@gpu.kernel(block=128)
def histogram(v: gpu.In[i8, n], counts: gpu.InOut[i32, 256], n: i32):
    here, t = gpu.shared(256, i32), gpu.thread_id.x
    for k in range(t, 256, 128):
        here[k] = 0
    gpu.barrier()
    for k in range(gpu.global_id.x, n, 128 * gpu.grid_dim.x):
        gpu.atomic_add(here, v[k] + 128, 1)
    gpu.barrier()
    for k in range(t, 256, 128):
        gpu.atomic_add(counts, k, here[k])


@gpu.kernel(block=64, grid=1)
def scan(x: gpu.InOut[i64, 64]):
    t, sums = gpu.thread_id.x, gpu.shared((2, 64), i64)
    sums[0, t] = x[t]
    gpu.barrier()
    step, now = 1, 0
    while step < 64:
        sums[1 - now, t] = sums[now, t] + (sums[now, t - step] if t >= step else 0)
        now = 1 - now
        step *= 2
        gpu.barrier()
    x[t] = sums[now, t]


@gpu.kernel(block=64, grid=(2, 20))
def mandelbrot(out: gpu.Out[i32, 20, 70], limit: i32):
    x, y = gpu.global_id.x, gpu.block_id.y
    if x >= 70:
        return
    cr, ci = f32(x) * 3 / 70 - 2, f32(y) / 10 - 1
    a = b = 0.0
    n = 0
    while a * a + b * b <= 4 and n < limit:
        a, b = a * a - b * b + cr, 2 * a * b + ci
        n += 1
    out[y, x] = i32(n)


@gpu.kernel(block=32, grid=2)
def first_above(x: gpu.In[f32, 64, 10], at: gpu.Out[i32, 64]):
    at[gpu.global_id.x] = i32(search(x[gpu.global_id.x], 0.75))


def search(row, limit):
    for k in range(row.shape[0]):
        if row[k] > limit:
            return k
    return -1


def test_softmax():
    x = random.random((5, 300), "f4")
    y = numpy.zeros_like(x)
    softmax(x, y, 5, 300, grid=5)
    e = numpy.exp(x - x.max(axis=1, keepdims=True))
    numpy.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=1e-5)


@tenon.check(softmax, sizes={"rows": [1, 3], "columns": [1, 255, 600]}, shapes={"x": ("rows", "columns"), "y": ("rows", "columns")}, grid="rows",
             tolerance=1e-5)
def test_softmax_between_guards(x):
    e = numpy.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def test_transpose():
    a = random.random((70, 45), "f4")
    b = numpy.zeros((45, 70), "f4")
    transpose(a, b, 70, 45)
    assert (b == a.T).all()


def test_histogram():
    v, counts = random.integers(-128, 128, 5000).astype("i1"), numpy.zeros(256, "i4")
    histogram(v, counts, 5000, grid=4)
    assert (counts == numpy.bincount(v.astype("i4") + 128, minlength=256)).all()


def test_scan():
    x = random.integers(-100, 100, 64)
    wanted = numpy.cumsum(x)
    scan(x)
    assert (x == wanted).all()


def test_mandelbrot():
    out = numpy.zeros((20, 70), "i4")
    mandelbrot(out, 50)
    wanted, f = numpy.zeros((20, 70), "i4"), numpy.float32
    for y in range(20):
        for x in range(70):
            cr, ci, a, b = f(x) * f(3) / f(70) - f(2), f(y) / f(10) - f(1), f(0), f(0)
            while a * a + b * b <= 4 and wanted[y, x] < 50:
                a, b = a * a - b * b + cr, f(2) * a * b + ci
                wanted[y, x] += 1
    assert (out == wanted).all()  # every operation rounds as NumPy's


def test_a_search_that_returns_from_its_loop():
    x, at = random.random((64, 10), "f4"), numpy.zeros(64, "i4")
    x[3] = 0
    first_above(x, at)
    assert at.tolist() == [next((k for k in range(10) if row[k] > 0.75), -1) for row in x]
