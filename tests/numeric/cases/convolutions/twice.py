# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums over windows whose loops say twice where an element lies, as the gradient of im2col does: one of their tensors slides, another one
does not, so that what neighbouring results read is not the same. So many results that threads take several; whole numbers, whose sums are exact."""
import functools
import itertools

import numpy as np

import bounded
from cases.case import Case, argument, generator
from cases.products.contraction import one

SIZES = {"n": 4, "c": 32, "y": 40, "x": 64, "r": 3, "s": 3}
ORDERS = ("ncyx", "nyxc")  # of the result
# By name: dimensions of factors, of images n, channels c, lines y, columns x, places of the window r and s. The first is the image.
FORMS = {
    "gradient of im2col": (("n", "c", "r", "s", "y - r + 2", "x - s + 2"),),
    "windows apart": (("n", "c", "r", "s", "y + r", "x + s"),),
    "lines apart": (("n", "c", "r", "y - r + 2", "x + s"), ("r", "s")),
    "columns apart": (("n", "c", "s", "y + r", "x - s + 2"), ("r", "s")),
    "columns twice": (("n", "c", "x", "y + r", "x + s"), ("r", "s")),
    "lines of another": (("n", "c", "r", "x + s"), ("y + r", "s")),
    "steps of another": (("n", "c", "y + r", "x + s"), ("y * 2 + r", "x - s + 2"), ("r", "s")),
}


def places(text, order):
    """What each index says, as numbers over the result's loops and r, s."""
    loops = order + "rs"
    grids = {name: np.arange(SIZES[name]).reshape([-1 if i == at else 1 for i in range(6)]) for at, name in enumerate(loops)}
    return tuple(np.broadcast_arrays(*(eval(each, {"__builtins__": {}}, grids) for each in text)))  # pylint: disable=eval-used


def affine(text, order):
    names = {name: f"d{at}" for at, name in enumerate(order + "rs")}
    return ["".join(names.get(letter, letter) for letter in each) for each in text]


def cases(sizes):
    for (name, forms), order, kind in itertools.product(FORMS.items(), ORDERS, ("f32", "bf16")):
        random = generator("twice", name, order, kind)
        operands = [text if order == ORDERS[0] else [each for each in text if each != "c"] + ["c"] * ("c" in text) for text in forms]
        inputs = [argument(kind, random.integers(-2, 3, [int(each.max()) + 1 for each in places(text, order)]).astype(np.float64)) for text in operands]
        shape = [SIZES[axis] for axis in order]

        def write(f, *tensors, kind=kind, operands=operands, order=order, shape=shape):
            def body(*values):
                *factors, so_far = values
                wide = [f.convert(v, kind, "f32") for v in factors]
                return f.op("arith.addf", "f32", so_far, functools.reduce(lambda a, b: f.op("arith.mulf", "f32", a, b), wide))
            start = f.fill("f32", shape, 0.0)
            return f.generic([(t, affine(text, order)) for t, text in zip(tensors, operands)], [(start, [0, 1, 2, 3])], "pppprr", body)[0]

        def evaluate(*values, operands=operands, order=order):
            factors = [value.v[places(text, order)] for value, text in zip(values, operands)]
            exact = np.broadcast_to(functools.reduce(np.multiply, factors), [SIZES[axis] for axis in order + "rs"]).sum((4, 5))
            return bounded.finish("f32", exact, np.zeros(exact.shape), 0.0)
        yield Case(f"windows, {name}", kind, one(inputs, write, evaluate))
