#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races convolutions on the GPU of this machine: Tenon beside cuDNN, which PyTorch lets search for its best algorithm.

usage: benchmarks/conv/run.py --programs=build/conv --output=DIR [--set=first] [--rounds=12] [--seconds=300]

Every result is compared with a convolution in float64 first. How it is timed: ../race/racing.py. Writes DIR/conv.csv.
"""
import dataclasses
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))

import racing  # noqa: E402, puts what follows on the path
import torch  # noqa: E402
import torch.nn.functional as functional  # noqa: E402

from measure import Tenon, Torch  # noqa: E402
from shapes import SETS  # noqa: E402

KINDS = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "tf32": torch.float32}
# Of a result, and of a product.
EPS = {"f32": 2.0 ** -23, "f16": 2.0 ** -10, "bf16": 2.0 ** -7, "tf32": 2.0 ** -23}
PRODUCT_EPS = {"tf32": 2.0 ** -10}


def convolution(case):
    """Of tensors as the case has them in memory; PyTorch sees NHWC as channels_last, without a copy."""
    def run(image, weights, *bias):
        if case.layout == "nhwc":
            image = image.permute(0, 3, 1, 2)
            weights = weights.permute(0, 3, 1, 2) if case.filters else weights.permute(2, 0, 1).unsqueeze(1)
        made = functional.conv2d(image, weights, bias[0] if bias else None, stride=case.stride, padding=case.padding(),
                                 groups=1 if case.filters else case.channels)
        made = functional.relu(made) if case.fused else made
        return made.permute(0, 2, 3, 1) if case.layout == "nhwc" else made
    return run


def gradient(case):
    """As convolution(), by cuDNN alone."""
    def channels_second(tensor):
        return tensor.permute(0, 3, 1, 2) if case.layout == "nhwc" else tensor

    def run(first, second):
        by_data = case.gradient == "data"
        shape = case.image(case.size, case.channels) if by_data else case.weights()
        missing = torch.empty(shape, dtype=first.dtype, device=first.device)
        result, image, weights = (first, missing, second) if by_data else (second, first, missing)
        made = torch.ops.aten.convolution_backward(
            channels_second(result), channels_second(image), channels_second(weights), None, [case.stride] * 2, [case.padding()] * 2, [1, 1],
            False, [0, 0], 1, [by_data, not by_data, False])[0 if by_data else 1]
        return made.permute(0, 2, 3, 1) if case.layout == "nhwc" else made
    return run


def error_of_gradient(case, found, inputs):
    """As error_of(); of the gradient of the filters all of it."""
    by_data, worst = case.gradient == "data", 0.0
    terms = case.window ** 2 * case.filters if by_data else case.batch * case.result_size() ** 2
    for image in {0, case.batch - 1} if by_data else {0}:
        wide = [t.double() for t in inputs]
        if by_data:
            wide[0], part = wide[0][image:image + 1], found[image:image + 1]
            one = dataclasses.replace(case, batch=1)
        else:
            one, part = case, found
        exact, size = (gradient(one)(*each) for each in (wide, [t.abs() for t in wide]))
        bound = ((terms + 2) * EPS["f32"] + PRODUCT_EPS.get(case.kind, 0)) * size + EPS[case.kind] * exact.abs() + 1e-30
        worst = max(worst, ((part.double() - exact).abs() / bound).nan_to_num(float("inf")).max().item())
    return worst


def error_of(case, found, inputs):
    """The worst error of the first and the last image in units of what rounding and a sum in any order may be."""
    worst, terms = 0.0, case.window ** 2 * (case.channels if case.filters else 1)
    for image in {0, case.batch - 1}:
        wide = [inputs[0][image:image + 1].double(), *(t.double() for t in inputs[1:])]
        exact, size = (convolution(case)(*each) for each in (wide, [t.abs() for t in wide]))
        bound = ((terms + 2) * EPS["f32"] + PRODUCT_EPS.get(case.kind, 0)) * size + EPS[case.kind] * exact.abs() + 1e-30
        worst = max(worst, ((found[image:image + 1].double() - exact).abs() / bound).nan_to_num(float("inf")).max().item())
    return worst


def measure(case, runtime, arguments):
    generator = torch.Generator("cuda").manual_seed(case.size * 31 + case.channels)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = case.kind == "tf32"
    inputs = [torch.randn(shape, generator=generator, device="cuda").to(KINDS[case.kind]) for shape in case.shapes()]
    path = os.path.join(arguments.programs, case.name() + ".tenon")
    peer, judge = (gradient, error_of_gradient) if case.gradient else (convolution, error_of)
    makers = [("tenon", lambda: Tenon("tenon", runtime, path, [inputs], [])),
              ("cudnn", lambda: Torch("cudnn", peer(case), [inputs]))]
    if case.fused:
        makers.append(("compile", lambda: Torch("compile", torch.compile(convolution(case)), [inputs])))
    return racing.race(case, makers, lambda results: judge(case, results[0], inputs), arguments.rounds, case.operations() > 1e11)


if __name__ == "__main__":
    sys.exit(racing.main(__doc__.splitlines()[0], "conv", SETS, measure))
