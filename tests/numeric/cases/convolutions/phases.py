# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients by the image of convolutions that take steps, of a result's gradient with an infinity and a NaN: each is met by the results
whose windows have it, and by no other. The same programs are transposed convolutions."""
import numpy as np

import bounded
import elements
from cases.case import Case, argument, generator
from cases.products.contraction import one
from cases.convolutions.forward import Shape
from cases.convolutions.gradients import by_image, image_gradient, image_sums, rounded
from elements import is_float

KINDS = (("bf16", "f32"), ("f16", "f32"), ("f32", "f32"), ("i8", "i32"))

# So many multiplications, those of zeros among them, that phases are computed for themselves. Few of them first.
SHAPES = (
    Shape(1, (9, 9, 9), 64, (3, 3, 3), 64, stride=3, before=1, order="fwc"),
    Shape(2, (19, 22), 64, (3, 3), 72, stride=2, before=1),
    Shape(5, (24, 24), 64, (2, 5), 72, stride=4, before=(0, 1), behind=(0, 0)),
    Shape(3, (28, 28), 72, (5, 5), 40, stride=4, before=2, behind=(2, 2), order="fwc"),
    Shape(2, (24, 24), 40, (7, 7), 32, stride=4, before=3, behind=(2, 2), order="fcw"),
    # Windows that are smaller than steps: results that meet nothing.
    Shape(4, (33, 33), 64, (2, 2), 64, stride=3, order="fwc"),
    Shape(4, (33, 33), 64, (2, 1), 136, stride=3),
    Shape(16, (24, 24), 64, (1, 1), 136, stride=2, order="fwc"),
    Shape(16, (24, 24), 64, (1, 1), 136, stride=2, order="fcw"),
    Shape(11, (27, 29), 72, (1, 1), 64, stride=2, order="fcw"),
    Shape(3, (37, 25), 136, (1, 1), 72, stride=3, order="fcw"),
    # Every window, steps of two and three.
    Shape(2, (32, 32), 64, (3, 3), 64, stride=2, before=1, behind=(0, 0), order="fwc"),
    Shape(2, (32, 32), 64, (3, 3), 64, stride=2, before=1, behind=(0, 0), order="fcw"),
    Shape(1, (22, 20), 72, (7, 7), 64, stride=2, before=3, behind=(2, 2)),
    Shape(2, (30, 20), 40, (6, 6), 48, stride=2, before=2, behind=(2, 2), order="fwc"),
    Shape(2, (24, 26), 64, (5, 5), 64, stride=2, before=1, behind=(2, 2), order="fcw"),
    Shape(3, (24, 26), 64, (4, 4), 64, stride=2, before=1, order="fwc"),
    Shape(5, (24, 26), 136, (3, 3), 64, stride=2, before=1, behind=(0, 0)),
    Shape(8, (24, 26), 64, (2, 2), 64, stride=2, order="fwc"),
    Shape(2, (27, 27), 64, (5, 5), 64, stride=3, before=2, order="fwc"),
    Shape(2, (27, 30), 64, (4, 4), 64, stride=3, before=1, order="fcw"),
    Shape(3, (27, 27), 64, (3, 3), 64, stride=3, dilation=2, before=2),
    Shape(3, (28, 28), 64, (3, 3), 64, stride=2, dilation=3, before=3, behind=(2, 2), order="fwc"),
    Shape(3, (28, 28), 64, (3, 3), 64, stride=2, dilation=2, before=2, behind=(1, 1)),
    Shape(4, (1200,), 64, (7,), 64, stride=2, before=3, order="fwc"),
    Shape(4, (1200,), 64, (4,), 64, stride=3, before=1),
    Shape(2, (8, 10, 8), 64, (3, 3, 3), 64, stride=2, before=1, behind=(0, 0, 0)),
    Shape(2, (8, 10, 8), 64, (3, 1, 3), 128, stride=2, before=(1, 0, 1), behind=(0, 0, 0), order="fwc"),
    # Results that are no whole groups of phases, of the last of which one is there, or all but one.
    Shape(2, (27, 25), 64, (3, 3), 64, stride=2, before=1, order="fwc"),
    Shape(2, (27, 32), 64, (3, 3), 128, stride=2, before=1, order="fcw"),
    Shape(2, (23, 26), 72, (5, 5), 136, stride=4, before=2),
    Shape(3, (25, 23), 64, (2, 2), 64, stride=3),
    Shape(1, (9, 11, 8), 72, (3, 3, 3), 64, stride=2, before=1, order="fwc"),
    Shape(4, (1201,), 40, (7,), 64, stride=4, before=3, order="fcw"),
    Shape(1, (75, 75), 1, (7, 7), 200, stride=4, before=4, order="fwc"),
    # Few channels on either side.
    Shape(4, (60, 60), 3, (7, 7), 64, stride=2, before=3, behind=(2, 2), order="fwc"),
    Shape(8, (60, 60), 64, (5, 5), 4, stride=2, before=2, behind=(1, 1), order="fwc"),
    Shape(8, (60, 60), 64, (3, 3), 8, stride=2, before=1, behind=(0, 0), order="fcw"),
)


def drawn(kind, number, shape):
    random = generator("phases", kind, number)
    low, high = (-2, 2) if is_float(kind) else (-100, 100)
    of = "bf16" if kind == "f32" else kind  # tf32 holds them, too
    filters = elements.draw(random, of, shape.filter_shape(), low, high)
    given = elements.draw(random, of, shape.placed(shape.batch, shape.results, shape.out), low, high)
    if is_float(kind):
        filters = np.where(filters == 0, 1, filters)  # an infinity times 0 is a NaN where it is met
        places = random.choice(given.size, 2, replace=False)
        given.reshape(-1)[places] = np.inf, np.nan
    return argument(kind, given), argument(kind, filters)


def cases(sizes):
    whole = len(sizes) > 1
    for number, shape in enumerate(SHAPES):
        for place, (operand, result) in enumerate(KINDS):
            if not whole and (number > 4 or place != number % 4):
                continue
            given, filters = drawn(operand, number, shape)
            narrow = is_float(operand) and operand != result and number % 2 == 0  # as it is, or rounded

            def write(f, a, b, shape=shape, operand=operand, result=result, narrow=narrow):
                made = by_image(f, shape, operand, result, a, b)
                return rounded(f, operand, result, made) if narrow else made

            def reference(a, b, shape=shape, operand=operand, result=result, narrow=narrow):
                with np.errstate(all="ignore"):
                    exact = image_gradient(shape, result, a, b)
                    return bounded.finish(operand, exact.v, exact.e, 1.0) if narrow else exact

            yield Case("convolution's gradient by the image, of an infinity and a NaN", operand,
                       one([given, filters], write, lambda a, b, reference=reference: reference(a.v, b.v)),
                       raw=lambda a, b, shape=shape: image_sums(shape, a, b)[0])
