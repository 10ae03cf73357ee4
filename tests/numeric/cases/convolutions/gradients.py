# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gradients of convolutions, as compilers write them. By the image: the result's gradient with zeros between its elements, where
the convolution takes steps, and around it, convolved with filters that are turned around; so are transposed convolutions. By the
filters: a sum over all places of all images, written as it is, or as a convolution of transposed images whose window is a result."""
import itertools

import numpy as np

import bounded
import elements
from bounded import Bounded
from cases.case import Case, argument, generator
from cases.products.contraction import body, map_text, one
from cases.convolutions.forward import Shape
from cases.movement import text
from elements import is_float

KINDS = (("bf16", "f32"), ("f16", "f32"), ("f32", "f32"), ("i8", "i32"))

SHAPES = (
    # Whole patches, few and many parts of the sum, by the filters; phases by the image.
    Shape(2, (14, 14), 64, (3, 3), 64, stride=2, before=1, behind=(0, 0), order="fwc"),
    Shape(8, (8, 8), 64, (3, 3), 72, before=1, order="fwc"),
    Shape(32, (7, 7), 128, (3, 3), 64, before=1, order="fwc"),
    Shape(16, (14, 14), 64, (1, 1), 136, order="fwc"),
    Shape(8, (16, 16), 128, (1, 1), 64, stride=2, order="fwc"),
    Shape(4, (12, 20), 64, (2, 2), 64, stride=2),
    Shape(3, (12, 16), 64, (4, 4), 40, stride=2, before=1),
    Shape(2, (10, 12), 64, (3, 3), 64, stride=2, before=1, order="wcf"),
    Shape(4, (18, 27), 64, (5, 5), 64, stride=3, before=2, order="fwc"),
    # Patches that do not end where the results do, channels that fill no line, sizes that no step divides.
    Shape(3, (13, 9), 72, (3, 3), 40, stride=2, before=1, order="fwc"),
    Shape(1, (9, 11), 20, (3, 3), 24, before=1),
    Shape(2, (16, 16), 64, (3, 3), 64, dilation=2, before=2, order="fwc"),
    Shape(1, (64,), 64, (5,), 72, stride=2, before=2, behind=(1,)),
    Shape(2, (6, 6, 8), 64, (3, 1, 3), 64, before=(1, 0, 1), order="fwc"),
    # Channels first; so many multiplications that they are brought last.
    Shape(2, (12, 12), 64, (3, 3), 72, before=1, order="fcw"),
    Shape(4, (28, 28), 64, (3, 3), 64, before=1, order="fcw"),
    Shape(4, (32, 32), 64, (3, 3), 128, stride=2, before=1, order="fcw"),
    # Rows of places that begin at no vectors; so many filters that the sum is no parts.
    Shape(16, (14, 14), 160, (1, 1), 136, order="fcw"),
    Shape(2, (7, 7), 320, (3, 3), 320, before=1, order="fcw"),
    Shape(8, (28, 28), 64, (3, 3), 64, stride=2, before=1, order="fwc"),
    Shape(16, (28, 28), 64, (1, 1), 128, stride=2, order="fwc"),
    # One image of many places, whose sides are primes: each row is a part of the sum.
    Shape(1, (37, 41), 40, (3, 3), 24, before=1, order="fcw"),
    Shape(1, (101, 97), 64, (1, 3), 40, before=(0, 1), order="fwc"),
    # Few filters: by these, there are more.
    Shape(2, (61, 60), 64, (3, 3), 1, before=1, order="fwc"),
    Shape(3, (28, 31), 64, (3, 3), 3, before=1, order="fcw"),
    Shape(2, (50, 48), 128, (2, 2), 5, stride=2),
    Shape(4, (28, 28), 64, (3, 3), 17, before=1, order="fwc"),
    # Windows of one row; columns of the window join the channels, and the result's gradient lies at no vectors.
    Shape(1, (31, 63), 96, (1, 2), 64, stride=2, order="fcw"),
    Shape(4, (13, 15), 48, (3, 3), 40, before=1, order="fcw"),
    Shape(3, (17, 19), 96, (3, 3), 12, before=1, order="wcf"),
    # Few channels, by the image: filters' rows are no vectors.
    Shape(4, (17, 17), 4, (4, 4), 64, before=2, order="fwc"),
    Shape(2, (16, 19), 12, (3, 3), 64, before=1, order="fwc"),
    # One channel, by the image.
    Shape(4, (28, 28), 1, (5, 5), 64, before=2, order="fcw"),
    Shape(4, (26, 26), 1, (4, 4), 72, stride=2, before=1, order="fwc"),
)

# Of f32, whose last places fill the steps of a sum of tf32, and do not: by the filters of channels first they are summed as they lie, of a
# few images of channels last they are brought last.
PLACES = (
    Shape(2, (6, 32), 64, (3, 3), 40, before=1, order="fcw"),
    Shape(3, (5, 64), 24, (3, 3), 72, before=1, order="fwc"),
    Shape(2, (4, 32), 32, (3, 3), 64, dilation=2, before=2, order="fcw"),
    Shape(2, (8, 36), 64, (5, 5), 32, order="fcw"),
    Shape(4, (32,), 136, (4,), 72, before=2, behind=(1,), order="wcf"),
    Shape(2, (3, 8, 28), 64, (2, 3, 3), 64, before=(0, 1, 1), order="fcw"),
    Shape(4, (16, 24), 64, (1, 1), 72, stride=2, order="fcw"),
    # In steps: places are picked. Rows of places that begin at no vectors: all images' are one row.
    Shape(16, (17, 24), 64, (1, 1), 72, stride=2, order="fcw"),
    Shape(12, (20, 19), 72, (1, 1), 136, stride=3, order="fwc"),
    Shape(16, (14, 14), 128, (1, 1), 64, stride=2, order="fcw"),
    Shape(64, (7, 7), 160, (1, 1), 136, order="fcw"),
)


def contract(f, operand, result, loops, reduced, indices, tensors, sizes):
    """The sum over loops of products of two tensors by their indices."""
    maps = ", ".join(map_text(each, loops) for each in indices)
    kinds = ", ".join('"reduction"' if loop in reduced else '"parallel"' for loop in loops)
    return text(f, result, sizes,
                f"{{r}} = linalg.generic {{{{indexing_maps = [{maps}], iterator_types = [{kinds}]}}}} ins({{0}}, {{1}} : {{o[0]}}, "
                f"{{o[1]}}) outs({{2}} : {{o[2]}}) {{{{ ^bb0(%x: {operand}, %y: {operand}, %s: {result}): {body(operand, result)} }}}} "
                f"-> {{t}}", *tensors, f.fill(result, sizes, 0))


def names(shape):
    rank = len(shape.image)
    return [f"y{i}" for i in range(rank)], [f"w{i}" for i in range(rank)]


def turned(f, shape, kind, filters):
    """The filters, their last element first."""
    _, windows = names(shape)
    order = shape.arrange(shape.order, w=windows, c=["c"], f=["f"])
    back = [f"{size - 1} - {w}" for w, size in zip(windows, shape.filters)]
    maps = [map_text(shape.arrange(shape.order, w=back, c=["c"], f=["f"]), order), map_text(order, order)]
    kinds = ", ".join(['"parallel"'] * len(order))
    return text(f, kind, shape.filter_shape(),
                f"{{r}} = linalg.generic {{{{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}}} ins({{0}} : {{o[0]}}) "
                f"outs({{1}} : {{o[1]}}) {{{{ ^bb0(%x: {kind}, %y: {kind}): linalg.yield %x : {kind} }}}} -> {{t}}",
                filters, f.fill(kind, shape.filter_shape(), 0))


def by_image(f, shape, operand, result, given, filters):
    places, windows = names(shape)
    before = [shape.dilation * (window - 1) - low for window, low in zip(shape.filters, shape.before)]
    wide = [size + shape.dilation * (window - 1) for size, window in zip(shape.image, shape.filters)]
    wide = shape.placed(shape.batch, shape.results, wide)
    numbers = [", ".join(map(str, each)) for each in (shape.placed(0, 0, before), given.shape,
                                                      shape.placed(1, 1, [shape.stride] * len(places)))]
    source = text(f, operand, wide, f"{{r}} = tensor.insert_slice {{0}} into {{1}}[{numbers[0]}] [{numbers[1]}] [{numbers[2]}] : "
                                    f"{{o[0]}} into {{o[1]}}", given, f.fill(operand, wide, 0))
    read = [f"{y} + {w} * {shape.dilation}" for y, w in zip(places, windows)]
    indices = [shape.placed("n", "f", read), shape.arrange(shape.order, w=windows, c=["c"], f=["f"]), shape.placed("n", "c", places)]
    return contract(f, operand, result, ["n", *places, "c", *windows, "f"], [*windows, "f"], indices,
                    [source, turned(f, shape, operand, filters)], shape.placed(shape.batch, shape.channels, shape.image))


def widened(f, shape, image):
    if any(shape.before) or any(shape.behind):
        return f.pad(image, shape.placed(0, 0, shape.before), shape.placed(0, 0, shape.behind), 0)
    return image


def by_filters(f, shape, operand, result, image, given):
    places, windows = names(shape)
    read = [f"{y} * {shape.stride} + {w} * {shape.dilation}" for y, w in zip(places, windows)]
    written = shape.arrange(shape.order, w=windows, c=["c"], f=["f"])
    return contract(f, operand, result, [*written, "n", *places], ["n", *places],
                    [shape.placed("n", "c", read), shape.placed("n", "f", places), written], [widened(f, shape, image), given],
                    shape.filter_shape())


def transposed(f, kind, tensor, order):
    shape = [tensor.shape[i] for i in order]
    return text(f, kind, shape, f"{{r}} = linalg.transpose ins({{0}} : {{o[0]}}) outs({{1}} : {{o[1]}}) permutation = [{', '.join(map(str, order))}]",
                tensor, f.fill(kind, shape, 0))


def by_filters_transposed(f, shape, operand, result, image, given):
    """Channels are the batch, images the channels; of channels last."""
    places, windows = names(shape)
    rank = len(places)
    image = transposed(f, operand, widened(f, shape, image), [rank + 1, *range(1, rank + 1), 0])
    given = transposed(f, operand, given, [*range(1, rank + 1), 0, rank + 1])
    read = [f"{w} * {shape.dilation} + {y} * {shape.stride}" for y, w in zip(places, windows)]
    made = contract(f, operand, result, ["c", *windows, "f", *places, "n"], [*places, "n"],
                    [["c", *read, "n"], [*places, "n", "f"], ["c", *windows, "f"]], [image, given],
                    [shape.channels, *shape.filters, shape.results])
    where = {"c": [0], "w": range(1, rank + 1), "f": [rank + 1]}
    return transposed(f, result, made, shape.arrange(shape.order, **where))


def rounded(f, operand, result, sums):
    """What is stored of a gradient: the type of the operands."""
    loops = [f"d{i}" for i in range(len(sums.shape))]
    identity = map_text(loops, loops)
    kinds = ", ".join(['"parallel"'] * len(loops))
    return text(f, operand, list(sums.shape),
                f"{{r}} = linalg.generic {{{{indexing_maps = [{identity}, {identity}], iterator_types = [{kinds}]}}}} ins({{0}} : {{o[0]}}) "
                f"outs({{1}} : {{o[1]}}) {{{{ ^bb0(%x: {result}, %z: {operand}): %n = arith.truncf %x : {result} to {operand} "
                f"linalg.yield %n : {operand} }}}} -> {{t}}", sums, f.fill(operand, list(sums.shape), 0))


def plain(shape, image, filters):
    """Channels last, filters [window, c, f]."""
    if shape.is_first:
        image = np.moveaxis(image, 1, -1)
    if filters is not None and shape.order == "fcw":
        filters = np.moveaxis(filters, (0, 1), (-1, -2))
    elif filters is not None and shape.order == "fwc":
        filters = np.moveaxis(filters, 0, -1)
    return image, filters


def slices(shape, window):
    return (slice(None), *(slice(w * shape.dilation, w * shape.dilation + (out - 1) * shape.stride + 1, shape.stride)
                           for w, out in zip(window, shape.out)))


def evaluate(shape, result, terms, total, size):
    if not is_float(result):
        return Bounded(result, elements.wrap(result, total))
    return bounded.finish(result, total, (terms + 2) * elements.EPS["f32"] * size, 1.0)


def image_sums(shape, given, filters):
    """The gradient, and the same of absolute values."""
    given, filters = plain(shape, given, filters)
    wide = [shape.batch, *(size + low + high for size, low, high in zip(shape.image, shape.before, shape.behind)), shape.channels]
    total, size = np.zeros(wide, given.dtype), np.zeros(wide, given.dtype)
    for window in itertools.product(*map(range, shape.filters)):
        total[slices(shape, window)] += given @ filters[window].T
        size[slices(shape, window)] += np.abs(given) @ np.abs(filters[window]).T
    inner = (slice(None), *(slice(low, low + extent) for low, extent in zip(shape.before, shape.image)))
    total, size = total[inner], size[inner]
    if shape.is_first:
        total, size = np.moveaxis(total, -1, 1), np.moveaxis(size, -1, 1)
    return total, size


def image_gradient(shape, result, given, filters):
    return evaluate(shape, result, shape.results * int(np.prod(shape.filters)), *image_sums(shape, given, filters))


def filter_gradient(shape, result, image, given):
    image, _ = plain(shape, image, None)
    given, _ = plain(shape, given, None)
    image = np.pad(image, [(0, 0), *zip(shape.before, shape.behind), (0, 0)])
    flat = given.reshape(-1, shape.results)
    parts = np.zeros([2, *shape.filters, shape.channels, shape.results], given.dtype)
    for window in itertools.product(*map(range, shape.filters)):
        columns = image[slices(shape, window)].reshape(-1, shape.channels)
        parts[0][window], parts[1][window] = columns.T @ flat, np.abs(columns).T @ np.abs(flat)
    if shape.order == "fcw":
        parts = np.moveaxis(parts, (-2, -1), (2, 1))
    elif shape.order == "fwc":
        parts = np.moveaxis(parts, -1, 1)
    return evaluate(shape, result, len(flat), parts[0], parts[1])


def cases(sizes):
    whole = len(sizes) > 1
    for kind, (operand, result) in enumerate(KINDS):
        for number, shape in enumerate(SHAPES + PLACES * (operand == "f32")):
            if not whole and kind != 0 and number % (len(KINDS) - 1) != kind - 1 and number < len(SHAPES):
                continue
            random = generator("gradients", operand, number)
            low, high = (-2, 2) if is_float(operand) else (-100, 100)
            image, filters, given = (argument(operand, elements.draw(random, operand, extents, low, high)) for extents in (
                shape.placed(shape.batch, shape.channels, shape.image), shape.filter_shape(),
                shape.placed(shape.batch, shape.results, shape.out)))
            forms = [("by the image", [given, filters], by_image, image_gradient),
                     ("by the filters", [image, given], by_filters, filter_gradient)]
            if not shape.is_first:
                forms.append(("by the filters, transposed", [image, given], by_filters_transposed, filter_gradient))
            for form, operands, write, reference in forms:
                name = operand if operand == result else f"{operand} to {result}"
                # Of floats of 16 bits a small grid has each shape with its sums, or rounded.
                if whole or operand not in ("f16", "bf16") or number % 2 == 0:
                    yield Case(f"convolution's gradient {form}", name, one(
                        operands, lambda f, a, b, shape=shape, operand=operand, result=result, write=write: write(f, shape, operand, result, a, b),
                        lambda a, b, shape=shape, result=result, reference=reference: reference(shape, result, a.v, b.v)))
                if operand == "f32":
                    few = [argument("f32", elements.draw(random, "bf16", each.data.shape, low, high)) for each in operands]
                    yield Case(f"convolution's gradient {form}, of few bits", name, one(
                        few, lambda f, a, b, shape=shape, write=write: write(f, shape, "f32", "f32", a, b),
                        lambda a, b, shape=shape, reference=reference: reference(shape, "f32", a.v, b.v)))
                elif is_float(operand) and (whole or operand not in ("f16", "bf16") or number % 2 == 1):
                    def narrow(a, b, shape=shape, operand=operand, reference=reference):
                        exact = reference(shape, "f32", a.v, b.v)
                        return bounded.finish(operand, exact.v, exact.e, 1.0)

                    yield Case(f"convolution's gradient {form}, rounded", name, one(
                        operands, lambda f, a, b, shape=shape, operand=operand, write=write: rounded(
                            f, operand, "f32", write(f, shape, operand, "f32", a, b)), narrow))
