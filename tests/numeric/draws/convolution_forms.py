# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random convolutions in every form that programs have them in: named operations of linalg, sums of products in any order of
dimensions, TOSA; groups, strides, dilations, borders, transposed ones; sizes that are known and that are not; zero points; what is
computed from the results. Each is a program for the fuzzer, with a reference that NumPy computes from its definition.

Letters name dimensions: n images, g groups, c channels of a group, f filters of a group, d h w places, z y x places of the window.
"""
import itertools

import numpy as np

import bounded
import elements
from bounded import Bounded
from draws.convolution_programs import PLACES, WINDOW, Written
from elements import is_float

# name: image, filters, result; of channels for themselves the channels are groups.
NAMED = {
    "conv_1d": ("w", "x", "w"), "conv_2d": ("hw", "yx", "hw"), "conv_3d": ("dhw", "zyx", "dhw"),
    "conv_1d_nwc_wcf": ("nwc", "xcf", "nwf"), "conv_1d_ncw_fcw": ("ncw", "fcx", "nfw"),
    "conv_2d_nhwc_hwcf": ("nhwc", "yxcf", "nhwf"), "conv_2d_nhwc_fhwc": ("nhwc", "fyxc", "nhwf"),
    "conv_2d_nchw_fchw": ("nchw", "fcyx", "nfhw"), "conv_2d_ngchw_fgchw": ("ngchw", "fgcyx", "ngfhw"),
    "conv_2d_ngchw_gfchw": ("ngchw", "gfcyx", "ngfhw"), "conv_2d_nhwgc_gfhwc": ("nhwgc", "gfyxc", "nhwgf"),
    "conv_3d_ndhwc_dhwcf": ("ndhwc", "zyxcf", "ndhwf"), "conv_3d_ncdhw_fcdhw": ("ncdhw", "fczyx", "nfdhw"),
    "depthwise_conv_1d_nwc_wc": ("nwg", "xg", "nwg"), "depthwise_conv_1d_ncw_cw": ("ngw", "gx", "ngw"),
    "depthwise_conv_1d_nwc_wcm": ("nwg", "xgf", "nwgf"),
    "depthwise_conv_2d_nhwc_hwc": ("nhwg", "yxg", "nhwg"), "depthwise_conv_2d_nchw_chw": ("nghw", "gyx", "nghw"),
    "depthwise_conv_2d_nhwc_hwcm": ("nhwg", "yxgf", "nhwgf"),
    "depthwise_conv_3d_ndhwc_dhwc": ("ndhwg", "zyxg", "ndhwg"), "depthwise_conv_3d_ncdhw_cdhw": ("ngdhw", "gzyx", "ngdhw"),
    "depthwise_conv_3d_ndhwc_dhwcm": ("ndhwg", "zyxgf", "ndhwgf"),
}
WITH_ZERO_POINTS = {
    "conv_2d_nhwc_hwcf", "conv_2d_nhwc_fhwc", "conv_2d_nchw_fchw", "conv_2d_ngchw_gfchw", "conv_2d_nhwgc_gfhwc", "conv_3d_ndhwc_dhwcf",
    "depthwise_conv_2d_nhwc_hwc", "depthwise_conv_2d_nhwc_hwcm"}
TOSA = {"conv2d": ("nhwc", "fyxc", "nhwf"), "conv3d": ("ndhwc", "fzyxc", "ndhwf"), "depthwise_conv2d": ("nhwg", "yxgf", "nhwk"),
        "transpose_conv2d": ("nhwc", "fyxc", "nhwf")}
GENERIC = (("nhwc", "fyxc", "nhwf"), ("nhwc", "yxcf", "nhwf"), ("nchw", "fcyx", "nfhw"), ("nhwc", "cyxf", "nhwf"), ("chwn", "cyxf", "fhwn"),
           ("nwc", "fxc", "nwf"), ("ndhwc", "fzyxc", "ndhwf"), ("nhwgc", "gfyxc", "nhwgf"), ("ngchw", "gfcyx", "ngfhw"), ("nhwg", "gyx", "nhwg"),
           ("nghw", "gyx", "nghw"), ("nhwg", "yxg", "nghw"), ("nchw", "yxcf", "nhwf"), ("nhwgc", "gyxcf", "nhwgf"), ("hwc", "fyxc", "hwf"),
           ("chw", "fcyx", "fhw"))
KINDS = (("bf16", "f32"), ("f16", "f32"), ("i8", "i32"), ("f32", "f32"), ("bf16", "bf16"), ("f16", "f16"), ("i8", "i8"), ("i16", "i32"),
         ("f64", "f64"))
ACTIVATIONS = ("", "", "relu", "relu6", "silu", "hardswish")


class Form(Written):
    """A random one. sizes: by letter; places: of the image before its border."""

    def __init__(self, seed, most=1 << 17):
        self.random = random = np.random.default_rng([seed, 20])
        pick = lambda values: values[int(random.integers(len(values)))]
        maybe = lambda probability: bool(random.random() < probability)
        self.way = pick(("named", "named", "generic", "generic", "tosa", "transposed"))
        self.operand, self.result = pick(KINDS)
        self.zero_points = False
        if self.way == "named":
            self.name = pick(sorted(NAMED))
            self.zero_points = self.name in WITH_ZERO_POINTS and maybe(0.6)
            if self.zero_points:
                self.operand, self.result = "i8", "i32"
            self.image, self.filters, self.out = NAMED[self.name]
        elif self.way == "tosa":
            self.name = pick(sorted(TOSA))
            self.image, self.filters, self.out = TOSA[self.name]
            self.operand, self.result = pick((("i8", "i32"), ("f16", "f16"), ("f32", "f32"), ("bf16", "bf16"), ("f16", "f32")))
            self.zero_points = self.operand == "i8"
            if (self.operand, self.result) == ("f16", "f32"):
                self.result = "f16"
        else:
            self.name = ""
            self.image, self.filters, self.out = pick(GENERIC)
        # Zero points are taken out of products of some size.
        large = self.zero_points and maybe(0.5)
        most = 1 << 23 if large else most
        transposed = self.way == "transposed" or self.name == "transpose_conv2d"
        self.places = [letter for letter in self.image if letter in PLACES]
        rank = len(self.places)
        aligned = maybe(0.4)
        channels = pick((8, 16, 32, 64, 24)) if aligned else int(random.integers(1, 20))
        self.groups = (channels if "c" not in self.image else int(random.integers(1, 5))) if "g" in self.image else 1
        self.channels = channels if "c" in self.image else 1
        self.results = (pick((8, 16, 64, 40)) if aligned else int(random.integers(1, 20))) if "f" in self.filters else 1
        if "g" in self.image and "f" in self.filters and "c" not in self.image:
            self.results = int(random.integers(1, 4))
        if large:
            self.channels, self.results = (pick((16, 32, 48)) if each > 1 else each for each in (self.channels, self.results))
        self.batch = int(random.integers(1, 4)) if "n" in self.image else 1
        self.window = [int(pick((1, 2, 3, 3, 3, 5, 7) if rank < 3 else (1, 2, 3))) for _ in range(rank)]
        self.stride = [int(pick((1, 1, 1, 2, 2, 3))) for _ in range(rank)]
        self.dilation = [1 if transposed else int(pick((1, 1, 1, 2, 3))) for _ in range(rank)]
        if self.way != "named" and maybe(0.5):  # the usual ones
            self.window, self.stride = [self.window[0]] * rank, [self.stride[0]] * rank
        if self.name in ("conv_1d", "conv_2d", "conv_3d"):
            self.stride = self.dilation = [1] * rank
        extent = [dilation * (window - 1) + 1 for window, dilation in zip(self.window, self.dilation)]
        self.extent = extent
        if transposed:
            # Zeros around and between; of TOSA out_pad, which may be negative.
            self.size = [int(random.integers(1, 9)) for _ in range(rank)]
            self.around = [(int(random.integers(-min(2, window - 1), 3)) if self.way == "tosa" else -int(random.integers(0, window)),
                            int(random.integers(-min(2, window - 1), 3)) if self.way == "tosa" else -int(random.integers(0, window)))
                           for window in self.window]
            self.before = self.behind = [0] * rank
            self.outs = [max(1, (size - 1) * stride + low + high + window)
                         for size, stride, window, (low, high) in zip(self.size, self.stride, self.window, self.around)]
            self.bad = any((size - 1) * stride + low + high + window < 1
                           for size, stride, window, (low, high) in zip(self.size, self.stride, self.window, self.around))
        else:
            self.bad, padded = False, maybe(0.6)
            self.before = [int(random.integers(0, each)) if padded else 0 for each in extent]
            self.behind = ([*self.before] if maybe(0.6) else [int(random.integers(0, each)) if padded else 0 for each in extent])
            self.outs = [int(random.integers(8, 15) if large else random.integers(1, 11 if rank < 3 else 6)) for _ in range(rank)]
            slack = [int(random.integers(0, stride)) if self.way != "tosa" else 0 for stride in self.stride]
            self.size = [(out - 1) * stride + each + more - low - high
                         for out, stride, each, more, low, high in zip(self.outs, self.stride, extent, slack, self.before, self.behind)]
            for i, size in enumerate(self.size):  # no image is smaller than one
                if size < 1:
                    steps = -(-(1 - size) // self.stride[i])
                    self.size[i] += steps * self.stride[i]
                    self.outs[i] += steps
        for _ in range(4):
            if self.work() <= most or transposed:
                break
            self.outs = [max(1, out // 2) for out in self.outs]
            self.size = [max(1, (out - 1) * stride + each - low - high)
                         for out, stride, each, low, high in zip(self.outs, self.stride, extent, self.before, self.behind)]
            if self.way == "tosa":  # steps meet the end
                self.behind = [high - (size + low + high - each) % stride
                               for size, low, high, each, stride in zip(self.size, self.before, self.behind, extent, self.stride)]
                self.bad = min(self.behind) < 0
            self.outs = [(size + low + high - each) // stride + 1
                         for size, low, high, each, stride in zip(self.size, self.before, self.behind, extent, self.stride)]
        self.dynamic = "" if transposed or self.way == "tosa" and maybe(0.8) else pick(("", "", "", "n", "p", "np"))
        self.zero = [int(random.integers(-128, 128)), pick((0, 0, int(random.integers(-128, 128))))] if self.zero_points else [0, 0]
        if self.way == "tosa" and self.zero_points:
            self.zero[1] = pick((0, self.zero[1]))
        self.start = "zero" if self.way in ("tosa", "transposed") else pick(("zero", "zero", "tensor", "bias"))
        if self.way == "named" and not [letter for letter in self.out if letter in "gf"] and self.start == "bias":
            self.start = "zero"
        self.bias = (self.way != "tosa" and maybe(0.5)) and any(letter in "gf" for letter in self.out)
        self.activation = pick(ACTIVATIONS) if is_float(self.result) else ""
        self.residual = is_float(self.result) and maybe(0.2)
        self.requantised = self.result == "i32" and self.operand == "i8" and pick(("", "float", "integer"))
        self.narrow = is_float(self.result) and self.result == "f32" and self.operand in ("bf16", "f16") and maybe(0.6)
        self.inputs_ = None
        self.values()

    def work(self):
        return self.batch * self.groups * self.channels * self.results * int(np.prod(self.outs)) * int(np.prod(self.window))

    def __repr__(self):
        return (f"{self.way} {self.name} {self.image} {self.filters} {self.out} {self.operand} {self.result} n{self.batch} g{self.groups} c{self.channels} f{self.results} "
                f"{self.size} window {self.window} stride {self.stride} dilation {self.dilation} border {self.before} {self.behind} -> "
                f"{self.outs} dynamic {self.dynamic or 'none'} zero {self.zero} start {self.start} bias {self.bias} {self.activation} "
                f"residual {self.residual} requantised {self.requantised} narrow {self.narrow}")

    nodes = ()

    # ---- Shapes ----

    def shape(self, letters, places=None):
        sizes = {"n": self.batch, "g": self.groups, "c": self.channels, "f": self.results, "k": self.groups * self.results}
        sizes.update(zip(self.places, places or self.size))
        sizes.update(zip(WINDOW[-len(self.places):], self.window))
        return [sizes[letter] for letter in letters]

    @property
    def last(self):
        """Letters of the filters of the result."""
        return [letter for letter in self.out if letter in "gfk"]

    # ---- Inputs ----

    def draw(self, kind, shape, low=-2, high=2):
        return elements.draw(self.random, kind, shape, low, high)

    def values(self):
        given = {"image": (self.operand, self.draw(self.operand, self.shape(self.image))),
                 "filters": (self.operand, self.draw(self.operand, self.shape(self.filters)))}
        out = self.shape(self.out, self.outs)
        per = self.shape("".join(self.last))
        if self.way == "tosa":
            given["start"] = ("i32" if self.operand == "i8" else self.result, self.draw("i32" if self.operand == "i8" else self.result, self.shape("k" if "k" in self.out else "f")))
        if self.start == "tensor":
            given["start"] = (self.result, self.draw(self.result, out))
        if self.start == "bias":
            given["start"] = (self.result, self.draw(self.result, per))
        if self.bias:
            given["bias"] = (self.result, self.draw(self.result, per))
        if self.residual:
            given["residual"] = (self.result, self.draw(self.result, out))
        if self.requantised == "float":
            given["scale"] = ("f32", self.draw("f32", per, 2.0 ** -12, 2.0 ** -8))
        if self.requantised == "integer":
            given["scale"] = ("i32", self.random.integers(1 << 30, 1 << 31, per, dtype=np.int64))
        self.given = given

    def inputs(self):
        return [*self.given.values()]

    # ---- The reference ----

    def canonical(self, array, letters, order):
        """With all dimensions of the order, in it."""
        present = [letter for letter in order if letter in letters]
        array = np.transpose(array, [letters.index(letter) for letter in present])
        return array.reshape([array.shape[present.index(letter)] if letter in present else 1 for letter in order])

    def sums(self):
        """(total, sum of magnitudes), in the order of the result."""
        places, window = "".join(self.places), WINDOW[-len(self.places):]
        wide = lambda array: array.astype(np.float64) if is_float(self.operand) else array.astype(np.int64)
        image = wide(self.canonical(self.given["image"][1], self.image, "ng" + places + "c")) - self.zero[0]
        filters = wide(self.canonical(self.given["filters"][1], self.filters, window + "gcf")) - self.zero[1]
        if self.way == "transposed" or self.name == "transpose_conv2d":
            total, size = self.transposed(image, filters)
        else:
            image = np.pad(image, [(0, 0), (0, 0), *zip(self.before, self.behind), (0, 0)])
            total = size = 0
            for at in itertools.product(*map(range, self.window)):
                part = image[(slice(None), slice(None), *(slice(w * dilation, w * dilation + (out - 1) * stride + 1, stride)
                                                           for w, dilation, out, stride in zip(at, self.dilation, self.outs, self.stride)))]
                total, size = total + self.multiply(part, filters[at]), size + self.multiply(np.abs(part), np.abs(filters[at]))
        back = "ng" + places + "f"
        if "k" in self.out:  # groups and filters are one dimension
            order = [back.index(letter) for letter in "n" + places + "gf"]
            shape = self.shape(self.out, self.outs)
            return tuple(np.transpose(each, order).reshape(shape) for each in (total, size))
        order = [back.index(letter) for letter in self.out]
        rest = [i for i in range(len(back)) if i not in order]
        return tuple(np.transpose(each, order + rest).reshape(self.shape(self.out, self.outs)) for each in (total, size))

    def multiply(self, part, filters):
        """[n, g, places, c] by [g, c, f]."""
        return part @ filters.reshape([1, filters.shape[0]] + [1] * (part.ndim - 4) + list(filters.shape[1:]))

    def transposed(self, image, filters):
        places = [(size - 1) * stride + window for size, stride, window in zip(self.size, self.stride, self.window)]
        total = np.zeros([self.batch, self.groups, *places, self.results], dtype=image.dtype)
        size = total.copy()
        for at in itertools.product(*map(range, self.window)):
            where = (slice(None), slice(None), *(slice(w, w + (length - 1) * stride + 1, stride)
                                                 for w, length, stride in zip(at, self.size, self.stride)))
            total[where] += self.multiply(image, filters[at])
            size[where] += self.multiply(np.abs(image), np.abs(filters[at]))
        # The border: negative takes away, else more zeros.
        grow = [(0, 0), (0, 0), *[(max(low, 0), max(high, 0)) for low, high in self.around], (0, 0)]
        cut = (slice(None), slice(None), *(slice(max(-low, 0), None if high >= 0 else high) for low, high in self.around))
        return tuple(np.pad(each, grow)[cut] for each in (total, size))

    def along(self, array):
        """Of the result's filters, for the whole result."""
        shape = [size if letter in self.last else 1 for letter, size in zip(self.out, self.shape(self.out, self.outs))]
        return np.broadcast_to(array.reshape(shape), self.shape(self.out, self.outs))

    def expected(self):
        total, size = self.sums()
        kind = "i32" if self.way == "tosa" and self.operand == "i8" else self.result
        if "start" in self.given:
            start = self.given["start"][1]
            start = start if self.start == "tensor" else self.along(start)
            total, size = total + start, size + np.abs(start)
        terms = self.channels * int(np.prod(self.window)) + 2
        if is_float(kind):
            # Sums in the result's own type: the compiler may keep them wider.
            value = bounded.finish(kind, total, terms * elements.EPS[kind] * size, 1.0)
        else:
            value = Bounded(kind, elements.wrap(kind, total))
        if self.bias:
            bias = Bounded(self.result, self.along(self.given["bias"][1]))
            value = bounded.apply(np.add, kind, [value, bias], 1.0 if is_float(kind) else 0)
        if self.residual:
            value = bounded.apply(np.add, kind, [value, Bounded(kind, self.given["residual"][1])], 1.0)
        sigmoid = lambda x: 1 / (1 + np.exp(-x))
        six = lambda x: np.minimum(np.maximum(x, 0), 6)
        function = {"relu": lambda x: np.maximum(x, 0), "relu6": six, "silu": lambda x: x * sigmoid(x),
                    "hardswish": lambda x: x * six(x + 3) / 6}.get(self.activation)
        if function:
            value = bounded.apply(function, kind, [value], {"silu": 16.0, "hardswish": 4.0}.get(self.activation, 0.0))
            if self.activation in ("silu", "hardswish"):
                scale = np.abs(value.v) + np.abs(value.e) + 1
                value = Bounded(kind, value.v, value.e + 8 * elements.EPS[kind] * scale)
        if self.requantised == "float":
            scale = self.along(self.given["scale"][1])
            product = value.v.astype(np.float32).astype(np.float64) * scale
            rounded = np.clip(np.rint(product), -128, 127)
            # The product is rounded to f32 before it is to an integer.
            unsure = np.abs(product - np.floor(product) - 0.5) <= np.abs(product) * 2.0 ** -23
            value = Bounded("i8", rounded.astype(np.int64), np.where(unsure & (np.abs(product) < 129), np.inf, 0.0))
        elif self.requantised == "integer":
            scaled = (value.v * self.along(self.given["scale"][1]) + (1 << 39)) >> 40
            value = Bounded("i8", np.clip(scaled + 3, -128, 127))
        elif self.narrow:
            value = bounded.apply(lambda x: x, self.operand, [value], 1.0)
        return [value]


def generate(seed):
    """A program; None where what was drawn is none."""
    form = Form(seed)
    if form.bad:
        return None
    try:
        form.text()
    except ValueError:
        return None
    return form
