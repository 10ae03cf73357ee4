# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention against keys and values that are kept: in pages that a table names, as int8 with a scale for each token and head,
with the tokens of this step written into them first, and of several documents in one sequence."""
import itertools

import numpy as np

import bounded
import elements
from cases.attention.forms import Writer, reference
from cases.case import Case, Raw, argument, generator
from elements import EPS
from nodes.program import Program

LAYOUT = "grouped"  # bhgmd, bhnd, bhne
PAGE = 16


class Kept(Writer):
    def gathered(self, pages, table):
        """[b, h, n, d] of [page, h, token, d]."""
        f = self.f
        shape = [self.size[c] for c in "bhn"] + [pages.shape[3]]

        def body(_):
            b, h, n, d = (f.loop_index(i) for i in range(4))
            page = f.op("arith.index_cast", "i32", f.extract(table, b, f.index_op("arith.divui", n, PAGE)), to="index")
            return f.extract(pages, page, h, f.index_op("arith.remui", n, PAGE), d)

        return f.generic([], [(f.empty(pages.kind, shape), range(4))], "pppp", body)[0]

    def widened(self, x, scales):
        f = self.f

        def body(e, scale, _):
            return f.convert(f.op("arith.mulf", "f32", f.convert(e, "i8", "f32"), scale), "f32", self.operand)

        return f.generic([(x, range(4)), (scales, range(3))], [(f.empty(self.operand, x.shape), range(4))], "pppp", body)[0]

    def appended(self, cache, new, at):
        f, result = self.f, type(cache)(self.f.fresh(), cache.kind, cache.shape)
        b, h, n, d = new.shape
        f.line(f"{result.name} = tensor.insert_slice {new.name} into {cache.name}[0, 0, {at}, 0] [{b}, {h}, {n}, {d}] [1, 1, 1, 1] : "
               f"{new.type} into {cache.type}")
        return result


def made(operand, random, size, shape):
    return elements.rounded(operand, random.uniform(-2, 2, shape))


def attend(how, operand, size, dynamic):
    """how: pages, shared pages (keys are the values), shared (the same, and queries are added to the result), int8 or
    appended."""
    random = generator("attention cache", how, operand, size)
    b, h, g, m, n, d = size
    dims = dict(zip("bhgmnd", size)) | {"e": d}
    q = made(operand, random, size, (b, h, g, m, d))
    lengths = random.integers(1, n + 1, b)
    given = [argument(operand, q, dynamic)]
    if "pages" in how:
        count = b * (n // PAGE)
        table = random.permutation(count).reshape(b, n // PAGE)
        given += [argument(operand, made(operand, random, size, (count, h, PAGE, d)), dynamic) for _ in "kv"]
        given.append(argument("i32", table, False))
    elif how == "shared":
        given.append(argument(operand, made(operand, random, size, (b, h, n, d)), dynamic))
    elif how == "int8":
        given += [argument("i8", random.integers(-127, 128, (b, h, n, d)), dynamic) for _ in "kv"]
        given += [argument("f32", elements.rounded("f32", random.uniform(0.005, 0.02, (b, h, n))), dynamic) for _ in "kv"]
    else:
        given += [argument(operand, made(operand, random, size, (b, h, n, d)), False) for _ in "kv"]
        given += [argument(operand, made(operand, random, size, (b, h, m, d)), False) for _ in "kv"]
    given.append(argument("i32", lengths, False))

    def write(f, q, *rest):
        writer = Kept(f, LAYOUT, operand, "multiplied", "operation", "lengths", dims)
        writer.size = dims
        *kept, lengths = rest
        if how == "pages":
            k, v = (writer.gathered(pages, kept[2]) for pages in kept[:2])
        elif how == "shared pages":
            k = v = writer.gathered(kept[0], kept[2])
        elif how == "shared":
            k = v = kept[0]
        elif how == "int8":
            k, v = (writer.widened(x, scale) for x, scale in zip(kept[:2], kept[2:]))
        else:
            k, v = (writer.appended(cache, new, min(n // 2, n - m)) for cache, new in zip(kept[:2], kept[2:]))
        result = writer.write(q, k, v, lengths)
        if how == "shared":
            result = writer.each("bhgme", lambda x, y: f.op("arith.addf", operand, x, y), (result, "bhgme"), (q, "bhgme"), kind=operand)
        return [result, k, v] if how == "appended" else result

    def evaluate(q, *rest):
        *kept, lengths = [x.v for x in rest]
        if "pages" in how:
            table = np.asarray(kept[2], int)
            k, v = (pages[table].transpose(0, 2, 1, 3, 4).reshape(b, h, n, d) for pages in (kept[:2] if how == "pages" else kept[:1] * 2))
        elif how == "shared":
            k = v = kept[0]
        elif how == "int8":
            k, v = (elements.rounded(operand, np.float32(x) * np.float32(scale)[..., None]) for x, scale in zip(kept[:2], kept[2:]))
            k, v = np.asarray(k, np.float64), np.asarray(v, np.float64)
        else:
            k, v = (np.array(cache) for cache in kept[:2])
            at = min(n // 2, n - m)
            k[:, :, at:at + m], v[:, :, at:at + m] = kept[2:]
        value, bound = reference(LAYOUT, operand, "multiplied", "operation", "lengths", q.v, k, v, lengths)
        if how == "shared":
            value, bound = value + q.v, bound + 2 * EPS[operand] * (np.abs(value) + np.abs(q.v))
        found = bounded.finish(operand, value, bound, 2.0)
        return [found, *(bounded.finish(operand, x, np.zeros_like(x), 0.0) for x in (k, v))] if how == "appended" else found

    count = len(given)
    program = Program([*given, Raw([(i, 0) for i in range(count)], write, evaluate)],
                      [(count, number) for number in range(3 if how == "appended" else 1)])
    return Case(f"attention of kept keys, {how}", operand, program)


def documents(operand, size):
    """Tokens see those of their own document, as far as they are not behind them."""
    random = generator("attention documents", operand, size)
    b, m, d = size
    dims = dict(b=b, m=m, n=m, d=d, e=d)
    ids = np.sort(random.integers(0, 4, (b, m)), axis=1)
    given = [argument(operand, made(operand, random, size, (b, m, d))) for _ in "qkv"] + [argument("i32", ids)]

    def write(f, q, k, v, ids):
        writer = Kept(f, "bmd", operand, "multiplied", "operation", "none", dims)
        writer.size = dims
        scores = writer.logits(writer.product(q, k, "bmd", "bnd", "bmn"), None)

        def seen(x, mine, other):
            same = f.fresh()
            f.line(f"{same} = arith.cmpi eq, {mine}, {other} : i32")
            return f.select(f.op("arith.andi", "i1", same, writer.seen("bmn", "causal")), writer.kind, x, f.constant(writer.kind, -np.inf))

        logits = writer.each("bmn", seen, (scores, "bmn"), (ids, "bm"), (ids, "bn"))
        weights = writer.weights(logits)[0]
        if operand != writer.kind:
            weights = writer.each("bmn", lambda x: f.op("arith.truncf", writer.kind, x, to=operand), (weights, "bmn"), kind=operand)
        return writer.product(weights, v, "bmn", "bne", "bme")

    def evaluate(q, k, v, ids):
        same = np.asarray(ids.v)[:, :, None] == np.asarray(ids.v)[:, None, :]
        value, bound = reference("bmd", operand, "multiplied", "operation", "causal and chosen", q.v, k.v, v.v, same)
        kind = "f64" if operand == "f64" else "f32"
        return bounded.finish(kind, value, bound + EPS[operand] * np.abs(value), 2.0)

    program = Program([*given, Raw([(i, 0) for i in range(4)], write, evaluate)], [(4, 0)])
    return Case("attention of documents", operand, program)


def cases(sizes):
    whole = len(sizes) > 1
    shapes = ((2, 2, 4, 1, 64, 64), (1, 2, 2, 40, 96, 64), (2, 3, 1, 3, 304, 128), (2, 2, 2, 33, 48, 32))
    for number, (how, operand, size) in enumerate(itertools.product(("pages", "shared pages", "shared", "int8", "appended"), ("bf16", "f16", "f32"), shapes)):
        if whole or number % 5 == 0 or number in (36, 38):  # int8 of bf16
            yield attend(how, operand, size, number % 4 == 1)
    for number, (operand, size) in enumerate(itertools.product(("bf16", "f32", "f16"), ((2, 70, 64), (1, 200, 32)))):
        if whole or number % 3 == 0:
            yield documents(operand, size)
