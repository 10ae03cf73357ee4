# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tenon.gpu refuses of Hopper's: each error with its text, at the line of Python that says `# here`."""
import pytest
from tenon import gpu
from test_gpu_builder_errors import HEAD, line_of, module

KERNEL = """
@gpu.kernel(block=128, grid=2, cluster=CLUSTER)
def kernel(A: gpu.In[f16, 128, 128], B: gpu.Out[f16, 128, 128], x: gpu.In[f32, 64], odd: gpu.In[f16, 8, 9], C: gpu.Out[f32, 64, 64],
           m: gpu.In[i1, 64], n: i32, a: f32):
    i, tile, flat, wide = gpu.thread_id.x, gpu.shared((4, 64, 64), f16, swizzle=128), gpu.shared((64, 64), f16), gpu.shared((64, 32), f32, swizzle=128)
    other, last = gpu.shared((64, 32), f16, swizzle=64), gpu.shared((24, 64), f16, swizzle=128)
    maps, full, sums = gpu.tensor_map(A, (64, 64), swizzle=128), gpu.mbarriers(4), gpu.sums(64)
"""
BODIES = {
    # Shared memory and tensor maps.
    "v = gpu.shared((64, 64), f16, swizzle=16)": "the swizzle of gpu.shared is the number 16; wanted: 0, 32, 64 or 128",
    "v = gpu.shared((64, 32), f16, swizzle=128)": "a row of gpu.shared has 64 bytes; wanted: the 128 of the swizzle",
    "v = gpu.shared(64, f16, align=2048)": "gpu.shared is aligned to 2048 bytes",
    "v = gpu.load(gpu.shared((8, 128), i8, swizzle=128)[0, 0:16])": "",  # 16 bytes lie side by side
    "v = gpu.load(tile[0, 0, 0:16])": "a vector of 32 bytes of shared_0, whose rows are swizzled; wanted: at most 16",
    "v = gpu.tensor_map(tile, (64, 64))": "gpu.tensor_map of the array shared_0 (4, 64, 64); wanted: a parameter, whole",
    "v = gpu.tensor_map(A[0:64], (64, 64))": "gpu.tensor_map of a view of A (64, 128); wanted: a parameter, whole",
    "v = gpu.tensor_map(A, 64)": "the box of a tensor map of the array A (128, 128) is (64); wanted: 2 numbers from 1 to 256",
    "v = gpu.tensor_map(A, (64, 512))": "wanted: 2 numbers from 1 to 256",
    "v = gpu.tensor_map(A, (64, n))": "the box of a tensor map of the array A (128, 128) is (64, i32); wanted",
    "v = gpu.tensor_map(A, (64, 4))": "a row of the box has 8 bytes; wanted: a multiple of 16",
    "v = gpu.tensor_map(A, (64, 64), swizzle=64)": "a row of the box has 128 bytes; wanted: the 64 of the swizzle",
    "v = gpu.tensor_map(A, (64, 64), swizzle=n)": "the swizzle of a tensor map is i32; wanted: 0, 32, 64 or 128",
    "v = gpu.tensor_map(odd, (8, 8))": "a row of odd has 18 bytes; wanted: a multiple of 16, for a tensor map",
    "v = gpu.tensor_map(m, 16)": "a tensor map of i1 is not supported",
    "v = gpu.tensor_map(A, (64, 64), tf32=True)": "a tensor map rounds f16 to tf32; wanted: f32",
    "maps.load(A, (0, 0), full[0])": "a tensor map loads to the array A (128, 128); wanted: shared memory",
    "maps.load(wide, (0, 0), full[0])": "a tensor map loads to the array shared_2 (64, 32) of f32, and the elements of A are f16",
    "maps.load(tile, (0, 0), full[0])": "wanted: as many elements as the box (64, 64) has, one behind the other, in rows of 64",
    "maps.load(flat, (0, 0), full[0])": "whose rows are not swizzled; the tensor map's are swizzled by 128 bytes",
    "maps.load(tile[0], (0, 0), full)": "a tensor map tells the 4 barriers of shared_5 when a tile is there; wanted: a barrier of gpu.mbarriers",
    "maps.load(tile[0], 0, full[0])": "a tile begins at 1 indices; wanted: 2, one for each dimension of A",
    "maps.load(tile[0], (0, a), full[0])": "index 1 of a tile is f32; wanted: an integer",
    "maps.load(tile[0], (0, 0), full[0], multicast=3)": "a tensor map loads for several blocks, and the kernel has no cluster",
    "maps.store(tile[0], (0, 0))": "the kernel writes A, which its signature says is only read",
    "maps[0]": "a tensor map of A has no elements",
    "maps[0] = 1": "an element of a tensor map of A is assigned",
    "gpu.store_wait(n)": "gpu.store_wait waits for i32; wanted: a number from 0",
    # Barriers.
    "v = gpu.mbarriers(n)": "gpu.mbarriers makes i32 barriers; wanted: 1 to 1024",
    "full[4].arrive()": "barrier 4 of 4; wanted: 0 to 3",
    "full[-1].arrive()": "barrier -1 of 4; wanted: 0 to 3",
    "full[a].arrive()": "a barrier is asked for by f32; wanted: its number",
    "full.init(0)": "a phase takes the number 0 arrivals",
    "full[0].wait(2)": "the parity of a phase is 2; wanted: 0 or 1",
    "full[0].wait(i)": "the parity of a phase is from 0 to 127; wanted: 0 or 1",
    "full[0].expect(1 << 20)": "a barrier expects 1048576 bytes",
    "full[0].expect(a)": "what a barrier expects is f32; wanted: an integer",
    "v = full + 1": "'+' of the 4 barriers of shared_5 and the number 1",
    # Products.
    "v = gpu.sums(60)": "gpu.sums of the number 60 columns; wanted: a multiple of 8, 8 to 256",
    "v = gpu.sums(n)": "gpu.sums of i32 columns",
    "v = sums[32]": "a sum is asked for by the number 32; wanted: a number from 0 to 31 that is known",
    "v = sums[i]": "a sum is asked for by i64; wanted",
    "sums[0] = i": "what is assigned to an element of sums_0 is i64; wanted: f32",
    "gpu.wgmma(a, tile[0], tile[1])": "gpu.wgmma adds to f32; wanted: gpu.sums(...)",
    "gpu.wgmma(sums, flat, tile[1])": "gpu.wgmma's a is the array shared_1 (64, 64); wanted: a tile in shared memory whose rows are swizzled",
    "gpu.wgmma(sums, A, tile[1])": "gpu.wgmma's a is the array A (128, 128)",
    "gpu.wgmma(sums, tile[0], tile[1, 0:64, 0:32])": "wanted: whole rows, (n, rows, 64) or (rows, 64)",
    "gpu.wgmma(sums, tile[0], other)": "gpu.wgmma of 64 x 64 and 64 x 32 to sums of 64 x 64; wanted: 64 x k and 64 x k",
    "gpu.wgmma(sums, tile[0], tile[0:2])": "gpu.wgmma of 64 x 64 and 64 x 128 to sums of 64 x 64",
    "gpu.wgmma(sums, tile[0], tile[1, 0:32])": "gpu.wgmma of 64 x 64 and 32 x 64 to sums of 64 x 64",
    "gpu.wgmma(sums, tile[0], wide)": "gpu.wgmma of f16 and f32; wanted: one type",
    "gpu.wgmma(sums, wide, wide, transpose_b=True)": "gpu.wgmma's b is transposed and of f32",
    "gpu.wgmma(sums, last, last, transpose_a=True)": "gpu.wgmma's a has 24 rows; wanted: a multiple of 16",
    "gpu.wgmma(sums, tile[0], tile[i % 4], accumulate=1)": "accumulate is the number 1; wanted: a bool",
    "gpu.wgmma(sums, tile[0, i // 64 * 8:i // 64 * 8 + 64], tile[1])": "gpu.wgmma of a view of shared_0 (64, 64), which need not begin at a multiple of 1024 bytes",
    "gpu.wgmma(sums, tile[0, 1:65], tile[1])": "gpu.wgmma",
    "gpu.wgmma(sums, gpu.shared((64, 128), i8, swizzle=128), tile[1])": "gpu.wgmma of i8 is not supported; wanted: f16, bf16, or f32 (as tf32)",
    "gpu.wgmma(sums, tile[0], tile[1])\n    v = sums[0]  # here": "sums are touched while a product may still be added to them",
    "gpu.wgmma(sums, tile[0], tile[1])\n    gpu.wgmma_wait(1)\n    sums.store(C)  # here": "sums are touched while a product may still be added to them",
    "v = sums.rounded(f32)": "sums are rounded to f32; wanted: f16 or bf16",
    "v = gpu.sums(24).rounded(f16)": "sums of 64 x 24 are rounded for gpu.wgmma; wanted: a multiple of 16 columns",
    "gpu.wgmma(sums, gpu.sums(64).rounded(bf16), tile[1])": "gpu.wgmma of bf16 and f16; wanted: one type",
    "gpu.wgmma(sums, gpu.sums(32).rounded(f16), tile[1])": "gpu.wgmma of 64 x 32 and 64 x 64 to sums of 64 x 64",
    "gpu.wgmma(sums, gpu.sums(64).rounded(f16), tile[1], transpose_a=True)": "gpu.wgmma's a is in registers and transposed",
    "gpu.wgmma(sums, tile[0], tile[1])\n    v = sums.rounded(f16)  # here": "sums are touched while a product may still be added to them",
    "gpu.wgmma_wait(n)": "gpu.wgmma_wait waits for i32; wanted: a number from 0 to 7",
    "sums.store(C[0:32])": "sums of 64 x 64 are stored to a view of C (32, 64); wanted: as many rows and columns",
    "sums.store(C, f16)": "sums of f32 are stored as f16 to elements of f32",
    "sums.store(B[0:64, 0:64])": "to elements of f16; wanted: f32, or the type that they are rounded to",
    "sums.store(A[0:64, 0:64], f16)": "the kernel writes A, which its signature says is only read",
    "sums.store(x)": "sums are stored to the array x (64); wanted: a view of 64 x 64 elements",
    "sums.store(C[:, 0:8], first=4)": "sums of 64 x 64 are stored from column 4; wanted: a multiple of 8",
    "gpu.take_registers(100)": "gpu.take_registers to the number 100; wanted: a multiple of 8, 24 to 256",
    "gpu.give_registers(n)": "gpu.give_registers to i32",
    # Clusters.
    "v = gpu.cluster_rank()": "gpu.cluster_rank is asked for, and the kernel has no cluster",
    "gpu.cluster_barrier()": "and the kernel has no cluster",
    "v = gpu.peer(flat, 0)": "gpu.peer is asked for, and the kernel has no cluster",
}
IN_A_CLUSTER = {
    "v = gpu.peer(flat, 2)": "gpu.peer of rank 2; wanted: 0 to 1",
    "v = gpu.peer(A, 0)": "gpu.peer of the array A (128, 128); wanted: shared memory, or a barrier of gpu.mbarriers",
    "v = gpu.peer(full, 0)": "gpu.peer of the 4 barriers of shared_5; wanted: shared memory, or a barrier of gpu.mbarriers",
    "v = gpu.peer(flat, a)": "the rank of a peer is f32; wanted: an integer",
    "gpu.peer(full[0], 0).wait(0)": "wait of a peer's barrier is not supported; wanted: arrive",
    "maps.load(tile[0], (0, 0), gpu.peer(full[0], 1))": "a tensor map tells a barrier of shared_5, of a peer, when a tile is there",
    "maps.load(tile[0], (0, 0), full[0], multicast=4)": "multicast is 4; wanted: a bit for each of the 2 blocks of a cluster, 1 to 3",
    "maps.load(gpu.peer(tile, 1)[0], (0, 0), full[0])": "a tensor map loads to a view of shared_0 (64, 64); wanted: shared memory",
    "v = gpu.atomic_add(gpu.peer(wide, 1), (0, 0), a)": "gpu.atomic_add of the array shared_2 (64, 32); wanted: a parameter or shared memory",
}

# Products that are on their way where ways of the kernel meet: at a loop's next turn, behind a loop, behind an `if`.
TOUCHED = "sums are touched while a product may still be added to them"
FLYING = {
    "for k in range(n):\n        v = sums[0]  # here\n        gpu.wgmma(sums, tile[0], tile[1])": TOUCHED,
    "for k in range(n):\n        sums.fill(0.0)  # here\n        for j in range(2):\n            gpu.wgmma(sums, tile[0], tile[1])": TOUCHED,
    "for k in range(n):\n        gpu.wgmma(sums, tile[0], tile[1])\n    v = sums[0]  # here": TOUCHED,
    "while gpu.thread_id.x < n:\n        v = sums.rounded(f16)  # here\n        gpu.wgmma(sums, tile[0], tile[1])": TOUCHED,
    "while gpu.thread_id.x < n:\n        gpu.wgmma(sums, tile[0], tile[1])\n    v = sums[0]  # here": TOUCHED,
    "for k in range(n):\n        v = gpu.sums(64)  # here\n        gpu.wgmma(v, tile[0], tile[1])": TOUCHED,
    "for k in range(n):\n        gpu.wgmma(sums, tile[0], tile[1])\n        if k > 3:\n            gpu.wgmma_wait(0)\n    v = sums[0]  # here": TOUCHED,
    "if n > 0:\n        gpu.wgmma(sums, tile[0], tile[1])\n    v = sums[0]  # here": TOUCHED,
    "gpu.wgmma(sums, tile[0], tile[1])\n    if n > 0:\n        gpu.wgmma_wait(0)\n    v = sums[0]  # here": TOUCHED,
    # The one way begins a product behind the sums', the other does not: a wait but for one may leave the sums'.
    "gpu.wgmma(sums, tile[0], tile[1])\n    if n > 0:\n        gpu.wgmma(gpu.sums(64), tile[0], tile[1])\n    gpu.wgmma_wait(1)\n    v = sums[0]  # here":
        TOUCHED,
    "for k in range(n):\n        if k > 3:\n            break\n        v = sums[0]  # here\n        gpu.wgmma(sums, tile[0], tile[1])": TOUCHED,
    # What is right.
    "for k in range(n):\n        gpu.wgmma_wait(0)\n        v = sums[0]\n        gpu.wgmma(sums, tile[0], tile[1])\n    gpu.wgmma_wait(0)\n    v = sums[0]": "",
    "for k in range(n):\n        gpu.wgmma(sums, tile[0], tile[1])\n        gpu.wgmma_wait(1)\n    gpu.wgmma_wait(0)\n    v = sums[0]": "",
    "for k in range(n):\n        gpu.wgmma(sums, tile[0], tile[1])\n        gpu.wgmma_wait(0)\n        v = sums[0]\n    v = sums[0]": "",
    "gpu.wgmma(sums, tile[0], tile[1])\n    if n > 0:\n        gpu.wgmma_wait(0)\n    else:\n        gpu.wgmma_wait(0)\n    v = sums[0]": "",
    "gpu.wgmma(sums, tile[0], tile[1])\n    gpu.wgmma(gpu.sums(64), tile[0], tile[1])\n    gpu.wgmma_wait(1)\n    v = sums[0]": "",
    "second = gpu.sums(64)\n    for k in range(n):\n        gpu.wgmma(second, tile[0], tile[1])\n        gpu.wgmma(sums, tile[0], tile[1])\n"
    "        gpu.wgmma_wait(1)\n        v = second[0]": "",
    "while gpu.thread_id.x < n:\n        v = gpu.sums(64)\n        gpu.wgmma(v, tile[0], tile[1])\n        gpu.wgmma_wait(0)": "",
}


@pytest.mark.parametrize("body, cluster", [*((body, 1) for body in (*BODIES, *FLYING)), *((body, 2) for body in IN_A_CLUSTER)])
def test_a_body(body, cluster, tmp_path):
    said = {**BODIES, **FLYING, **IN_A_CLUSTER}[body]
    text = HEAD + KERNEL.replace("CLUSTER", str(cluster)) + "    " + (body if "# here" in body else body + "  # here") + "\n"
    if not said:
        assert module(text, tmp_path).kernel.mlir
        return
    with pytest.raises(gpu.KernelError) as raised:
        module(text, tmp_path).kernel.mlir
    assert said in str(raised.value), str(raised.value)
    assert raised.value.place.line == line_of(text), str(raised.value)


@pytest.mark.parametrize("given, text", [
    ("block=32, cluster=16", "a cluster of 'kernel' is 16 x 1 x 1 blocks; wanted: at most 8"),
    ("block=32, grid=(3, 4), cluster=(2, 2)", "the grid of 'kernel' is 3 x 4 x 1 blocks; wanted: multiples of the cluster, 2 x 2 x 1"),
    ("block=32, cluster='2'", "cluster is '2'; wanted: 1 to 3 numbers above 0"),
    ("block=32, min_blocks=0", "min_blocks is 0; wanted: 1 to 3 numbers above 0"),
    ("block=32, min_blocks=(2, 2)", "min_blocks is (2, 2); wanted: one number, of the blocks that a multiprocessor is to hold"),
    ("block=32, min_blocks=33", "min_blocks is 33; wanted: at most 32, since a multiprocessor holds 32 blocks and 2048 threads at most"),
    ("block=1024, min_blocks=3", "min_blocks is 3; wanted: at most 2, since"),
])
def test_a_cluster_and_bounds(given, text, tmp_path):
    with pytest.raises(gpu.KernelError) as raised:
        module(HEAD + f"@gpu.kernel({given})\ndef kernel(n: i32):\n    pass\n", tmp_path)
    assert text in str(raised.value), str(raised.value)


def test_sums_of_half_a_warpgroup(tmp_path):
    with pytest.raises(gpu.KernelError, match="a block has 64 threads, and a warpgroup 128; wanted: a multiple of it"):
        module(HEAD + "@gpu.kernel(block=64)\ndef kernel(n: i32):\n    v = gpu.sums(8)\n", tmp_path).kernel.mlir


def test_outside_of_a_kernel():
    with pytest.raises(TypeError, match="gpu.mbarriers means something in the body of a @gpu.kernel only"):
        gpu.mbarriers(1)
