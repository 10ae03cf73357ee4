# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groups of operations drawn at random, from a seed: what somebody may write whom nobody asked before.

A group is a list of nodes; a node names earlier ones as its operands, and `given` holds what else it takes. The same list becomes
MLIR (random_programs.py) and a function of PyTorch (random_workloads.py). Ranks are 1 to 5, sizes mostly odd, the largest tensor
has 1 MiB to 512 MiB, and a group is two to six operations behind its first argument:

    unary NAME, binary NAME AXES (the second operand has these axes of the first), reduce NAME AXES, softmax AXIS, norm AXES,
    transpose ORDER, concat AXIS, pad LOW HIGH, slice AXIS OFFSET SIZE, gather (rows of an argument, by an index), convert KIND

In a `wide` group of f16 or bf16 everything between arguments and results is f32; else each operation rounds its result. Groups of i8 move
bytes, add nothing up, and are exact; they hold 0 to 100.
"""
import random
from collections import namedtuple

Node = namedtuple("Node", "what operands given shape kind")
Group = namedtuple("Group", "nodes results wide kind")
BYTES = {"f32": 4, "bf16": 2, "f16": 2, "i8": 1, "i64": 8}
UNARY = ("relu", "silu", "tanh", "square", "abs", "scale", "root")
STEPS = {"unary": 5, "binary": 7, "reduce": 4, "softmax": 2, "norm": 3, "transpose": 4, "concat": 2, "pad": 2, "slice": 2, "gather": 1}


def count(shape):
    product = 1
    for size in shape:
        product *= size
    return product


class Draw:
    def __init__(self, seed, number):
        self.random = random.Random(f"{seed} {number}")
        self.kind = self.random.choices(("f32", "bf16", "f16", "i8"), (35, 35, 18, 12))[0]
        self.wide = self.kind in ("bf16", "f16") and self.random.random() < 0.5
        self.inner = "f32" if self.wide else self.kind
        self.nodes = []

    def chance(self, share):
        return self.random.random() < share

    def size(self, about):
        """A size near to `about`: small ones exactly, others a multiple of 8 or 64 now and then."""
        n = max(1, round(about * self.random.uniform(0.8, 1.25)))
        step = self.random.choice((1, 1, 1, 8, 64))
        return n // step * step if n >= 4 * step else n

    def shape(self):
        elements = 2 ** self.random.uniform(20, 29) / BYTES[self.kind]
        rank = self.random.choices((1, 2, 3, 4, 5), (1, 4, 5, 4, 2))[0]
        sizes = [0] * rank
        open_axes = list(range(rank))
        for axis in range(rank):
            if len(open_axes) > 1 and self.chance(0.25):  # heads, classes, parts
                sizes[axis] = self.random.randint(2, 24)
                open_axes.remove(axis)
                elements /= sizes[axis]
        shares = [self.random.uniform(0.6, 2.0) for _ in open_axes]
        for axis, share in zip(open_axes, shares):
            sizes[axis] = self.size(max(elements, 1) ** (share / sum(shares)))
        return tuple(sizes)

    def add(self, what, operands, given, shape, kind=None):
        self.nodes.append(Node(what, tuple(operands), given, tuple(shape), kind or self.inner))
        return len(self.nodes) - 1

    def argument(self, shape, kind=None):
        """A tensor from outside, in the kind that the group computes in."""
        outside = kind or self.kind
        at = self.add("argument", (), None, shape, outside)
        return at if outside == self.inner else self.add("convert", (at,), None, shape)

    def axes(self, rank):
        """Mostly the last ones, sometimes any."""
        if self.chance(0.6):
            return tuple(range(rank - self.random.choices((1, 2), (3, 1))[0] if rank > 1 else 0, rank))
        return tuple(sorted(self.random.sample(range(rank), self.random.randint(1, max(1, rank - 1)))))

    # ---- Steps: x is the value so far; each gives the next, or None where it cannot be ----

    def unary(self, x):
        node = self.nodes[x]
        return None if self.kind == "i8" else self.add("unary", (x,), self.random.choice(UNARY), node.shape)

    def binary(self, x):
        shape, rank = self.nodes[x].shape, len(self.nodes[x].shape)
        name = "max" if self.kind == "i8" else self.random.choice(("add", "add", "mul", "sub", "max"))
        every = tuple(range(rank))
        earlier = [(i, every) for i, n in enumerate(self.nodes) if n.shape == shape and i != x and n.kind == self.inner]
        # What was reduced, read again over what it was reduced from.
        earlier += [(i, tuple(a for a in every if a not in n.given[1])) for i, n in enumerate(self.nodes)
                    if n.what == "reduce" and n.shape and self.nodes[n.operands[0]].shape == shape]
        if earlier and self.chance(0.5):
            other, axes = self.random.choice(earlier)
            return self.add("binary", (x, other), (name, axes), shape)
        draw = self.random.random()
        if draw < 0.4:  # another of the same shape, now and then stored in another order
            if rank > 1 and self.chance(0.3):
                order = self.order(rank)
                stored = self.argument([shape[i] for i in order])
                return self.add("binary", (x, stored), (name, order), shape)
            return self.add("binary", (x, self.argument(shape)), (name, every), shape)
        if rank == 0:
            return None
        axes = (rank - 1,) if draw < 0.6 else tuple(a for a in every if self.chance(0.5)) or (0,)
        kind = self.random.choice((None, "f32", "i8")) if self.kind == "f32" else None
        return self.add("binary", (x, self.argument([shape[a] for a in axes], kind)), (name, axes), shape)

    def reduce(self, x):
        shape = self.nodes[x].shape
        if not shape or count(shape) < 4096:
            return None
        names = {"i8": ("max",), "f16": ("mean", "max")}.get(self.kind, ("sum", "mean", "max"))
        axes = self.axes(len(shape))
        return self.add("reduce", (x,), (self.random.choice(names), axes), [n for i, n in enumerate(shape) if i not in axes])

    def softmax(self, x):
        shape = self.nodes[x].shape
        if not shape or self.kind == "i8":
            return None
        return self.add("softmax", (x,), len(shape) - 1 if self.chance(0.75) else self.random.randrange(len(shape)), shape)

    def norm(self, x):
        shape = self.nodes[x].shape
        return self.add("norm", (x,), self.axes(len(shape)), shape) if shape and self.kind != "i8" else None

    def order(self, rank):
        order = list(range(rank))
        while order == sorted(order):
            self.random.shuffle(order)
        return tuple(order)

    def transpose(self, x):
        shape = self.nodes[x].shape
        if len(shape) < 2:
            return None
        order = self.order(len(shape))
        return self.add("transpose", (x,), order, [shape[i] for i in order])

    def concat(self, x):
        shape = list(self.nodes[x].shape)
        if not shape:
            return None
        axis, other = self.random.randrange(len(shape)), list(shape)
        other[axis] = self.random.choice((shape[axis], self.random.randint(1, 64)))
        second = self.argument(other)
        order = (x, second) if self.chance(0.7) else (second, x)
        return self.add("concat", order, axis, shape[:axis] + [shape[axis] + other[axis]] + shape[axis + 1:])

    def pad(self, x):
        shape = self.nodes[x].shape
        if not shape:
            return None
        low, high = ([self.random.randint(0, 3) if a >= len(shape) - 2 or self.chance(0.2) else 0 for a in range(len(shape))] for _ in range(2))
        return self.add("pad", (x,), (tuple(low), tuple(high)), [n + a + b for n, a, b in zip(shape, low, high)])

    def slice(self, x):
        """All but a few: what is left of an axis behind `offset` and in front of the last `less`."""
        shape = list(self.nodes[x].shape)
        axes = [a for a, n in enumerate(shape) if n >= 8]
        if not axes:
            return None
        axis = self.random.choice(axes)
        offset, less = (self.random.choice((0, 1, 2, shape[axis] // 4)) for _ in range(2))
        shape[axis] -= offset + less
        return self.add("slice", (x,), (axis, offset, less), shape)

    def gather(self, x):
        shape = self.nodes[x].shape
        if len(shape) < 2 or self.nodes[x].what not in ("argument", "convert"):
            return None
        rows = self.size(shape[0])
        index = self.add("argument", (), shape[0], (rows,), "i64")
        return self.add("gather", (x, index), None, (rows,) + tuple(shape[1:]))

    def group(self):
        x = self.argument(self.shape())
        for _ in range(self.random.randint(2, 6)):
            name = self.random.choices(list(STEPS), list(STEPS.values()))[0]
            following = getattr(self, name)(x)
            x = x if following is None else following
        results = [x]
        between = [i for i, n in enumerate(self.nodes) if n.what in ("unary", "binary", "reduce", "norm", "softmax") and i != x]
        if between and self.chance(0.25):
            results.append(self.random.choice(between))
        return Group(tuple(self.nodes), tuple(results), self.wide, self.kind)


def operations(group):
    return [n for n in group.nodes if n.what not in ("argument", "convert")]


def group(name):
    """The group that a case's name says: random_SEED_NUMBER. What draws no operation is drawn again."""
    seed, number = name.split("_")[1:3]
    drawn = Draw(seed, number).group()
    again = 0
    while not operations(drawn) or (len(operations(drawn)) == 1 and operations(drawn)[0].what == "slice"):
        again += 1
        drawn = Draw(seed, f"{number}.{again}").group()
    return drawn


def first_shape(drawn):
    return drawn.nodes[0].shape


def describe(drawn):
    """One line: 33x1001 bf16 wide: gather; binary add (1,); softmax 1 -> 2 results."""
    said = []
    for n in operations(drawn):
        given = n.given if isinstance(n.given, (tuple, list)) else () if n.given is None else (n.given,)
        said.append(" ".join([n.what] + [str(g).replace(" ", "") for g in given]))
    first = drawn.nodes[0]
    more = f" -> {len(drawn.results)} results" if len(drawn.results) > 1 else ""
    return f"{'x'.join(map(str, first.shape))} {first.kind}{' wide' if drawn.wide else ''}: {'; '.join(said)}{more}"


if __name__ == "__main__":
    import sys
    for n in range(int(sys.argv[2])):
        print(n, describe(group(f"random_{sys.argv[1]}_{n}")))
