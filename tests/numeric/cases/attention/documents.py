# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention over sequences of different lengths: documents packed into one sequence, where a row sees the keys of its own document
(numbers of documents that are equal, or the first and the last key of each row), and lengths of the elements of a batch."""
import itertools

import numpy as np

import bounded
import elements
from cases.attention.forms import INPUTS, LAYOUTS, Writer, drawn, reference
from cases.case import Case, Raw, argument, generator
from cases.attention.gradients import Gradients, by_operands
from elements import EPS
from nodes.program import Program

# equal, differ: numbers of documents, as what is seen or as what is hidden; limits: the first key of each row and the one behind
# the last; last: the last key; rows: lengths that hide rows as well.
MASKS = ("equal", "differ", "added", "causal and equal", "equal inside causal", "limits", "last", "rows")
ORDERS = ("sorted", "any", "one", "none", "long")


def documents(random, order, count):
    if order == "sorted":
        return np.sort(random.integers(0, max(2, count // 60), count))
    if order == "long":
        return np.sort(random.integers(0, 2, count))
    if order == "any":
        return random.integers(-2, 2, count)
    return np.full(count, 7 if order == "one" else -1)


class Documents(Writer):
    """mask: (which, the type of the numbers)."""

    def compare(self, predicate, x, y, kind):
        result = self.f.fresh()
        self.f.line(f"{result} = arith.cmpi {predicate}, {x}, {y} : {kind}")
        return result

    def logits(self, scores, extra):
        f, kind, spec = self.f, self.kind, self.specs[3]
        scale, _, (mask, number) = self.how
        batch = "b" if "b" in spec else ""

        def scaled(x):
            return f.op("arith.mulf", kind, x, f.constant(kind, self.factor)) if scale == "multiplied" else x

        def hide(seen, x, is_seen=True):
            least = f.constant(kind, -np.inf)
            return f.select(seen, kind, x, least) if is_seen else f.select(seen, kind, least, x)

        def of_rows_and_keys(body):
            return self.each(spec, body, (scores, spec), (extra[0], batch + "m"), (extra[1], batch + "n"))

        if mask in ("equal", "differ"):
            return of_rows_and_keys(lambda s, x, y: hide(self.compare("eq" if mask == "equal" else "ne", y, x, number), scaled(s), mask == "equal"))
        if mask == "added":
            order = batch + ("mn" if spec.index("m") < spec.index("n") else "nm")
            added = self.each(order, lambda x, y: hide(self.compare("eq", x, y, number), f.constant(kind, 0.0)), (extra[0], batch + "m"), (extra[1], batch + "n"))
            return self.each(spec, lambda x, y: f.op("arith.addf", kind, scaled(x), y), (scores, spec), (added, order))
        if mask == "causal and equal":
            return of_rows_and_keys(lambda s, x, y: hide(f.op("arith.andi", "i1", self.seen(spec, "causal"), self.compare("eq", x, y, number)), scaled(s)))
        if mask == "equal inside causal":
            return of_rows_and_keys(lambda s, x, y: hide(self.seen(spec, "causal"), hide(self.compare("eq", x, y, number), scaled(s))))
        key = (lambda: f.loop_index(spec.index("n"), number))
        if mask == "limits":
            def between(s, first, end):
                return hide(f.op("arith.andi", "i1", self.compare("sle", first, key(), number), self.compare("slt", key(), end, number)), scaled(s))
            return self.each(spec, between, (scores, spec), (extra[0], batch + "m"), (extra[1], batch + "m"))
        if mask == "last":
            return self.each(spec, lambda s, last: hide(self.compare("sgt", key(), last, number), scaled(s), False), (scores, spec), (extra[0], batch + "m"))

        def inside(s, length):
            row = f.loop_index(spec.index("m"), number)
            return hide(f.op("arith.andi", "i1", self.compare("slt", row, length, number), self.compare("slt", key(), length, number)), scaled(s))
        return self.each(spec, inside, (scores, spec), (extra[0], "b"))

    def write(self, q, k, v, *extra):
        return super().write(q, k, v, extra)


def numbers_of(random, mask, order, size, batch):
    """What the mask is computed from, and who sees whom: [b, m, n]."""
    m, n = size["m"], size["n"]
    rows, keys = np.arange(m)[:, None], np.arange(n)[None, :]
    made = []
    for _ in range(batch):
        if mask in ("limits", "last"):
            numbers = documents(random, "sorted" if order == "none" else order, max(m, n))
            first = np.array([np.flatnonzero(numbers == numbers[row])[0] for row in range(m)])
            end = np.array([np.flatnonzero(numbers == numbers[row])[-1] + 1 for row in range(m)])
            if order == "none":
                first, end = np.full(m, n // 2), np.full(m, n // 2 - 3)
            pair = (first, end) if mask == "limits" else (end - 1,)
            seen = keys < end[:, None] if mask == "last" else (keys < end[:, None]) & (keys >= first[:, None])
        elif mask == "rows":
            length = {"one": n, "none": 0}.get(order, int(random.integers(0, max(m, n) + 1)))
            pair, seen = (length,), (rows < length) & (keys < length)
        else:
            numbers = documents(random, order, max(m, n))
            pair = (numbers[:m], np.full(n, 3) if order == "none" else numbers[:n])
            seen = pair[0][:, None] == pair[1][None, :]
            if "causal" in mask:
                seen = seen & (keys <= rows)
        made.append((pair, seen))
    extra = [np.stack([np.asarray(pair[i]) for pair, _ in made]) for i in range(len(made[0][0]))]
    return extra, np.stack([seen for _, seen in made])


def attention(layout, operand, mask, number, order, softmax, inputs, lengths, depths, dynamic, many=False):
    size = dict(b=8 if many else 2, h=8 if many else 2, g=2, m=lengths[0], n=lengths[1], d=depths[0], e=depths[1])
    random = generator("attention documents", layout, operand, mask, number, order, softmax, inputs, lengths, depths, many)
    is_packed = "b" not in LAYOUTS[layout][3]
    extra, seen = numbers_of(random, mask, order, size, 1 if is_packed else size["b"])
    given = [argument(operand, x, dynamic) for x in drawn(random, layout, operand, size, inputs)]
    given += [argument(number, x[0] if is_packed else x, dynamic) for x in extra]

    def write(f, *arrays):
        return Documents(f, layout, operand, "multiplied", softmax, (mask, number), size).write(*arrays)

    def evaluate(q, k, v, *_):
        result, bound = reference(layout, operand, "multiplied", softmax, "chosen", q.v, k.v, v.v, seen)
        return bounded.finish(operand, result, bound, 2.0)

    program = Program([*given, Raw([(i, 0) for i in range(len(given))], write, evaluate)], [(len(given), 0)])
    return Case(f"attention of documents {'of many ' if many else ''}{layout}, {mask}, {order}, {softmax}", operand, program)


class Backward(Gradients):
    def logits(self, scores, extra):
        return Documents.logits(self, scores, self.numbers)

    compare = Documents.compare


def backward(operand, mask, order, size, dynamic):
    """Gradients of what forward kept, with the mask of forward."""
    random = generator("attention of documents backward", operand, mask, order, size)
    shapes = [[dict(zip("bmnde", size))[c] for c in spec] for spec in ("bmd", "bnd", "bne", "bme")]
    q, k, v, given = (elements.rounded(operand, random.uniform(-2, 2, shape)) for shape in shapes)
    extra, seen = numbers_of(random, mask, order, dict(zip("bmn", size)), size[0])
    wide = [np.asarray(x, np.float64) for x in (q, k, v, given)]
    scores = np.where(seen, np.einsum("bmd,bnd->bmn", wide[0], wide[1]) * size[3] ** -0.5, -np.inf)
    with np.errstate(all="ignore"):
        largest = scores.max(-1, keepdims=True)
        lse = np.where(largest == -np.inf, 0, largest + np.log(np.exp(scores - largest).sum(-1, keepdims=True)))
    o = elements.rounded(operand, np.einsum("bmn,bne->bme", np.where(seen, np.exp(scores - lse), 0), wide[2]))
    kept = "f64" if operand == "f64" else "f32"
    arguments = [argument(operand, x, dynamic) for x in (q, k, v, o, given)] + [argument(kept, elements.rounded(kept, lse[..., 0]), dynamic)]
    arguments += [argument("i32", x, dynamic) for x in extra]

    def write(f, *arrays):
        writer = Backward(f, "bmd", operand, "multiplied", "steps", (mask, "i32"), dict(zip("bmnde", size)))
        writer.numbers = arrays[6:]
        return writer.write_backward(*arrays[:6], "")

    def evaluate(*values):
        q, k, v, o, given, lse = (x.v for x in values[:6])
        eps, narrow = EPS[kept], EPS[operand]
        gap = ((q.shape[-1] + 12) * eps * np.einsum("bmd,bnd->bmn", np.abs(q), np.abs(k)) * q.shape[-1] ** -0.5).max(-1, keepdims=True)
        inexact = 4 * gap + 32 * eps * (1 + np.abs(lse[..., None])) + 2 * narrow
        made = by_operands(operand, ~seen, q, k, v, given, lse[..., None], (given * o).sum(-1, keepdims=True),
                           np.abs(given * o).sum(-1, keepdims=True), inexact)
        return [bounded.finish(operand, value, bound, 4.0) for value, bound in made]

    program = Program([*arguments, Raw([(i, 0) for i in range(len(arguments))], write, evaluate)], [(len(arguments), i) for i in range(3)])
    return Case(f"attention of documents backward, {mask}, {order}", operand, program)


def cases(sizes):
    whole = len(sizes) > 1
    kinds = ("bf16", "f16", "f32", "f64")
    layouts = ("packed", "bhmd", "grouped", "bmhd")
    lengths = ((300, 300), (257, 450), (70, 256), (512, 512))
    forms = itertools.product(MASKS, ORDERS, lengths, ((64, 64), (128, 128), (40, 72)))
    for number, (mask, order, length, depth) in enumerate(forms):
        if number % (2 if whole else 13) or (mask == "rows" and layouts[number % 4] == "packed"):
            continue
        yield attention(layouts[number % 4], kinds[number % 4 if number % 5 == 0 else number % 2], mask, ("i32", "i64", "i16")[number % 3], order,
                        ("guarded", "operation")[number % 7 == 3], INPUTS[number % 6], length, depth, number % 6 == 1)
    # Large tiles: of 128 queries and of 192, which documents begin and end inside of.
    many = itertools.product(MASKS, ("sorted", "long", "any"), ((320, 320), (257, 450)), ((64, 64), (128, 128), (192, 256)))
    for number, (mask, order, length, depth) in enumerate(many):
        if number % (3 if whole else 31) == 0 and not (mask == "rows" and number % 2):
            yield attention(("bhmd", "packed")[number % 2], kinds[number % 2], mask, "i32", order, "guarded", INPUTS[number // 2 % 6], length, depth, False, many=True)
    gradients = itertools.product(("equal", "causal and equal", "limits"), ("sorted", "long", "any"),
                                  ((2, 300, 257, 32, 48), (22, 390, 400, 64, 64), (22, 300, 300, 128, 128)))
    for number, (mask, order, size) in enumerate(gradients):
        if number % (1 if whole else 11) == 0:
            yield backward(kinds[number % 2], mask, order, size, number % 4 == 3)
