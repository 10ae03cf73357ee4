# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions in one to three dimensions: borders, strides, dilations, channels last and first, orders of the filters, channels that
fill a line of 128 bytes, a part of it, and neither; alone and with what is computed from their results."""
import itertools

import numpy as np

import bounded
import elements
from cases.case import Case, generator, argument
from cases.products.contraction import body, map_text, one
from cases.movement import text
from elements import is_float
from bounded import Bounded

KINDS = (("bf16", "f32"), ("f16", "f32"), ("i8", "i32"), ("f32", "f32"), ("bf16", "bf16"))


class Shape:
    """image: extents in front of the border; before, behind: the border; filters: extents of a window. order: of the filters, "w" for the
    window; where channels come second in it and the window last ("fcw"), so they do in the images."""

    def __init__(self, batch, image, channels, filters, results, stride=1, dilation=1, before=0, behind=None, order="wcf"):
        self.batch, self.image, self.channels, self.filters, self.results = batch, image, channels, filters, results
        self.stride, self.dilation, self.order = stride, dilation, order
        self.before = (before,) * len(image) if isinstance(before, int) else before
        self.behind = self.before if behind is None else behind

    @property
    def out(self):
        return [(size + low + high - self.dilation * (window - 1) - 1) // self.stride + 1
                for size, low, high, window in zip(self.image, self.before, self.behind, self.filters)]

    def arrange(self, order, **parts):
        """Parts by the letters of the order, in one list."""
        return [each for letter in order for each in parts[letter]]

    def filter_shape(self):
        return self.arrange(self.order, w=self.filters, c=[self.channels], f=[self.results])

    @property
    def is_first(self):
        return self.order == "fcw"

    def placed(self, batch, channels, places):
        """Of an image or a result."""
        return [batch, channels, *places] if self.is_first else [batch, *places, channels]


SHAPES = (
    Shape(2, (14, 14), 64, (3, 3), 96, before=1),
    Shape(3, (9, 7), 64, (3, 3), 64, before=1, order="fwc"),
    Shape(2, (15, 13), 32, (3, 3), 40, stride=2, before=1),
    Shape(2, (16, 16), 64, (3, 3), 64, stride=2, before=0, behind=(1, 1)),
    Shape(1, (20, 12), 96, (3, 3), 136, dilation=2, before=2, order="fwc"),
    Shape(5, (7, 7), 128, (3, 3), 64, before=1),
    Shape(2, (8, 8), 72, (2, 2), 64, stride=2),
    Shape(1, (33,), 64, (5,), 72, before=2),
    Shape(2, (6, 5, 7), 64, (3, 1, 3), 64, before=(1, 0, 1), order="fwc"),
    Shape(2, (12, 12), 64, (1, 1), 64, stride=2),
    Shape(2, (11, 9), 20, (3, 3), 24, before=1),
    Shape(1, (18, 18), 3, (7, 7), 16, stride=2, before=3),
    Shape(4, (6, 6), 256, (3, 3), 8, before=1),
    # Loops of one step: one image, one row of results, one row of windows.
    Shape(1, (2, 40), 64, (3, 3), 64, stride=2, before=(1, 1), behind=(0, 1)),
    Shape(1, (3, 24), 64, (1, 3), 72, before=(0, 1), order="fwc"),
    Shape(2, (14, 14), 64, (3, 3), 72, before=1, order="fcw"),
    Shape(3, (13, 9), 40, (3, 3), 64, stride=2, before=1, order="fcw"),
    # So many multiplications that channels are brought last.
    Shape(2, (28, 28), 64, (3, 3), 96, before=1, order="fcw"),
    Shape(2, (41, 52), 72, (3, 3), 160, stride=2, before=1, order="fcw"),
    Shape(1, (64, 33), 64, (3, 3), 64, dilation=2, order="fcw"),
    # Few tiles and a long sum: rows of the window are parts.
    Shape(2, (7, 7), 384, (3, 3), 96, before=1),
    Shape(3, (14, 14), 344, (3, 3), 72, stride=2, before=1, order="fwc"),
    # Many multiplications, of few channels: columns of the window join them, and its rows where that takes no more memory.
    Shape(4, (61, 58), 3, (7, 7), 128, stride=2, before=3),
    Shape(4, (61, 58), 3, (7, 7), 128, stride=2, before=3, order="fcw"),
    Shape(3, (56, 60), 3, (3, 3), 256, before=1, order="fwc"),
    Shape(2, (40, 41), 20, (3, 3), 120, before=1),
    Shape(8, (64, 64), 3, (16, 16), 704, stride=16),
    Shape(8, (2000,), 5, (9,), 96, dilation=2, before=8),
    # Tiles of 192 columns, to which threads copy vectors: no box has so few channels.
    Shape(1, (1665,), 8, (2,), 1728),
    # More tiles than a device has multiprocessors, in pairs of blocks.
    Shape(9, (28, 28), 40, (3, 3), 256, before=1),
    # Windows that lie side by side.
    Shape(4, (32, 48), 3, (16, 16), 96, stride=16, order="fcw"),
    Shape(3, (20, 12), 4, (4, 4), 40, stride=4, order="fwc"),
    # More filters than places, whose window comes last: patches lie in the order of the filters.
    Shape(1, (8, 6), 128, (3, 3), 256, before=1, order="fcw"),
    Shape(2, (9, 11), 96, (3, 2), 200, stride=2, dilation=2, before=(1, 2), order="fcw"),
    Shape(2, (17,), 520, (5,), 328, before=2, order="fcw"),
    # ..., of channels that fill no line; the places of one image are rows.
    Shape(1, (6, 7), 72, (4, 4), 136, before=2, order="fcw"),
    Shape(1, (16, 15), 200, (4, 4), 264, stride=2, before=3, order="fcw"),
    Shape(2, (5, 7), 72, (3, 3), 200, before=1, order="fcw"),
    # Rows of filters that are no vectors.
    Shape(3, (13, 14), 64, (3, 3), 33, before=1),
    Shape(2, (19, 17), 64, (4, 4), 3, before=2),
    # An image of f32 so large that nobody stores it with its border.
    Shape(8, (64, 64), 64, (3, 3), 16, stride=4, before=1),
    # Windows of one place, of channels that come second: places are columns of a product, whose rows are boxes, or are not.
    Shape(2, (24, 40), 64, (1, 1), 96, order="fcw"),
    Shape(3, (12, 16), 72, (1, 1), 136, order="fcw"),
    Shape(1, (4, 6, 8), 200, (1, 1, 1), 72, order="fcw"),
    Shape(2, (26, 30), 64, (1, 1), 64, order="fcw"),
    Shape(1, (16, 24), 128, (1, 1), 64, order="fcw"),
    Shape(8, (7, 7), 128, (1, 1), 136, order="fcw"),
    # Places that are picked, which are then rows of vectors, or are none.
    Shape(4, (32, 29), 64, (1, 1), 96, stride=2, order="fcw"),
    Shape(8, (14, 14), 128, (1, 1), 136, stride=2, order="fcw"),
    Shape(8, (94,), 128, (1,), 200, stride=3, order="fcw"),
    # Few tiles of one image: rows and columns of the window are parts.
    Shape(1, (7, 7), 320, (3, 3), 96, before=1, order="fwc"),
    Shape(1, (9, 6), 136, (5, 5), 72, stride=3, before=2),
    Shape(1, (5, 3, 4), 160, (3, 3, 2), 64, before=(1, 1, 0), order="fwc"),
    Shape(1, (8, 8), 256, (3, 3), 40, dilation=2, before=2, order="fcw"),
    Shape(2, (24,), 264, (5,), 64, before=2),
    # One filter of many channels: tensor cores multiply a vector of them.
    Shape(2, (61, 67), 64, (3, 3), 1, before=1, order="fwc"),
    Shape(3, (47, 52), 72, (3, 3), 1, stride=1, before=1, order="fcw"),
    Shape(1, (5, 70, 68), 20, (3, 3, 3), 1, before=1),
)


# Of a number of images that the program does not know: as many as are the last of a range, or one more; patches of one image, and of
# several; images of f32 whose steps are of one place of the window, and others.
UNKNOWN = (
    Shape(1, (14, 14), 64, (3, 1), 40, before=(1, 0), order="fwc"),
    Shape(17, (7, 7), 16, (1, 3), 24, before=(0, 1)),
    Shape(3, (9, 10), 48, (3, 2), 24, stride=2, dilation=2, before=(1, 2), behind=(3, 1), order="fwc"),
    Shape(2, (17,), 40, (5,), 64, before=2),
    # Windows that lie side by side.
    Shape(5, (32, 48), 3, (16, 16), 96, stride=16, order="fcw"),
    Shape(3, (16, 8), 4, (4, 4), 40, stride=4, order="fwc"),
    # Few channels: columns of the window join them.
    Shape(5, (26, 30), 3, (7, 7), 64, stride=2, before=3),
    Shape(3, (33, 20), 3, (3, 3), 96, stride=2, before=1, order="fcw"),
    # Images that are too small for a window have no results.
    Shape(2, (2, 7), 16, (3, 3), 24, order="fwc"),
)

# Of images whose size the program does not know, either: as large as their results.
UNKNOWN_SIZES = (
    Shape(2, (14, 13), 64, (3, 3), 40, before=1, order="fcw"),
    Shape(3, (9, 21), 48, (3, 3), 72, dilation=2, before=2, order="fwc"),
    Shape(1, (11, 8), 64, (1, 3), 72, before=(0, 1), order="fcw"),
    Shape(2, (33,), 128, (5,), 160, before=2, order="fcw"),
    Shape(2, (18, 21), 3, (7, 7), 64, before=3, order="fcw"),
    Shape(3, (9, 30), 4, (3, 5), 96, before=(1, 2), order="fwc"),
)

# Each channel for itself; of so many results that a thread has a run of two or four, and lengths that no run divides.
CHANNELS = (
    Shape(2, (9, 11), 24, (3, 3), 24, before=1, order="wc"),
    Shape(4, (115, 115), 64, (3, 3), 64, before=1, order="wc"),
    Shape(5, (114, 117), 64, (3, 3), 64, before=1, order="wc"),
    Shape(4, (229, 230), 64, (3, 3), 64, stride=2, before=1, order="wc"),
)


def convolve_channels(f, shape, operand, result, image, filters):
    rank = len(shape.image)
    image = f.pad(image, [0, *shape.before, 0], [0, *shape.behind, 0], 0)
    places, windows = [f"y{i}" for i in range(rank)], [f"w{i}" for i in range(rank)]
    loops = ["n", *places, "c", *windows]
    read = [f"{y} * {shape.stride} + {w}" for y, w in zip(places, windows)]
    maps = [map_text(["n", *read, "c"], loops), map_text([*windows, "c"], loops), map_text(["n", *places, "c"], loops)]
    kinds = ", ".join(['"parallel"'] * (rank + 2) + ['"reduction"'] * rank)
    sizes = [shape.batch, *shape.out, shape.channels]
    return text(f, result, sizes,
                f"{{r}} = linalg.generic {{{{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}}} ins({{0}}, {{1}} : {{o[0]}}, "
                f"{{o[1]}}) outs({{2}} : {{o[2]}}) {{{{ ^bb0(%x: {operand}, %y: {operand}, %s: {result}): {body(operand, result)} }}}} "
                f"-> {{t}}", image, filters, f.fill(result, sizes, 0))


def convolved_channels(shape, result, image, filters):
    image = np.pad(image, [(0, 0), *zip(shape.before, shape.behind), (0, 0)])
    total, size = 0, 0
    for window in itertools.product(*map(range, shape.filters)):
        part = image[(slice(None), *(slice(w, w + (out - 1) * shape.stride + 1, shape.stride) for w, out in zip(window, shape.out)))]
        total = total + part * filters[window]
        size = size + np.abs(part) * np.abs(filters[window])
    if not is_float(result):
        return Bounded(result, elements.wrap(result, total))
    # Products are rounded to the type that the program multiplies in.
    return bounded.finish(result, total, (int(np.prod(shape.filters)) + 2) * elements.EPS[result] * size, 1.0)


def convolve(f, shape, operand, result, image, filters):
    rank, batch = len(shape.image), image.shape[0]
    whole = image.shape[2:] if shape.is_first else image.shape[1:-1]  # sizes that the program may not know
    places = [own if out == known else out for own, known, out in zip(whole, shape.image, shape.out)]
    sizes = shape.placed(batch, shape.results, places)
    if any(shape.before) or any(shape.behind):
        image = f.pad(image, shape.placed(0, 0, shape.before), shape.placed(0, 0, shape.behind), 0)
    places, windows = [f"y{i}" for i in range(rank)], [f"w{i}" for i in range(rank)]
    loops = ["n", *places, "f", *windows, "c"]
    read = [f"{y} * {shape.stride} + {w} * {shape.dilation}" for y, w in zip(places, windows)]
    maps = [map_text(shape.placed("n", "c", read), loops), map_text(shape.arrange(shape.order, w=windows, c=["c"], f=["f"]), loops),
            map_text(shape.placed("n", "f", places), loops)]
    kinds = ", ".join(['"parallel"'] * (rank + 2) + ['"reduction"'] * (rank + 1))
    return text(f, result, sizes,
                f"{{r}} = linalg.generic {{{{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}}} ins({{0}}, {{1}} : {{o[0]}}, "
                f"{{o[1]}}) outs({{2}} : {{o[2]}}) {{{{ ^bb0(%x: {operand}, %y: {operand}, %s: {result}): {body(operand, result)} }}}} "
                f"-> {{t}}", image, filters, f.fill(result, sizes, 0))


def convolved(shape, result, image, filters):
    if shape.is_first:
        image, filters = np.moveaxis(image, 1, -1), np.moveaxis(filters, (0, 1), (-1, -2))
    elif shape.order == "fwc":
        filters = np.moveaxis(filters, 0, -1)
    image = np.pad(image, [(0, 0), *zip(shape.before, shape.behind), (0, 0)])
    total, size = 0, 0
    for window in itertools.product(*map(range, shape.filters)):
        part = image[(slice(None), *(slice(w * shape.dilation, w * shape.dilation + (out - 1) * shape.stride + 1, shape.stride)
                                     for w, out in zip(window, shape.out)))]
        total = total + part @ filters[window]
        size = size + np.abs(part) @ np.abs(filters[window])
    if shape.is_first:
        total, size = np.moveaxis(total, -1, 1), np.moveaxis(size, -1, 1)
    if not is_float(result):
        return Bounded(result, elements.wrap(result, total))
    terms = shape.channels * int(np.prod(shape.filters))
    return bounded.finish(result, total, (terms + 2) * min(elements.EPS[result], elements.EPS["f32"]) * size, 1.0)


def activated(f, shape, operand, result, image, filters, bias):
    """relu(convolution + bias), rounded to the operands' type."""
    sums = convolve(f, shape, operand, result, image, filters)
    rank = len(shape.image) + 2
    loops = [f"d{i}" for i in range(rank)]
    channel = 1 if shape.is_first else rank - 1
    identity, last = map_text(loops, loops), map_text([loops[channel]], loops)
    return text(f, operand, list(sums.shape),
                f"{{r}} = linalg.generic {{{{indexing_maps = [{identity}, {last}, {identity}], iterator_types = "
                f"[{', '.join([chr(34) + 'parallel' + chr(34)] * rank)}]}}}} ins({{0}}, {{1}} : {{o[0]}}, {{o[1]}}) outs({{2}} : {{o[2]}}) "
                f"{{{{ ^bb0(%x: {result}, %y: {result}, %z: {operand}): %b = arith.addf %x, %y : {result} %c = arith.constant 0.0 : {result} "
                f"%m = arith.maximumf %b, %c : {result} %n = arith.truncf %m : {result} to {operand} linalg.yield %n : {operand} }}}} "
                f"-> {{t}}", sums, bias, f.fill(operand, list(sums.shape), 0))


def cases(sizes):
    whole = len(sizes) > 1
    for kind, (operand, result) in enumerate(KINDS):
        for number, shape in enumerate(CHANNELS):
            if not whole and number != 0 and (kind, number) not in ((0, 1), (3, 2), (3, 3)):
                continue
            random = generator("channels", operand, number)
            low, high = (-2, 2) if is_float(operand) else (-100, 100)
            image, filters = (argument(operand, elements.draw(random, operand, extents, low, high))
                              for extents in ([shape.batch, *shape.image, shape.channels], [*shape.filters, shape.channels]))
            yield Case("convolution of each channel", operand if operand == result else f"{operand} to {result}", one(
                [image, filters],
                lambda f, a, b, shape=shape, operand=operand, result=result: convolve_channels(f, shape, operand, result, a, b),
                lambda a, b, shape=shape, result=result: convolved_channels(shape, result, a.v, b.v)))
    for operand, result in KINDS[0], KINDS[3]:
        for number, shape in enumerate(UNKNOWN + UNKNOWN_SIZES):
            random = generator("unknown images", operand, number)
            of_any_size = [number >= len(UNKNOWN)] * len(shape.image)
            image = argument(operand, elements.draw(random, operand, shape.placed(shape.batch, shape.channels, shape.image), -2, 2),
                             shape.arrange("nci" if shape.is_first else "nic", n=[True], c=[False], i=of_any_size))
            filters = argument(operand, elements.draw(random, operand, shape.filter_shape(), -2, 2))
            yield Case("convolution of unknown images", operand if operand == result else f"{operand} to {result}", one(
                [image, filters], lambda f, a, b, shape=shape, operand=operand, result=result: convolve(f, shape, operand, result, a, b),
                lambda a, b, shape=shape, result=result: convolved(shape, result, a.v, b.v)))
    for kind, (operand, result) in enumerate(KINDS):
        name = operand if operand == result else f"{operand} to {result}"
        for number, shape in enumerate(SHAPES):
            is_point = operand == "f32" and shape.is_first and set(shape.filters) == {1}
            if not whole and kind != 0 and number % (len(KINDS) - 1) != kind - 1 and not is_point:
                continue
            random = generator("convolution", operand, number)
            low, high = (-2, 2) if is_float(operand) else (-100, 100)
            image, filters = (argument(operand, elements.draw(random, operand, extents, low, high))
                              for extents in (shape.placed(shape.batch, shape.channels, shape.image), shape.filter_shape()))
            yield Case("convolution", name, one(
                [image, filters], lambda f, a, b, shape=shape, operand=operand, result=result: convolve(f, shape, operand, result, a, b),
                lambda a, b, shape=shape, result=result: convolved(shape, result, a.v, b.v)))
            if operand == "f32" and (whole or number % 2 == 0 or is_point):
                # Elements that tf32 holds as they are: products of it (--f32-products=tf32) meet the bounds of f32.
                few = [argument("f32", elements.draw(random, "bf16", each.data.shape, low, high)) for each in (image, filters)]
                yield Case("convolution of few bits", name, one(
                    few, lambda f, a, b, shape=shape: convolve(f, shape, "f32", "f32", a, b),
                    lambda a, b, shape=shape: convolved(shape, "f32", a.v, b.v)))
            if operand == result or not is_float(operand) or not (whole or number % 3 == 0):
                continue
            bias = argument("f32", elements.draw(random, "f32", (shape.results,)))

            def evaluate(a, b, c, shape=shape, operand=operand):
                exact = convolved(shape, "f32", a.v, b.v)
                bias = c.v.reshape(-1, *[1] * len(shape.image)) if shape.is_first else c.v
                return bounded.finish(operand, np.maximum(exact.v + bias, 0), exact.e + 4 * elements.EPS["f32"] * np.abs(bias), 1.0)

            yield Case("convolution, bias, relu", name, one(
                [image, filters, bias],
                lambda f, a, b, c, shape=shape, operand=operand: activated(f, shape, operand, "f32", a, b, c), evaluate))
