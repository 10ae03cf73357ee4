# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Hopper added, in Python: each kernel against NumPy on the emulator, with all of its checks."""
from __future__ import annotations

import os

import numpy
import pytest
import tenon
from tenon import gpu
from tenon.gpu import f16, f32, i32, i64

if not os.environ.get("TENON_COMPILE"):
    pytest.skip("the compiler is not built", allow_module_level=True)
HOPPER = ["sm_90a"]


def numbers(shape):
    """Whose products have exact sums."""
    return numpy.random.default_rng(len(shape)).integers(-4, 5, shape)


@gpu.kernel(block=128, grid=lambda M, N: (M // 64, N // 64))
def product(A: gpu.In[dtype, M if not ta else K, K if not ta else M], B: gpu.In[dtype, N if not tb else K, K if not tb else N], C: gpu.Out[f32, M, N], *,
            M, N, K, dtype, swizzle, ta, tb, D=64):
    """D elements along what is summed at once. B is N x K, or with `tb` K x N; A likewise."""
    e = swizzle // (4 if dtype == f32 else 2)
    of_a = gpu.shared((64 // e, D, e) if ta else (D // e, 64, e), dtype, swizzle=swizzle)
    of_b = gpu.shared((64 // e, D, e) if tb else (D // e, 64, e), dtype, swizzle=swizzle)
    map_a = gpu.tensor_map(A, (D if ta else 64, e), swizzle=swizzle, tf32=dtype == f32)
    map_b = gpu.tensor_map(B, (D if tb else 64, e), swizzle=swizzle, tf32=dtype == f32)
    full, t = gpu.mbarriers(1), gpu.thread_id.x
    top, left, turn = gpu.block_id.x * 64, gpu.block_id.y * 64, 0
    if t == 0:
        map_a.prefetch()
        full.init(1)
    gpu.barrier()
    sums = gpu.sums(64)
    for k in range(0, K, D):
        if t == 0:
            full[0].expect(of_a.shape[0] * map_a.bytes + of_b.shape[0] * map_b.bytes)
            for i in gpu.static_range(of_a.shape[0]):
                map_a.load(of_a[i], (k, top + i * e) if ta else (top, k + i * e), full[0])
                if k + D < K:
                    map_a.prefetch((k + D, top + i * e) if ta else (top, k + D + i * e))
            for i in gpu.static_range(of_b.shape[0]):
                map_b.load(of_b[i], (k, left + i * e) if tb else (left, k + i * e), full[0])
        full[0].wait(turn % 2)
        turn += 1
        gpu.wgmma(sums, of_a, of_b, accumulate=k > 0, transpose_a=ta, transpose_b=tb)
        gpu.wgmma_wait(0)
        gpu.barrier()
    sums.store(C[top:top + 64, left:left + 64])


FORMS = [(f16, 128, False, False), (f16, 128, True, True), (f16, 64, False, True), (f16, 64, True, False), (f16, 32, True, True), (f16, 32, False, False),
         (f32, 128, False, False), (f32, 64, False, False), (f32, 32, False, False)]


@pytest.mark.parametrize("dtype, swizzle, ta, tb", FORMS, ids=lambda one: str(one))
def test_products(dtype, swizzle, ta, tb):
    kind = "f2" if dtype == f16 else "f4"
    a, b, c = numbers((64, 128)).astype(kind), numbers((128, 128)).astype(kind), numpy.zeros((64, 128), "f4")
    product[64, 128, 128, dtype, swizzle, ta, tb](numpy.ascontiguousarray(a.T) if ta else a, numpy.ascontiguousarray(b.T) if tb else b, c)
    numpy.testing.assert_array_equal(c, a.astype("f4") @ b.astype("f4").T)


@tenon.check(product[128, 64, 128, f16, 128, False, True], architectures=HOPPER, tolerance=1e-3)
def test_a_product_between_guards(A, B):
    return A.astype("f4") @ B.astype("f4")


@gpu.kernel(block=128, grid=1)
def elements(A: gpu.In[f16, 64, 64], sums: gpu.Out[f32, 64, 16], halves: gpu.Out[f16, 64, 16], ones: gpu.Out[f32, 64, 16]):
    """Sums one by one, in halves, and from a tile that threads wrote, element by element and eight at once."""
    t = gpu.thread_id.x
    of_a, of_b = gpu.shared((64, 64), f16, swizzle=128), gpu.shared((16, 64), f16, swizzle=128)
    for k in range(t, 64 * 8, 128):
        of_a[k // 8, k % 8 * 8:k % 8 * 8 + 8] = gpu.load(A[k // 8, k % 8 * 8:k % 8 * 8 + 8])
    for k in range(t, 16 * 64, 128):
        of_b[k // 64, k % 64] = f16(1) if k // 64 == k % 64 else f16(0)
    gpu.fence_async()
    gpu.barrier()
    of_c = gpu.sums(16)
    of_c.fill(1.0)
    gpu.wgmma(of_c, of_a, of_b)
    gpu.wgmma_wait()
    for i in gpu.static_range(of_c.count):
        of_c[i] *= 2
        sums[of_c.row(i), of_c.column(i)] = of_c[i]
    of_c.store(halves[:, 0:8], f16, first=0)
    of_c.store(halves[:, 8:16], f16, first=8)
    for k in range(t, 64 * 16, 128):
        ones[k // 16, k % 16] = f32(of_a[k // 16, k % 16])


@tenon.check(elements, architectures=HOPPER)
def test_sums_and_elements(A):
    twice = 2 * (1 + A[:, :16].astype("f4"))
    return twice, twice.astype("f2"), A[:, :16].astype("f4")


@gpu.kernel(block=256, grid=lambda rows: rows // 128)
def attention(Q: gpu.In[f16, rows, 64], K: gpu.In[f16, keys, 64], V: gpu.In[f16, keys, 64], O: gpu.Out[f32, rows, 64], *, rows, keys):
    """Two warpgroups have 64 queries each. Scores stay in registers, as the first factor of the product with V, which runs on meanwhile."""
    of_q, of_k, of_v = gpu.shared((2, 64, 64), f16, swizzle=128), gpu.shared((2, 64, 64), f16, swizzle=128), gpu.shared((2, 64, 64), f16, swizzle=128)
    map_q, map_k, map_v = gpu.tensor_map(Q, (128, 64), swizzle=128), gpu.tensor_map(K, (64, 64), swizzle=128), gpu.tensor_map(V, (64, 64), swizzle=128)
    full, empty = gpu.mbarriers(3), gpu.mbarriers(2)
    group, is_first = gpu.warp_id() // 4, gpu.thread_id.x == 0
    if is_first:
        full.init(1)
        empty.init(2)
        full[2].expect(map_q.bytes)
        map_q.load(of_q, (gpu.block_id.x * 128, 0), full[2])
    gpu.barrier()
    full[2].wait(0)
    scores, out, steps = gpu.sums(64), gpu.sums(64), keys // 64
    most, total = (gpu.f32(-1e30), gpu.f32(-1e30)), (gpu.f32(0), gpu.f32(0))
    for k in range(steps):
        if is_first:
            empty[k % 2].wait((k // 2 + 1) % 2)
            full[k % 2].expect(map_k.bytes + map_v.bytes)
            map_k.load(of_k[k % 2], (k * 64, 0), full[k % 2])
            map_v.load(of_v[k % 2], (k * 64, 0), full[k % 2])
        full[k % 2].wait(k // 2 % 2)
        gpu.wgmma(scores, of_q[group], of_k[k % 2], accumulate=False)
        gpu.wgmma_wait(0)  # the product with V of the step before is there, too
        if gpu.thread_id.x % 128 == 0 and k > 0:
            empty[(k - 1) % 2].arrive()
        largest = most
        for i in gpu.static_range(scores.count):
            largest = (max(largest[0], scores[i]), largest[1]) if i // 2 % 2 == 0 else (largest[0], max(largest[1], scores[i]))
        largest = (over_row(largest[0], max), over_row(largest[1], max))
        scale = (gpu.exp(most[0] - largest[0]), gpu.exp(most[1] - largest[1]))
        total = (total[0] * scale[0], total[1] * scale[1])
        for i in gpu.static_range(scores.count):
            scores[i] = gpu.exp(scores[i] - largest[i // 2 % 2])
            total = (total[0] + scores[i], total[1]) if i // 2 % 2 == 0 else (total[0], total[1] + scores[i])
            out[i] *= scale[i // 2 % 2]
        most = largest
        gpu.wgmma(out, scores.rounded(f16), of_v[k % 2], transpose_b=True)
    gpu.wgmma_wait(0)
    total = (over_row(total[0], plus), over_row(total[1], plus))
    for i in gpu.static_range(out.count):
        out[i] /= total[i // 2 % 2]
    top = gpu.block_id.x * 128 + group * 64
    out.store(O[top:top + 64])


def plus(a, b):
    return a + b


def over_row(v, operation):
    """What the four threads of a row have, as one."""
    v = operation(v, gpu.shuffle_xor(v, 1))
    return operation(v, gpu.shuffle_xor(v, 2))


@tenon.check(attention[256, 320], architectures=HOPPER, tolerance=2e-3)
def test_attention(Q, K, V):
    s = Q.astype("f4") @ K.astype("f4").T
    p = numpy.exp(s - s.max(axis=1, keepdims=True))
    return p @ V.astype("f4") / p.sum(axis=1, keepdims=True)


@gpu.kernel(block=32, grid=lambda m: ((m + 7) // 8, 2))
def moved(x: gpu.In[f32, "n", m, 20], w: gpu.In[i64, 40], y: gpu.Out[f32, "n", m, 20], z: gpu.Out[i64, 40], n: i32, *, m):
    """Tiles that hang over the array's ends, of three dimensions and of one."""
    tile, row, full = gpu.shared((1, 8, 12), f32), gpu.shared(24, i64), gpu.mbarriers(2)
    read, written = gpu.tensor_map(x, (1, 8, 12)), gpu.tensor_map(y, (1, 8, 12))
    read_w, written_z = gpu.tensor_map(w, 24), gpu.tensor_map(z, 24)
    if gpu.thread_id.x == 0:
        full.init(1)
    gpu.sync_warp()
    for i in range(n):
        if gpu.thread_id.x == 0:
            full[0].expect(read.bytes)
            read.load(tile, (i, gpu.block_id.x * 8, gpu.block_id.y * 12), full[0])
        full[0].wait(i % 2)
        for k in range(gpu.thread_id.x, 96, 32):
            tile[0, k // 12, k % 12] *= 2
        gpu.fence_async()
        gpu.sync_warp()
        if gpu.thread_id.x == 0:
            written.store(tile, (i, gpu.block_id.x * 8, gpu.block_id.y * 12))
            gpu.store_commit()
            gpu.store_wait(0)
        gpu.sync_warp()
    if gpu.thread_id.x == 0 and gpu.block_id.x == 0:
        full[1].expect(read_w.bytes)
        read_w.load(row, gpu.block_id.y * 24, full[1])
        while not full[1].test(0):
            pass
        written_z.store(row, gpu.block_id.y * 24)
        gpu.store_commit()
        gpu.store_wait(0, read=True)
        gpu.store_wait(0)


@tenon.check(moved(m=11), sizes={"n": [1, 3]}, shapes={"x": ("n", 11, 20), "y": ("n", 11, 20)}, architectures=["sm_90"])
def test_tiles_that_hang_over(x, w):
    return 2 * x, w


def test_extents_of_a_call():
    """Those of the array that is passed, whose first one the kernel does not know."""
    made, w, z = moved(m=5), numpy.arange(40), numpy.zeros(40, "i8")
    for n in (2, 1):
        x = numpy.random.default_rng(n).random((n, 5, 20), "f4")
        y = numpy.zeros_like(x)
        made(x, w, y, z, n)
        numpy.testing.assert_array_equal(y, 2 * x)
    assert made.signature.endswith("__launch_bounds__(32) moved(const float *x, const long long *w, float *y, long long *z, int n, "
                                   "const __grid_constant__ CUtensorMap x_map, const __grid_constant__ CUtensorMap y_map, "
                                   "const __grid_constant__ CUtensorMap w_map, const __grid_constant__ CUtensorMap z_map)")
    with pytest.raises(TypeError, match=r"takes 5 arguments \(x, w, y, z, n\), 2 were given"):
        made.load()(x, y, grid=1)
    with pytest.raises(ValueError, match="argument 0, x of kernel 'moved': it has 1 dimensions, its tensor map 3"):
        made.load()(x.reshape(-1), w, y, z, 1, grid=1)
    short = numpy.zeros(6, "i8")  # what the map says ends where the array does
    made.load()(x, w, y, short, 1, grid=(1, 2))
    assert list(short) == list(range(6))
    assert made.load().maps == (0, 2, 1, 3)
    words = made.load().pack((3, (3, 5, 20), (3, 5, 20), (40,), (40,)))  # as jax_op asks for them
    assert list(numpy.frombuffer(words, "i8")) == [3, 3, 5, 20, 3, 5, 20, 40, 40]


@gpu.kernel(block=64, grid=4, cluster=2)
def pairs(x: gpu.In[f32, 4, 64], y: gpu.Out[f32, 4, 64], ranks: gpu.Out[i32, 4]):
    """Each block writes what the other one of its cluster has, added to its own; then both count at a barrier of the first."""
    t, rank, mine, both = gpu.thread_id.x, gpu.cluster_rank(), gpu.shared(64, f32), gpu.mbarriers(1)
    mine[t] = x[gpu.block_id.x, t]
    if t == 0:
        both.init(2)
    gpu.cluster_barrier()
    y[gpu.block_id.x, t] = mine[t] + gpu.peer(mine, 1 - rank)[t]
    if t == 0:
        ranks[gpu.block_id.x] = rank
        gpu.peer(both[0], 0).arrive()
        if rank == 0:
            both[0].wait(0)
    gpu.cluster_arrive()
    gpu.cluster_wait()


@tenon.check(pairs, architectures=["sm_90"])
def test_clusters(x):
    both = x[0::2] + x[1::2]
    return numpy.repeat(both, 2, axis=0), numpy.array([0, 1, 0, 1])


@gpu.kernel(block=32, grid=(1, 4), cluster=(1, 2))
def shown_to_all(x: gpu.In[i32, 2, 32], y: gpu.Out[i32, 4, 32]):
    """The first block of a cluster loads for both."""
    t, tile, full = gpu.thread_id.x, gpu.shared(32, i32, align=128), gpu.mbarriers(1)
    rows = gpu.tensor_map(x, (1, 32))
    if t == 0:
        full.init(1)
    gpu.cluster_barrier()
    if t == 0:
        full[0].expect(rows.bytes)
        if gpu.cluster_rank() == 0:
            rows.load(tile, (gpu.block_id.y // 2, 0), full[0], multicast=3)
    full[0].wait(0)
    y[gpu.block_id.y, t] = tile[t]
    gpu.cluster_barrier()


@tenon.check(shown_to_all, architectures=HOPPER)
def test_multicast(x):
    return numpy.repeat(x, 2, axis=0)


def test_programs_have_maps_and_clusters():
    built = tenon.compile(pairs.declaration("sm_90a") + product[64, 64, 64, f16, 128, False, False].declaration("sm_90a") + """
func.func @f(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %x: tensor<4x64xf32>) -> (tensor<64x64xf32>, tensor<4x64xf32>, tensor<4xi32>) {
  %0 = flow.dispatch @product_kernel::@product(%a, %b) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
  %1:2 = flow.dispatch @pairs_kernel::@pairs(%x) : (tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4xi32>)
  return %0, %1#0, %1#1 : tensor<64x64xf32>, tensor<4x64xf32>, tensor<4xi32>
}
""", targets="sm_90a", objects=[pairs, product[64, 64, 64, f16, 128, False, False]])
    a, b, x = numbers((64, 64)).astype("f2"), numbers((64, 64)).astype("f2") // 2, numbers((4, 64)).astype("f4")
    c, y, ranks = tenon.load(built).f(a, b, x)
    numpy.testing.assert_array_equal(c, a.astype("f4") @ b.astype("f4").T)
    numpy.testing.assert_array_equal(y[1], x[0] + x[1])
    assert list(ranks) == [0, 1, 0, 1]


@gpu.kernel(block=32, grid=1)
def named(x: gpu.In[f32, 32], x_map: gpu.Out[f32, 64]):
    """A parameter has the name that the map of another has; two maps of one array, one of them asked for twice."""
    t, tile, full = gpu.thread_id.x, gpu.shared((3, 32), f32), gpu.mbarriers(1)
    whole, half, again = gpu.tensor_map(x, 32), gpu.tensor_map(x, 16), gpu.tensor_map(x, 32)
    if t == 0:
        full.init(1)
        full[0].expect(whole.bytes + half.bytes + again.bytes)
        whole.load(tile[0], 0, full[0])
        half.load(tile[1, 0:16], 16, full[0])
        again.load(tile[2], -8, full[0])  # zeros before the array
    gpu.sync_warp()
    full[0].wait(0)
    x_map[t] = tile[0, t]
    if t < 16:
        x_map[32 + t] = tile[1, t]
        x_map[48 + t] = tile[2, t]


@tenon.check(named, architectures=["sm_90"])
def test_names_of_maps(x):
    assert named.signature.count("CUtensorMap") == 2
    return numpy.concatenate([x, x[16:], numpy.zeros(8, "f4"), x[:8]])


TOO_EARLY = """
from tenon import gpu

@gpu.kernel(block=32, grid=1)
def early(x: gpu.In[gpu.f32, 32], y: gpu.Out[gpu.f32, 32]):
    tile, full, rows = gpu.shared(32, gpu.f32), gpu.mbarriers(1), gpu.tensor_map(x, 32)
    if gpu.thread_id.x == 0:
        full.init(1)
        full[0].expect(rows.bytes)
        rows.load(tile, 0, full[0])
    gpu.barrier()
    y[gpu.thread_id.x] = tile[gpu.thread_id.x]
"""


def test_a_wait_that_is_missing_is_found(tmp_path):
    import subprocess
    import sys

    (tmp_path / "early.py").write_text(TOO_EARLY)
    (tmp_path / "test_early.py").write_text("""
import tenon
from early import early

@tenon.check(early, architectures=["sm_90"])
def test_early(x):
    return x
""")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_early.py"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1 and "1 failed" in done.stdout, done.stdout + done.stderr
    assert "early.py:12" in done.stdout, done.stdout  # where the tile is read too early


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100a"])
def test_what_a_target_does_not_have(target):
    made = product[64, 64, 64, f16, 128, False, False]
    with pytest.raises(gpu.KernelError) as raised:
        made.ptx(target)
    assert f"kernel 'product' uses gpu.wgmma, which sm_90a alone has; found: the target {target}" in str(raised.value)
    assert "gpu.wgmma(sums, of_a, of_b, accumulate" in str(raised.value)  # the line that asks for it
    with pytest.raises(gpu.KernelError, match="uses gpu.mbarriers, which needs sm_90 or later; found: the target sm_80"):
        pairs.declaration("sm_80")
