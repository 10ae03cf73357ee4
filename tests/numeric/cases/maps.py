# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums whose operands are indexed by maps that are drawn: a loop in several dimensions, diagonals, steps, lines that go backwards. What a
kernel takes of neighbours, rows and boxes rests on where each loop stands. Whole numbers, whose sums are exact."""
import functools

import numpy as np

import bounded
from cases.case import Case, argument, generator
from cases.products.contraction import one

MOST = 6_000_000  # products that are added
# By family: what an operand's dimensions are made of before they are changed, of loops named as in SIZES; results, and what is summed over.
FAMILIES = {
    "windows": ("ncyx", "rs", (("n", "c", "yr", "xs"), ("r", "s"))),
    "windows alone": ("cyx", "rs", (("c", "yr", "xs"),)),
    "products": ("bmn", "k", (("b", "m", "k"), ("b", "n", "k"))),
    "products of rows": ("mn", "k", (("m", "k"), ("k", "n"))),
    "products of two sums": ("mn", "hk", (("m", "h", "k"), ("h", "k", "n"))),
    "convolutions": ("nyxf", "rsk", (("n", "yr", "xs", "k"), ("r", "s", "k", "f"))),
}
SIZES = {"n": (1, 2, 4), "c": (32, 48, 64), "y": (20, 32, 40), "x": (30, 32, 64), "r": (2, 3), "s": (2, 3), "b": (1, 3), "m": (1, 3, 40, 64, 72, 130),
         "k": (32, 64, 128), "h": (2, 4), "f": (8, 40, 64)}
FACTORS = (1, 1, 1, 1, -1, -1, 2, -2)


def drawn(random, family):
    """(sizes by loop, dimensions of each operand: {loop: factor} each)"""
    results, reduced, forms = FAMILIES[family]
    size = {loop: int(random.choice(SIZES[{"n": "m"}.get(loop, loop) if "products" in family else loop])) for loop in results + reduced}
    while np.prod(list(size.values())) > MOST:
        largest = max(size, key=size.get)
        size[largest] //= 2
    operands = []
    for form in forms:
        dimensions = [{loop: 1 if number == 0 else int(random.choice(FACTORS)) for number, loop in enumerate(each)} for each in form]
        for _ in range(random.integers(0, 3)):
            place, loop = int(random.integers(len(dimensions))), str(random.choice(list(size)))
            change = random.choice((0, 1, 1, 2, 2, 3))
            if change == 0:
                dimensions[place][loop] = int(random.choice(FACTORS))
            elif change == 1:
                dimensions.insert(place, {loop: 1})
            elif change == 2:
                dimensions.insert(place, dict(dimensions[place]))
            else:
                other = int(random.integers(len(dimensions)))
                dimensions[place], dimensions[other] = dimensions[other], dimensions[place]
        operands.append(dimensions)
    # How often loops turn is said where they stand alone.
    alone = {next(iter(each)) for of in operands for each in of if list(each.values()) == [1]}
    if lacking := [loop for loop in reduced if loop not in alone]:
        operands.append([{loop: 1} for loop in lacking])
    return size, operands


def indices(dimensions, size):
    """Of each dimension what its index says, as numbers over all loops, and as text."""
    loops = list(size)
    grids = {name: np.arange(size[name]).reshape([-1 if i == at else 1 for i in range(len(loops))]) for at, name in enumerate(loops)}
    places, texts = [], []
    for each in dimensions:
        place = sum(factor * grids[name] for name, factor in each.items())
        first = 0 if list(each.values()) == [1] else -int(place.min())
        places.append(place + first)
        texts.append(" + ".join(f"d{loops.index(name)} * {factor}" if factor != 1 else f"d{loops.index(name)}" for name, factor in each.items()) +
                     (f" + {first}" if first else ""))
    return tuple(np.broadcast_arrays(*places)), texts


def case_of(family, number, kind):
    results, reduced, _ = FAMILIES[family]
    random = generator("maps", family, number, kind)
    size, operands = drawn(random, family)
    mapped = [indices(dimensions, size) for dimensions in operands]
    shapes = [[int(each.max()) + 1 for each in places] for places, _ in mapped]
    if max(np.prod(shape) for shape in shapes) > MOST:
        return None
    inputs = [argument(kind, random.integers(-2, 3, shape).astype(np.float64)) for shape in shapes]
    shape = [size[loop] for loop in results]

    def write(f, *tensors):
        def body(*values):
            *factors, so_far = values
            wide = [f.convert(v, kind, "f32") if kind != "f32" else v for v in factors]
            return f.op("arith.addf", "f32", so_far, functools.reduce(lambda a, b: f.op("arith.mulf", "f32", a, b), wide))
        start = f.fill("f32", shape, 0.0)
        return f.generic([(t, text) for t, (_, text) in zip(tensors, mapped)], [(start, list(range(len(results))))],
                         "p" * len(results) + "r" * len(reduced), body)[0]

    def evaluate(*values):
        factors = [value.v[places] for value, (places, _) in zip(values, mapped)]
        whole = np.broadcast_to(functools.reduce(np.multiply, factors), list(size.values()))
        exact = whole.sum(tuple(range(len(results), len(size))))
        return bounded.finish("f32", exact, np.zeros(exact.shape), 0.0)
    return Case(f"maps of {family}", kind, one(inputs, write, evaluate))


def cases(sizes):
    for family in FAMILIES:
        for kind in ("f32", "bf16", "f16"):
            for number in range(100 if len(sizes) > 1 else 6):
                if case := case_of(family, number, kind):
                    yield case
