#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports the models of a set as linalg, in MLIR: torch.export, IREE's importer, and iree-compile --compile-to=input.

usage: benchmarks/models/export.py --output=build/models [--set=tiny] [--filter=TEXT]

Needs the packages that the README names. Writes CASE.mlir, and CASE.json: the names and shapes of the weights, in the order in
which the program takes them in front of its inputs.
"""
import argparse
import json
import os
import subprocess
import sys

import torch
from iree.turbine import aot

import models


class Call(torch.nn.Module):
    """torch.export wants a module: this one has no weight of its own."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, weights, *inputs):
        return self.function(weights, *inputs)


def batch_norm(x, weight, bias, mean, variance, momentum, eps):  # pylint: disable=unused-argument
    """In evaluation, as PyTorch computes it: in f32."""
    def along(tensor):
        return tensor.float().view(1, -1, *[1] * (x.dim() - 2))

    made = (x.float() - along(mean)) * torch.rsqrt(along(variance) + eps) * along(weight) + along(bias)
    return made.to(x.dtype), x.new_zeros(0), x.new_zeros(0)


def embedding_backward(given, indices, count, padding, _):
    """Each row of a table gets the sum of what its readers were given, but for the row of padding."""
    if padding >= 0:
        given = given * (indices != padding).unsqueeze(-1)
    return given.new_zeros(count, given.shape[-1]).index_put((indices,), given, accumulate=True)


def norm_except_dim(x, power, dimension):
    """Of every row of a dimension."""
    assert power == 2
    return x.square().sum(dim=[each for each in range(x.dim()) if each != dimension % x.dim()], keepdim=True).sqrt()


def weight_norm(direction, size, dimension):
    return direction * (size / norm_except_dim(direction, 2, dimension))


def group_norm(image, groups, weight=None, bias=None, eps=1e-5, _=True):
    """In f32, as PyTorch computes it. The importer's own sums, and divides by the number of elements, in the image's type: of f16 a
    number above 65504 is infinite."""
    rows = image.float().reshape(image.shape[0], groups, -1)
    variance, mean = torch.var_mean(rows, dim=2, correction=0, keepdim=True)
    made = ((rows - mean) * torch.rsqrt(variance + eps)).reshape(image.shape)
    channels = [1, -1] + [1] * (image.dim() - 2)
    if weight is not None:
        made = made * weight.float().view(channels)
    if bias is not None:
        made = made + bias.float().view(channels)
    return made.to(image.dtype)


def decompositions():
    """Of the operations that the importer does not know, and no others: attention and norms arrive as they are named."""
    aten = torch.ops.aten
    known = torch.export.default_decompositions()
    return {op: known[op] for op in (aten.diff.default, aten.lstm.input, aten.gru.input, aten.rnn_tanh.input)} | {
        aten._native_batch_norm_legit_no_training.default: batch_norm, aten._weight_norm.default: weight_norm,
        aten.group_norm.default: group_norm,
        aten.norm_except_dim.default: norm_except_dim, aten.embedding_dense_backward.default: embedding_backward} | torch._decomp.get_decompositions([  # pylint: disable=protected-access
        aten.nll_loss_forward, aten.nll_loss_backward, aten.native_layer_norm_backward, aten.gelu_backward,
        aten._log_softmax_backward_data, aten._softmax_backward_data, aten.tanh_backward, aten.index_add, aten.upsample_bilinear2d,
        aten.threshold_backward, aten._native_batch_norm_legit.no_stats])


OTHER_NAMES = {torch.ops.aten.__and__.Tensor: torch.ops.aten.bitwise_and.Tensor,
               torch.ops.aten._unsafe_index.Tensor: torch.ops.aten.index.Tensor}  # pylint: disable=protected-access


def without_unknown(program):
    """Operators that the importer knows by another name alone get it. Masks start as one `true` with what holds of each pair: it
    goes, since the importer has no constant of one bit without dimensions."""
    for node in list(program.graph.nodes):
        node.target = OTHER_NAMES.get(node.target, node.target)
        if node.target == torch.ops.aten.bitwise_and.Tensor:
            first, other = node.args
            if first.target == torch.ops.aten.new_ones.default and list(first.args[1]) == []:
                node.replace_all_uses_with(other)
                program.graph.erase_node(node)
    program.graph.eliminate_dead_code()
    return program


def sizes_of(case, tensors):
    """Which sizes the program does not know."""
    if not case.dynamic:
        return None
    size = torch.export.Dim(case.dynamic, min=2, max=max(case.batch, case.length))
    dimension = 0 if case.dynamic == "batch" else 1
    return [{dimension: size} for _ in tensors]


def traced(case, net, shapes):
    function, weights, tensors = models.function(case, net, list(shapes)), [
        torch.empty(shape, dtype=models.KINDS[case.kind]) for shape in shapes.values()], models.inputs(case)
    call = Call(function)
    if case.trains():
        from torch.fx.experimental.proxy_tensor import make_fx  # pylint: disable=import-outside-toplevel
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            graph = make_fx(function, tracing_mode="fake")(weights, *tensors)
        call = Call(graph)
    sizes = sizes_of(case, tensors)
    with torch.no_grad():
        program = torch.export.export(call, (weights, *tensors), strict=False,
                                      dynamic_shapes=sizes and {"weights": [None] * len(weights), "inputs": tuple(sizes)})
        return without_unknown(program.run_decompositions(decompositions()))


def import_text(text, kind, path):
    """Writes what IREE's importer makes of `text`, whose dialect is `kind`: torch or stablehlo."""
    compiler = os.path.join(os.path.dirname(sys.executable), "iree-compile")
    subprocess.run([compiler, f"--iree-input-type={kind}", "--compile-to=input", "-", "-o", path], input=text.encode(), check=True)


def export(case, folder):
    net = models.build(case)
    shapes = models.weight_shapes(net)
    program = traced(case, net, shapes)
    path = os.path.join(folder, case.name())
    with open(path + ".json", "w", encoding="utf-8") as file:
        json.dump(shapes, file)
    import_text(str(aot.export(program, function_name="run").mlir_module), "torch", path + ".mlir")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="build/models")
    parser.add_argument("--set", default="first", choices=sorted(models.SETS))
    parser.add_argument("--filter", default="", help="cases whose name holds it")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)
    failed = 0
    for case in models.SETS[arguments.set]:
        if arguments.filter not in case.name():
            continue
        try:
            export(case, arguments.output)
        except Exception as problem:  # pylint: disable=broad-except
            failed += 1
            print(f"{case.name()}: {type(problem).__name__}: {str(problem).strip()[:400]}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
