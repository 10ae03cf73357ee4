# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs: a list of nodes (nodes/node.py) that is grown one by one, from a seed.

A program draws from a few classes of operations only, so that one class that a compiler refuses does not take all programs
with it.
"""
import numpy as np

from nodes.along import Scan, Scatter, Sort, TopK
from nodes.control import Branch, Loop
from draws.draw import MOST, SIZES, reductions
from draws.products import Products
from elements import is_float
from nodes.movement import Broadcast, Collapse, Concat, Expand, Gather, InsertSlice, Matmul, Pad, Slice, Transpose
from nodes.node import ArgMax, Argument, Elementwise, Reduce, ReduceBody, Softmax, Splat, Step
from nodes.products import KeptReduce
from nodes.program import Program

CLASSES = ("elementwise", "reduce", "reduce_body", "argmax", "softmax", "norm", "transpose", "broadcast", "slice",
           "pad", "concat", "reshape", "gather", "insert", "convert", "matmul", "loop", "branch", "scan", "sort", "topk", "scatter",
           "kept", "contraction", "attention", "convolution", "recurrence", "rows")


class Grower(Products):
    """A method for each class of operations, which adds one of them."""

    def elementwise(self):
        first = self.operand()
        if first is None:
            return
        loops = self.value(first).shape
        operands, indices = [first], [list(range(len(loops)))]
        for _ in range(int(self.random.integers(0, 3))):
            other = self.existing(lambda v: self.indices_for(v.shape, loops) is not None)
            if other is None or self.chance(0.3):
                kept = [n for n in loops if self.chance(0.7)]
                if self.chance(0.2):
                    kept = list(self.random.permutation(kept)) if kept else kept
                other = self.argument(str(self.pick(self.kinds)), tuple(int(n) for n in kept))
            places = self.indices_for(self.value(other).shape, loops)
            if places is not None:
                operands.append(other)
                indices.append(places)
        kinds, steps = [self.value(o).kind for o in operands], []
        self.grow_body(kinds, len(loops), steps, int(self.random.integers(1, 6)))
        outputs = [len(kinds) - 1]
        if self.chance(0.2):
            outputs.append(int(self.random.integers(len(kinds))))
        node = Elementwise(tuple(operands), indices, loops, steps, outputs)
        last = self.value(operands[-1])
        if node.plain() and self.chance(0.7):
            node.style = str(self.pick(("tensor", "map")))
        elif (self.chance(0.25) and last.shape == loops and indices[-1] == list(range(len(loops))) and
              last.kind == kinds[outputs[0]]):
            node.style = "outs"
        self.add(node)

    def reduce_body(self):
        first = self.operand(lambda v: len(v.shape) > 0)
        if first is None:
            return
        loops = self.value(first).shape
        operands, indices = [first], [list(range(len(loops)))]
        for _ in range(int(self.random.integers(0, 3))):
            other = self.existing(lambda v: self.indices_for(v.shape, loops) is not None)
            if other is None or self.chance(0.3):
                other = self.argument(str(self.pick(self.kinds)), tuple(int(n) for n in loops if self.chance(0.7)))
            places = self.indices_for(self.value(other).shape, loops)
            if places is not None:
                operands.append(other)
                indices.append(places)
        kinds, steps = [self.value(o).kind for o in operands], []
        self.grow_body(kinds, len(loops), steps, int(self.random.integers(1, 5)))
        axes = self.axes(len(loops))
        self.add(ReduceBody(tuple(operands), indices, loops, steps, [len(kinds) - 1], axes, str(self.pick(reductions(kinds[-1])))))

    def axes(self, rank):
        return sorted(int(a) for a in self.random.choice(rank, size=int(self.random.integers(1, rank + 1)), replace=False))

    def softmax(self):
        x = self.operand(lambda v: is_float(v.kind) and len(v.shape) > 0 and v.v.size > 0)
        if x is not None:
            self.add(Softmax(x, int(self.random.integers(len(self.value(x).shape)))))

    def convert(self):
        self.elementwise()

    def reduce(self):
        x = self.operand(lambda v: len(v.shape) > 0)
        if x is None:
            return
        value = self.value(x)
        axes, operations = self.axes(len(value.shape)), [str(self.pick(reductions(value.kind)))]
        if self.chance(0.3):
            operations += [str(self.pick(reductions(value.kind))) for _ in range(1 + self.chance(0.3))]
        wide, named = bool(self.chance(0.7)), bool(self.chance(0.4))
        kept = tuple(n for i, n in enumerate(value.shape) if i not in axes)
        kind = "f32" if wide and value.kind in ("f16", "bf16") else value.kind
        if len(operations) == 1 and self.chance(0.25):  # on top of what another tensor holds
            start = self.existing(lambda v: v.kind == kind and v.shape == kept) or self.argument(kind, kept)
            self.add(Reduce((x, start), axes, operations, wide, named))
            return
        scale = self.constant(value.kind) if self.chance(0.15) else None
        self.add(Reduce((x,), axes, operations, wide, named, scale))

    def kept(self):
        x = self.operand(lambda v: len(v.shape) > 0)
        if x is not None:
            value = self.value(x)
            operations = [str(self.pick(reductions(value.kind))) for _ in range(1 + self.chance(0.3))]
            self.add(KeptReduce((x,), self.axes(len(value.shape)), operations, bool(self.chance(0.7))))

    def argmax(self):
        x = self.operand(lambda v: is_float(v.kind) and len(v.shape) > 0 and v.v.size > 0)
        if x is not None:
            self.add(ArgMax(x, int(self.random.integers(len(self.value(x).shape))), str(self.pick(("i32", "i64")))))

    def norm_count(self, shape, axes):
        """What a sum is divided by for a mean."""
        return float(np.prod([shape[i] for i in axes]))

    def norm(self):
        """Softmax, log-softmax, layer, RMS or batch norm, as frameworks write them: reductions whose results are read back over
        what was reduced. Each may stand in operations of its own, or in the body of the next."""
        x = self.operand(lambda v: is_float(v.kind) and len(v.shape) > 0 and v.v.size > 0)
        if x is None:
            return
        shape, kind = self.value(x).shape, self.value(x).kind
        every = list(range(len(shape)))
        draw = self.random.random()
        axes = [len(shape) - 1] if draw < 0.6 else self.axes(len(shape))
        rest = [i for i in every if i not in axes]
        wide = "f32" if kind != "f32" and self.chance(0.7) else kind
        fused = self.chance(0.4)

        def places(operand):
            rank = len(self.value(operand).shape)
            return every if rank == len(shape) else rest

        def over(operands, steps, indices=None):
            """Elementwise over x's shape; steps may begin with the conversion of x."""
            return self.add(Elementwise(tuple(operands), indices or [places(o) for o in operands], shape, steps,
                                        [len(operands) + len(steps) - 1])), 0

        def by_row(operand, steps):
            return self.add(Elementwise((operand,), [list(range(len(rest)))], tuple(shape[i] for i in rest), steps,
                                        [len(steps)])), 0

        def combine(operands, steps, operation):
            """A reduction of what steps make of the operands, which are written into its body or come before it."""
            if not steps:
                return self.add(Reduce(operands[:1], axes, [operation])), 0
            if fused:
                return self.add(ReduceBody(tuple(operands), [places(o) for o in operands], shape, steps,
                                           [len(operands) + len(steps) - 1], axes, operation)), 0
            return self.add(Reduce((over(operands, steps),), axes, [operation])), 0

        if wide != kind:
            x = over([x], [Step("convert", wide, (0,))])
        if self.chance(0.2):  # a residual
            x = over([x, self.argument(wide, shape)], [Step("arith.addf", wide, (0, 1))])
        count = self.norm_count(shape, axes)
        mean_of = [Step("const", wide, extra=count), Step("arith.divf", wide, (0, 1))]
        if self.chance(0.5):
            top = combine([x], [], "arith.maximumf")
            exponent = [Step("arith.subf", wide, (0, 1)), Step("math.exp", wide, (2,))]
            if self.chance(0.3):  # its logarithm
                log = by_row(combine([x, top], exponent, "arith.addf"), [Step("math.log", wide, (0,))])
                y = over([x, top, log], [Step("arith.subf", wide, (0, 1)), Step("arith.subf", wide, (3, 2))])
            elif fused:  # exponentials are computed twice
                total = combine([x, top], exponent, "arith.addf")
                y = over([x, top, total], [Step("arith.subf", wide, (0, 1)), Step("math.exp", wide, (3,)),
                                           Step("arith.divf", wide, (4, 2))])
            else:
                e = over([x, top], exponent)
                y = over([e, combine([e], [], "arith.addf")], [Step("arith.divf", wide, (0, 1))])
        else:
            if self.chance(0.6):
                x = over([x, by_row(combine([x], [], "arith.addf"), mean_of)], [Step("arith.subf", wide, (0, 1))])
            total = combine([x], [Step("arith.mulf", wide, (0, 0))], "arith.addf")
            scale = by_row(total, mean_of + [Step("const", wide, extra=0.125), Step("arith.addf", wide, (2, 3)),
                                             Step("math.rsqrt", wide, (4,))])
            y = over([x, scale], [Step("arith.mulf", wide, (0, 1))])
            if self.chance(0.4):  # weights, by what is reduced or by what is not
                by = axes if self.chance(0.7) else rest
                weight = self.argument(wide, tuple(shape[i] for i in by))
                y = over([y, weight], [Step("arith.mulf", wide, (0, 1))], [every, by])
        if wide != kind and self.chance(0.8):
            over([y], [Step("convert", kind, (0,))])

    def transpose(self):
        x = self.operand(lambda v: len(v.shape) > 1)
        if x is not None:
            self.add(Transpose(x, [int(i) for i in self.random.permutation(len(self.value(x).shape))]))

    def broadcast(self):
        x = self.operand(lambda v: len(v.shape) < 4 and v.v.size * 2 <= MOST)
        if x is None:
            return
        shape = list(self.value(x).shape)
        at = int(self.random.integers(len(shape) + 1))
        shape.insert(at, int(self.pick([n for n in SIZES if n * max(self.value(x).v.size, 1) <= MOST])))
        self.add(Broadcast(x, tuple(shape), [at]))

    def part(self, shape):
        offsets, sizes, strides = [], [], []
        for n in shape:
            stride = int(self.pick((1, 1, 1, 2, 3)))
            offset = int(self.random.integers(0, n)) if n and self.chance(0.6) else 0
            most = -(-(n - offset) // stride)
            sizes.append(int(self.random.integers(1, most + 1)) if most > 0 else 0)
            offsets.append(offset)
            strides.append(stride)
        return offsets, sizes, strides

    def slice(self):
        x = self.operand(lambda v: len(v.shape) > 0 and v.v.size > 0)
        if x is not None:
            self.add(Slice(x, *self.part(self.value(x).shape)))

    def insert(self):
        x = self.operand(lambda v: len(v.shape) > 0 and v.v.size > 0)
        if x is not None:
            offsets, sizes, strides = self.part(self.value(x).shape)
            kind = self.value(x).kind
            other = self.existing(lambda v: v.kind == kind and v.shape == tuple(sizes)) or self.argument(kind, tuple(sizes))
            self.add(InsertSlice((x, other), offsets, strides, sizes))

    def pad(self):
        x = self.operand(lambda v: len(v.shape) > 0 and v.v.size < MOST // 4)
        if x is None:
            return
        shape = self.value(x).shape
        low, high = ([int(self.random.integers(0, 4)) for _ in shape] for _ in range(2))
        if np.prod([a + n + b for a, n, b in zip(low, shape, high)], dtype=np.int64) <= 2 * MOST:
            self.add(Pad(x, low, high, self.constant(self.value(x).kind)))

    def concat(self):
        x = self.operand(lambda v: len(v.shape) > 0 and v.v.size < MOST // 3)
        if x is None:
            return
        value = self.value(x)
        axis, parts = int(self.random.integers(len(value.shape))), [x]

        def fits(v):
            return v.kind == value.kind and len(v.shape) == len(value.shape) and v.v.size < MOST // 3 and \
                all(a == b for i, (a, b) in enumerate(zip(v.shape, value.shape)) if i != axis)

        for _ in range(int(self.random.integers(1, 3))):
            other = self.existing(fits)
            if other is None or self.chance(0.3):
                shape = list(value.shape)
                shape[axis] = int(self.random.integers(1, 6))
                other = self.argument(value.kind, tuple(shape))
            parts.append(other)
        self.add(Concat(tuple(parts), axis))

    def reshape(self):
        x = self.operand(lambda v: len(v.shape) > 0)
        if x is None:
            return
        shape = self.value(x).shape
        axis = int(self.random.integers(len(shape)))
        if len(shape) > 1 and self.chance(0.5):
            self.add(Collapse(x, min(axis, len(shape) - 2)))
        else:
            inner = [d for d in (1, 2, 3, 4, 5, 7, 8, 16, 32) if shape[axis] % d == 0]
            self.add(Expand(x, axis, int(self.pick(inner))))

    def gather(self):
        table = self.operand(lambda v: len(v.shape) > 0 and v.shape[0] > 0 and v.v.size <= MOST)
        if table is None:
            return
        row = max(int(np.prod(self.value(table).shape[1:], dtype=np.int64)), 1)
        index = self.existing(lambda v: v.kind in ("i32", "i64") and v.v.size * row <= MOST)
        if index is None or self.chance(0.4):
            index = self.argument(str(self.pick(("i32", "i64"))), (int(self.pick([n for n in SIZES if n * row <= MOST])),))
        if len(self.value(index).shape) + len(self.value(table).shape) <= 6:
            self.add(Gather(table, index))

    def scan(self):
        x = self.operand(lambda v: len(v.shape) > 0)
        if x is None:
            return
        kind, shape = self.value(x).kind, self.value(x).shape
        axis = int(self.random.integers(len(shape)))
        names = ("arith.addf", "arith.maximumf") if is_float(kind) else ("arith.xori",) if kind == "i1" else (
            "arith.addi", "arith.muli", "arith.maxsi", "arith.xori", "arith.subi")
        start = self.argument(kind, tuple(n for i, n in enumerate(shape) if i != axis))
        self.add(Scan((x, start), axis, str(self.pick(names)), bool(self.chance(0.5))))

    def decided(self, of):
        """Which of two elements comes first is known."""
        value = self.value(of)
        return not value.e.any() and np.isfinite(value.v).all()

    def sort(self):
        x = self.operand(lambda v: len(v.shape) > 0)
        if x is None or not self.decided(x):
            return
        shape = self.value(x).shape
        others = [self.argument(str(self.pick(self.kinds)), shape) for _ in range(int(self.random.integers(0, 3)))]
        self.add(Sort((x, *others), int(self.random.integers(len(shape))), bool(self.chance(0.5))))

    def topk(self):
        x = self.operand(lambda v: len(v.shape) > 0)
        if x is None or not self.decided(x):
            return
        kind, shape = self.value(x).kind, self.value(x).shape
        axis, k = int(self.random.integers(len(shape))), int(self.pick((1, 2, 5, 33)))
        ends = tuple(k if i == axis else n for i, n in enumerate(shape))
        if np.prod(ends, dtype=np.int64) <= MOST:
            self.add(TopK((x, self.argument(kind, ends), self.argument("i32", ends)), axis, bool(self.chance(0.5))))

    def scatter(self):
        into = self.operand(lambda v: len(v.shape) > 0 and v.v.size <= 2048)
        if into is None or not self.decided(into):
            return
        kind, shape = self.value(into).kind, self.value(into).shape
        counts = [n for n in SIZES if n * max(int(np.prod(shape[1:], dtype=np.int64)), 1) <= 2048]
        if not counts:  # a tensor of nothing, whose slices are large
            return
        count = int(self.pick(counts))
        places = self.random.integers(-1, shape[0] + 1, (count, 1))
        names = [None] + (["arith.addf", "arith.maximumf"] if is_float(kind) else ["arith.xori"] if kind == "i1" else
                          ["arith.addi", "arith.maxsi", "arith.xori"])
        indices = self.add(Argument("i32", places, [bool(self.chance(self.unknown_sizes)), False])), 0
        updates = self.argument(kind, (count, *shape[1:]))
        self.add(Scatter((updates, indices, into), self.pick(names), False))

    def body_of(self, x):
        """Elementwise, to the type that it takes; None where the draw gives another type."""
        kind, shape = self.value(x).kind, self.value(x).shape
        kinds, steps = [kind], []
        self.grow_body(kinds, len(shape), steps, int(self.random.integers(1, 4)))
        last = [i for i, k in enumerate(kinds) if k == kind and i > 0]
        return Elementwise((x,), [list(range(len(shape)))], shape, steps, last[-1:]) if last else None

    def loop(self):
        x = self.operand(lambda v: v.v.size <= MOST // 4)
        body = self.body_of(x) if x is not None else None
        if body is not None:
            unknown = [i for i, d in enumerate(self.unknown_of(x)) if d]
            trips = (int(self.pick(unknown)), 4) if unknown and self.chance(0.5) else int(self.random.integers(0, 4))
            self.add(Loop(x, trips, body))

    def branch(self):
        x, condition = self.operand(lambda v: v.v.size <= MOST), self.existing(lambda v: v.kind == "i1" and v.shape == ())
        if x is None:
            return
        condition = condition or self.argument("i1", ())
        self.add(Branch(condition, x, self.body_of(x), self.body_of(x) if self.chance(0.5) else None))

    def unknown_of(self, of):
        """Which sizes of an argument the program does not know."""
        node = self.nodes[of[0]]
        return node.dynamic if isinstance(node, Argument) else []

    def matmul(self):
        a = self.operand(lambda v: len(v.shape) == 2 and v.v.size <= 2048 and v.kind != "i1")
        if a is None:
            return
        kind, (rows, inner) = self.value(a).kind, self.value(a).shape
        b = self.existing(lambda v: len(v.shape) == 2 and v.kind == kind and v.shape[0] == inner and rows * v.shape[1] * inner < 1 << 16)
        if b is None:
            columns = int(self.pick([n for n in SIZES if n * max(rows, 1) * max(inner, 1) < 1 << 16]))
            b = self.argument(kind, (inner, columns))
        self.add(Matmul(a, b))


def grow(seed):
    grower = Grower(seed, CLASSES)
    grower.argument(str(grower.pick(grower.kinds)), grower.shape())
    for _ in range(int(grower.random.integers(1, 9))):
        getattr(grower, str(grower.pick(grower.classes)))()
        if grower.chance(0.1):
            kind = str(grower.pick(grower.kinds))
            grower.add(Splat(kind, grower.shape(), grower.constant(kind)))
    return program_of(grower)


def program_of(grower):
    """What was grown, with some of its results."""
    used = {of for node in grower.nodes for of in node.operands}
    ends = [(n, r) for n, results in enumerate(grower.made) for r in range(len(results))
            if (n, r) not in used and not isinstance(grower.nodes[n], (Argument, Splat))]
    if not ends:
        return None  # nothing was drawn that fits
    outputs = [end for end in ends if grower.chance(0.8)] or ends[:1]
    # A result that others read as well.
    inner = [of for of in used if not isinstance(grower.nodes[of[0]], (Argument, Splat))]
    if inner and grower.chance(0.3):
        outputs.append(grower.pick(sorted(inner)))
    return Program(grower.nodes, outputs).pruned()


def generate(seed):
    """The program of a seed, or None where nothing was drawn that fits together."""
    with np.errstate(all="ignore"):
        return grow(seed)
