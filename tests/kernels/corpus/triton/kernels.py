# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in Triton, as people write them for a network's layers. compile.py makes the PTX beside this file from them."""
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def strided_copy(n, source, step_in, target, step_out, BLOCK: tl.constexpr):
    i = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)
    tl.store(target + i * step_out, tl.load(source + i * step_in, mask=i < n, other=0.0), mask=i < n)


@triton.jit
def row_softmax(out, x, row_step, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * row_step + i, mask=i < columns, other=-float("inf"))
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * row_step + i, value / tl.sum(value, axis=0), mask=i < columns)


@triton.jit
def layer_norm(x, weight, bias, out, mean, rstd, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    average = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        d = tl.where(i < columns, tl.load(x + row * columns + i, mask=i < columns, other=0.0) - average, 0.0)
        squares += d * d
    r = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    tl.store(mean + row, average)
    tl.store(rstd + row, r)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        inside = i < columns
        value = (tl.load(x + row * columns + i, mask=inside, other=0.0) - average) * r
        tl.store(out + row * columns + i, value * tl.load(weight + i, mask=inside) + tl.load(bias + i, mask=inside), mask=inside)


@triton.jit
def welford_combine(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    n = n_a + n_b
    share = tl.where(n == 0.0, 0.0, n_b / n)
    d = mean_b - mean_a
    return mean_a + d * share, m2_a + m2_b + d * d * n_a * share, n


@triton.jit
def welford(columns, x, mean, variance, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < columns
    value = tl.load(x + row * columns + i, mask=inside, other=0.0)
    m, m2, n = tl.reduce((value, tl.zeros_like(value), inside.to(tl.float32)), 0, welford_combine)
    tl.store(mean + row, m)
    tl.store(variance + row, m2 / n)


@triton.jit
def matmul(a, b, c, m, n, k, a_step, b_step, c_step, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    # Blocks of neighbouring rows stand together, so that they share what they read.
    block, rows, columns = tl.program_id(0), tl.cdiv(m, M), tl.cdiv(n, N)
    first = block // (GROUP * columns) * GROUP
    size = min(rows - first, GROUP)
    row = first + (block % (GROUP * columns)) % size
    column = (block % (GROUP * columns)) // size
    im = (row * M + tl.arange(0, M)) % m
    jn = (column * N + tl.arange(0, N)) % n
    kk = tl.arange(0, K)
    pa, pb = a + im[:, None] * a_step + kk[None, :], b + kk[:, None] * b_step + jn[None, :]
    total = tl.zeros((M, N), tl.float32)
    for at in range(0, tl.cdiv(k, K)):
        total = tl.dot(tl.load(pa, mask=kk[None, :] < k - at * K, other=0.0),
                       tl.load(pb, mask=kk[:, None] < k - at * K, other=0.0), total)
        pa += K
        pb += K * b_step
    i, j = row * M + tl.arange(0, M), column * N + tl.arange(0, N)
    tl.store(c + i[:, None] * c_step + j[None, :], total.to(c.dtype.element_ty), mask=(i[:, None] < m) & (j[None, :] < n))


@triton.jit
def grouped_matmul(a_table, b_table, c_table, sizes, groups, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BLOCKS: tl.constexpr):
    # Tables of pointers in device memory; sizes: m, n, k of each group. Blocks take tiles in turn.
    tile = tl.program_id(0)
    before = 0
    for g in range(groups):
        m, n, k = tl.load(sizes + 3 * g), tl.load(sizes + 3 * g + 1), tl.load(sizes + 3 * g + 2)
        columns = tl.cdiv(n, N)
        tiles = tl.cdiv(m, M) * columns
        while tile >= before and tile < before + tiles:
            a = tl.load(a_table + g).to(tl.pointer_type(tl.float16))
            b = tl.load(b_table + g).to(tl.pointer_type(tl.float16))
            c = tl.load(c_table + g).to(tl.pointer_type(tl.float16))
            i = (tile - before) // columns * M + tl.arange(0, M)
            j = (tile - before) % columns * N + tl.arange(0, N)
            total = tl.zeros((M, N), tl.float32)
            for at in range(0, k, K):
                kk = at + tl.arange(0, K)
                total = tl.dot(tl.load(a + i[:, None] * k + kk[None, :], mask=(i[:, None] < m) & (kk[None, :] < k), other=0.0),
                               tl.load(b + kk[:, None] * n + j[None, :], mask=(kk[:, None] < k) & (j[None, :] < n), other=0.0), total)
            tl.store(c + i[:, None] * n + j[None, :], total.to(tl.float16), mask=(i[:, None] < m) & (j[None, :] < n))
            tile += BLOCKS
        before += tiles


@triton.jit
def attention(scale, q, k, v, out, lse, heads, length, head_step, row_step, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    start, head = tl.program_id(0) * M, tl.program_id(1)
    base = head.to(tl.int64) * head_step
    i, d = start + tl.arange(0, M), tl.arange(0, D)
    query = tl.load(q + base + i[:, None] * row_step + d[None, :], mask=i[:, None] < length, other=0.0)
    largest = tl.full([M], -float("inf"), tl.float32)
    total = tl.zeros([M], tl.float32)
    result = tl.zeros([M, D], tl.float32)
    end = min(length, start + M) if CAUSAL else length
    for at in range(0, end, N):
        j = at + tl.arange(0, N)
        key = tl.load(k + base + j[None, :] * row_step + d[:, None], mask=j[None, :] < length, other=0.0)
        score = tl.dot(query, key) * (scale * 1.44269504)
        seen = j[None, :] < length
        if CAUSAL:
            seen = seen & (i[:, None] >= j[None, :])
        score = tl.where(seen, score, -float("inf"))
        now = tl.maximum(largest, tl.max(score, axis=1))
        p = tl.exp2(score - now[:, None])
        old = tl.exp2(largest - now)
        total = total * old + tl.sum(p, axis=1)
        value = tl.load(v + base + j[:, None] * row_step + d[None, :], mask=j[:, None] < length, other=0.0)
        result = tl.dot(p.to(value.dtype), value, result * old[:, None])
        largest = now
    tl.store(out + base + i[:, None] * row_step + d[None, :], (result / total[:, None]).to(out.dtype.element_ty), mask=i[:, None] < length)
    tl.store(lse + head * length + i, (largest + tl.log2(total)) * 0.69314718, mask=i < length)


@triton.jit
def column_extremes(rows, columns, x, smallest, largest, BLOCK: tl.constexpr):
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    low, high = tl.full([BLOCK], 2147483647, tl.int32), tl.full([BLOCK], -2147483648, tl.int32)
    for i in range(rows):
        value = tl.load(x + i * columns + j, mask=j < columns, other=0)
        low, high = tl.minimum(low, value), tl.maximum(high, value)
    tl.store(smallest + j, low, mask=j < columns)
    tl.store(largest + j, high, mask=j < columns)


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + i, mask=i < n, other=0), BINS, mask=i < n)
    tl.atomic_add(bins + tl.arange(0, BINS), counts)


@triton.jit
def segment_max(values, segments, n, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_max(out + tl.load(segments + i, mask=i < n), tl.load(values + i, mask=i < n), mask=i < n)


@triton.jit
def locked_sum(lock, count, x, total, columns, BLOCK: tl.constexpr):
    # Blocks take turns under a lock, as a layer norm's backward pass does.
    i = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * columns + i, mask=i < columns, other=0.0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    turn = tl.load(count)
    tl.debug_barrier()
    if turn == 0:
        tl.store(count, 1)
    else:
        value += tl.load(total + i, mask=i < columns, other=0.0)
    tl.store(total + i, value, mask=i < columns)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def embedding(indices, table, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    at = tl.load(indices + row).to(tl.int64)
    tl.store(out + row * width + i, tl.load(table + at * width + i, mask=i < width), mask=i < width)


@triton.jit
def scatter_add(n, width, indices, updates, out, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    i = tl.arange(0, BLOCK)
    inside = (r[:, None] < n) & (i[None, :] < width)
    at = tl.load(indices + r, mask=r < n, other=0)
    tl.atomic_add(out + at[:, None] * width + i[None, :], tl.load(updates + r[:, None] * width + i[None, :], mask=inside), mask=inside)


@triton.jit
def dropout(p, seed, x, out, keep, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, i) > p
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(kept, value / (1 - p), 0.0), mask=i < n)
    tl.store(keep + i, kept, mask=i < n)


@triton.jit
def random_words(out, seed, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(out + 4 * i, a, mask=i < n)
    tl.store(out + 4 * i + 1, b, mask=i < n)
    tl.store(out + 4 * i + 2, c, mask=i < n)
    tl.store(out + 4 * i + 3, d, mask=i < n)


@triton.jit
def cumulative_sum(x, out, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + i, mask=i < columns, other=0)
    tl.store(out + row * columns + i, tl.cumsum(value, axis=0), mask=i < columns)


@triton.jit
def recurrence_step(a_left, b_left, a_right, b_right):
    return a_left * a_right, b_left * a_right + b_right


@triton.jit
def recurrence(columns, a, b, out, BLOCK: tl.constexpr):
    # h[i] = a[i] * h[i - 1] + b[i], as state-space models have it.
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    va = tl.load(a + row * columns + i, mask=i < columns, other=1.0)
    vb = tl.load(b + row * columns + i, mask=i < columns, other=0.0)
    _, h = tl.associative_scan((va, vb), 0, recurrence_step)
    tl.store(out + row * columns + i, h, mask=i < columns)


@triton.jit
def arg_max(x, value, index, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    row_values = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    best, at = tl.max(row_values, axis=0, return_indices=True)
    tl.store(value + row, best)
    tl.store(index + row, at)


@triton.jit
def sort_rows(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))


@triton.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(out + i, (0.5 * value * (1 + libdevice.erf(value * 0.70710678))).to(tl.float16), mask=i < n)


@triton.jit
def transpose(x, rows, columns, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + i[:, None] * columns + j[None, :], mask=(i[:, None] < rows) & (j[None, :] < columns))
    tl.store(out + j[:, None] * rows + i[None, :], tl.trans(tile), mask=(j[:, None] < columns) & (i[None, :] < rows))


@triton.jit
def cross_entropy(logits, labels, loss, gradient, classes, ignored, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    label = tl.load(labels + row)
    at = row.to(tl.int64) * classes
    if label == ignored:
        tl.store(loss + row, 0.0)
        tl.store(gradient + at + i, 0.0, mask=i < classes)
        return
    value = tl.load(logits + at + i, mask=i < classes, other=-float("inf"))
    largest = tl.max(value, axis=0)
    total = tl.sum(tl.exp(value - largest), axis=0)
    tl.store(loss + row, largest + tl.log(total) - tl.load(logits + at + label))
    tl.store(gradient + at + i, tl.exp(value - largest) / total - tl.where(i == label, 1.0, 0.0), mask=i < classes)


@triton.jit
def quantize_rows(x, scales, out, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(value), axis=0) / 127.0, 1e-10)
    tl.store(scales + row, scale)
    tl.store(out + row * columns + i, libdevice.rint(value / scale).to(tl.int8), mask=i < columns)


@triton.jit
def int4_matvec(group, packed, scales, x, out, rows, words, R: tl.constexpr, W: tl.constexpr):
    # Eight values of 4 bits in a word, a scale for each group of words.
    r = tl.program_id(0) * R + tl.arange(0, R)
    total = tl.zeros([R], tl.float32)
    for start in range(0, words, W):
        w = start + tl.arange(0, W)
        inside = (r[:, None] < rows) & (w[None, :] < words)
        word = tl.load(packed + r[:, None] * words + w[None, :], mask=inside, other=0)
        scale = tl.load(scales + r[:, None] * (words // group) + w[None, :] // group, mask=inside, other=0.0)
        for nibble in tl.static_range(8):
            value = ((word >> (4 * nibble)) & 15) - 8
            factor = tl.load(x + 8 * w + nibble, mask=w < words, other=0.0)
            total += tl.sum(value.to(tl.float32) * scale * factor[None, :], axis=1)
    tl.store(out + r, total, mask=r < rows)


@triton.jit
def rope(position, q, cosine, sine, heads, width, HALF: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, HALF)
    c, s = tl.load(cosine + (position + row) * HALF + i), tl.load(sine + (position + row) * HALF + i)
    for head in range(heads):
        at = q + (row * heads + head) * width + i
        a, b = tl.load(at), tl.load(at + HALF)
        tl.store(at, a * c - b * s)
        tl.store(at + HALF, b * c + a * s)


@triton.jit
def adam(rate, beta1, beta2, eps, step, weights, gradient, m, v, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    g = tl.load(gradient + i, mask=inside)
    first = beta1 * tl.load(m + i, mask=inside) + (1 - beta1) * g
    second = beta2 * tl.load(v + i, mask=inside) + (1 - beta2) * g * g
    tl.store(m + i, first, mask=inside)
    tl.store(v + i, second, mask=inside)
    t = step.to(tl.float32)
    scaled = first / (1 - libdevice.pow(beta1, t)) / (tl.sqrt(second / (1 - libdevice.pow(beta2, t))) + eps)
    tl.store(weights + i, tl.load(weights + i, mask=inside) - rate * scaled, mask=inside)


@triton.jit
def escape_time(x0, y0, step, out, width, limit, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cx, cy = x0 + step * (at % width).to(tl.float32), y0 + step * (at // width).to(tl.float32)
    x, y = tl.zeros([BLOCK], tl.float32), tl.zeros([BLOCK], tl.float32)
    count = tl.zeros([BLOCK], tl.int32)
    k = 0
    alive = BLOCK
    while (k < limit) & (alive > 0):
        inside = x * x + y * y <= 4.0
        alive = tl.sum(inside.to(tl.int32), axis=0)
        count += inside.to(tl.int32)
        x, y = tl.where(inside, x * x - y * y + cx, x), tl.where(inside, 2 * x * y + cy, y)
        k += 1
    tl.store(out + at, count)
