# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that compute element by element of the same tensors, and nothing of each other: one kernel reads them once. Also where another
reads a result of one of them between, a sum stands behind, or a type is another. Whole numbers, which are exact."""
import numpy as np

import bounded
import elements
from cases.case import Case, Raw, argument, forms, generator
from nodes.program import Program


def step(numbers, to, operation, function):
    """One body over whole tensors: of these numbers of nodes."""
    def write(f, *tensors):
        along = {i: [1] for i, t in enumerate(tensors) if len(t) == 1}
        return f.map(to, lambda *v: f.convert(operation(f, *[f.convert(x, t.kind, "f32") for x, t in zip(v, tensors)]), "f32", to), *tensors, broadcast=along)

    def evaluate(*values):
        return bounded.finish(to, function(*[value.v for value in values]), 0.0 * values[0].v, 0.0)
    return Raw([(number, 0) for number in numbers], write, evaluate)


def cases(sizes):
    for n, dynamic in forms(sizes):
        for kind in ("f32", "bf16"):
            random = generator("together", kind, n)
            x, y, z = (argument(kind, elements.rounded(kind, random.integers(-3, 4, (5, n)).astype(np.float64)), dynamic) for _ in range(3))
            v = argument(kind, random.integers(-3, 4, (n,)).astype(np.float64), dynamic)

            def op(name):
                return lambda f, a, b, name=name: f.op("arith." + name, "f32", a, b)
            both = [step((0, 1), kind, op("mulf"), lambda a, b: a * b), step((0, 2), kind, op("subf"), lambda a, b: a - b)]
            yield Case("read together", kind, Program([x, y, z, *both], [(3, 0), (4, 0)]))
            wide = [both[0], step((1, 0), "f32", op("addf"), lambda a, b: a + b)]
            yield Case("read together, other types", kind, Program([x, y, *wide], [(2, 0), (3, 0)]))
            # The third reads what the first computes, and what the second reads; the fourth has a vector.
            chain = [*both, step((4, 2), kind, op("addf"), lambda a, b: a + b), step((0, 3), kind, op("mulf"), lambda a, b: a * b)]
            yield Case("read together, one of another", kind, Program([x, y, z, v, *chain], [(4, 0), (5, 0), (6, 0), (7, 0)]))

            # A sum down the columns of the first stands between, and the last reads it.
            def total(f, t, kind=kind):
                return f.reduce(t, [0], "arith.addf", 0.0, kind="f32")
            sums = Raw([(3, 0)], total, lambda a: bounded.finish("f32", a.v.sum(0), 0.0 * a.v.sum(0), 0.0))

            def less(f, a, s, kind=kind):
                return f.map(kind, lambda p, q: f.convert(f.op("arith.subf", "f32", f.convert(p, kind, "f32"), q), "f32", kind), a, s, broadcast={1: [1]})
            last = Raw([(0, 0), (4, 0)], less, lambda a, s, kind=kind: bounded.finish(kind, a.v - s.v, 0.0 * a.v, 0.0))
            yield Case("read together, behind a sum", kind, Program([x, y, z, both[0], sums, last, both[1]], [(3, 0), (4, 0), (5, 0), (6, 0)]))
