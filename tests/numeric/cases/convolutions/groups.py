# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions in groups of few channels, which are computed many groups at once: channels last and first, orders of the filters, groups
that fill no line, channels that fill no quad, borders, steps, dilations, one to three dimensions; alone and with what is computed from
their results. An infinity in one group stays there."""
import itertools
from dataclasses import dataclass

import numpy as np

import bounded
import elements
from cases.case import Case, argument, generator
from cases.products.contraction import body, map_text, one
from cases.movement import text

KINDS = (("bf16", "f32"), ("f16", "f32"), ("f32", "f32"))


@dataclass
class Groups:
    """order: letters of the image; of the filters, whose window is w (places: p)."""
    batch: int
    image: tuple
    groups: int
    channels: int
    results: int
    window: tuple
    stride: int = 1
    dilation: int = 1
    before: int = 0
    behind: int = None
    order: tuple = ("npgc", "gfwc")

    @property
    def out(self):
        around = self.before + (self.before if self.behind is None else self.behind)
        return [(size + around - self.dilation * (window - 1) - 1) // self.stride + 1 for size, window in zip(self.image, self.window)]

    def arranged(self, order, **parts):
        sizes = {"n": [self.batch], "g": [self.groups], "c": [self.channels], "f": [self.results], "p": self.image, "w": self.window, **parts}
        return [each for letter in order for each in sizes[letter]]

    @property
    def result_order(self):
        return self.order[0].replace("c", "f")


LAST, FIRST = ("npgc", "gfwc"), ("ngcp", "gfcw")
SHAPES = (
    Groups(2, (20, 17), 32, 4, 4, (3, 3), before=1),
    Groups(2, (14, 14), 16, 8, 8, (3, 3), before=1),
    Groups(2, (14, 14), 8, 16, 16, (3, 3), stride=2, before=1),
    Groups(3, (7, 7), 4, 32, 32, (3, 3), before=1),
    Groups(2, (15, 13), 32, 4, 4, (3, 3), before=1, order=FIRST),
    Groups(2, (14, 14), 6, 8, 16, (3, 3), stride=2, before=1, order=FIRST),
    # Groups that are no multiple of those of a block, channels that fill no quad, filters that fill no fragment.
    Groups(2, (9, 11), 7, 8, 8, (3, 3), before=1),
    Groups(1, (10, 9), 5, 3, 5, (3, 3), before=1),
    Groups(2, (8, 9), 3, 6, 12, (3, 2), before=1, order=("npgc", "gwcf")),
    Groups(2, (13, 12), 11, 1, 3, (3, 3), dilation=2, before=2),
    Groups(1, (12, 10), 3, 20, 40, (3, 3), order=FIRST),
    Groups(2, (12, 12), 2, 32, 64, (3, 3), dilation=2, before=2),
    Groups(2, (17, 16), 4, 8, 24, (5, 5), stride=2, before=2),
    # Patches that begin in the middle of an image, and end behind it.
    Groups(1, (61, 3), 2, 4, 8, (3, 3), before=1),
    Groups(1, (4, 150), 2, 4, 8, (1, 3), order=("npgc", "gfcw")),
    Groups(3, (101,), 8, 8, 8, (5,), before=2),
    Groups(1, (300,), 3, 12, 4, (3,), stride=3, order=FIRST),
    Groups(1, (5, 6, 7), 4, 8, 8, (3, 1, 3), before=1),
    Groups(2, (4, 5, 6), 3, 4, 4, (2, 3, 2), stride=2, before=1, order=FIRST),
    Groups(2, (9, 8), 8, 4, 4, (3, 3), before=0, behind=1, order=("gpnc", "gfwc")),
    # One channel of several filters, and so many multiplications that the image repeats its channels.
    Groups(4, (56, 40), 32, 1, 4, (3, 3), before=1),
    Groups(4, (40, 56), 24, 1, 2, (5, 5), before=2, order=FIRST),
    Groups(2, (12, 14, 15), 16, 1, 3, (3, 3, 3), before=1, order=("npgc", "gwcf")),
    Groups(3, (101,), 64, 1, 8, (31,), dilation=2, before=30, order=("npgc", "wgcf")),
    Groups(4, (60, 84), 64, 1, 2, (5, 5), stride=2, before=2),
)


# Channels for themselves, so many of them that a thread slides down a tile of results; channels last, and first.
EACH = (
    Groups(20, (5, 3), 2048, 1, 1, (5, 5), before=2, order=("npg", "wg")),
    Groups(20, (9, 5), 2048, 1, 1, (5, 5), stride=2, before=2, order=("npg", "wg")),
    Groups(20, (9, 3), 2048, 1, 1, (7, 3), before=1, order=("npg", "wg")),
    Groups(20, (9, 3), 2048, 1, 1, (5, 3), dilation=2, before=2, order=("npg", "wg")),
    Groups(20, (2, 8), 2048, 1, 1, (3, 3), before=1, order=("ngp", "gw")),
    Groups(7, (13, 12), 2048, 1, 1, (3, 3), stride=2, before=1, order=("ngp", "gw")),
    Groups(5, (9, 7), 1200, 1, 1, (3, 3), before=1, order=("ngp", "gw")),
    Groups(6, (8, 14), 1000, 1, 1, (3, 5), dilation=2, before=3, order=("ngp", "gw")),
    Groups(4, (5, 12), 2048, 1, 1, (3, 3), order=("ngp", "gw")),
)

# Channels for themselves that lie last: bands of filters on tensor cores. Pieces of one image and of several, tiles that blocks begin
# in the middle of, windows that leave the image altogether, channels that fill no block, four channels of a warp, windows of one row and
# of one column.
BANDS = (
    Groups(2, (13, 18), 24, 1, 1, (7, 7), before=3, order=("npg", "wg")),
    Groups(5, (7, 7), 72, 1, 1, (5, 5), before=2, order=("npg", "wg")),
    Groups(2, (15, 17), 40, 1, 1, (5, 5), stride=2, before=2, order=("npg", "wg")),
    Groups(1, (19, 23), 8, 1, 1, (5, 3), dilation=3, before=4, order=("npg", "wg")),
    Groups(2, (3, 60), 16, 1, 1, (1, 11), before=0, order=("npg", "wg")),
    Groups(1, (33, 4), 16, 1, 1, (13, 1), stride=3, order=("npg", "wg")),
    Groups(3, (41,), 8, 1, 1, (15,), before=9, order=("npg", "wg")),
    Groups(1, (20, 37), 16, 1, 1, (9, 9), before=4, order=("npg", "wg")),
    # Periods that meet nothing of an image, and results that do not.
    Groups(3, (14, 14), 40, 1, 1, (5, 5), before=2, order=("npg", "wg")),
    Groups(2, (6, 9), 16, 1, 1, (5, 5), before=9, order=("npg", "wg")),
    Groups(2, (28, 12), 104, 1, 1, (7, 7), before=3, order=("npg", "wg")),
    Groups(2, (9, 12), 16, 1, 1, (7, 5), stride=2, before=4, order=("npg", "wg")),
    # Rows of several tiles, and pieces of eight images.
    Groups(7, (12, 12), 24, 1, 1, (5, 5), before=2, order=("npg", "wg")),
    Groups(2, (8, 70), 40, 1, 1, (7, 7), before=3, order=("npg", "wg")),
    Groups(3, (11, 75), 8, 1, 1, (5, 5), stride=2, before=2, behind=1, order=("npg", "wg")),
)


# Channels for themselves that lie first, as whole planes in shared memory: planes and rows that begin at no word, blocks that are not
# full, tiles that begin in the one before, columns of several threads, no border, more on one side, windows that leave the image.
PLANES = (
    Groups(3, (7, 7), 33, 1, 1, (3, 3), before=1, order=("ngp", "gw")),
    Groups(2, (14, 14), 41, 1, 1, (3, 3), before=1, order=("ngp", "gw")),
    Groups(1, (14, 14), 40, 1, 1, (5, 5), stride=2, before=2, order=("ngp", "gw")),
    Groups(2, (13, 10), 21, 1, 1, (3, 5), dilation=2, before=3, order=("ngp", "gw")),
    Groups(2, (28, 28), 70, 1, 1, (3, 3), before=1, order=("ngp", "gw")),
    Groups(1, (20, 36), 23, 1, 1, (3, 3), stride=2, before=1, order=("ngp", "gw")),
    Groups(2, (9, 12), 13, 1, 1, (3, 3), order=("ngp", "gw")),
    Groups(2, (8, 16), 19, 1, 1, (5, 3), before=2, behind=0, order=("ngp", "gw")),
    Groups(3, (6, 9), 16, 1, 1, (5, 5), before=9, order=("ngp", "gw")),
    Groups(1, (11, 17), 300, 1, 1, (7, 7), before=3, order=("ngp", "gw")),
)


# Gradients by the image of channels for themselves, whose filters are turned around: windows that slide backwards, down columns and
# as bands, and zeros between the elements of an image, of which a tile knows which are some, or does not.
EACH_BY_IMAGE = (
    Groups(10, (2, 8), 2048, 1, 1, (3, 3), before=1, order=("ngp", "gw")),
    Groups(2, (7, 9), 24, 1, 1, (5, 5), before=2, order=("npg", "wg")),
    Groups(5, (8, 8), 2048, 1, 1, (3, 3), stride=2, before=1, order=("npg", "wg")),
    Groups(3, (9, 7), 40, 1, 1, (3, 3), stride=3, before=1, order=("npg", "wg")),
    Groups(20, (5, 3), 2048, 1, 1, (5, 5), before=2, order=("npg", "wg")),
    Groups(3, (6, 10), 33, 1, 1, (3, 5), stride=2, dilation=3, before=2, order=("ngp", "gw")),
)


def turned(f, operand, filters, order, rank):
    """Filters whose windows' last element comes first."""
    loops = [each for letter in order for each in ([f"w{i}" for i in range(rank)] if letter == "w" else [letter])]
    back = [f"{size - 1} - {loop}" if loop[0] == "w" else loop for loop, size in zip(loops, filters.shape)]
    kinds = ", ".join(['"parallel"'] * len(loops))
    return text(f, operand, list(filters.shape),
                f"{{r}} = linalg.generic {{{{indexing_maps = [{map_text(back, loops)}, {map_text(loops, loops)}], iterator_types = [{kinds}]}}}} "
                f"ins({{0}} : {{o[0]}}) outs({{1}} : {{o[1]}}) {{{{ ^bb0(%x: {operand}, %y: {operand}): linalg.yield %x : {operand} }}}} -> {{t}}",
                filters, f.fill(operand, list(filters.shape), 0))


def gradient_of(shape):
    """The convolution that the gradient by the image is, of the result's gradient with zeros around and between; where that begins."""
    wide = [size + shape.dilation * (window - 1) for size, window in zip(shape.image, shape.window)]
    before = [shape.dilation * (window - 1) - shape.before for window in shape.window]
    return Groups(shape.batch, wide, shape.groups, 1, 1, shape.window, dilation=shape.dilation, order=shape.order), before


def by_image(f, shape, operand, given, filters, by):
    made, before = gradient_of(shape)
    rank = len(shape.image)
    numbers = [", ".join(map(str, each)) for each in (
        [low for letter in shape.order[0] for low in (before if letter == "p" else [0])], given.shape,
        [step for letter in shape.order[0] for step in ([shape.stride] * rank if letter == "p" else [1])])]
    wide = made.arranged(shape.order[0])
    source = text(f, operand, wide, f"{{r}} = tensor.insert_slice {{0}} into {{1}}[{numbers[0]}] [{numbers[1]}] [{numbers[2]}] : "
                                    f"{{o[0]}} into {{o[1]}}", given, f.fill(operand, wide, 0))
    return convolve(f, made, operand, "f32", source, turned(f, operand, filters, shape.order[1], rank), by)


def summed_by_image(shape, given, filters):
    made, before = gradient_of(shape)
    rank = len(shape.image)
    wide = np.zeros(made.arranged(shape.order[0]))
    begins = iter(before)
    spread = lambda letters, several: [each for letter in letters for each in letter * (rank if letter == several else 1)]
    wide[tuple(slice(low, low + (size - 1) * step + 1, step) for letter, size in zip(spread(shape.order[0], "p"), given.shape)
               for low, step in [(next(begins), shape.stride) if letter == "p" else (0, 1)])] = given
    return convolved(made, wide, np.flip(filters, [axis for axis, letter in enumerate(spread(shape.order[1], "w")) if letter == "w"]))


def convolve(f, shape, operand, result, image, filters, by=None):
    pin = f"attrs = {{{{tenon.tile = {{{{by = \"{by}\"}}}}}}}} " if by else ""
    rank, images = len(shape.image), image.shape[len(shape.arranged(shape.order[0].split("n")[0]))]
    if shape.before or shape.behind:
        behind = shape.before if shape.behind is None else shape.behind
        image = f.pad(image, *([size * (letter == "p") for letter in shape.order[0] for size in ([low] * rank if letter == "p" else [0])]
                               for low in (shape.before, behind)), 0)
    places, windows = [f"y{i}" for i in range(rank)], [f"w{i}" for i in range(rank)]
    over = [each for letter in shape.result_order for each in (places if letter == "p" else [letter])]
    summed = windows + ["c"] * ("c" in shape.order[0])
    loops = over + summed
    letters = {letter: [letter] for letter in "ngcf"}
    read = shape.arranged(shape.order[0], **letters, p=[f"{y} * {shape.stride} + {w} * {shape.dilation}" for y, w in zip(places, windows)])
    maps = [map_text(read, loops), map_text(shape.arranged(shape.order[1], **letters, w=windows), loops),
            map_text(shape.arranged(shape.result_order, **letters, p=places), loops)]
    kinds = ", ".join(['"parallel"'] * len(over) + ['"reduction"'] * len(summed))
    sizes = shape.arranged(shape.result_order, n=[images], p=shape.out)
    return text(f, result, sizes,
                f"{{r}} = linalg.generic {{{{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}}} ins({{0}}, {{1}} : {{o[0]}}, "
                f"{{o[1]}}) outs({{2}} : {{o[2]}}) {pin}{{{{ ^bb0(%x: {operand}, %y: {operand}, %s: {result}): {body(operand, result)} }}}} "
                f"-> {{t}}", image, filters, f.fill(result, sizes, 0))


# Gradients by the filters: channels and filters of a group, or of channels for themselves; some of so many places that parts are summed.
BY_FILTERS = (
    Groups(2, (14, 14), 8, 4, 4, (3, 3), before=1),
    Groups(3, (9, 11), 5, 6, 7, (3, 3), stride=2, before=1),
    Groups(2, (12, 10), 4, 8, 16, (3, 3), before=1, order=FIRST),
    Groups(4, (30, 28), 24, 1, 1, (3, 3), before=1, order=("npg", "wg")),
    Groups(3, (21, 17), 13, 1, 1, (5, 5), stride=2, before=2, order=("npg", "wg")),
    Groups(2, (26, 25), 6, 1, 1, (3, 3), before=1, order=("ngp", "gw")),
    Groups(2, (200,), 8, 1, 1, (7,), dilation=2, before=3, order=("npg", "wg")),
    # Powers of two: tensor cores sum over places. Lines of several groups, groups of several fragments, the last line not full.
    Groups(2, (14, 14), 32, 4, 4, (3, 3), before=1),
    Groups(3, (13, 17), 8, 8, 8, (3, 3), before=1),
    Groups(2, (14, 14), 8, 16, 16, (3, 3), stride=2, before=1),
    Groups(5, (7, 7), 3, 32, 32, (3, 3), before=1),
    Groups(2, (9, 10), 6, 4, 16, (3, 3), dilation=2, before=2, order=FIRST),
    Groups(1, (11, 12), 5, 32, 8, (3, 2), before=1, order=("npgc", "gwcf")),
    Groups(2, (19, 6), 3, 8, 64, (5, 5), stride=2, before=2),
    Groups(2, (6, 30), 7, 16, 4, (1, 3), stride=3, order=FIRST),
    Groups(3, (67,), 2, 4, 32, (5,), before=1),
    Groups(1, (5, 6, 7), 4, 8, 8, (3, 1, 3), before=1),
    Groups(16, (12, 12), 2, 16, 32, (3, 3), before=1, order=FIRST),
    # Parts of images of which patches would have more than there are, in tensors of six dimensions.
    Groups(16, (17, 17), 4, 24, 16, (5, 5), before=2),
    Groups(2, (8, 9), 5, 8, 4, (3, 3), before=1, order=("gpnc", "gfwc")),
)

# Channels for themselves that lie last: patches of several lines and places, a border wider than the window, places that no window meets,
# more channels than a block has, a number of them that is odd, windows of as many places as a thread has registers for.
CHANNELS_BY_FILTERS = (
    Groups(2, (12, 16), 34, 1, 1, (3, 3), before=1, order=("npg", "wg")),
    Groups(3, (9, 14), 20, 1, 1, (3, 5), dilation=2, before=5, order=("npg", "wg")),
    Groups(2, (13, 15), 6, 1, 1, (7, 7), stride=3, before=2, order=("npg", "wg")),
    Groups(2, (7, 7), 530, 1, 1, (3, 3), before=1, order=("npg", "wg")),
    Groups(3, (10, 10), 9, 1, 1, (2, 2), stride=4, order=("npg", "wg")),
    Groups(2, (5, 8, 8), 12, 1, 1, (1, 3, 3), before=1, order=("npg", "wg")),
    # So many channels that lie first that they are brought last.
    Groups(6, (15, 17), 350, 1, 1, (3, 3), before=1, order=("ngp", "gw")),
)


def by_filters(f, shape, operand, image, given):
    rank = len(shape.image)
    image = f.pad(image, *[[low for letter in shape.order[0] for low in ([shape.before] * rank if letter == "p" else [0])]] * 2, 0)
    places, windows = [f"y{i}" for i in range(rank)], [f"w{i}" for i in range(rank)]
    letters = {letter: [letter] for letter in "ngcf"}
    over = shape.arranged(shape.order[1], **letters, w=windows)
    loops = over + ["n", *places]
    read = shape.arranged(shape.order[0], **letters, p=[f"{y} * {shape.stride} + {w} * {shape.dilation}" for y, w in zip(places, windows)])
    maps = [map_text(each, loops) for each in (read, shape.arranged(shape.result_order, **letters, p=places), over)]
    kinds = ", ".join(['"parallel"'] * len(over) + ['"reduction"'] * (rank + 1))
    sizes = shape.arranged(shape.order[1])
    return text(f, "f32", sizes,
                f"{{r}} = linalg.generic {{{{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}}} ins({{0}}, {{1}} : {{o[0]}}, "
                f"{{o[1]}}) outs({{2}} : {{o[2]}}) {{{{ ^bb0(%x: {operand}, %y: {operand}, %s: f32): {body(operand, 'f32')} }}}} "
                f"-> {{t}}", image, given, f.fill("f32", sizes, 0))


def summed_by_filters(shape, image, given):
    rank = len(shape.image)
    whole = "c" in shape.order[0]
    image = arrange(image, shape.order[0], "npgc" if whole else "npg", rank).reshape(shape.arranged("npgc"))
    given = arrange(given, shape.result_order, "npgf" if whole else "npg", rank).reshape(shape.arranged("npgf", p=shape.out))
    image = np.pad(image, [(0, 0), *[(shape.before, shape.before)] * rank, (0, 0), (0, 0)])
    total = np.zeros(shape.arranged("wgfc"))
    size = total.copy()
    for window in itertools.product(*map(range, shape.window)):
        part = image[(slice(None), *(slice(w * shape.dilation, w * shape.dilation + (out - 1) * shape.stride + 1, shape.stride)
                                     for w, out in zip(window, shape.out)))].reshape(-1, shape.groups, shape.channels)
        flat = given.reshape(-1, shape.groups, shape.results)
        total[window] = np.einsum("pgf,pgc->gfc", flat, part)
        size[window] = np.einsum("pgf,pgc->gfc", np.abs(flat), np.abs(part))
    if not whole:
        total, size = total[..., 0, 0], size[..., 0, 0]
    total, size = (arrange(each, "wgfc" if whole else "wg", shape.order[1], rank) for each in (total, size))
    terms = shape.batch * int(np.prod(shape.out))
    return bounded.finish("f32", total, (terms + 2) * elements.EPS["f32"] * size, 1.0)


def arrange(array, order, wanted, rank):
    """Axes of the letters of `order`, where p and w are several, as `wanted` has them."""
    spread = lambda letters: [(letter, i) for letter in letters for i in range(rank if letter in "pw" else 1)]
    return np.transpose(array, [spread(order).index(each) for each in spread(wanted)])


def convolved(shape, image, filters):
    rank = len(shape.image)
    if "c" not in shape.order[0]:  # each channel for itself
        whole = Groups(**{**shape.__dict__, "order": LAST})
        found = convolved(whole, arrange(image, shape.order[0], "npg", rank)[..., None], arrange(filters, shape.order[1], "gw", rank)[:, None, ..., None])
        return type(found)(found.kind, *(arrange(each[..., 0], "npg", shape.order[0], rank) for each in (found.v, found.e)))
    image, filters = arrange(image, shape.order[0], "npgc", rank), arrange(filters, shape.order[1], "wgcf", rank)
    behind = shape.before if shape.behind is None else shape.behind
    image = np.pad(image, [(0, 0), *[(shape.before, behind)] * rank, (0, 0), (0, 0)])
    total, size = 0, 0
    for window in itertools.product(*map(range, shape.window)):
        part = image[(slice(None), *(slice(w * shape.dilation, w * shape.dilation + (out - 1) * shape.stride + 1, shape.stride)
                                     for w, out in zip(window, shape.out)))]
        with np.errstate(invalid="ignore"):
            total = total + (part[..., None, :] @ filters[window])[..., 0, :]
            size = size + (np.abs(part)[..., None, :] @ np.abs(filters[window]))[..., 0, :]
    total, size = (arrange(each, "npgf", shape.result_order, rank) for each in (total, size))
    terms = shape.channels * int(np.prod(shape.window))
    return bounded.finish("f32", total, (terms + 2) * elements.EPS["f32"] * size, 1.0)


def rounded(f, shape, operand, image, filters, by=None):
    """The convolution, rounded to the operands' type."""
    sums = convolve(f, shape, operand, "f32", image, filters, by=by)
    loops = [f"d{i}" for i in range(len(sums.shape))]
    identity, kinds = map_text(loops, loops), ", ".join(['"parallel"'] * len(loops))
    return text(f, operand, list(sums.shape),
                f"{{r}} = linalg.generic {{{{indexing_maps = [{identity}, {identity}], iterator_types = [{kinds}]}}}} "
                f"ins({{0}} : {{o[0]}}) outs({{1}} : {{o[1]}}) {{{{ ^bb0(%x: f32, %z: {operand}): %n = arith.truncf %x : f32 to {operand} "
                f"linalg.yield %n : {operand} }}}} -> {{t}}", sums, f.fill(operand, list(sums.shape), 0))


def activated(f, shape, operand, image, filters, bias, by=None):
    """relu(convolution + bias of the filter), rounded to the operands' type."""
    sums = convolve(f, shape, operand, "f32", image, filters, by=by)
    loops = [f"d{i}" for i in range(len(sums.shape))]
    spread = shape.arranged(shape.result_order, n="n", g="g", f="f", p="p" * len(shape.image))
    last = map_text([loops[spread.index(letter)] for letter in "gf" if letter in spread], loops)
    identity = map_text(loops, loops)
    widen = "" if operand == "f32" else f"%n = arith.truncf %m : f32 to {operand} "
    return text(f, operand, list(sums.shape),
                f"{{r}} = linalg.generic {{{{indexing_maps = [{identity}, {last}, {identity}], iterator_types = "
                f"[{', '.join([chr(34) + 'parallel' + chr(34)] * len(loops))}]}}}} ins({{0}}, {{1}} : {{o[0]}}, {{o[1]}}) outs({{2}} : {{o[2]}}) "
                f"{{{{ ^bb0(%x: f32, %y: f32, %z: {operand}): %b = arith.addf %x, %y : f32 %c = arith.constant 0.0 : f32 "
                f"%m = arith.maximumf %b, %c : f32 {widen}linalg.yield {'%m' if operand == 'f32' else '%n'} : {operand} }}}} "
                f"-> {{t}}", sums, bias, f.fill(operand, list(sums.shape), 0))


def as_narrow(operand, exact, bias=None):
    """What rounded() or, with a bias for each channel of the last dimension, activated() makes of a convolution."""
    if bias is None:
        return bounded.finish(operand, exact.v, exact.e, 1.0)
    with np.errstate(invalid="ignore"):
        return bounded.finish(operand, np.maximum(exact.v + bias, 0), exact.e + 4 * elements.EPS["f32"] * np.abs(bias), 1.0)


def cases(sizes):
    whole = len(sizes) > 1
    for kind, (operand, result) in enumerate(KINDS):
        for number, shape in enumerate(BY_FILTERS):
            if not whole and number % len(KINDS) != kind and (kind == 2 or number < 7 or number % 2 != kind):
                continue
            random = generator("groups by filters", operand, number)
            image, given = (argument(operand, elements.draw(random, operand, extents, -2, 2))
                            for extents in (shape.arranged(shape.order[0]), shape.arranged(shape.result_order, p=shape.out)))
            if number in (8, 9) and kind < 2:
                # Of a group's neighbours, and of places behind the last, nothing is met.
                image.data[1, 5, 6, 3, 1] = image.data[1, -1, -1, 2, 0] = np.inf
            yield Case("convolution in groups, by filters", operand if operand == result else f"{operand} to {result}", one(
                [image, given], lambda f, a, b, shape=shape, operand=operand: by_filters(f, shape, operand, a, b),
                lambda a, b, shape=shape: summed_by_filters(shape, a.v, b.v)))
        for number, shape in enumerate(CHANNELS_BY_FILTERS):
            if not whole and number % len(KINDS) != kind:
                continue
            random = generator("channels by filters", operand, number)
            image, given = (argument(operand, elements.draw(random, operand, extents, -2, 2))
                            for extents in (shape.arranged(shape.order[0]), shape.arranged(shape.result_order, p=shape.out)))
            yield Case("convolution of each channel, by filters", operand if operand == result else f"{operand} to {result}", one(
                [image, given], lambda f, a, b, shape=shape, operand=operand: by_filters(f, shape, operand, a, b),
                lambda a, b, shape=shape: summed_by_filters(shape, a.v, b.v)))
        for number, shape in enumerate(EACH):
            if not whole and number % len(KINDS) != kind:
                continue
            random = generator("channels for themselves", operand, number)
            image, filters = (argument(operand, elements.draw(random, operand, extents, -2, 2))
                              for extents in (shape.arranged(shape.order[0]), shape.arranged(shape.order[1])))
            yield Case("convolution of each channel", operand if operand == result else f"{operand} to {result}", one(
                [image, filters], lambda f, a, b, shape=shape, operand=operand: convolve(f, shape, operand, "f32", a, b),
                lambda a, b, shape=shape: convolved(shape, a.v, b.v)))
        for number, shape in enumerate(EACH_BY_IMAGE):
            if not whole and number % len(KINDS) != kind:
                continue
            random = generator("channels by image", operand, number)
            given, filters = (argument(operand, elements.draw(random, operand, extents, -2, 2))
                              for extents in (shape.arranged(shape.order[0], p=shape.out), shape.arranged(shape.order[1])))
            by = "bands" if number == 1 and operand != "f32" else None
            yield Case("convolution of each channel, by image", operand if operand == result else f"{operand} to {result}", one(
                [given, filters], lambda f, a, b, shape=shape, operand=operand, by=by: by_image(f, shape, operand, a, b, by),
                lambda a, b, shape=shape: summed_by_image(shape, a.v, b.v)))
        for number, shape in enumerate(BANDS[:0 if operand == "f32" else None]):
            if not whole and number % 2 != kind:
                continue
            random = generator("bands", operand, number)
            image, filters = (argument(operand, elements.draw(random, operand, extents, -2, 2))
                              for extents in (shape.arranged(shape.order[0]), shape.arranged(shape.order[1])))
            # Of what is beside a window nothing is met.
            infinite = argument(operand, image.data.copy())
            for i, value in enumerate((np.inf, -np.inf, np.nan)):
                infinite.data[(0, *(size * (i + 1) // 4 for size in shape.image), 3 * i)] = value
            unknown = argument(operand, infinite.data, [True] + [False] * (infinite.data.ndim - 1))
            for name, given in (("", image), (", an infinity", infinite), (", unknown images", unknown)):
                yield Case("convolution by bands" + name, f"{operand} to {result}", one(
                    [given, filters], lambda f, a, b, shape=shape, operand=operand: convolve(f, shape, operand, "f32", a, b, by="bands"),
                    lambda a, b, shape=shape: convolved(shape, a.v, b.v)))
                # What is stored is rounded.
                yield Case("convolution by bands, rounded" + name, operand, one(
                    [given, filters], lambda f, a, b, shape=shape, operand=operand: rounded(f, shape, operand, a, b, by="bands"),
                    lambda a, b, shape=shape, operand=operand: as_narrow(operand, convolved(shape, a.v, b.v))))
            bias = argument("f32", elements.draw(random, "f32", (shape.groups, 1))[..., 0])
            yield Case("convolution by bands, bias, relu", operand, one(
                [infinite, filters, bias],
                lambda f, a, b, c, shape=shape, operand=operand: activated(f, shape, operand, a, b, c, by="bands"),
                lambda a, b, c, shape=shape, operand=operand: as_narrow(operand, convolved(shape, a.v, b.v), c.v)))
        for number, shape in enumerate(PLANES):
            if not whole and number % len(KINDS) != kind:
                continue
            random = generator("planes", operand, number)
            image, filters = (argument(operand, elements.draw(random, operand, extents, -2, 2))
                              for extents in (shape.arranged(shape.order[0]), shape.arranged(shape.order[1])))
            infinite = argument(operand, image.data.copy())
            for i, value in enumerate((np.inf, -np.inf, np.nan)):
                infinite.data[(0, 3 * i, *(size * (i + 1) // 4 for size in shape.image))] = value
            unknown = argument(operand, infinite.data, [True] + [False] * (infinite.data.ndim - 1))
            for name, given in (("", image), (", an infinity", infinite), (", unknown images", unknown)):
                yield Case("convolution by planes" + name, operand if operand == result else f"{operand} to {result}", one(
                    [given, filters], lambda f, a, b, shape=shape, operand=operand: convolve(f, shape, operand, "f32", a, b, by="planes"),
                    lambda a, b, shape=shape: convolved(shape, a.v, b.v)))
            bias = argument("f32", elements.draw(random, "f32", (shape.groups, 1))[..., 0])
            if operand != "f32":
                yield Case("convolution by planes, bias, relu", operand, one(
                    [image, filters, bias],
                    lambda f, a, b, c, shape=shape, operand=operand: activated(f, shape, operand, a, b, c, by="planes"),
                    lambda a, b, c, shape=shape, operand=operand: as_narrow(operand, convolved(shape, a.v, b.v), c.v.reshape(-1, 1, 1))))
        for number, shape in enumerate(SHAPES):
            if not whole and number % len(KINDS) != kind and not (kind == 0 and number < 6):
                continue
            random = generator("groups", operand, number)
            image, filters = (argument(operand, elements.draw(random, operand, extents, -2, 2))
                              for extents in (shape.arranged(shape.order[0]), shape.arranged(shape.order[1])))
            name = operand if operand == result else f"{operand} to {result}"
            yield Case("convolution in groups", name, one(
                [image, filters], lambda f, a, b, shape=shape, operand=operand: convolve(f, shape, operand, "f32", a, b),
                lambda a, b, shape=shape: convolved(shape, a.v, b.v)))
            if number in (0, 1) and kind < 2:
                # Of a group's neighbours in a tile every element stays what it is.
                infinite = elements.draw(random, operand, shape.arranged(shape.order[0]), -2, 2)
                infinite[0, 5, 6, 3, 0] = np.inf
                yield Case("convolution in groups, an infinity", name, one(
                    [argument(operand, infinite), filters],
                    lambda f, a, b, shape=shape, operand=operand: convolve(f, shape, operand, "f32", a, b),
                    lambda a, b, shape=shape: convolved(shape, a.v, b.v)))
            if number in (0, 5, 7):
                bias = argument("f32", elements.draw(random, "f32", (shape.groups, shape.results)))

                def evaluate(a, b, c, shape=shape, operand=operand):
                    exact = convolved(shape, a.v, b.v)
                    spread = c.v.reshape([size if letter in "gf" else 1 for letter, size in zip(
                        shape.arranged(shape.result_order, n="n", g="g", f="f", p="p" * len(shape.image)),
                        shape.arranged(shape.result_order, p=shape.out))])
                    return bounded.finish(operand, np.maximum(exact.v + spread, 0), exact.e + 4 * elements.EPS["f32"] * np.abs(spread), 1.0)

                yield Case("convolution in groups, bias, relu", name, one(
                    [image, filters, bias],
                    lambda f, a, b, c, shape=shape, operand=operand: activated(f, shape, operand, a, b, c), evaluate))
