#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program of many kernels that differ in their sizes.

  kernels.py --count=500 [--kind=sums|f32|bf16] > kernels.mlir

  sums   of rows of f32, 64 x 1024 and more
  f32    products, 64 x 256 by 256 x 512 and more; bf16: of bf16

tenon-compile --print-statistics then says how long it took, and how many texts of PTX LLVM made."""
import argparse


def product(i, kind):
    m, n, k = 64 + 8 * i, 512 + 16 * (i % 37), 256 + 8 * i
    of = f"tensor<{m}x{n}xf32>"
    inputs = [f"tensor<{m}x{k}x{kind}>", f"tensor<{k}x{n}x{kind}>"]
    return inputs, of, f"%r{i} = linalg.matmul ins(%x{i}_0, %x{i}_1 : {', '.join(inputs)}) outs(%f{i} : {of}) -> {of}"


def row_sum(i):
    of, from_ = f"tensor<{64 + i}xf32>", f"tensor<{64 + i}x{1024 + 7 * i}xf32>"
    return [from_], of, (f"%r{i} = linalg.reduce ins(%x{i}_0 : {from_}) outs(%f{i} : {of}) dimensions = [1] (%a: f32, %b: f32) {{\n"
                         "%t = arith.addf %a, %b : f32\nlinalg.yield %t : f32\n}")


def text(count, kind):
    arguments, results, lines = [], [], ["%z = arith.constant 0.0 : f32"]
    for i in range(count):
        inputs, of, operation = row_sum(i) if kind == "sums" else product(i, kind)
        arguments += [f"%x{i}_{number}: {each}" for number, each in enumerate(inputs)]
        lines += [f"%e{i} = tensor.empty() : {of}", f"%f{i} = linalg.fill ins(%z : f32) outs(%e{i} : {of}) -> {of}", operation]
        results.append(of)
    values = ", ".join(f"%r{i}" for i in range(count))
    return "\n".join([f"func.func @run({', '.join(arguments)}) -> ({', '.join(results)}) {{", *lines,
                      f"return {values} : {', '.join(results)}", "}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--kind", choices=["sums", "f32", "bf16"], default="sums")
    options = parser.parse_args()
    print(text(options.count, options.kind))


if __name__ == "__main__":
    main()
