# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C = A * B, eleven times over, each rung faster than the one before it for one reason. A is M x K, B K x N, row-major, of f32 (the last rung's of bf16);
sizes are multiples of 128.

Each rung is a kernel for any such sizes: naive[M, N, K] is the one for these.
"""
from __future__ import annotations

import json
import pathlib

from tenon import gpu
from tenon.gpu import bf16, f32, static_range


@gpu.kernel(block=1024, grid=lambda M, N: (M // 32, N // 32))
def naive(A: gpu.In[f32, M, K], B: gpu.In[f32, K, N], C: gpu.Out[f32, M, N], *, M, N, K):
    """A thread for each element of C. Neighbours in a warp have neighbouring rows: each of their loads from A is a transaction of its own."""
    t = gpu.thread_id.x
    row, column = gpu.block_id.x * 32 + t % 32, gpu.block_id.y * 32 + t // 32
    total = 0.0
    for k in range(K):
        total = gpu.fma(A[row, k], B[k, column], total)
    C[row, column] = total


@gpu.kernel(block=1024, grid=lambda M, N: (M // 32, N // 32))
def coalesced(A: gpu.In[f32, M, K], B: gpu.In[f32, K, N], C: gpu.Out[f32, M, N], *, M, N, K):
    """Neighbours have neighbouring columns: a warp reads and writes whole lines."""
    t = gpu.thread_id.x
    row, column = gpu.block_id.x * 32 + t // 32, gpu.block_id.y * 32 + t % 32
    total = 0.0
    for k in range(K):
        total = gpu.fma(A[row, k], B[k, column], total)
    C[row, column] = total


@gpu.kernel(block=1024, grid=lambda M, N: (M // 32, N // 32))
def shared(A: gpu.In[f32, M, K], B: gpu.In[f32, K, N], C: gpu.Out[f32, M, N], *, M, N, K):
    """A block brings a tile of A and of B into shared memory, which each element is read from 32 times."""
    t = gpu.thread_id.x
    y, x = t // 32, t % 32
    row, column = gpu.block_id.x * 32 + y, gpu.block_id.y * 32 + x
    of_a, of_b = gpu.shared((32, 32), f32), gpu.shared((32, 32), f32)
    total = 0.0
    for tile in range(0, K, 32):
        of_a[y, x] = A[row, tile + x]
        of_b[y, x] = B[tile + y, column]
        gpu.barrier()
        for k in range(32):
            total = gpu.fma(of_a[y, k], of_b[k, x], total)
        gpu.barrier()
    C[row, column] = total


@gpu.kernel(block=512, grid=lambda M, N: (M // 64, N // 64))
def tile_1d(A: gpu.In[f32, M, K], B: gpu.In[f32, K, N], C: gpu.Out[f32, M, N], *, M, N, K):
    """A thread has 8 elements of a column in registers: an element of B is read once for all of them."""
    t, top, left = gpu.thread_id.x, gpu.block_id.x * 64, gpu.block_id.y * 64
    first, x = t // 64 * 8, t % 64
    of_a, of_b, sums = gpu.shared((64, 8), f32), gpu.shared((8, 64), f32), gpu.local(8, f32)
    for tile in range(0, K, 8):
        of_a[t // 8, t % 8] = A[top + t // 8, tile + t % 8]  # each thread brings one element of each tile
        of_b[t // 64, x] = B[tile + t // 64, left + x]
        gpu.barrier()
        for k in static_range(8):  # its turns stand one behind the other
            b = of_b[k, x]
            for i in static_range(8):
                sums[i] = gpu.fma(of_a[first + i, k], b, sums[i])
        gpu.barrier()
    for i in static_range(8):
        C[top + first + i, left + x] = sums[i]


@gpu.kernel(block=256, grid=lambda M, N: (M // 128, N // 128))
def tile_2d(A: gpu.In[f32, M, K], B: gpu.In[f32, K, N], C: gpu.Out[f32, M, N], *, M, N, K):
    """A thread has 8 x 8 elements: 16 reads of shared memory for 64 products."""
    t, top, left = gpu.thread_id.x, gpu.block_id.x * 128, gpu.block_id.y * 128
    y, x = t // 16 * 8, t % 16 * 8
    of_a, of_b, sums = gpu.shared((128, 8), f32), gpu.shared((8, 128), f32), gpu.local((8, 8), f32)
    for tile in range(0, K, 8):
        for i in static_range(0, 128, 32):
            of_a[i + t // 8, t % 8] = A[top + i + t // 8, tile + t % 8]
        for i in static_range(0, 8, 2):
            of_b[i + t // 128, t % 128] = B[tile + i + t // 128, left + t % 128]
        gpu.barrier()
        for k in static_range(8):
            b = [of_b[k, x + j] for j in static_range(8)]
            for i in static_range(8):
                a = of_a[y + i, k]
                for j in static_range(8):
                    sums[i, j] = gpu.fma(a, b[j], sums[i, j])
        gpu.barrier()
    for i in static_range(8):
        for j in static_range(8):
            C[top + y + i, left + x + j] = sums[i, j]


def fetch(A, B, top, left, tile, t, BM, BN, BK, THREADS):
    """A block's tiles of A and B, 16 bytes at a time, in registers: so there may be work between this and `keep`."""
    return ([gpu.load(A[top + i + t // (BK // 4), tile + t % (BK // 4) * 4:tile + t % (BK // 4) * 4 + 4]) for i in range(0, BM, THREADS * 4 // BK)],
            [gpu.load(B[tile + i + t // (BN // 4), left + t % (BN // 4) * 4:left + t % (BN // 4) * 4 + 4]) for i in range(0, BK, THREADS * 4 // BN)])


def keep(fetched, of_a, of_b, t, BM, BN, BK, THREADS):
    """Puts them into shared memory, A's turned over, so that both are read along rows."""
    for i, four in zip(range(0, BM, THREADS * 4 // BK), fetched[0]):
        for lane in static_range(4):
            of_a[t % (BK // 4) * 4 + lane, i + t // (BK // 4)] = four[lane]
    for i, four in zip(range(0, BK, THREADS * 4 // BN), fetched[1]):
        of_b[i + t // (BN // 4), t % (BN // 4) * 4:t % (BN // 4) * 4 + 4] = four


def multiply(of_a, of_b, sums, rows, columns, BK):
    """Adds the products of one tile to `sums`: four rows from each of `rows`, four columns from each of `columns`."""
    for k in static_range(BK):
        a, b = [gpu.load(of_a[k, row:row + 4]) for row in rows], [gpu.load(of_b[k, column:column + 4]) for column in columns]
        for p, of_rows in enumerate(a):
            for i in static_range(4):
                for q, of_columns in enumerate(b):
                    for j in static_range(4):
                        sums[4 * p + i, 4 * q + j] = gpu.fma(of_rows[i], of_columns[j], sums[4 * p + i, 4 * q + j])


def write(C, sums, rows, columns):
    """Writes what `multiply` added up, 16 bytes at a time."""
    for p, row in enumerate(rows):
        for i in static_range(4):
            for q, column in enumerate(columns):
                C[row + i, column:column + 4] = gpu.vector([sums[4 * p + i, 4 * q + j] for j in static_range(4)])


def tiled_by_threads(A, B, C, K, BM, BN, BK, TM, TN):
    """A block has BM x BN elements, a thread TM x TN of them."""
    threads = BM * BN // (TM * TN)
    assert BM % (threads * 4 // BK) == 0 and BK % (threads * 4 // BN) == 0, "the threads bring whole tiles, 16 bytes at a time"
    t, top, left = gpu.thread_id.x, gpu.block_id.x * BM, gpu.block_id.y * BN
    y, x = t // (BN // TN) * TM, t % (BN // TN) * TN
    of_a, of_b, sums = gpu.shared((BK, BM), f32), gpu.shared((BK, BN), f32), gpu.local((TM, TN), f32)
    rows, columns = [y + 4 * i for i in static_range(TM // 4)], [x + 4 * j for j in static_range(TN // 4)]
    for tile in range(0, K, BK):
        keep(fetch(A, B, top, left, tile, t, BM, BN, BK, threads), of_a, of_b, t, BM, BN, BK, threads)
        gpu.barrier()
        multiply(of_a, of_b, sums, rows, columns, BK)
        gpu.barrier()
    write(C, sums, [top + row for row in rows], [left + column for column in columns])


@gpu.kernel(block=256, grid=lambda M, N: (M // 128, N // 128))
def vectorised(A: gpu.In[f32, M, K], B: gpu.In[f32, K, N], C: gpu.Out[f32, M, N], *, M, N, K):
    """Whatever can be read and written is, 16 bytes at a time."""
    tiled_by_threads(A, B, C, K, 128, 128, 8, 8, 8)


# Tiles that `ladder.py tune` tries: (BM, BN, BK, TM, TN). What it finds best stands in tuned.json; without that, the first.
CANDIDATES = [(128, 128, 16, 8, 8), (128, 128, 8, 8, 8), (128, 64, 16, 8, 4), (128, 64, 16, 8, 8), (64, 128, 16, 8, 8), (64, 128, 16, 4, 8),
              (64, 64, 16, 8, 4), (64, 64, 16, 4, 4), (64, 64, 32, 8, 8), (128, 128, 32, 8, 8)]
TUNED = pathlib.Path(__file__).parent / "tuned.json"


@gpu.kernel(block=lambda BM, BN, TM, TN: BM * BN // (TM * TN), grid=lambda M, N, BM, BN: (M // BM, N // BN))
def tiles(A: gpu.In[f32, M, K], B: gpu.In[f32, K, N], C: gpu.Out[f32, M, N], *, M, N, K, BM, BN, BK, TM, TN):
    """The rung before, for any tiles."""
    tiled_by_threads(A, B, C, K, BM, BN, BK, TM, TN)


class autotuned:
    """The tiles that were fastest where `ladder.py tune` measured them: sizes are values of the kernel, so trying some is a loop."""

    def __class_getitem__(cls, sizes):
        found = json.loads(TUNED.read_text()) if TUNED.exists() else {}
        return tiles[(*sizes, *found.get("x".join(map(str, sizes)), CANDIDATES[0]))]


# 128 x 128 elements for 4 warps: each has 64 x 64, of which a thread has 4 rows and 4 columns in each of 4 stripes of rows and 2 of columns:
# what the lanes of a warp read from shared memory at once lies together. Rows of A's tile are a little longer than they need be: what the lanes
# write at once lies in different banks.
BM, BN, BK, THREADS, PAD = 128, 128, 16, 128, 4


def stripes():
    """The first rows and columns of a thread's stripes within the block's tile."""
    warp, lane = gpu.thread_id.x // 32, gpu.thread_id.x % 32
    y, x = warp // 2 * 64 + lane // 8 * 4, warp % 2 * 64 + lane % 8 * 4  # 4 x 8 lanes
    return [y + 16 * i for i in static_range(4)], [x + 32 * j for j in static_range(2)]


@gpu.kernel(block=THREADS, grid=lambda M, N: (M // BM, N // BN), min_blocks=3)
def warp_tiles(A: gpu.In[f32, M, K], B: gpu.In[f32, K, N], C: gpu.Out[f32, M, N], *, M, N, K):
    """Each warp has a tile of its own in the block's, so that what its lanes read from shared memory lies together. A thread has twice the sums;
    its registers are still few enough for three blocks on a multiprocessor, which do not all wait for memory at once."""
    t, top, left = gpu.thread_id.x, gpu.block_id.x * BM, gpu.block_id.y * BN
    of_a, of_b, sums = gpu.shared((BK, BM + PAD), f32), gpu.shared((BK, BN), f32), gpu.local((16, 8), f32)
    rows, columns = stripes()
    for tile in range(0, K, BK):
        keep(fetch(A, B, top, left, tile, t, BM, BN, BK, THREADS), of_a, of_b, t, BM, BN, BK, THREADS)
        gpu.barrier()
        multiply(of_a, of_b, sums, rows, columns, BK)
        gpu.barrier()
    write(C, sums, [top + row for row in rows], [left + column for column in columns])


@gpu.kernel(block=THREADS, grid=lambda M, N: (M // BM, N // BN), min_blocks=2)
def double_buffered(A: gpu.In[f32, M, K], B: gpu.In[f32, K, N], C: gpu.Out[f32, M, N], *, M, N, K):
    """The next tile is on its way from memory while this one is multiplied: two tiles take turns, with one barrier for each."""
    t, top, left = gpu.thread_id.x, gpu.block_id.x * BM, gpu.block_id.y * BN
    of_a, of_b, sums = gpu.shared((2, BK, BM + PAD), f32), gpu.shared((2, BK, BN), f32), gpu.local((16, 8), f32)
    rows, columns = stripes()
    keep(fetch(A, B, top, left, 0, t, BM, BN, BK, THREADS), of_a[0], of_b[0], t, BM, BN, BK, THREADS)
    gpu.barrier()
    for tile in range(0, K - BK, BK):
        half = tile // BK % 2
        fetched = fetch(A, B, top, left, tile + BK, t, BM, BN, BK, THREADS)
        multiply(of_a[half], of_b[half], sums, rows, columns, BK)
        keep(fetched, of_a[1 - half], of_b[1 - half], t, BM, BN, BK, THREADS)
        gpu.barrier()
    multiply(of_a[(K // BK - 1) % 2], of_b[(K // BK - 1) % 2], sums, rows, columns, BK)
    write(C, sums, [top + row for row in rows], [left + column for column in columns])


def begin_copies(A, B, of_a, of_b, top, left, tile, t):
    """Begins to copy the tiles of one turn, a group of copies of 16 bytes."""
    for i in static_range(0, BM, 32):
        of_a_row, of_row = of_a[i + t // 4], A[top + i + t // 4]
        gpu.copy_async(of_a_row[t % 4 * 4:t % 4 * 4 + 4], of_row[tile + t % 4 * 4:tile + t % 4 * 4 + 4])
    for i in static_range(0, BK, 4):
        gpu.copy_async(of_b[i + t // 32, t % 32 * 4:t % 32 * 4 + 4], B[tile + i + t // 32, left + t % 32 * 4:left + t % 32 * 4 + 4])
    gpu.copy_commit()


def multiply_on_tensor_cores(of_a, of_b, sums, y, x, g, q):
    """Adds the products of one tile: a warp's 64 x 64 elements as 4 x 8 matrices of 16 x 8."""
    for k in static_range(0, BK, 8):
        a = [gpu.vector(of_a[y + 16 * i + g, k + q], of_a[y + 16 * i + 8 + g, k + q], of_a[y + 16 * i + g, k + 4 + q], of_a[y + 16 * i + 8 + g, k + 4 + q])
             for i in static_range(4)]
        for j in static_range(8):
            b = gpu.vector(of_b[k + q, x + 8 * j + g], of_b[k + 4 + q, x + 8 * j + g])
            for i in static_range(4):
                sum_ = gpu.mma(a[i], b, gpu.vector([sums[i, j, e] for e in static_range(4)]))
                for e in static_range(4):
                    sums[i, j, e] = sum_[e]


@gpu.kernel(block=THREADS, grid=lambda M, N: (M // BM, N // BN))
def tensor_core(A: gpu.In[f32, M, K], B: gpu.In[f32, K, N], C: gpu.Out[f32, M, N], *, M, N, K):
    """Tensor cores multiply factors that are rounded to tf32 (11 bits); copies to shared memory go on meanwhile, without registers."""
    t, top, left = gpu.thread_id.x, gpu.block_id.x * BM, gpu.block_id.y * BN
    warp, lane = t // 32, t % 32
    y, x, g, q = warp // 2 * 64, warp % 2 * 64, lane // 4, lane % 4
    # Rows that are a little longer than they need be: the lanes of a warp read from different banks.
    of_a, of_b, sums = gpu.shared((2, BM, BK + 4), f32), gpu.shared((2, BK, BN + 8), f32), gpu.local((4, 8, 4), f32)
    begin_copies(A, B, of_a[0], of_b[0], top, left, 0, t)
    for tile in range(0, K - BK, BK):
        half = tile // BK % 2
        begin_copies(A, B, of_a[1 - half], of_b[1 - half], top, left, tile + BK, t)
        gpu.copy_wait(1)
        gpu.barrier()
        multiply_on_tensor_cores(of_a[half], of_b[half], sums, y, x, g, q)
        gpu.barrier()
    gpu.copy_wait(0)
    gpu.barrier()
    multiply_on_tensor_cores(of_a[(K // BK - 1) % 2], of_b[(K // BK - 1) % 2], sums, y, x, g, q)
    for i in static_range(4):
        for j in static_range(8):
            for h in static_range(2):
                row, column = top + y + 16 * i + 8 * h + g, left + x + 8 * j + 2 * q
                C[row, column:column + 2] = gpu.vector(sums[i, j, 2 * h], sums[i, j, 2 * h + 1])


# 128 x 256 elements (128 x 128 where N is no multiple of 256) for two warpgroups, which have 64 rows each; a third one asks for tiles. A tensor map of 128
# bytes to a row copies 64 elements of bf16 side by side: B's 256 columns are four boxes.
STAGES, DEPTH, BLOCKS = 4, 64, 132  # an H200 has 132 multiprocessors: a block for each


def width(N):
    return 256 if N % 256 == 0 else 128


def tile_of(number, M, N):
    """Where a tile begins: 8 rows of tiles are gone through by columns, so that blocks which run at the same time share rows and columns."""
    rows, columns = M // BM, N // width(N)
    group, inside = number // (8 * columns), number % (8 * columns)
    high = min(rows - group * 8, 8)
    return (group * 8 + inside % high) * BM, inside // high * width(N)


@gpu.kernel(block=384, grid=lambda M, N: min(BLOCKS, M // BM * (N // width(N))))
def hopper(A: gpu.In[dtype, M, K], B: gpu.In[dtype, K, N], C: gpu.Out[dtype, M, N], *, M, N, K, dtype=bf16):
    """Tiles are copied by one thread, multiplied by whole warpgroups from shared memory, and written back by copies: sm_90a alone. bf16 or f16."""
    WIDE = width(N)
    of_a, of_b = gpu.shared((STAGES, 2, 64, DEPTH), dtype, swizzle=128), gpu.shared((STAGES, WIDE // 64, DEPTH, 64), dtype, swizzle=128)
    of_c = gpu.shared((2, 2, 64, 64), dtype, swizzle=128)  # two parts of each warpgroup's result, which take turns
    map_a, map_b = gpu.tensor_map(A, (BM, DEPTH), swizzle=128), gpu.tensor_map(B, (DEPTH, 64), swizzle=128)
    map_c = gpu.tensor_map(C, (64, 64), swizzle=128)
    full, empty = gpu.mbarriers(STAGES), gpu.mbarriers(STAGES)
    group, t = gpu.thread_id.x // 128, gpu.thread_id.x % 128
    if gpu.thread_id.x == 0:
        full.init(1)
        empty.init(2)
    gpu.barrier()
    tiles, turn = M // BM * (N // WIDE), 0  # turns count through all tiles of the block
    if group == 2:
        gpu.give_registers(40)
        if t == 0:
            for number in range(gpu.block_id.x, tiles, gpu.grid_dim.x):
                top, left = tile_of(number, M, N)
                for k in range(0, K, DEPTH):
                    stage = turn % STAGES
                    empty[stage].wait((turn // STAGES + 1) % 2)  # the first time round it is empty
                    full[stage].expect(map_a.bytes + WIDE // 64 * map_b.bytes)
                    map_a.load(of_a[stage], (top, k), full[stage])
                    for j in static_range(WIDE // 64):
                        map_b.load(of_b[stage, j], (k, left + 64 * j), full[stage])
                    turn += 1
    else:
        gpu.take_registers(232)
        sums = gpu.sums(WIDE)
        for number in range(gpu.block_id.x, tiles, gpu.grid_dim.x):
            top, left = tile_of(number, M, N)
            for k in range(K // DEPTH):
                stage = turn % STAGES
                full[stage].wait(turn // STAGES % 2)
                gpu.wgmma(sums, of_a[stage, group], of_b[stage], accumulate=k > 0, transpose_b=True)
                gpu.wgmma_wait(1)  # the product before this one is there
                if t == 0 and k > 0:
                    empty[(turn - 1) % STAGES].arrive()
                turn += 1
            gpu.wgmma_wait(0)
            if t == 0:
                empty[(turn - 1) % STAGES].arrive()
            for part in static_range(WIDE // 64):
                if t == 0:
                    gpu.store_wait(1, read=True)  # the part before the last has left its place
                gpu.barrier(1 + group, 128)
                sums.store(of_c[part % 2, group], dtype, first=64 * part)
                gpu.fence_async()
                gpu.barrier(1 + group, 128)
                if t == 0:
                    map_c.store(of_c[part % 2, group], (top + 64 * group, left + 64 * part))
                    gpu.store_commit()
        if t == 0:
            gpu.store_wait(0)


RUNGS = {"naive": naive, "coalesced": coalesced, "shared": shared, "tile_1d": tile_1d, "tile_2d": tile_2d, "vectorised": vectorised,
         "autotuned": autotuned, "warp_tiles": warp_tiles, "double_buffered": double_buffered, "tensor_core": tensor_core, "hopper": hopper}
