# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs: a list of nodes (nodes.py) that is grown one by one, from a seed.

A program draws from a few classes of operations only, so that one class that a compiler refuses does not take all programs
with it. Sizes are the ones where kernels change their ways: 0, 1, around powers of two, ragged, a row of some thousands.
"""
import numpy as np

import bounded
import elements
from elements import INTEGERS, is_float
from nodes import (ArgMax, Argument, Broadcast, Collapse, Concat, Elementwise, Expand, Gather, InsertSlice, Matmul, Pad, Reduce,
                   ReduceBody, Slice, Softmax, Splat, Step, Transpose)
from mlir_text import Function

SIZES = (1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 64, 65, 100, 127, 128, 129)
LONGEST = (8191, 16385, 33001, 70001)  # a row that does not fit the registers of a block
LONG = (255, 256, 257, 1000, 1001, 1024, 2049, 4095, 4097)
MOST = 1 << 14  # elements of a tensor
CLASSES = ("elementwise", "reduce", "reduce_body", "argmax", "softmax", "norm", "transpose", "broadcast", "slice", "pad", "concat", "reshape", "gather",
           "insert", "convert", "matmul")


def reductions(kind):
    """Operations that combine elements of a kind; sums come more often."""
    if is_float(kind):
        return ("arith.addf", "arith.addf", "arith.addf", "arith.maximumf", "arith.minimumf", "arith.mulf")
    if kind == "i1":
        return ("arith.andi", "arith.ori", "arith.xori")
    return ("arith.addi", "arith.addi", "arith.muli", "arith.maxsi", "arith.minsi", "arith.andi", "arith.ori", "arith.xori")


class Program:
    """nodes, in an order where operands come first; outputs: (node, result)."""

    def __init__(self, nodes, outputs):
        self.nodes, self.outputs = nodes, outputs

    def text(self, name="run"):
        f, made = Function(name), []
        # Arguments first, whatever stands between them.
        for node in self.nodes:
            made.append(node.write(f, []) if isinstance(node, Argument) else None)
        for i, node in enumerate(self.nodes):
            if made[i] is None:
                made[i] = node.write(f, [made[n][r] for n, r in node.operands])
        f.give(*[made[n][r] for n, r in self.outputs])
        return str(f)

    def values(self):
        made = []
        for node in self.nodes:
            made.append(node.evaluate([made[n][r] for n, r in node.operands]))
        return made

    def expected(self):
        made = self.values()
        return [made[n][r] for n, r in self.outputs]

    def inputs(self):
        return [(node.kind, node.data) for node in self.nodes if isinstance(node, Argument)]

    def pruned(self):
        """Without what no output needs."""
        needed = set(n for n, _ in self.outputs)
        for i in reversed(range(len(self.nodes))):
            if i in needed:
                needed.update(n for n, _ in self.nodes[i].operands)
        place = {old: new for new, old in enumerate(sorted(needed))}
        nodes = []
        for old in sorted(needed):
            node = self.nodes[old]
            if node.operands:
                copy = object.__new__(type(node))
                copy.__dict__.update(node.__dict__, operands=tuple((place[n], r) for n, r in node.operands))
                node = copy
            nodes.append(node)
        return Program(nodes, [(place[n], r) for n, r in self.outputs])


class Grower:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.made = [], []
        self.classes = list(self.random.choice(CLASSES, size=int(self.random.integers(1, 5)), replace=False))
        self.kinds = list(self.random.choice(elements.KINDS, size=int(self.random.integers(1, 4)), replace=False))
        if not any(is_float(kind) for kind in self.kinds) and self.chance(0.7):
            self.kinds.append("f32")
        self.unknown_sizes = self.random.choice([0.0, 0.5, 1.0])

    # ---- Small draws ----

    def chance(self, share):
        return self.random.random() < share

    def pick(self, options):
        return options[int(self.random.integers(len(options)))]

    def shape(self):
        if self.chance(0.02):
            n = int(self.pick(LONGEST))
            return self.pick(((n,), (n,), (2, n), (3, n), (n, 2)))
        rank = self.pick((0, 1, 1, 2, 2, 2, 3, 3, 4))
        shape = [int(self.pick(SIZES)) for _ in range(rank)]
        if rank and self.chance(0.25):
            shape[int(self.random.integers(rank))] = int(self.pick(LONG))
        if rank and self.chance(0.03):
            shape[int(self.random.integers(rank))] = 0
        while np.prod(shape, dtype=np.int64) > MOST:
            shape[int(np.argmin([-n if n < 255 else 0 for n in shape]))] = int(self.random.integers(1, 4))
            if min(shape) >= 255:
                shape[0] = 1
        return tuple(shape)

    def data(self, kind, shape):
        if is_float(kind):
            style = self.random.random()
            if style < 0.2:  # whole numbers: ties, and sums that are exact
                return elements.rounded(kind, self.random.integers(-8, 9, shape).astype(np.float64))
            if style < 0.4:
                return elements.draw(self.random, kind, shape, 0.0, 1.0)
        return elements.draw(self.random, kind, shape)

    def add(self, node):
        """The number of the node, whose values are computed at once."""
        self.nodes.append(node)
        self.made.append(node.evaluate([self.made[n][r] for n, r in node.operands]))
        return len(self.nodes) - 1

    def argument(self, kind, shape):
        return self.add(Argument(kind, self.data(kind, shape), [bool(self.chance(self.unknown_sizes)) for _ in shape])), 0

    def value(self, of):
        return self.made[of[0]][of[1]]

    def existing(self, good=lambda value: True):
        """A result there is, rather a late one; None where none is good."""
        found = [(n, r) for n, results in enumerate(self.made) for r, value in enumerate(results) if good(value)]
        if not found:
            return None
        return found[-1 - int(self.random.integers(min(3, len(found))))] if self.chance(0.7) else self.pick(found)

    def operand(self, good=lambda value: True, kind=None, shape=None):
        found = self.existing(good)
        if found is None or self.chance(0.1):
            kind, shape = kind or str(self.pick(self.kinds)), self.shape() if shape is None else shape
            found = self.argument(kind, shape)
            if not good(self.value(found)):
                return None
        return found

    # ---- Bodies ----

    def constant(self, kind):
        if is_float(kind):
            return float(self.pick((-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)))
        return int(self.random.integers(-4, 8)) if kind != "i1" else int(self.random.integers(2))

    def grow_body(self, kinds, rank, steps, count):
        """Adds `count` random operations to `steps`, over values of `kinds` (which grows with it)."""
        for _ in range(count):
            kind = str(self.pick(kinds))
            same = [i for i, k in enumerate(kinds) if k == kind]
            a, b, c = (self.pick(same) for _ in range(3))

            def put(name, result, operands=(), extra=None):
                steps.append(Step(name, result, operands, extra))
                kinds.append(result)
                return len(kinds) - 1

            draw = self.random.random()
            if draw < 0.1 and rank and kind in INTEGERS:
                put("index", kind, extra=int(self.random.integers(rank)))
            elif draw < 0.2:
                b = put("const", kind, extra=self.constant(kind))
                name = {True: "arith.mulf", False: "arith.addi" if kind != "i1" else "arith.xori"}[is_float(kind)]
                put(name, kind, (a, b))
            elif draw < 0.3:
                predicate = str(self.pick(list(bounded.FLOAT_PREDICATES if is_float(kind) else bounded.INTEGER_PREDICATES)))
                condition = put("cmp " + predicate, "i1", (a, b))
                if self.chance(0.8):
                    put("select", kind, (condition, a, c))
            elif draw < 0.36 and "convert" in self.classes:
                other = str(self.pick(elements.KINDS))
                if other != kind and not (other == "i1") and not (kind == "i1" and is_float(other)):
                    if is_float(kind) and not is_float(other):  # within the integer's range
                        high = put("const", kind, extra=float(min(100, 2 ** (elements.width(other) - 1) - 1)))
                        low = put("const", kind, extra=-float(min(100, 2 ** (elements.width(other) - 1) - 1)))
                        a = put("arith.maximumf", kind, (put("arith.minimumf", kind, (a, high)), low))
                    put("convert", other, (a,))
            elif is_float(kind):
                if draw < 0.66:
                    put(str(self.pick(list(bounded.FLOAT_BINARY))), kind, (a, b))
                elif draw < 0.7:
                    put("math.fma", kind, (a, b, c))
                else:
                    put(str(self.pick(list(bounded.FLOAT_UNARY))), kind, (a,))
            elif kind == "i1":
                put(str(self.pick(("arith.andi", "arith.ori", "arith.xori"))), kind, (a, b))
            elif draw < 0.7:
                put(str(self.pick(list(bounded.INTEGER_BINARY))), kind, (a, b))
            elif draw < 0.8:
                one = put("const", kind, extra=1)
                put(str(self.pick(list(bounded.DIVISIONS))), kind, (a, put("arith.ori", kind, (b, one))))
            elif draw < 0.9:
                mask = put("const", kind, extra=elements.width(kind) - 1)
                put(str(self.pick(list(bounded.SHIFTS))), kind, (a, put("arith.andi", kind, (b, mask))))
            else:
                put(str(self.pick(list(bounded.INTEGER_UNARY))), kind, (a,))

    def indices_for(self, shape, loops):
        """Which loop each dimension of `shape` can be, with every loop at most once; None where it does not fit."""
        free, chosen = list(range(len(loops))), []
        for n in shape:
            fits = [loop for loop in free if loops[loop] == n]
            if not fits and n != 1:
                return None
            # In order rather than permuted, where both are possible.
            loop = None if not fits else (fits[-1] if self.chance(0.8) and len(fits) == 1 else self.pick(fits))
            if loop is not None:
                free.remove(loop)
            chosen.append(loop)
        return chosen

    # ---- Nodes by class ----

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

    def argmax(self):
        x = self.operand(lambda v: is_float(v.kind) and len(v.shape) > 0 and v.v.size > 0)
        if x is not None:
            self.add(ArgMax(x, int(self.random.integers(len(self.value(x).shape))), str(self.pick(("i32", "i64")))))

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
        count = float(np.prod([shape[i] for i in axes]))
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
    grower = Grower(seed)
    grower.argument(str(grower.pick(grower.kinds)), grower.shape())
    for _ in range(int(grower.random.integers(1, 9))):
        getattr(grower, str(grower.pick(grower.classes)))()
        if grower.chance(0.1):
            kind = str(grower.pick(grower.kinds))
            grower.add(Splat(kind, grower.shape(), grower.constant(kind)))
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
