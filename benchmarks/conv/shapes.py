# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The convolutions that are raced: the layers of a ResNet-50, of a U-Net and of a MobileNetV2, forward and backward.

layout: nhwc (filters [k, r, s, c], as PyTorch's channels_last has them) or nchw (filters [k, c, r, s]); depthwise: nhwc with
filters [r, s, c]. Padding keeps the size, divided by the stride. Sums are f32; the result is rounded to the type of the operands
once. tf32 are f32 whose products may be rounded. Fused: + bias of the channel, then relu.

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

    def name(self):
        return (f"{self.kind}_{self.layout}_{self.batch}x{self.size}x{self.channels}_{self.filters or 'dw'}_{self.window}x{self.window}"
                f"s{self.stride}" + ("_relu" if self.fused else "") + (f"_{self.gradient}" if self.gradient else ""))

    def flags(self):
        return ["--f32-products=tf32"] if self.kind == "tf32" else []

    def element(self):
        return "f32" if self.kind == "tf32" else self.kind

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
        return (window + (self.channels,) if not self.filters else
                (self.filters, *window, self.channels) if self.layout == "nhwc" else (self.filters, self.channels, *window))

    def shapes(self):
        image, weights = self.image(self.size, self.channels), self.weights()
        if self.gradient:
            result = self.image(self.result_size(), self.filters)
            return [result, weights] if self.gradient == "data" else [image, result]
        return [image, weights] + ([(self.results(),)] if self.fused else [])

    def operations(self):
        each = 2 * self.window ** 2 * (self.channels if self.filters else 1)
        return each * self.batch * self.result_size() ** 2 * self.results()


# size, channels, filters, window, stride
RESNET = [(224, 3, 64, 7, 2), (56, 64, 64, 1, 1), (56, 64, 64, 3, 1), (56, 64, 256, 1, 1), (56, 256, 64, 1, 1), (56, 256, 128, 1, 1),
          (56, 128, 128, 3, 2), (28, 128, 512, 1, 1), (56, 256, 512, 1, 2), (28, 512, 128, 1, 1), (28, 128, 128, 3, 1), (28, 512, 256, 1, 1),
          (28, 256, 256, 3, 2), (14, 256, 1024, 1, 1), (28, 512, 1024, 1, 2), (14, 1024, 256, 1, 1), (14, 256, 256, 3, 1),
          (14, 1024, 512, 1, 1), (14, 512, 512, 3, 2), (7, 512, 2048, 1, 1), (14, 1024, 2048, 1, 2), (7, 2048, 512, 1, 1), (7, 512, 512, 3, 1)]
UNET = [(256, 64, 64, 3, 1), (128, 128, 128, 3, 1), (64, 256, 256, 3, 1), (32, 512, 512, 3, 1), (16, 1024, 1024, 3, 1)]
MOBILENET = [(112, 32, 0, 3, 1), (112, 96, 0, 3, 2), (56, 144, 0, 3, 1), (56, 144, 0, 3, 2), (28, 192, 0, 3, 1), (28, 192, 0, 3, 2),
             (14, 384, 0, 3, 1), (14, 576, 0, 3, 1), (14, 576, 0, 3, 2), (7, 960, 0, 3, 1)]


def layers(kind, layout, batch, shapes, **more):
    return [Convolution(kind, layout, batch, *shape, **more) for shape in shapes]


SETS = {
    "resnet": layers("bf16", "nhwc", 32, RESNET),
    "unet": layers("bf16", "nhwc", 4, UNET),
    "mobilenet": layers("bf16", "nhwc", 32, MOBILENET),
    "nchw": layers("bf16", "nchw", 32, RESNET[:4] + RESNET[16:17]),
    "exact": layers("f32", "nhwc", 32, (RESNET[0], RESNET[2], RESNET[10], RESNET[16], RESNET[22])),
    "tf32": layers("tf32", "nhwc", 32, (RESNET[0], RESNET[2], RESNET[10], RESNET[16], RESNET[22])),
    "fused": layers("bf16", "nhwc", 32, (RESNET[2], RESNET[10], RESNET[16]), fused=True),
}
SETS["backward"] = [
    *layers("bf16", "nhwc", 32, RESNET[1:], gradient="data"), *layers("bf16", "nhwc", 32, RESNET, gradient="filter"),
    *(case for gradient in ("data", "filter") for case in (
        *layers("bf16", "nhwc", 4, UNET, gradient=gradient),
        *layers("bf16", "nchw", 32, (RESNET[2], RESNET[6], RESNET[16]), gradient=gradient),
        *layers("tf32", "nhwc", 32, (RESNET[2], RESNET[10], RESNET[12], RESNET[16]), gradient=gradient),
        *layers("f32", "nhwc", 32, (RESNET[2], RESNET[10], RESNET[12], RESNET[16]), gradient=gradient)))]
SETS["first"] = SETS["resnet"][:4] + SETS["resnet"][10:11] + SETS["resnet"][16:17] + SETS["mobilenet"][:3] + SETS["unet"][1:2]
SETS["full"] = [case for name, cases in SETS.items() if name not in ("first", "backward") for case in cases]
