# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Few long sums whose elements several results read, or none one by one: diagonals, boxes against boxes, long windows. Threads share a result.
Whole numbers, whose sums are exact."""
import functools

import numpy as np

import bounded
from cases.case import Case, argument, generator
from cases.products.contraction import one

# By name: sizes of loops, which of them are summed over, and of each factor its dimensions.
FORMS = {
    "diagonals": (dict(a=3, b=301), "b", (("a", "b", "b"), ("b",))),
    "a diagonal": (dict(a=1, b=257), "b", (("a", "b", "b"), ("b",))),
    "windows": (dict(a=37, b=300), "b", (("a + b",), ("b",))),
    "windows in steps": (dict(a=37, b=300), "b", (("a * 2 + b",), ("b",), ("a",))),
    "windows backwards": (dict(a=37, b=300), "b", (("a - b + 299",), ("b",))),
    "windows of images": (dict(n=3, y=5, x=7, r=20, s=31), "rs", (("n", "y + r", "x + s"), ("r", "s"))),
    "windows of images backwards": (dict(n=3, y=5, x=8, r=16, s=32), "rs", (("n", "y + r", "x - s + 31"), ("r", "s"))),
    "windows, channels last": (dict(n=3, y=5, x=7, c=8, r=20, s=31), "rs", (("n", "y + r", "x + s", "c"), ("r", "s", "c"))),
    "filters, channels last": (dict(r=3, s=3, c=8, n=2, y=20, x=31), "nyx", (("n", "y + r", "x + s", "c"), ("n", "y", "x", "c"))),
    "filters": (dict(c=8, r=3, s=3, n=2, y=20, x=32), "nyx", (("n", "c", "y + r", "x + s"), ("n", "c", "y", "x"))),
    "columns of points": (dict(a=61, b=700), "b", (("a", "0"), ("b", "1"), ("b", "0"))),
    "diagonal and rows": (dict(a=5, b=300), "b", (("b", "b"), ("a", "b"))),
    "all of a diagonal": (dict(b=300), "b", (("b", "b"),)),
    "between": (dict(a=4, b=17, c=33, d=8), "bc", (("a", "b", "c", "c"), ("c", "d"))),
    "steps": (dict(a=4, b=512), "b", (("a", "b * 4"), ("b",))),
    "an offset": (dict(a=9, b=512), "b", (("a", "b + 3"), ("b",))),
}


def cases(sizes):
    for name, (loops, summed, operands) in FORMS.items():
        grids = {axis: np.arange(size).reshape([-1 if i == at else 1 for i in range(len(loops))]) for at, (axis, size) in enumerate(loops.items())}
        places = [tuple(np.broadcast_arrays(*(np.asarray(eval(each, {"__builtins__": {}}, grids)) for each in text)))  # pylint: disable=eval-used
                  for text in operands]
        numbers = {axis: f"d{at}" for at, axis in enumerate(loops)}
        maps = [["".join(numbers.get(letter, letter) for letter in each) for each in text] for text in operands]
        kept = [at for at, axis in enumerate(loops) if axis not in summed]
        for kind in ("f32", "f16"):
            random = generator("few sums", name, kind)
            inputs = [argument(kind, random.integers(-2, 3, [int(each.max()) + 1 for each in place]).astype(np.float64)) for place in places]

            def write(f, *tensors, kind=kind, maps=maps, loops=loops, summed=summed, kept=kept):
                def body(*values):
                    *factors, so_far = values
                    wide = [f.convert(v, kind, "f32") for v in factors]
                    return f.op("arith.addf", "f32", so_far, functools.reduce(lambda a, b: f.op("arith.mulf", "f32", a, b), wide))
                start = f.fill("f32", [list(loops.values())[at] for at in kept], 0.0)
                return f.generic(list(zip(tensors, maps)), [(start, kept)], "".join("r" if axis in summed else "p" for axis in loops), body)[0]

            def evaluate(*values, places=places, loops=loops, kept=kept):
                product = functools.reduce(np.multiply, [value.v[place] for value, place in zip(values, places)])
                exact = np.broadcast_to(product, list(loops.values())).sum(tuple(at for at in range(len(loops)) if at not in kept))
                return bounded.finish("f32", np.asarray(exact), np.zeros(np.shape(exact)), 0.0)
            yield Case(f"few sums, {name}", kind, one(inputs, write, evaluate))
