# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The convolutions that are raced: the layers of a ResNet-50, of a U-Net and of a MobileNetV2, forward and backward.

layout: nhwc (filters [k, r, s, c], as PyTorch's channels_last has them) or nchw (filters [k, c, r, s]); depthwise:
filters [r, s, c] or [c, r, s]. Padding keeps the size, divided by the stride. Sums are f32; the result is rounded to the type of the operands
once. tf32 are f32 whose products may be rounded; winograd are f32, too, computed in tiles. Fused: + bias of the channel, then relu.

Quantised: int8, the image with a zero point of its own (ZERO_POINT, also in its border), filters around zero, sums of 32 bits + a bias,
scaled for each filter, rounded and clamped to int8. Groups: filters [g, k, r, s, c] of c channels each, images [n, h, w, g, c]; nchw:
[g, k, c, r, s] and [n, g, c, h, w].
relu6: + bias of the channel, between 0 and 6, as a MobileNet has it; bias: it is what sums start from (outs), as importers write it.

Gradients, as compilers write them: of the image ("data"), from the result's with zeros between its elements where the convolution
steps by two, and around it, and filters that are turned around; of the filters ("filter"), a sum over all places of all images.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Convolution:
    kind: str
    layout: str
    batch: int
    size: int  # of both sides of the image
    channels: int
    filters: int  # 0: depthwise
    window: int = 3
    stride: int = 1
    fused: bool = False
    gradient: str = ""  # "data" or "filter"
    groups: int = 1
    behind: str = ""  # "relu6", or "start": the bias is what the sums start from
    unknown: bool = False  # how many images there are is told when the program runs

    def name(self):
        return (f"{self.kind}_{self.layout}_{self.batch}x{self.size}x{self.channels}_{self.filters or 'dw'}_{self.window}x{self.window}"
                f"s{self.stride}" + ("_relu" if self.fused else "") + (f"_{self.gradient}" if self.gradient else "") +
                (f"_g{self.groups}" if self.groups > 1 else "") + (f"_{self.behind}" if self.behind else "") +
                ("_any" if self.unknown else ""))

    def flags(self):
        return {"tf32": ["--f32-products=tf32"], "winograd": ["--f32-convolutions=winograd"]}.get(self.kind, [])

    def element(self):
        return "f32" if self.kind in ("tf32", "winograd") else self.kind

    def padding(self):
        return self.window // 2

    def result_size(self):
        return (self.size + 2 * self.padding() - self.window) // self.stride + 1

    def results(self):
        return self.filters or self.channels

    def image(self, size, channels):
        return (self.batch, size, size, channels) if self.layout == "nhwc" else (self.batch, channels, size, size)

    def weights(self):
        window = (self.window, self.window)
        if not self.filters:
            return window + (self.channels,) if self.layout == "nhwc" else (self.channels,) + window
        return (self.filters, *window, self.channels) if self.layout == "nhwc" else (self.filters, self.channels, *window)

    @property
    def has_bias(self):
        return self.fused or bool(self.behind)

    def shapes(self):
        image, weights = self.image(self.size, self.channels), self.weights()
        if self.kind == "i8":
            return [image, weights, (self.results(),), (self.results(),)]
        if self.groups > 1:
            image, weights, result = self.in_groups()
            return {"": [image, weights], "data": [result, weights], "filter": [image, result]}[self.gradient]
        if self.gradient:
            result = self.image(self.result_size(), self.results())
            return [result, weights] if self.gradient == "data" else [image, result]
        return [image, weights] + ([(self.results(),)] if self.has_bias else [])

    def in_groups(self):
        """Shapes of the image, the filters and the result."""
        each, filters, window = self.channels // self.groups, self.filters // self.groups, (self.window, self.window)
        image, result = ((self.batch, size, size, self.groups, count) if self.layout == "nhwc" else (self.batch, self.groups, count, size, size)
                         for size, count in ((self.size, each), (self.result_size(), filters)))
        return image, (self.groups, filters) + (window + (each,) if self.layout == "nhwc" else (each,) + window), result

    def operations(self):
        each = 2 * self.window ** 2 * (self.channels // self.groups if self.filters else 1)
        return each * self.batch * self.result_size() ** 2 * self.results()


# size, channels, filters, window, stride
RESNET = [(224, 3, 64, 7, 2), (56, 64, 64, 1, 1), (56, 64, 64, 3, 1), (56, 64, 256, 1, 1), (56, 256, 64, 1, 1), (56, 256, 128, 1, 1),
          (56, 128, 128, 3, 2), (28, 128, 512, 1, 1), (56, 256, 512, 1, 2), (28, 512, 128, 1, 1), (28, 128, 128, 3, 1), (28, 512, 256, 1, 1),
          (28, 256, 256, 3, 2), (14, 256, 1024, 1, 1), (28, 512, 1024, 1, 2), (14, 1024, 256, 1, 1), (14, 256, 256, 3, 1),
          (14, 1024, 512, 1, 1), (14, 512, 512, 3, 2), (7, 512, 2048, 1, 1), (14, 1024, 2048, 1, 2), (7, 2048, 512, 1, 1), (7, 512, 512, 3, 1)]
UNET = [(256, 64, 64, 3, 1), (128, 128, 128, 3, 1), (64, 256, 256, 3, 1), (32, 512, 512, 3, 1), (16, 1024, 1024, 3, 1)]
MOBILENET = [(112, 32, 0, 3, 1), (112, 96, 0, 3, 2), (56, 144, 0, 3, 1), (56, 144, 0, 3, 2), (28, 192, 0, 3, 1), (28, 192, 0, 3, 2),
             (14, 384, 0, 3, 1), (14, 576, 0, 3, 1), (14, 576, 0, 3, 2), (7, 960, 0, 3, 1)]
# The products of a MobileNetV2, and the depthwise layers of an EfficientNet and of a ConvNeXt.
POINTS = [(224, 3, 32, 3, 2), (112, 32, 16, 1, 1), (112, 16, 96, 1, 1), (56, 24, 144, 1, 1), (56, 144, 24, 1, 1), (28, 32, 192, 1, 1),
          (28, 192, 32, 1, 1), (14, 64, 384, 1, 1), (14, 384, 64, 1, 1), (14, 96, 576, 1, 1), (14, 576, 96, 1, 1), (7, 160, 960, 1, 1),
          (7, 960, 160, 1, 1), (7, 320, 1280, 1, 1)]
WIDE_WINDOWS = [(56, 144, 0, 5, 2), (28, 240, 0, 5, 1), (14, 672, 0, 5, 1), (7, 1152, 0, 5, 1), (56, 96, 0, 7, 1), (14, 384, 0, 7, 1)]
# The deep layers of Stable Diffusion's U-Net: as many filters as an image has places, or more.
DIFFUSION = [(64, 320, 320, 3, 1), (32, 640, 640, 3, 1), (32, 1280, 640, 3, 1), (16, 640, 1280, 3, 1), (16, 1280, 1280, 3, 1), (16, 2560, 1280, 3, 1),
             (16, 1280, 1280, 3, 2), (8, 1280, 1280, 3, 1), (8, 2560, 1280, 3, 1)]
# The 3x3 layers of a ResNeXt-50, in 32 groups of 4 to 32 channels.
RESNEXT = [(56, 128, 128, 3, 1), (28, 256, 256, 3, 1), (14, 512, 512, 3, 1), (7, 1024, 1024, 3, 1)]
RESNEXT_STEPS = [(56, 256, 256, 3, 2), (28, 512, 512, 3, 2), (14, 1024, 1024, 3, 2)]
ZERO_POINT = -5


def layers(kind, layout, batch, shapes, **more):
    return [Convolution(kind, layout, batch, *shape, **more) for shape in shapes]


def grouped(kind, layout, shapes, **more):
    return layers(kind, layout, 32, shapes, groups=32, **more)


SETS = {
    "resnet": layers("bf16", "nhwc", 32, RESNET),
    "unet": layers("bf16", "nhwc", 4, UNET),
    "mobilenet": layers("bf16", "nhwc", 32, MOBILENET),
    "nchw": layers("bf16", "nchw", 32, RESNET[:4] + RESNET[16:17]),
    "exact": layers("f32", "nhwc", 32, (RESNET[0], RESNET[2], RESNET[10], RESNET[16], RESNET[22])),
    "tf32": layers("tf32", "nhwc", 32, (RESNET[0], RESNET[2], RESNET[10], RESNET[16], RESNET[22])),
    "fused": layers("bf16", "nhwc", 32, (RESNET[2], RESNET[10], RESNET[16]), fused=True),
}
SETS["points"] = layers("bf16", "nhwc", 32, POINTS, behind="relu6")
SETS["depthwise"] = [*SETS["mobilenet"], *layers("bf16", "nhwc", 32, WIDE_WINDOWS), *layers("f32", "nhwc", 32, MOBILENET[:6:2] + MOBILENET[6:8]),
                     *layers("bf16", "nchw", 32, MOBILENET[:1] + MOBILENET[2:3] + MOBILENET[7:])]
# Depthwise layers of a MobileNetV3, an MNASNet, an EfficientNet-B3 and a ConvNeXt-S, in both layouts: nothing was tuned to these.
FRESH = [(112, 64, 0, 3, 2), (56, 72, 0, 3, 1), (56, 72, 0, 5, 2), (28, 120, 0, 5, 1), (14, 480, 0, 3, 1), (14, 672, 0, 5, 2), (7, 960, 0, 5, 1),
         (28, 192, 0, 7, 1), (14, 768, 0, 7, 1)]
SETS["fresh"] = [*layers("bf16", "nhwc", 32, FRESH), *layers("bf16", "nchw", 32, FRESH), *layers("f32", "nhwc", 32, FRESH[1:4] + FRESH[7:8]),
                 *layers("f32", "nchw", 32, FRESH[1:4] + FRESH[7:8]), *layers("f16", "nchw", 1, FRESH[1:4])]
SETS["deep"] = [*layers("f16", "nchw", 2, DIFFUSION), *layers("bf16", "nchw", 1, (RESNET[16], RESNET[18], RESNET[22])),
                *layers("bf16", "nchw", 32, (RESNET[2], RESNET[22]))]
SETS["int8"] = layers("i8", "nhwc", 32, RESNET)
SETS["groups"] = grouped("bf16", "nhwc", RESNEXT)
SETS["grouped"] = [*SETS["groups"], *grouped("bf16", "nhwc", RESNEXT_STEPS), *grouped("f16", "nhwc", RESNEXT[::2]), *grouped("f32", "nhwc", RESNEXT),
                   *grouped("bf16", "nchw", RESNEXT), *grouped("f32", "nchw", RESNEXT[::2])]
SETS["grouped_backward"] = [case for gradient in ("data", "filter") for case in (
    *grouped("bf16", "nhwc", RESNEXT + RESNEXT_STEPS[:1], gradient=gradient), *grouped("f32", "nhwc", RESNEXT[1:3], gradient=gradient),
    *grouped("bf16", "nchw", RESNEXT[1:3], gradient=gradient))]
SETS["depthwise_backward"] = [case for gradient in ("data", "filter") for case in (
    *layers("bf16", "nhwc", 32, MOBILENET[:1] + MOBILENET[2:5] + MOBILENET[7:8] + MOBILENET[9:] + WIDE_WINDOWS[1:2], gradient=gradient),
    *layers("f32", "nhwc", 32, MOBILENET[2:3] + MOBILENET[7:8], gradient=gradient),
    *layers("bf16", "nchw", 32, MOBILENET[2:3] + MOBILENET[7:8], gradient=gradient))]
SETS["start"] = layers("bf16", "nhwc", 32, (RESNET[2], RESNET[3], RESNET[10], RESNET[16]), behind="start")
# Layers whose number of images is not known: of a MobileNet, an EfficientNet, a ConvNeXt, a ResNet-50 and a U-Net.
SETS["unknown"] = [dataclasses.replace(case, unknown=True) for case in (
    *layers("bf16", "nhwc", 32, MOBILENET[::2] + MOBILENET[7:8] + WIDE_WINDOWS[1:2] + WIDE_WINDOWS[4:] + RESNET[1:5] + RESNET[8:11] + RESNET[15:18] + RESNET[-2:]),
    *layers("bf16", "nhwc", 1, MOBILENET[2:3] + RESNET[10:11] + RESNET[15:17]), *layers("bf16", "nhwc", 4, UNET[:4:2]),
    *layers("f32", "nhwc", 32, MOBILENET[2:3] + WIDE_WINDOWS[4:5] + RESNET[10:11]), *layers("tf32", "nhwc", 32, RESNET[10:11]),
    *layers("bf16", "nchw", 32, MOBILENET[2:3] + MOBILENET[7:8] + WIDE_WINDOWS[1:2] + WIDE_WINDOWS[4:5] + RESNET[10:11] + RESNET[15:17] + RESNET[-1:]))]
SETS["mended"] = SETS["depthwise"] + SETS["int8"] + SETS["groups"] + SETS["start"]
SETS["backward"] = [
    *layers("bf16", "nhwc", 32, RESNET[1:], gradient="data"), *layers("bf16", "nhwc", 32, RESNET, gradient="filter"),
    *(case for gradient in ("data", "filter") for case in (
        *layers("bf16", "nhwc", 4, UNET, gradient=gradient),
        *layers("bf16", "nchw", 32, (RESNET[2], RESNET[6], RESNET[16]), gradient=gradient),
        *layers("tf32", "nhwc", 32, (RESNET[2], RESNET[10], RESNET[12], RESNET[16]), gradient=gradient),
        *layers("f32", "nhwc", 32, (RESNET[2], RESNET[10], RESNET[12], RESNET[16]), gradient=gradient)))]
SETS["first"] = SETS["resnet"][:4] + SETS["resnet"][10:11] + SETS["resnet"][16:17] + SETS["mobilenet"][:3] + SETS["unet"][1:2]
SETS["full"] = [case for name, cases in SETS.items() if name in ("resnet", "unet", "mobilenet", "nchw", "exact", "tf32", "fused") for case in cases]
# Each layer of the three networks in both layouts, forward and backward, in bf16, tf32 and f32; of int8, forward in NHWC. The image of the first layer has no gradient, and
# where each channel stands for itself f32 and tf32 are the same.
SETS["every"] = [case for kind in ("bf16", "tf32", "f32") for layout in ("nhwc", "nchw") for gradient in ("", "data", "filter") for case in (
    *layers(kind, layout, 32, RESNET[gradient == "data":], gradient=gradient), *layers(kind, layout, 4, UNET, gradient=gradient),
    *layers(kind, layout, 32, MOBILENET[:len(MOBILENET) * (kind != "tf32")], gradient=gradient))] + [*SETS["int8"], *layers("i8", "nhwc", 4, UNET)]
# The windows of 3x3 in steps of one among these, and of 5x5, by Winograd's: forward, by data and by filters, in both layouts.
SETS["winograd"] = [case for layout in ("nhwc", "nchw") for gradient in ("", "data", "filter") for case in (
    *layers("winograd", layout, 32, (RESNET[2], RESNET[10], RESNET[16], RESNET[22], (28, 96, 96, 5, 1)), gradient=gradient),
    *layers("winograd", layout, 4, UNET, gradient=gradient))]
