# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C = A * B in f32, eight times over, each rung faster than the one before it for one reason. A is m x k, B k x n, row-major; sizes
are multiples of 128.

A rung gives the kernel's text, its threads and its grid.
"""
from emit import Kernel


def _kernel(name, m, n, k, threads, shared=()):
    return Kernel(name, {"a": (m, k), "b": (k, n), "c": (m, n)}, threads, shared)


def _one_element(name, m, n, k, row_and_column):
    """A thread for each element of C."""
    e = _kernel(name, m, n, k, 1024)
    t = e.thread()
    row, column = row_and_column(e, t)
    row, column = e.add(e.mul(e.block("x"), 32), row), e.add(e.mul(e.block("y"), 32), column)
    with e.loop(0, k, 1, [e.zero()]) as (i, values, hand_on):
        hand_on([e.fma(e.load("%a", row, i), e.load("%b", i, column), values[0])])
    e.store(values[0], "%c", row, column)
    return e.text(), 1024, (m // 32, n // 32)


def naive(m, n, k):
    """Neighbours in a warp have neighbouring rows: each of their loads from A is a transaction of its own."""
    return _one_element("naive", m, n, k, lambda e, t: (e.rem(t, 32), e.div(t, 32)))


def coalesced(m, n, k):
    """Neighbours have neighbouring columns: a warp reads and writes whole lines."""
    return _one_element("coalesced", m, n, k, lambda e, t: (e.div(t, 32), e.rem(t, 32)))


def shared(m, n, k):
    """A block brings a tile of A and of B into shared memory, which each element is read from 32 times."""
    e = _kernel("shared", m, n, k, 1024, {"ta": (32, 32), "tb": (32, 32)})
    t = e.thread()
    y, x = e.div(t, 32), e.rem(t, 32)
    row, column = e.add(e.mul(e.block("x"), 32), y), e.add(e.mul(e.block("y"), 32), x)
    with e.loop(0, k, 32, [e.zero()]) as (tile, sums, hand_on):
        e.store(e.load("%a", row, e.add(tile, x)), "%ta", y, x)
        e.store(e.load("%b", e.add(tile, y), column), "%tb", y, x)
        e.barrier()
        with e.loop(0, 32, 1, [sums[0]]) as (i, values, pass_on):
            pass_on([e.fma(e.load("%ta", y, i), e.load("%tb", i, x), values[0])])
        e.barrier()
        hand_on(values)
    e.store(sums[0], "%c", row, column)
    return e.text(), 1024, (m // 32, n // 32)


def tile_1d(m, n, k):
    """A thread has 8 elements of a column in registers: an element of B is read once for all of them."""
    bm, bn, bk, tm = 64, 64, 8, 8
    threads = bm * bn // tm
    e = _kernel("tile_1d", m, n, k, threads, {"ta": (bm, bk), "tb": (bk, bn)})
    t = e.thread()
    top, left = e.mul(e.block("x"), bm), e.mul(e.block("y"), bn)
    first, x = e.mul(e.div(t, bn), tm), e.rem(t, bn)
    ay, ax, by, bx = e.div(t, bk), e.rem(t, bk), e.div(t, bn), e.rem(t, bn)  # each thread brings one element of each tile
    with e.loop(0, k, bk, [e.zero()] * tm) as (tile, sums, hand_on):
        e.store(e.load("%a", e.add(top, ay), e.add(tile, ax)), "%ta", ay, ax)
        e.store(e.load("%b", e.add(tile, by), e.add(left, bx)), "%tb", by, bx)
        e.barrier()
        values = sums
        for i in range(bk):  # a loop of this script: its body stands there bk times
            b = e.load("%tb", i, x)
            values = [e.fma(e.load("%ta", e.add(first, at), i), b, values[at]) for at in range(tm)]
        e.barrier()
        hand_on(values)
    for at in range(tm):
        e.store(sums[at], "%c", e.add(top, first, at), e.add(left, x))
    return e.text(), threads, (m // bm, n // bn)


def tile_2d(m, n, k):
    """A thread has 8 x 8 elements: 16 reads of shared memory for 64 products."""
    bm = bn = 128
    bk, tm, tn, threads = 8, 8, 8, 256
    e = _kernel("tile_2d", m, n, k, threads, {"ta": (bm, bk), "tb": (bk, bn)})
    t = e.thread()
    top, left = e.mul(e.block("x"), bm), e.mul(e.block("y"), bn)
    y, x = e.mul(e.div(t, bn // tn), tm), e.mul(e.rem(t, bn // tn), tn)
    ay, ax, by, bx = e.div(t, bk), e.rem(t, bk), e.div(t, bn), e.rem(t, bn)
    with e.loop(0, k, bk, [e.zero(tn)] * tm, f"vector<{tn}xf32>") as (tile, sums, hand_on):
        for step in range(0, bm, threads // bk):
            e.store(e.load("%a", e.add(top, ay, step), e.add(tile, ax)), "%ta", e.add(ay, step), ax)
        for step in range(0, bk, threads // bn):
            e.store(e.load("%b", e.add(tile, by, step), e.add(left, bx)), "%tb", e.add(by, step), bx)
        e.barrier()
        values = sums
        for i in range(bk):
            b = e.vector_load(tn, "%tb", i, x)
            values = [e.fma(e.splat(tn, e.load("%ta", e.add(y, at), i)), b, values[at], tn) for at in range(tm)]
        e.barrier()
        hand_on(values)
    for at in range(tm):
        e.vector_store(tn, sums[at], "%c", e.add(top, y, at), e.add(left, x))
    return e.text(), threads, (m // bm, n // bn)


class _Tiles:
    """Tiles of A and B that a block of `threads` brings 16 bytes at a time, A's turned over, so that both are read along rows.

    `fetch` reads them into registers and `keep` puts them into shared memory, so that there may be work in between.
    """

    def __init__(self, e, t, bm, bn, bk, threads):
        self.e, self.bm, self.bn, self.bk = e, bm, bn, bk
        self.ay, self.ax = e.div(t, bk // 4), e.mul(e.rem(t, bk // 4), 4)
        self.by, self.bx = e.div(t, bn // 4), e.mul(e.rem(t, bn // 4), 4)
        self.steps_a, self.steps_b = range(0, bm, threads * 4 // bk), range(0, bk, threads * 4 // bn)

    def fetch(self, top, left, tile):
        e = self.e
        return ([e.vector_load(4, "%a", e.add(top, self.ay, step), e.add(tile, self.ax)) for step in self.steps_a],
                [e.vector_load(4, "%b", e.add(tile, self.by, step), e.add(left, self.bx)) for step in self.steps_b])

    def keep(self, fetched, *half):
        e = self.e
        for step, value in zip(self.steps_a, fetched[0]):
            for lane in range(4):
                e.store(e.lane(4, value, lane), "%ta", *half, e.add(self.ax, lane), e.add(self.ay, step))
        for step, value in zip(self.steps_b, fetched[1]):
            e.vector_store(4, value, "%tb", *half, e.add(self.by, step), self.bx)


def vectorised(m, n, k):
    """Whatever can be read and written is, 16 bytes at a time."""
    bm = bn = 128
    bk, tm, tn, threads = 8, 8, 8, 256
    e = _kernel("vectorised", m, n, k, threads, {"ta": (bk, bm), "tb": (bk, bn)})
    t = e.thread()
    top, left = e.mul(e.block("x"), bm), e.mul(e.block("y"), bn)
    y, x = e.mul(e.div(t, bn // tn), tm), e.mul(e.rem(t, bn // tn), tn)
    tiles = _Tiles(e, t, bm, bn, bk, threads)
    kind = "vector<4xf32>"
    with e.loop(0, k, bk, [e.zero(4)] * (tm * 2), kind) as (tile, sums, hand_on):
        tiles.keep(tiles.fetch(top, left, tile))
        e.barrier()
        values = sums
        for i in range(bk):
            values = _products(e, values, [("%ta", (i, e.add(y, at))) for at in (0, 4)], [("%tb", (i, e.add(x, at))) for at in (0, 4)])
        e.barrier()
        hand_on(values)
    for row in range(tm):
        for half in range(2):
            e.vector_store(4, sums[2 * row + half], "%c", e.add(top, y, row), e.add(left, x, 4 * half))
    return e.text(), threads, (m // bm, n // bn)


def _products(e, sums, rows, columns):
    """Every row's element times every column's four, added to `sums`, which stand row by row."""
    a = [e.vector_load(4, memory, *at) for memory, at in rows]
    b = [e.vector_load(4, memory, *at) for memory, at in columns]
    out = []
    for quad, four in enumerate(a):
        for lane in range(4):
            element = e.splat(4, e.lane(4, four, lane))
            out += [e.fma(element, one, sums[(4 * quad + lane) * len(b) + at], 4) for at, one in enumerate(b)]
    return out


class _Warps:
    """128 x 128 elements for 4 warps: each has 64 x 64, of which a thread has 4 rows and 4 columns in each of 4 stripes of rows and
    2 of columns: what the lanes of a warp read from shared memory at once lies together."""
    bm = bn = 128
    bk, threads = 16, 128

    def __init__(self, e):
        t = e.thread()
        self.e = e
        self.top, self.left = e.mul(e.block("x"), self.bm), e.mul(e.block("y"), self.bn)
        warp, lane = e.div(t, 32), e.rem(t, 32)
        # 4 x 8 lanes.
        self.y = e.add(e.mul(e.div(warp, 2), 64), e.mul(e.div(lane, 8), 4))
        self.x = e.add(e.mul(e.rem(warp, 2), 64), e.mul(e.rem(lane, 8), 4))
        self.tiles = _Tiles(e, t, self.bm, self.bn, self.bk, self.threads)
        self.rows, self.columns = (0, 16, 32, 48), (0, 32)

    def multiply(self, sums, *half):
        """The products of one tile."""
        for i in range(self.bk):
            sums = _products(self.e, sums, [("%ta", (*half, i, self.e.add(self.y, at))) for at in self.rows],
                             [("%tb", (*half, i, self.e.add(self.x, at))) for at in self.columns])
        return sums

    def write(self, sums):
        e = self.e
        for quad, row in enumerate(self.rows):
            for lane in range(4):
                for at, column in enumerate(self.columns):
                    value = sums[(4 * quad + lane) * len(self.columns) + at]
                    e.vector_store(4, value, "%c", e.add(self.top, self.y, row + lane), e.add(self.left, self.x, column))


def warp_tiles(m, n, k):
    """Each warp has a tile of its own in the block's, so that what its lanes read from shared memory lies together."""
    bm, bn, bk = _Warps.bm, _Warps.bn, _Warps.bk
    e = _kernel("warp_tiles", m, n, k, _Warps.threads, {"ta": (bk, bm), "tb": (bk, bn)})
    warps = _Warps(e)
    kind = "vector<4xf32>"
    with e.loop(0, k, bk, [e.zero(4)] * (16 * len(warps.columns)), kind) as (tile, sums, hand_on):
        warps.tiles.keep(warps.tiles.fetch(warps.top, warps.left, tile))
        e.barrier()
        values = warps.multiply(sums)
        e.barrier()
        hand_on(values)
    warps.write(sums)
    return e.text(), _Warps.threads, (m // bm, n // bn)


def double_buffered(m, n, k):
    """The next tile is on its way from memory while this one is multiplied: two tiles take turns, with one barrier for each."""
    bm, bn, bk = _Warps.bm, _Warps.bn, _Warps.bk
    e = _kernel("double_buffered", m, n, k, _Warps.threads, {"ta": (2, bk, bm), "tb": (2, bk, bn)})
    warps = _Warps(e)
    kind = "vector<4xf32>"
    warps.tiles.keep(warps.tiles.fetch(warps.top, warps.left, 0), 0)
    e.barrier()
    with e.loop(0, k - bk, bk, [e.zero(4)] * (16 * len(warps.columns)), kind) as (tile, sums, hand_on):
        half = e.rem(e.div(tile, bk), 2)
        fetched = warps.tiles.fetch(warps.top, warps.left, e.add(tile, bk))
        values = warps.multiply(sums, half)
        warps.tiles.keep(fetched, e.rem(e.add(half, 1), 2))
        e.barrier()
        hand_on(values)
    warps.write(warps.multiply(sums, (k // bk - 1) % 2))
    return e.text(), _Warps.threads, (m // bm, n // bn)


RUNGS = (naive, coalesced, shared, tile_1d, tile_2d, vectorised, warp_tiles, double_buffered)
