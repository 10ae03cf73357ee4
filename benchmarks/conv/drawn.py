# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions that are drawn from a seed: of any rank, layout, window, steps, dilation, groups and border, forward and backward.

layout: nchw (filters [k, c, y, x]), nhwc ([k, y, x, c]) or hwcf (images nhwc, filters [y, x, c, k]). In groups, a group's channels and filters are
dimensions of their own, groups in front of them. multiplier: each channel for itself, so many results of each.
A name says all of a case, and is read back by case_of().
"""
import dataclasses
import math
import random
import re

PLACES, WINDOW = "dhw", "zyx"
BYTES = {"bf16": 2, "f16": 2, "f32": 4, "tf32": 4, "i8": 1}


@dataclasses.dataclass(frozen=True)
class Drawn:
    kind: str
    layout: str
    gradient: str  # "", "data" or "filter"
    batch: int
    groups: int
    channels: int  # of a group; 1: depthwise, where groups are more than one
    filters: int  # of a group
    sizes: tuple
    windows: tuple
    steps: tuple
    dilations: tuple
    around: tuple

    def name(self):
        words = ["x".join(map(str, each)) for each in (self.sizes, self.windows, self.steps, self.dilations, self.around)]
        return f"{self.kind}_{self.layout}_{self.gradient or 'forward'}_n{self.batch}_g{self.groups}_c{self.channels}_k{self.filters}_i{words[0]}_w{words[1]}_s{words[2]}_d{words[3]}_p{words[4]}"

    def flags(self):
        return ["--f32-products=tf32"] if self.kind == "tf32" else []

    def element(self):
        return "f32" if self.kind == "tf32" else self.kind

    def extents(self):
        return [dilation * (window - 1) + 1 for window, dilation in zip(self.windows, self.dilations)]

    def result_sizes(self):
        return [(size + 2 * around - extent) // step + 1
                for size, around, extent, step in zip(self.sizes, self.around, self.extents(), self.steps)]

    @property
    def is_depthwise(self):
        return self.groups > 1 and self.channels == 1

    def letters(self):
        """Of the image, the filters and the result."""
        places, window = PLACES[-len(self.sizes):], WINDOW[-len(self.sizes):]
        g = "g" if self.groups > 1 else ""
        c, k = "" if self.is_depthwise else "c", "" if self.is_depthwise and self.filters == 1 else "k"
        if self.layout == "nchw":
            return "n" + g + c + places, g + k + c + window, "n" + g + k + places
        filters = g + k + window + c if self.layout == "nhwc" and c else window + (c + g if c else g) + k
        return "n" + places + g + c, filters, "n" + places + g + k

    def shape(self, letters, of_result=False):
        sizes = {"n": self.batch, "g": self.groups, "c": self.channels, "k": self.filters}
        sizes |= zip(WINDOW[-len(self.sizes):], self.windows)
        sizes |= zip(PLACES[-len(self.sizes):], self.result_sizes() if of_result else self.sizes)
        return tuple(sizes[letter] for letter in letters)

    def three(self):
        """Shapes of the image, the filters and the result."""
        image, filters, result = self.letters()
        return self.shape(image), self.shape(filters), self.shape(result, True)

    def shapes(self):
        """Of what is given."""
        image, filters, result = self.three()
        return {"": [image, filters], "data": [result, filters], "filter": [image, result]}[self.gradient]

    def operations(self):
        return 2 * math.prod(self.three()[2]) * math.prod(self.windows) * self.channels

    def bytes(self):
        return BYTES[self.kind] * sum(map(math.prod, self.three()))


def case_of(name):
    kind, layout, way, rest = name.split("_", 3)
    numbers = [tuple(map(int, each.split("x"))) for each in re.findall(r"[a-z]([\dx]+)", rest)]
    return Drawn(kind, layout, "" if way == "forward" else way, *(each[0] for each in numbers[:4]), *numbers[4:])


def draw(pick):
    """One, or nothing where it would be too large, too small, or has no result."""
    kind = pick(("bf16",) * 6 + ("f32",) * 6 + ("tf32",) * 4 + ("f16",) * 2 + ("i8",) * 2)
    gradient = "" if kind == "i8" else pick(("", "", "", "data", "data", "filter", "filter"))
    layout = pick(("nchw", "nchw", "nhwc", "nhwc", "hwcf"))
    rank = pick((2, 2, 2, 2, 2, 2, 1, 3))
    counts = (1, 3, 4, 12, 16, 17, 32, 33, 48, 64, 96, 128, 200, 256, 512, 1000)
    groups = pick((1,) * 8 + (2, 4, 32, 0))
    if groups:
        channels, filters = pick(counts), pick(counts)
        if groups > 1:
            channels, filters = max(2, channels // groups), max(1, filters // groups)
    else:
        groups, channels, filters = pick((16, 32, 48, 96, 200, 512, 1000)), 1, pick((1, 1, 1, 2))
    largest = {1: 4096, 2: 512, 3: 64}[rank]
    all_sizes = [size for size in (7, 8, 13, 14, 16, 17, 23, 28, 31, 32, 37, 56, 64, 75, 101, 112, 127, 128, 200, 224, 256, 300, 512, 1000, 2048, 4096) if size <= largest]
    size = pick(all_sizes)
    sizes = (size,) * rank if pick((0, 0, 1)) == 0 else tuple(pick(all_sizes) for _ in range(rank))
    window = pick((1, 1, 2, 3, 3, 3, 3, 3, 4, 5, 7, 11, 31) if rank < 3 else (1, 2, 3, 3, 3, 5))
    windows = (window,) * rank
    if rank == 2 and pick(range(8)) == 0:
        windows = (1, window) if pick((0, 1)) else (window, 1)
    step = pick((1, 1, 1, 1, 2, 2, 3, 4))
    steps = tuple(step if each > 1 or windows == (1,) * rank else 1 for each in windows)
    dilation = pick((1, 1, 1, 1, 1, 1, 2, 3, 4)) if window > 1 and step == 1 else 1
    dilations = tuple(dilation if each > 1 else 1 for each in windows)
    border = pick(("same", "same", "same", "none", "large"))
    extents = [d * (w - 1) + 1 for d, w in zip(dilations, windows)]
    around = tuple(0 if border == "none" else extent // 2 if border == "same" else min(extent - 1, extent // 2 + 1) for extent in extents)
    case = Drawn(kind, layout, gradient, pick((1, 1, 2, 3, 8, 8, 16, 32, 64)), groups, channels, filters, sizes, windows, steps, dilations, around)
    if min(case.result_sizes()) < 1:
        return None
    most = {"f32": 1.5e10}.get(kind, 8e10)
    return case if 3e7 <= case.operations() <= most and 2e5 <= case.bytes() <= 1.5e8 else None


def drawn(seed, count):
    generator = random.Random(seed)
    cases = {}
    while len(cases) < count:
        case = draw(lambda values: values[generator.randrange(len(values))])
        if case:
            cases[case.name()] = case
    return list(cases.values())
