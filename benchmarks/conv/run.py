#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races convolutions on the GPU of this machine: Tenon beside cuDNN, which PyTorch lets search for its best algorithm.

usage: benchmarks/conv/run.py --programs=build/conv --output=DIR [--set=first] [--rounds=12] [--seconds=300] [--before=FOLDER]

--before: a folder of programs that another compiler made, which are raced beside. Every result is compared with a convolution in float64 first. How it is timed: ../race/racing.py. Writes DIR/conv.csv.
"""
import dataclasses
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))

import racing  # noqa: E402, puts what follows on the path
import torch  # noqa: E402
import torch.nn.functional as functional  # noqa: E402

from measure import Tenon, Torch  # noqa: E402
from shapes import SETS, ZERO_POINT  # noqa: E402

KINDS = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "tf32": torch.float32, "winograd": torch.float32, "i8": torch.int8}
# Of a result, and of a product.
EPS = {"f32": 2.0 ** -23, "f16": 2.0 ** -10, "bf16": 2.0 ** -7, "tf32": 2.0 ** -23, "winograd": 2.0 ** -23}
PRODUCT_EPS = {"tf32": 2.0 ** -10}
# How many times larger what a tile of F(4 x 4, 3 x 3) adds up is than the products of elements of one size: compiler/dispatch/winograd/README.md.
GROWTH = {"winograd": 98}


def together(case, tensor, of_filters):
    """A tensor whose channels, or filters, are in groups, as PyTorch has it: channels second, groups not apart."""
    if of_filters:
        tensor = tensor.flatten(0, 1)
    else:
        tensor = tensor.flatten(3) if case.layout == "nhwc" else tensor.flatten(1, 2)
    return tensor.permute(0, 3, 1, 2) if case.layout == "nhwc" else tensor


def apart(case, tensor, of_filters):
    """The other way round."""
    tensor = tensor.permute(0, 2, 3, 1) if case.layout == "nhwc" else tensor
    if of_filters:
        return tensor.unflatten(0, (case.groups, -1))
    return tensor.unflatten(3 if case.layout == "nhwc" else 1, (case.groups, -1))


def grouped(case):
    """Of channels in groups, which are one dimension of PyTorch's."""
    def run(image, weights):
        made = functional.conv2d(together(case, image, False), together(case, weights, True), stride=case.stride, padding=case.padding(),
                                 groups=case.groups)
        return apart(case, made, False)
    return run


def quantised(case, wide):
    """In a type that holds all of it; zeros around what is above the zero point."""
    def run(image, weights, bias, scale):
        image, weights = ((tensor.to(wide) - zero).permute(0, 3, 1, 2) for tensor, zero in ((image, ZERO_POINT), (weights, 0)))
        sums = functional.conv2d(image, weights, stride=case.stride, padding=case.padding()).permute(0, 2, 3, 1) + bias
        return (sums.float() * scale).round().clamp(-128, 127).to(torch.int8)
    return run


def narrow(case):
    """The layer in bf16, with its bias: PyTorch has no convolution of int8 on CUDA devices."""
    def run(image, weights, bias):
        made = functional.conv2d(image.permute(0, 3, 1, 2), weights.permute(0, 3, 1, 2), bias, stride=case.stride, padding=case.padding())
        return made.permute(0, 2, 3, 1)
    return run


def convolution(case):
    """Of tensors as the case has them in memory; PyTorch sees NHWC as channels_last, without a copy."""
    def run(image, weights, *bias):
        if case.layout == "nhwc":
            image = image.permute(0, 3, 1, 2)
            weights = weights.permute(0, 3, 1, 2) if case.filters else weights.permute(2, 0, 1).unsqueeze(1)
        elif not case.filters:
            weights = weights.unsqueeze(1)
        made = functional.conv2d(image, weights, bias[0] if bias else None, stride=case.stride, padding=case.padding(),
                                 groups=1 if case.filters else case.channels)
        made = functional.relu(made) if case.fused else functional.relu6(made) if case.behind == "relu6" else made
        return made.permute(0, 2, 3, 1) if case.layout == "nhwc" else made
    return run


def gradient(case):
    """As convolution(), by cuDNN alone."""
    def channels_second(tensor):
        return tensor.permute(0, 3, 1, 2) if case.layout == "nhwc" else tensor

    def run(first, second):
        by_data = case.gradient == "data"
        missing_shape = list(case.in_groups()[0 if by_data else 1]) if case.groups > 1 else \
            case.image(case.size, case.channels) if by_data else case.weights()
        if case.groups > 1 and by_data:
            missing_shape[0] = first.shape[0]
        missing = torch.empty(missing_shape, dtype=first.dtype, device=first.device)
        result, image, weights = (first, missing, second) if by_data else (second, first, missing)
        if case.groups > 1:
            result, image, weights = (together(case, each, number == 2) for number, each in enumerate((result, image, weights)))
        elif not case.filters:
            result, image = channels_second(result), channels_second(image)
            weights = (weights.permute(2, 0, 1) if case.layout == "nhwc" else weights).unsqueeze(1)
        else:
            result, image, weights = map(channels_second, (result, image, weights))
        made = torch.ops.aten.convolution_backward(
            result, image, weights, None, [case.stride] * 2, [case.padding()] * 2, [1, 1], False, [0, 0],
            case.groups if case.filters else case.channels, [by_data, not by_data, False])[0 if by_data else 1]
        if case.groups > 1:
            return apart(case, made, not by_data)
        if not case.filters and not by_data:
            made = made.squeeze(1)
            return made.permute(1, 2, 0) if case.layout == "nhwc" else made
        return made.permute(0, 2, 3, 1) if case.layout == "nhwc" else made
    return run


def error_of_gradient(case, found, inputs):
    """As error_of(); of the gradient of the filters all of it."""
    by_data, worst = case.gradient == "data", 0.0
    terms = case.window ** 2 * (case.filters // case.groups if case.filters else 1) if by_data else case.batch * case.result_size() ** 2
    for image in {0, case.batch - 1} if by_data else {0}:
        wide = [t.double() for t in inputs]
        if by_data:
            wide[0], part = wide[0][image:image + 1], found[image:image + 1]
            one = dataclasses.replace(case, batch=1)
        else:
            one, part = case, found
        exact, size = (gradient(one)(*each) for each in (wide, [t.abs() for t in wide]))
        bound = ((terms + 2) * GROWTH.get(case.kind, 1) * EPS["f32"] + PRODUCT_EPS.get(case.kind, 0)) * size + EPS[case.kind] * exact.abs() + 1e-30
        worst = max(worst, ((part.double() - exact).abs() / bound).nan_to_num(float("inf")).max().item())
    return worst


def error_of_quantised(case, found, inputs):
    """None may differ: sums are exact, and what is computed from them is rounded as it is here."""
    wrong = 0
    for image in {0, case.batch - 1}:
        exact = quantised(case, torch.float64)(inputs[0][image:image + 1], *inputs[1:])
        wrong += (found[image:image + 1] != exact).sum().item()
    return float(2 * wrong)


def error_of(case, found, inputs):
    """The worst error of the first and the last image in units of what rounding and a sum in any order may be."""
    convolution = grouped if case.groups > 1 else globals()["convolution"]
    worst, terms = 0.0, case.window ** 2 * (case.channels // case.groups if case.filters else 1)
    for image in {0, case.batch - 1}:
        wide = [inputs[0][image:image + 1].double(), *(t.double() for t in inputs[1:])]
        exact, size = (convolution(case)(*each) for each in (wide, [t.abs() for t in wide]))
        bound = ((terms + 2) * GROWTH.get(case.kind, 1) * EPS["f32"] + PRODUCT_EPS.get(case.kind, 0)) * size + EPS[case.kind] * exact.abs() + 1e-30
        worst = max(worst, ((found[image:image + 1].double() - exact).abs() / bound).nan_to_num(float("inf")).max().item())
    return worst


def measure_quantised(case, runtime, path, generator):
    image, weights = (torch.randint(-128, 128, shape, generator=generator, device="cuda", dtype=torch.int8) for shape in case.shapes()[:2])
    bias = torch.randint(-1000, 1000, case.shapes()[2], generator=generator, device="cuda", dtype=torch.int32)
    scale = torch.rand(case.shapes()[3], generator=generator, device="cuda") * 2e-4 + 1e-5
    inputs = [image, weights, bias, scale]
    halves = [t.bfloat16() for t in inputs[:3]]
    return [("tenon", lambda: Tenon("tenon", runtime, path, [inputs], [])),
            ("cudnn bf16", lambda: Torch("cudnn bf16", narrow(case), [halves]))], inputs


def measure(case, runtime, arguments):
    generator = torch.Generator("cuda").manual_seed(case.size * 31 + case.channels)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = case.kind == "tf32"
    path = os.path.join(arguments.programs, case.name() + ".tenon")
    if case.kind == "i8":
        makers, inputs = measure_quantised(case, runtime, path, generator)

        def judge_quantised(results):  # the peer computes something else
            return error_of_quantised(case, results[0], inputs) if results[0].dtype == torch.int8 else 0
        return racing.race(case, makers, judge_quantised, arguments.rounds, False)
    inputs = [torch.randn(shape, generator=generator, device="cuda").to(KINDS[case.kind]) for shape in case.shapes()]
    peer, judge = (gradient, error_of_gradient) if case.gradient else (grouped if case.groups > 1 else convolution, error_of)
    makers = [("tenon", lambda: Tenon("tenon", runtime, path, [inputs], [])),
              ("cudnn", lambda: Torch("cudnn", peer(case), [inputs]))]
    before = os.path.join(arguments.before, case.name() + ".tenon")
    if arguments.before and os.path.exists(before):
        makers.append(("tenon before", lambda: Tenon("tenon before", runtime, before, [inputs], [])))
    if not case.filters or case.groups > 1:
        # As many bytes as the layer reads and writes.
        words = case.batch * (case.channels * case.size ** 2 + case.results() * case.result_size() ** 2) // 2
        source, target = (torch.empty(words, dtype=inputs[0].dtype, device="cuda") for _ in range(2))
        makers.append((racing.LIMIT, lambda: Torch(racing.LIMIT, target.copy_, [[source]])))
    if case.fused or case.behind == "relu6":
        makers.append(("compile", lambda: Torch("compile", torch.compile(convolution(case)), [inputs])))
    return racing.race(case, makers, lambda results: judge(case, results[0], inputs) if results[0].dim() > 1 else 0, arguments.rounds, case.operations() > 1e11)


if __name__ == "__main__":
    sys.exit(racing.main(__doc__.splitlines()[0], "conv", SETS, measure, options=[("--before", "")]))
