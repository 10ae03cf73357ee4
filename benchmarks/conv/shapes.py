# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The convolutions that are raced, and their programs: the layers of a ResNet-50, of a U-Net and of a MobileNetV2, forward.

layout: nhwc (filters [k, r, s, c], as PyTorch's channels_last has them) or nchw (filters [k, c, r, s]); depthwise: nhwc with
filters [r, s, c]. Padding keeps the size, divided by the stride. Sums are f32; the result is rounded to the type of the operands
once. tf32 are f32 whose products may be rounded. Fused: + bias of the channel, then relu.
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

    def name(self):
        return (f"{self.kind}_{self.layout}_{self.batch}x{self.size}x{self.channels}_{self.filters or 'dw'}_{self.window}x{self.window}"
                f"s{self.stride}" + ("_relu" if self.fused else ""))

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

    def shapes(self):
        window = (self.window, self.window)
        weights = (window + (self.channels,) if not self.filters else
                   (self.filters, *window, self.channels) if self.layout == "nhwc" else (self.filters, self.channels, *window))
        return [self.image(self.size, self.channels), weights] + ([(self.results(),)] if self.fused else [])

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
SETS["first"] = SETS["resnet"][:4] + SETS["resnet"][10:11] + SETS["resnet"][16:17] + SETS["mobilenet"][:3] + SETS["unet"][1:2]
SETS["full"] = [case for name, cases in SETS.items() if name != "first" for case in cases]


def tensor(shape, kind):
    return f"tensor<{'x'.join(map(str, shape))}x{kind}>"


def affine(results, loops):
    return f"affine_map<({', '.join(loops)}) -> ({', '.join(results)})>"


def maps_of(case):
    """The loops, those that are reduced, and the indices of image, filters and result."""
    def window(out, inner):
        return f"{out} * {case.stride} + {inner}" if case.stride > 1 else f"{out} + {inner}"
    if not case.filters:
        return "nhwcrs", "rs", (["n", window("h", "r"), window("w", "s"), "c"], "rsc", "nhwc")
    if case.layout == "nhwc":
        return "nhwkrsc", "rsc", (["n", window("h", "r"), window("w", "s"), "c"], "krsc", "nhwk")
    return "nkhwcrs", "crs", (["n", "c", window("h", "r"), window("w", "s")], "kcrs", "nkhw")


def program(case):
    element, padding = case.element(), case.padding()
    shapes = case.shapes()
    image, weights = tensor(shapes[0], element), tensor(shapes[1], element)
    padded_shape = case.image(case.size + 2 * padding, case.channels)
    out_shape = case.image(case.result_size(), case.results())
    padded, sums, out = tensor(padded_shape, element), tensor(out_shape, "f32"), tensor(out_shape, element)
    low = "[0, {0}, {0}, 0]" if case.layout == "nhwc" else "[0, 0, {0}, {0}]"
    loops, reduced, indices = maps_of(case)
    maps = ", ".join(affine(each, loops) for each in indices)
    kinds = ", ".join('"reduction"' if loop in reduced else '"parallel"' for loop in loops)
    wide = element == "f32"
    extend = "" if wide else f"%x = arith.extf %a : {element} to f32\n    %y = arith.extf %b : {element} to f32\n    "
    names = ("%a", "%b") if wide else ("%x", "%y")
    arguments = f"%i: {image}, %w: {weights}" + (f", %c: {tensor(shapes[2], element)}" if case.fused else "")
    pad = f"""  %border = arith.constant 0.0 : {element}
  %i1 = tensor.pad %i low{low.format(padding)} high{low.format(padding)} {{
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %border : {element}
  }} : {image} to {padded}
""" if padding else ""
    source = "%i1" if padding else "%i"
    text = f"""func.func @run({arguments}) -> {out} {{
  %zero = arith.constant 0.0 : f32
{pad}  %e = tensor.empty() : {sums}
  %f = linalg.fill ins(%zero : f32) outs(%e : {sums}) -> {sums}
  %p = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({source}, %w : {padded if padding else image}, {weights}) outs(%f : {sums}) {{
  ^bb0(%a: {element}, %b: {element}, %s: f32):
    {extend}%m = arith.mulf {names[0]}, {names[1]} : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  }} -> {sums}
"""
    if wide and not case.fused:
        return text + f"  return %p : {sums}\n}}\n"
    over = case.layout
    maps = ", ".join([affine(over, over)] + ([affine("c", over)] if case.fused else []) + [affine(over, over)])
    body, last = "", "%v"
    if case.fused:
        body = (f"    %d = arith.extf %u : {element} to f32\n" if not wide else "    %d = arith.addf %u, %zero : f32\n") + \
            "    %g = arith.addf %v, %d : f32\n    %h = arith.maximumf %g, %zero : f32\n"
        last = "%h"
    if not wide:
        body += f"    %o = arith.truncf {last} : f32 to {element}\n"
        last = "%o"
    inputs = f"%p, %c : {sums}, {tensor(shapes[2], element)}" if case.fused else f"%p : {sums}"
    given = f"%v: f32, %u: {element}, %z: {element}" if case.fused else f"%v: f32, %z: {element}"
    return text + f"""  %q = tensor.empty() : {out}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}} ins({inputs}) outs(%q : {out}) {{
  ^bb0({given}):
{body}    linalg.yield {last} : {element}
  }} -> {out}
  return %r : {out}
}}
"""
